// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that a switch enters in several places. What enters them brings no value
// for some of their variables, which hides none that others bring; a loop in a
// loop is left by some threads while others wait. Expected values from C.
// run: several_entries --grid 40 0=zeros:u32:40
// expect: 0: 215338563 56830 799 537 99921367 143474 3105 3577 56 451972 70 550709 84 91 98 105 7775 422 3585857 35229173 379699 526 553 17668373 168 175 182 4699545 196 203 210 217 228993783 914 15229 16229 839 7465670 1177 1241
// run: left_behind --grid 40 0=zeros:u32:40
// expect: 0: 39585 162117 333657 475041 21630405 2443668353 32180385 970190077 1599183681 1801179189 1989473169 2163534657 1781409 1800885 2053305 2216865 2000325 2160309 2652321 3121725 105293649 3686066085 116040825 1380281217 327704933 533747333 690322241 1002588881 4498497 4314357 4394145 4099437 4080837 4829601 4213605 5128173 189504417 3950834753 199316745 2477356861
// run: never_given --grid 40 0=zeros:u32:40
// expect: 0: 0 7 14 21 28 35 42 49 56 63 70 77 84 91 98 105 112 119 126 133 140 147 154 161 168 175 182 189 196 203 210 217 224 231 238 245 252 259 266 273
kernel void several_entries(device uint *o [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) {
  uint v = i * 7u;
  {
    uint k1 = 0;
    switch ((i >> 2) % 4u) {
      do {
        case 0u: {
          {
            uint k2 = 0;
            switch ((i / 3u) % 3u) {
              do {
                case 0u: {
                  if ((i + v) % 5u == 1u) break;
                  v = v * 7u + 6u;
                }
                case 1u: {
                  v = v * 6u + 7u;
                }
              } while (++k2 < 2u && (v & 1u));
            }
          }
          {
            uint k3 = 0;
            switch ((i) % 3u) {
              do {
                case 0u: {
                  if ((i + v) % 5u == 1u) break;
                  if ((i ^ v) % 5u == 1u) {
                    v += 9u;
                  } else {
                    v ^= i;
                  }
                }
                case 1u: {
                  if ((i + v) % 4u == 1u) break;
                }
              } while (++k3 < 4u && (v + i) % 3u != 0u);
            }
          }
        }
        case 1u: {
          {
            uint k4 = 0;
            switch ((i) % 3u) {
              do {
                case 0u: {
                  if ((i ^ v) % 2u == 1u) {
                    v += 7u;
                  } else {
                    v ^= i;
                  }
                }
                default: {
                  if ((i + v) % 5u == 0u) break;
                  if ((i + v) % 4u == 1u) break;
                }
              } while (++k4 < 4u && (v + i) % 3u != 0u);
            }
          }
          v = v * 4u + 1u;
        }
        case 2u: {
          {
            uint k5 = 0;
            switch ((i + v) % 3u) {
              do {
                case 0u: {
                  if ((i + v) % 5u == 1u) break;
                  if ((i + v) % 5u == 1u) break;
                }
                case 1u: {
                  if ((i + v) % 4u == 0u) break;
                  if ((i ^ v) % 4u == 1u) {
                    v += 2u;
                  } else {
                    v ^= i;
                  }
                }
              } while (++k5 < 2u && true);
            }
          }
          if ((i + v) % 5u == 0u) break;
        }
      } while (++k1 < 3u && (v & 1u));
    }
  }
  o[i] = v;
}

kernel void left_behind(device uint *o [[buffer(0)]],
                        uint i [[thread_position_in_grid]]) {
  uint v = i * 7u;
  {
    uint k1 = 0;
    switch ((i + v) % 4u) {
      do {
        case 0u: {
          {
            uint k2 = 0;
            switch ((i >> 2) % 4u) {
              do {
                case 0u: {
                  if ((i + v) % 2u == 0u) break;
                }
                case 1u: {
                  if ((i + v) % 2u == 1u) break;
                  v = v * 6u + 3u;
                }
                case 2u: {
                  v = v * 3u + 7u;
                  v = v * 2u + 5u;
                }
              } while (++k2 < 3u && (i & 2u));
            }
          }
        }
        case 1u: {
          {
            uint k3 = 0;
            switch ((5u) % 4u) {
              do {
                case 0u: {
                  if ((i + v) % 3u == 1u) break;
                }
                case 1u: {
                  if ((i + v) % 3u == 0u) break;
                  if ((i ^ v) % 3u == 1u) {
                    v += 3u;
                  } else {
                    v ^= i;
                  }
                }
                default: {
                  if ((i + v) % 4u == 0u) break;
                }
              } while (++k3 < 4u && (i & 2u));
            }
          }
          v = v * 6u + 6u;
        }
        case 2u: {
          v = v * 2u + 9u;
        }
      } while (++k1 < 4u && (v & 1u));
    }
  }
  o[i] = v;
}

kernel void never_given(device uint *o [[buffer(0)]],
                        uint i [[thread_position_in_grid]]) {
  uint v = i * 7u;
  {
    uint k1 = 0;
    switch ((i) % 4u) {
      do {
        case 0u: {
          if ((i + v) % 2u == 0u) break;
          {
            uint k2 = 0;
            switch ((i + v) % 4u) {
              do {
                case 0u: {
                  if ((i + v) % 5u == 1u) break;
                  v = v * 2u + 3u;
                }
                case 1u: {
                  if ((i + v) % 3u == 1u) break;
                }
                default: {
                  if ((i + v) % 5u == 1u) break;
                }
              } while (++k2 < 4u && (v + i) % 3u != 0u);
            }
          }
        }
        case 1u: {
          {
            uint k3 = 0;
            switch ((i + v) % 3u) {
              do {
                case 0u: {
                  if ((i + v) % 4u == 0u) break;
                  v = v * 2u + 9u;
                }
                default: {
                  if ((i + v) % 4u == 0u) break;
                  v = v * 8u + 2u;
                }
              } while (++k3 < 5u && (i & 2u));
            }
          }
          if ((i + v) % 4u == 0u) break;
        }
        default: {
          {
            uint k4 = 0;
            switch ((i >> 2) % 3u) {
              do {
                case 0u: {
                  if ((i + v) % 4u == 1u) break;
                }
                default: {
                  if ((i + v) % 2u == 0u) break;
                  if ((i + v) % 2u == 1u) break;
                }
              } while (++k4 < 3u && (v & 1u));
            }
          }
        }
      } while (++k1 < 4u && (v + i) % 3u != 0u);
    }
  }
  o[i] = v;
}
