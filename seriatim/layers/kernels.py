"""What a step of generation computes, for a few rows: compiled when it is first used (numba keeps
the result on disk).

    product   y_mo = b_o + sum_i W_oi x_mi
    normed    the same of (x - mean) / deviation * g + c
    ranked    the K largest of each row, and log sum exp of all of it
    recalled  y_m = sum_s a_ms v_s,  a_m = softmax_s(q_m . k_s / sqrt(E)), the newest key and
              value put behind the others first

A step multiplies every weight with one row, or with a few: it waits for memory, not for arithmetic.
General kernels read several rows of W at a time, or rearrange it first, and reach half of what
memory gives. Here W is read once, in the order in which it lies, while all of x stays in the cache.
Shapes: M rows, I inputs, O outputs, H heads, S keys, E features of a head, D = H E.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.compiling import njit

FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums in any order; infinities stay what they are


BLOCK = 64  # numbers whose largest is found first


@njit(fastmath=FAST, nogil=True, inline="always")
def fours(x, w, o, y):
    """Output o of all rows, four rows at a time."""
    rows, a = x.shape[0], w[o]
    for m in range(0, rows - 3, 4):
        x0, x1, x2, x3 = x[m], x[m + 1], x[m + 2], x[m + 3]
        y0 = y1 = y2 = y3 = np.float32(0)
        for i in range(x.shape[1]):
            y0 += a[i] * x0[i]
            y1 += a[i] * x1[i]
            y2 += a[i] * x2[i]
            y3 += a[i] * x3[i]
        y[m, o] += y0
        y[m + 1, o] += y1
        y[m + 2, o] += y2
        y[m + 3, o] += y3
    for m in range(rows - rows % 4, rows):
        x0, y0 = x[m], np.float32(0)
        for i in range(x.shape[1]):
            y0 += a[i] * x0[i]
        y[m, o] += y0


@njit(fastmath=FAST, nogil=True, cache=True)
def add_product(x, w, b, y):
    """(M, I), (O, I), (O,): added to y (M, O)."""
    for m in range(x.shape[0]):
        for o in range(b.shape[0]):
            y[m, o] += b[o]
    for o in range(w.shape[0]):
        fours(x, w, o, y)


@njit(fastmath=FAST, nogil=True, cache=True)
def product(x, w, b, y):
    """(M, I), (O, I), (O,) or nothing -> y (M, O)."""
    y[:] = 0
    add_product(x, w, b, y)


@njit(fastmath=FAST, nogil=True, cache=True)
def normed(x, gain, shift, least, centred, w, b):
    """The product of x in units of its deviation, and, if `centred`, less its mean."""
    rows, width = x.shape
    z = np.empty((rows, width), np.float32)
    for m in range(rows):
        mean = square = np.float32(0)
        for i in range(width):
            mean += x[m, i]
        mean = mean / np.float32(width) if centred else np.float32(0)
        for i in range(width):
            square += (x[m, i] - mean) * (x[m, i] - mean)
        unit = np.float32(1 / math.sqrt(square / width + least))
        for i in range(width):
            z[m, i] = (x[m, i] - mean) * unit * gain[i]
        for i in range(shift.shape[0]):
            z[m, i] += shift[i]
    y = np.empty((rows, w.shape[0]), np.float32)
    product(z, w, b, y)
    return y


@njit(fastmath=FAST, nogil=True, inline="always")
def attend(q, at, keys, values, begin, end, heard, scale, a, y):
    """One head of one row: q (D) and y (D) from `at` on, keys and values (S, E) from `begin` to
    `end`, `heard` (S,) or nothing."""
    size, most = keys.shape[1], np.float32(-np.inf)
    for s in range(begin, end):
        k, fit = keys[s], np.float32(0)
        for e in range(size):
            fit += q[at + e] * k[e]
        a[s] = fit * scale if heard.shape[0] == 0 or heard[s] else np.float32(-np.inf)
        most = max(most, a[s])
    total = np.float32(0)
    for s in range(begin, end):
        a[s] = math.exp(a[s] - most)
        total += a[s]
    for e in range(size):
        y[at + e] = 0
    for s in range(begin, end):
        v, share = values[s], a[s] / total
        for e in range(size):
            y[at + e] += share * v[e]


@njit(fastmath=FAST, nogil=True, cache=True)
def recalled(qkv, keys, values, begin, end, cosine, sine, scale):
    """(M, 3 D); keys and values (M, H, at least end + 1, E), of which those from `begin` to `end`
    are there -> (M, D)."""
    rows, heads, _, size = keys.shape
    y, a, none = (
        np.empty((rows, heads * size), np.float32),
        np.empty(end + 1, np.float32),
        np.empty(0, np.bool_),
    )
    for m in range(rows):
        for h in range(heads):
            q = h * size
            k, v = heads * size + q, 2 * heads * size + q
            if cosine.shape[1]:
                turn(qkv[m], q, cosine[m], sine[m])
                turn(qkv[m], k, cosine[m], sine[m])
            for e in range(size):
                keys[m, h, end, e], values[m, h, end, e] = qkv[m, k + e], qkv[m, v + e]
            attend(qkv[m], q, keys[m, h], values[m, h], begin, end + 1, none, scale, a, y[m])
    return y


@njit(fastmath=FAST, nogil=True, inline="always")
def turn(x, at, cosine, sine):
    """Pairs of features turned by the angle of their position: see `positions.rotate`."""
    half = cosine.shape[0]
    for e in range(half):
        a, b = x[at + e], x[at + half + e]
        x[at + e], x[at + half + e] = a * cosine[e] - b * sine[e], a * sine[e] + b * cosine[e]


@njit(fastmath=FAST, nogil=True, cache=True)
def heard(q, keys, values, mask, beams, scale):
    """(M, D) queries; keys and values (M / beams, H, P, E), mask (M / beams, P) or nothing -> (M,
    D)."""
    rows, (_, heads, places, size) = q.shape[0], keys.shape
    y, a, none = (
        np.empty((rows, heads * size), np.float32),
        np.empty(places, np.float32),
        np.empty(0, np.bool_),
    )
    for m in range(rows):
        source = m // beams
        some = mask[source] if mask.shape[1] else none
        for h in range(heads):
            attend(
                q[m], h * size, keys[source, h], values[source, h], 0, places, some, scale, a, y[m]
            )
    return y


@njit(fastmath=FAST | {"nnan"}, nogil=True, inline="always")
def exponential(x):
    """e^x for x from minus infinity to 0, to three parts in ten million: 2^n e^r, the second factor
    by Cephes' polynomial. Many at once, unlike math.exp."""
    x = max(x, np.float32(-87))
    n = np.int32(x * np.float32(1.4426950408889634) - np.float32(0.5))
    r = x - np.float32(n) * np.float32(0.693359375) + np.float32(n) * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1)
    return p * np.int32((n + np.int32(127)) << np.int32(23)).view(np.float32)


@njit(fastmath=FAST | {"nnan"}, nogil=True, cache=True)
def ranked(x, many, values, symbols, total):
    """(M, V) -> the `many` largest of each row (M, K), equals in the order of their places; where
    they stand (M, K); log sum exp (M,).

    The largest of each of many blocks is found first. A block whose largest is less than the K-th
    largest found so far is not looked at again.
    """
    rows, size = x.shape
    blocks = (size + BLOCK - 1) // BLOCK
    most = np.empty(blocks, x.dtype)
    for m in range(rows):
        row, count = x[m], 0
        for block in range(blocks):
            top = row[block * BLOCK]
            for i in range(block * BLOCK, min(size, block * BLOCK + BLOCK)):
                top = max(top, row[i])
            most[block] = top
        for block in range(blocks):
            if count == many and most[block] <= values[m, count - 1]:
                continue
            for i in range(block * BLOCK, min(size, block * BLOCK + BLOCK)):
                if count < many or row[i] > values[m, count - 1]:
                    place = count if count < many else many - 1
                    while place and values[m, place - 1] < row[i]:
                        values[m, place], symbols[m, place] = (
                            values[m, place - 1],
                            symbols[m, place - 1],
                        )
                        place -= 1
                    values[m, place], symbols[m, place] = row[i], i
                    count = min(many, count + 1)
        if total.shape[0]:
            most_of_all, below = values[m, 0], np.float32(0)
            for i in range(size):
                below += exponential(row[i] - most_of_all)
            total[m] = most_of_all + math.log(below)
