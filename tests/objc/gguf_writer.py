# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gguf_writer.py: writes GGUF files with a Llama of random weights, in a type
of ggml's, and the same weights in float32.

Source  ggml's docs/gguf.md, and ggml-common.h for the blocks"""
import struct

import numpy as np

ALIGNMENT = 32
U32, F32, STRING = 4, 6, 8
# Weights are larger than usual by this, and norms smaller: kernels divide
# scales in half precision, and small ones would be subnormal then.
GAIN = 16
# numbers of ggml's types
TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8, "q4_K": 12}


def _halves(values):
    return values.astype(np.float16)


def _blocks(count, *parts):
    """Rows of bytes: each part's rows side by side."""
    return np.concatenate([part.reshape(count, -1).view(np.uint8)
                           for part in parts], axis=1)


def random_weights(rng, kind, rows, columns, deviation):
    """(bytes as stored, float32 values [rows, columns])"""
    elements = rows * columns
    if kind in ("f32", "f16"):
        values = rng.normal(0, deviation, (rows, columns)).astype(
            np.float32 if kind == "f32" else np.float16)
        return values.tobytes(), values.astype(np.float32)
    if kind == "q8_0":  # 32 of them: scale, int8[32]
        count = elements // 32
        scale = _halves(deviation / 40 * rng.uniform(0.5, 1.5, (count, 1)))
        numbers = np.clip(rng.normal(0, 40, (count, 32)), -127, 127).astype(
            np.int8)
        values = scale.astype(np.float32) * numbers
        stored = _blocks(count, scale, numbers)
    elif kind == "q4_0":  # 32 of them: scale, low halves and high halves
        count = elements // 32
        scale = _halves(deviation / 3 * rng.uniform(0.5, 1.5, (count, 1)))
        numbers = np.clip(np.rint(rng.normal(8, 3, (count, 32))), 0,
                          15).astype(np.uint8)
        values = scale.astype(np.float32) * (numbers.astype(np.float32) - 8)
        stored = _blocks(count, scale,
                         numbers[:, :16] | numbers[:, 16:] << 4)
    else:
        values, stored = _q4_k(rng, elements // 256, deviation)
    return stored.tobytes(), values.reshape(rows, columns).astype(np.float32)


def _q4_k(rng, count, deviation):
    """256 of them: two scales, eight pairs of 6 bits, uint4[256]."""
    scale = _halves(deviation / 3 / 32 * rng.uniform(0.5, 1.5, (count, 1)))
    low = _halves(scale.astype(np.float32) * 8)
    scales = rng.integers(16, 49, (count, 8)).astype(np.uint8)
    lows = np.clip(scales + rng.integers(-2, 3, (count, 8)), 0, 63).astype(
        np.uint8)
    packed = np.zeros((count, 12), np.uint8)
    packed[:, 0:4] = scales[:, :4] | (scales[:, 4:] >> 4) << 6
    packed[:, 4:8] = lows[:, :4] | (lows[:, 4:] >> 4) << 6
    packed[:, 8:12] = scales[:, 4:] & 15 | (lows[:, 4:] & 15) << 4
    numbers = np.clip(np.rint(rng.normal(8, 3, (count, 8, 32))), 0,
                      15).astype(np.uint8)
    values = (scale.astype(np.float32)[:, :, None] * scales[:, :, None]
              * numbers.astype(np.float32)
              - low.astype(np.float32)[:, :, None] * lows[:, :, None])
    pairs = numbers.reshape(count, 4, 2, 32)
    return values, _blocks(count, scale, low, packed, np.ascontiguousarray(
        pairs[:, :, 0] | pairs[:, :, 1] << 4))


def _text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _pair(key, kind, value):
    return _text(key) + struct.pack("<I", kind) + (
        _text(value) if kind == STRING
        else struct.pack("<f" if kind == F32 else "<I", value))


def write(path, pairs, tensors):
    """tensors: (name, shape with the fastest dimension first, kind, bytes)"""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    head += b"".join(_pair(*pair) for pair in pairs)
    offset = 0
    for name, shape, kind, data in tensors:
        head += _text(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", TYPES[kind], offset)
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for *_, data in tensors:
            file.write(data + b"\0" * (-len(data) % ALIGNMENT))


def write_llama(path, path_f32, kind, seed, layers=2, width=256, heads=4,
                kv_heads=2, inner=512, vocabulary=256, context=512):
    """Writes the model in kind, and, unless path_f32 is None, in float32."""
    rng = np.random.default_rng(seed)
    kv_width = width // heads * kv_heads
    own, plain = [], []

    def matrix(name, rows, columns, deviation):
        data, values = random_weights(rng, kind, rows, columns,
                                      GAIN * deviation)
        own.append((name, (columns, rows), kind, data))
        if path_f32:
            plain.append((name, (columns, rows), "f32", values.tobytes()))

    def vector(name):
        values = (rng.uniform(0.8, 1.2, width) / GAIN).astype(np.float32)
        for each in (own, plain):
            each.append((name, (width,), "f32", values.tobytes()))

    matrix("token_embd.weight", vocabulary, width, 1.0)
    vector("output_norm.weight")
    matrix("output.weight", vocabulary, width, width ** -0.5 * 4)
    for layer in range(layers):
        at = f"blk.{layer}."
        vector(at + "attn_norm.weight")
        matrix(at + "attn_q.weight", width, width, width ** -0.5)
        matrix(at + "attn_k.weight", kv_width, width, width ** -0.5)
        matrix(at + "attn_v.weight", kv_width, width, width ** -0.5)
        matrix(at + "attn_output.weight", width, width, width ** -0.5)
        vector(at + "ffn_norm.weight")
        matrix(at + "ffn_gate.weight", inner, width, width ** -0.5)
        matrix(at + "ffn_up.weight", inner, width, width ** -0.5)
        matrix(at + "ffn_down.weight", width, inner, inner ** -0.5)
    pairs = [("general.architecture", STRING, "llama"),
             ("general.alignment", U32, ALIGNMENT),
             ("llama.context_length", U32, context),
             ("llama.embedding_length", U32, width),
             ("llama.block_count", U32, layers),
             ("llama.feed_forward_length", U32, inner),
             ("llama.attention.head_count", U32, heads),
             ("llama.attention.head_count_kv", U32, kv_heads),
             ("llama.rope.dimension_count", U32, width // heads),
             ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
             ("llama.vocab_size", U32, vocabulary),
             ("tokenizer.ggml.model", STRING, "no_vocab")]
    write(path, pairs, own)
    if path_f32:
        write(path_f32, pairs, plain)
