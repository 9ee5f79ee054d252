// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tiled transpose of an uneven matrix: a 2-D group, a padded 2-D tile, rows
// shorter than a simdgroup, edges by condition around, not across, barriers.
// run: transpose --grid 24,16 --group 8,8 0=iota:f32:247 1=zeros:f32:247 2=u32:19,13
// expect: 1: 0 19 38 57 76 95 114 133 152 171 190 209 228 1 20 39 58 77 96 115 134 153 172 191 210 229 2 21 40 59 78 97 116 135 154 173 192 211 230 3 22 41 60 79 98 117 136 155 174 193 212 231 4 23 42 61 80 99 118 137 156 175 194 213 232 5 24 43 62 81 100 119 138 157 176 195 214 233 6 25 44 63 82 101 120 139 158 177 196 215 234 7 26 45 64 83 102 121 140 159 178 197 216 235 8 27 46 65 84 103 122 141 160 179 198 217 236 9 28 47 66 85 104 123 142 161 180 199 218 237 10 29 48 67 86 105 124 143 162 181 200 219 238 11 30 49 68 87 106 125 144 163 182 201 220 239 12 31 50 69 88 107 126 145 164 183 202 221 240 13 32 51 70 89 108 127 146 165 184 203 222 241 14 33 52 71 90 109 128 147 166 185 204 223 242 15 34 53 72 91 110 129 148 167 186 205 224 243 16 35 54 73 92 111 130 149 168 187 206 225 244 17 36 55 74 93 112 131 150 169 188 207 226 245 18 37 56 75 94 113 132 151 170 189 208 227 246
#include <metal_stdlib>
using namespace metal;

constant constexpr uint side = 8;

kernel void transpose(device const float *in [[buffer(0)]],
                      device float *out [[buffer(1)]],
                      constant uint2 &size [[buffer(2)]],
                      uint2 local [[thread_position_in_threadgroup]],
                      uint2 group [[threadgroup_position_in_grid]]) {
  threadgroup float tile[side][side + 1];
  const uint2 from = group * side + local;
  if (all(from < size)) { tile[local.y][local.x] = in[from.y * size.x + from.x]; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint2 to = group.yx * side + local;
  if (all(to < size.yx)) { out[to.y * size.y + to.x] = tile[local.x][local.y]; }
}
