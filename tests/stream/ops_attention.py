# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ops_attention.py: attention and gated delta rules against NumPy in double."""
import ctypes
import itertools
import resource

import numpy as np
from ops import (Array, Attention, RANDOM, TOLERANCE, agree, call, empty,
                 make, random)


def attend(q, k, v, mask=None, causal=False, scale=None, kind="float",
           wants_weights=True):
    queries, keys, values = make(q, kind), make(k, kind), make(v, kind)
    x, y, z = (t.numpy().astype(float) for t in (queries, keys, values))
    sharing = q.shape[1] // k.shape[1]
    y, z = np.repeat(y, sharing, 1), np.repeat(z, sharing, 1)
    scores = x @ y.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5)
    extra = None
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], dtype=bool)] = -np.inf
    if mask is not None:
        extra = Array(mask) if mask.dtype == np.bool_ else make(mask, kind)
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ \
            else scores + extra.numpy()
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(top), 0, top))
    sums = e.sum(-1, keepdims=True)
    w = e / np.where(sums == 0, 1, sums)
    out = empty(q.shape[:3] + v.shape[3:], kind)
    weights = empty(w.shape, kind) if wants_weights else None
    desc = Attention(ctypes.pointer(extra.tensor) if extra else None, causal,
                     scale or 0)
    call("mtl_ops_attention", queries, keys, values, ctypes.byref(desc), out,
         weights)
    agree(out.numpy(), w @ z, TOLERANCE[kind] * 4, np.abs(w @ z) + 1)
    if wants_weights:
        agree(weights.numpy(), w, TOLERANCE[kind] * 4, w + 0.1)


def attention_plain():
    for kind in TOLERANCE:
        attend(random(2, 4, 16, 64), random(2, 4, 16, 64),
               random(2, 4, 16, 64), kind=kind)
    attend(random(1, 2, 3, 5), random(1, 2, 70, 5), random(1, 2, 70, 9),
           scale=0.3, wants_weights=False)


def attention_with_masks():
    q, k, v = random(2, 2, 7, 8), random(2, 2, 40, 8), random(2, 2, 40, 8)
    attend(q, k, v, random(7, 40))
    attend(q, k, v, random(2, 1, 7, 40))
    mask = RANDOM.random((2, 2, 7, 40)) > 0.5
    mask[1, 0, 3] = False  # a row that sees nothing is 0
    attend(q, k, v, mask)
    attend(q, k, v, mask[:1, :1, :1])


def attention_causal():
    attend(random(1, 3, 40, 16), random(1, 3, 40, 16), random(1, 3, 40, 16),
           causal=True)


def attention_with_shared_keys():
    attend(random(2, 8, 5, 32), random(2, 2, 9, 32), random(2, 2, 9, 32))


def attention_in_parts():
    """Where scores take more than 64 MiB: by batches, by heads that share a key,
    and by queries."""
    attend(random(3, 4, 1500, 8), random(3, 2, 1500, 8),
           random(3, 2, 1500, 8), random(1500, 1500), wants_weights=False)
    attend(random(1, 8, 1900, 8), random(1, 4, 1900, 8),
           random(1, 4, 1900, 8), wants_weights=False)
    attend(random(1, 1, 5000, 8), random(1, 1, 5000, 8),
           random(1, 1, 5000, 8), causal=True, wants_weights=False)
    attend(random(1, 1, 5000, 8), random(1, 1, 5000, 8),
           random(1, 1, 5000, 4), random(5000, 1) > 0, wants_weights=False)


def attention_in_bounded_memory():
    """24 heads of 2,000 queries and keys have 384,000,000 bytes of scores. Parts
    of them take 64 MiB, and products keep less than that."""
    q, k, v = (random(2, 12, 2000, 8) for _ in range(3))
    out = empty(q.shape)
    arrays = [Array(x) for x in (q, k, v)]
    call("mtl_ops_attention", *(Array(x[:, :, :40]) for x in (q, k, v)), None,
         empty((2, 12, 40, 8)), None)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call("mtl_ops_attention", *arrays, None, out, None)
    got = out.numpy()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 128 << 10, f"{grown} KiB"
    scores = q[1, 11].astype(float) @ k[1, 11].T * 8 ** -0.5
    w = np.exp(scores - scores.max(-1, keepdims=True))
    agree(got[1, 11], w @ v[1, 11] / w.sum(-1, keepdims=True),
          TOLERANCE["float"] * 4, 2)


def attention_strided():
    q = random(2, 16, 4, 64).swapaxes(1, 2)
    attend(q, random(2, 16, 4, 64).swapaxes(1, 2),
           random(2, 16, 4, 64).swapaxes(1, 2))


def gated_delta_rule():
    for b, t, hk, hv, dk, dv in ((1, 2, 4, 4, 64, 64), (2, 5, 2, 6, 40, 24)):
        q, k = random(b, t, hk, dk), random(b, t, hk, dk) * dk ** -0.5
        v = random(b, t, hv, dv)
        g, beta = np.exp(-abs(random(b, t, hv))), abs(random(b, t, hv))
        s = random(b, hv, dv, dk)
        state, out = Array(s), empty((b, t, hv, dv))
        call("mtl_ops_gated_delta_rule", Array(q), Array(k), Array(v),
             Array(g), Array(beta), state, out)
        s, want = s.astype(float), np.zeros((b, t, hv, dv))
        for i, n, h in itertools.product(range(b), range(t), range(hv)):
            at = h // (hv // hk)
            s[i, h] *= g[i, n, h]
            d = (v[i, n, h] - s[i, h] @ k[i, n, at]) * beta[i, n, h]
            s[i, h] += np.outer(d, k[i, n, at])
            want[i, n, h] = s[i, h] @ q[i, n, at]
        agree(out.numpy(), want, 1e-5, np.abs(want) + 1)
        agree(state.numpy(), s, 1e-5, np.abs(s) + 1)
