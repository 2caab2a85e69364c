"""The inner loop of word vectors, compiled when it is first used (numba keeps the result on disk).

One step looks at a place of the text. Vectors of the words around it are read into hidden vectors h
(skip-gram: one for each word around; cbow: their mean; predictor: the word before), which are
compared with a few output vectors u: of the word that stands there and of some drawn at random
(negative sampling), or those on its way from the root of a Huffman tree (hierarchical softmax).

    loss = - sum_ij  log sigmoid(s_ij h_i . u_j),    s_ij = +1 for what is there, -1 for what is not
    dh_i = sum_j g_ij u_j,   du_j = sum_i g_ij h_i,   g_ij = label_j - sigmoid(h_i . u_j)

All of a place's gradients are found before anything is changed, so that each step is the exact
gradient of the loss of its place. Shapes: V words, D width, N symbols of text.
"""

from __future__ import annotations

import numpy as np

from seriatim.compiling import njit

SKIP_GRAM, CBOW, PREDICTOR = 0, 1, 2


BETWEEN = -1  # stands between two sequences of the text: no window reaches across it


@njit(nogil=True, inline="always")
def throw(dice):
    """A random number of 32 bits; `dice` (1,) uint64 is the generator's state."""
    dice[0] = dice[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return dice[0] >> np.uint64(32)


@njit(nogil=True, inline="always")
def drawn(dice, chance, other):
    """A word with the frequency that the alias table says (Vose 1991): (V,) chance to stay, (V,)
    where to go otherwise."""
    place = np.int64((throw(dice) * np.uint64(len(chance))) >> np.uint64(32))
    return (
        place
        if np.float32(throw(dice)) < chance[place] * np.float32(4294967296.0)
        else np.int64(other[place])
    )


@njit(nogil=True, inline="always")
def staying(text, place, end, keep, dice, kept):
    """The words of the sequence from `place` on that stay in the text: fills `kept`, returns where
    the next sequence begins and how many stay."""
    count = 0
    while place < end and text[place] != BETWEEN:
        word = text[place]
        place += 1
        if keep[word] >= 1.0 or np.float32(throw(dice)) < keep[word] * np.float32(4294967296.0):
            kept[count] = word
            count += 1
    return place + 1, count


@njit(nogil=True, inline="always")
def reach_of(window, dynamic_window, dice):
    """How far this window reaches."""
    if dynamic_window and window > 1:
        return 1 + np.int64((throw(dice) * np.uint64(window)) >> np.uint64(32))
    return window


@njit(nogil=True, inline="always")
def words_around(kept, count, centre, kind, reach, near):
    """The words that are read at a place, of those that stay: fills `near`, returns how many."""
    around = 0
    if kind == PREDICTOR:
        if centre:
            near[0], around = kept[centre - 1], 1
    else:
        for i in range(max(0, centre - reach), min(count, centre + reach + 1)):
            if i != centre:
                near[around] = kept[i]
                around += 1
    return around


@njit(nogil=True, inline="always")
def rows_to_compare(
    word, negatives, dice, chance, other, path_offsets, path_nodes, path_codes, target, label
):
    """Which rows of `outputs` stand against a word: it and some drawn at random, or its way through
    the tree. Fills `target` and `label`, returns how many."""
    many = 0
    if negatives:
        target[0], label[0], many = word, 1.0, 1
        for _ in range(negatives):
            other_word = drawn(dice, chance, other)
            if other_word != word:
                target[many], label[many] = other_word, 0.0
                many += 1
    else:
        for i in range(path_offsets[word], path_offsets[word + 1]):
            target[many], label[many] = path_nodes[i], 1.0 - path_codes[i]
            many += 1
    return many


@njit(nogil=True, inline="always")
def share_of(kind, pieces, around):
    """What one part of a word counts for in its hidden vector, which is a mean."""
    return np.float32(1.0 / pieces) if kind == SKIP_GRAM else np.float32(1.0 / (pieces * around))


@njit(nogil=True, inline="always")
def hide(near, around, kind, part_offsets, parts, inputs, hidden, error):
    """The hidden vectors, the mean of the parts of each word around or of all of them: fills
    `hidden`, empties `error`, returns how many there are."""
    width = inputs.shape[1]
    vectors = around if kind == SKIP_GRAM else 1
    for i in range(vectors):
        hidden[i, :] = 0.0
        error[i, :] = 0.0
    for i in range(around):
        row = i if kind == SKIP_GRAM else 0
        share = share_of(kind, part_offsets[near[i] + 1] - part_offsets[near[i]], around)
        for j in range(part_offsets[near[i]], part_offsets[near[i] + 1]):
            source = parts[j]
            for k in range(width):
                hidden[row, k] += share * inputs[source, k]
    return vectors


@njit(nogil=True, inline="always")
def compare(
    hidden, vectors, outputs, target, label, many, rate, looked, learn, error, delta, totals
):
    """Every hidden vector against every row: adds the loss to `totals` if it is looked at, and
    fills `error` (changes of the hidden vectors) and `delta` (of the rows) if there is to be
    learned."""
    width = outputs.shape[1]
    for j in range(many):
        delta[j, :] = 0.0
    for i in range(vectors):
        for j in range(many):
            row = target[j]
            fit = np.float32(0.0)
            for k in range(width):
                fit += hidden[i, k] * outputs[row, k]
            if looked:
                signed = fit if label[j] > 0.5 else -fit
                totals[0] += np.log1p(np.exp(-signed)) if signed > -30.0 else -signed
                totals[1] += 1.0
            if learn:
                gain = (label[j] - np.float32(1.0) / (np.float32(1.0) + np.exp(-fit))) * rate
                for k in range(width):
                    error[i, k] += gain * outputs[row, k]
                    delta[j, k] += gain * hidden[i, k]


@njit(nogil=True, inline="always")
def change(
    near, around, kind, part_offsets, parts, inputs, outputs, target, many, error, delta, exact
):
    """Move the rows that were compared, and the parts of the words around: with `exact` each by its
    share, otherwise, as word2vec does, each by all of it."""
    width = inputs.shape[1]
    for j in range(many):
        row = target[j]
        for k in range(width):
            outputs[row, k] += delta[j, k]
    for i in range(around):
        row = i if kind == SKIP_GRAM else 0
        share = np.float32(1.0)
        if exact:
            share = share_of(kind, part_offsets[near[i] + 1] - part_offsets[near[i]], around)
        for j in range(part_offsets[near[i]], part_offsets[near[i] + 1]):
            source = parts[j]
            for k in range(width):
                inputs[source, k] += share * error[row, k]


@njit(nogil=True, fastmath=True, cache=True)
def read(
    text,
    begin,
    end,
    inputs,
    outputs,
    kind,
    window,
    dynamic_window,
    keep,
    part_offsets,
    parts,
    chance,
    other,
    negatives,
    path_offsets,
    path_nodes,
    path_codes,
    rate,
    exact,
    learn,
    dice,
    totals,
):
    """Go through text[begin:end] and move `inputs` (rows, D) and `outputs` (rows, D) at each place.
    keep (V,) chance of each word to stay in the text; parts: rows of `inputs` of each word (itself,
    its pieces); totals (3,) float64: loss, comparisons, places; of every 16th place only. With
    `learn` false nothing is changed and the loss is that of all places."""
    width, longest = inputs.shape[1], 1 + negatives
    for v in range(len(path_offsets) - 1):
        longest = max(longest, path_offsets[v + 1] - path_offsets[v])
    hidden = np.zeros((2 * window, width), np.float32)
    error = np.zeros((2 * window, width), np.float32)
    delta = np.zeros((longest, width), np.float32)
    target, label = np.zeros(longest, np.int64), np.zeros(longest, np.float32)
    kept, near = np.zeros(end - begin, np.int32), np.zeros(2 * window, np.int32)
    place, step = begin, 0
    while place < end:
        place, count = staying(text, place, end, keep, dice, kept)
        for centre in range(count):
            reach = reach_of(window, dynamic_window, dice)
            around = words_around(kept, count, centre, kind, reach, near)
            if around == 0:
                continue
            word, looked, step = kept[centre], not learn or (step & 15) == 0, step + 1
            many = rows_to_compare(
                word, negatives, dice, chance, other,
                path_offsets, path_nodes, path_codes, target, label,
            )  # fmt: skip
            vectors = hide(near, around, kind, part_offsets, parts, inputs, hidden, error)
            compare(
                hidden, vectors, outputs, target, label, many,
                rate, looked, learn, error, delta, totals,
            )  # fmt: skip
            totals[2] += looked
            if learn:
                change(
                    near, around, kind, part_offsets, parts,
                    inputs, outputs, target, many, error, delta, exact,
                )  # fmt: skip


@njit(nogil=True, cache=True)
def together(text, begin, end, window, words, keys, weights):
    """Which words of text[begin:end] stand together: fills keys (first * words + second, the
    smaller number first) and weights (one over their distance), and returns how many. `keys` and
    `weights` must have room for (end - begin) * window."""
    found = 0
    for place in range(begin, end):
        if text[place] == BETWEEN:
            continue
        for distance in range(1, window + 1):
            other = place - distance
            if other < 0 or text[other] == BETWEEN:
                break
            low, high = min(text[place], text[other]), max(text[place], text[other])
            keys[found] = np.int64(low) * words + high
            weights[found] = (
                np.float32(2.0 if low == high else 1.0) / distance
            )  # beside itself it stands on both sides
            found += 1
    return found


@njit(nogil=True, fastmath=True, cache=True)
def weigh(
    first,
    second,
    weight,
    order,
    begin,
    end,
    inputs,
    outputs,
    sums,
    most,
    power,
    rate,
    learn,
    totals,
):
    """GloVe: for the pairs order[begin:end], one step down f(x) (w_i . u_j + b_i + c_j - log x)^2
    each way, by AdaGrad.

    inputs, outputs (V, D + 1): the last column is the bias; sums (2, V, D + 1): squares of past
    gradients, from 1.
    """
    width = inputs.shape[1] - 1
    for n in range(begin, end):
        pair = order[n]
        for way in range(2):
            i, j = (first[pair], second[pair]) if way == 0 else (second[pair], first[pair])
            miss = inputs[i, width] + outputs[j, width] - np.log(weight[pair])
            for k in range(width):
                miss += inputs[i, k] * outputs[j, k]
            trust = np.float32(1.0) if weight[pair] >= most else (weight[pair] / most) ** power
            totals[0] += 0.5 * trust * miss * miss
            totals[1] += 1.0
            totals[2] += 1.0
            if learn:
                gain = min(np.float32(100.0), max(np.float32(-100.0), trust * miss))
                for k in range(width + 1):
                    down_in = gain * (outputs[j, k] if k < width else np.float32(1.0))
                    down_out = gain * (inputs[i, k] if k < width else np.float32(1.0))
                    inputs[i, k] -= rate * down_in / np.sqrt(sums[0, i, k])
                    outputs[j, k] -= rate * down_out / np.sqrt(sums[1, j, k])
                    sums[0, i, k] += down_in * down_in
                    sums[1, j, k] += down_out * down_out
            if i == j:
                break


@njit(nogil=True, cache=True)
def windows(text, begin, end, kind, window, dynamic_window, keep, dice, centres, members, owners):
    """The places of text[begin:end] without learning from them, by the same throws as `read`: fills
    centres (places,) with the word there, and members and owners (up to 2 * window a place) with
    the words around and the number of their place. Returns how many of each."""
    kept = np.zeros(end - begin, np.int32)
    places = many = 0
    place = begin
    while place < end:
        place, count = staying(text, place, end, keep, dice, kept)
        for centre in range(count):
            reach = reach_of(window, dynamic_window, dice)
            low, high = (
                (max(0, centre - 1), centre)
                if kind == PREDICTOR
                else (max(0, centre - reach), min(count, centre + reach + 1))
            )
            before = many
            for i in range(low, high):
                if i != centre:
                    members[many], owners[many] = kept[i], places
                    many += 1
            if many > before:
                centres[places] = kept[centre]
                places += 1
    return places, many
