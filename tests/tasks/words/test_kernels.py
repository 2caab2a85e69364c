"""The compiled loop of word vectors against a slow twin, and its gradient against differences of the loss."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.tasks.words.models import kernels
from seriatim.tasks.words.models.vectors import Vectors, alias_table, huffman
from seriatim.tasks.words.options import VectorsOptions

WORDS = ["<unk>", "</s>", "the", "cat", "sat", "on", "mat", "dog", "ran", "off"]
COUNTS = np.array([0, 0, 9, 4, 4, 3, 2, 3, 2, 1])


def model_of(kind: str, **options) -> Vectors:
    model = Vectors(len(WORDS), VectorsOptions(width=6, subsample=0.05, **options), kind)
    model.begin(COUNTS, 0)
    rng = np.random.default_rng(1)
    model.inputs[:] = model.inputs.new_tensor(rng.normal(size=model.inputs.shape))
    model.outputs[:] = model.outputs.new_tensor(rng.normal(size=model.outputs.shape))
    return model


def text_of(size: int = 60) -> np.ndarray:
    text = np.random.default_rng(2).integers(2, len(WORDS), size).astype(np.int32)
    text[::13] = kernels.BETWEEN
    return text


def run(model: Vectors, text: np.ndarray, rate: float, learn: bool = True):
    t, o = model.tables(WORDS), model.options
    inputs, outputs, totals, dice = (
        model.inputs.numpy().copy(),
        model.outputs.numpy().copy(),
        np.zeros(3),
        np.array([7], np.uint64),
    )
    kernels.read(
        text,
        0,
        len(text),
        inputs,
        outputs,
        model.number,
        o.window,
        o.dynamic_window,
        t.keep,
        t.part_offsets,
        t.parts,
        t.chance,
        t.other,
        o.negatives if o.output == "negative" else 0,
        t.path_offsets,
        t.nodes,
        t.codes,
        np.float32(rate),
        o.exact,
        learn,
        dice,
        totals,
    )
    return inputs, outputs, totals, dice


def twin(model: Vectors, text: np.ndarray, rate: float):
    """The same in plain Python, a place at a time, with the same throws."""
    t, o, state = model.tables(WORDS), model.options, [7]
    inputs, outputs = (
        model.inputs.numpy().astype(np.float64),
        model.outputs.numpy().astype(np.float64),
    )

    def throw() -> int:
        state[0] = (state[0] * 6364136223846793005 + 1442695040888963407) % 2**64
        return state[0] >> 32

    sequences, current = [], []
    for word in [*text.tolist(), kernels.BETWEEN]:
        if word == kernels.BETWEEN:
            sequences.append(current)
            current = []
        else:
            current.append(word)
    for sequence in sequences:
        kept = [word for word in sequence if t.keep[word] >= 1 or throw() < t.keep[word] * 2.0**32]
        for centre, word in enumerate(kept):
            reach = (
                1 + (throw() * o.window >> 32) if o.dynamic_window and o.window > 1 else o.window
            )
            near = (
                kept[max(0, centre - 1) : centre]
                if model.kind == "predictor"
                else kept[max(0, centre - reach) : centre] + kept[centre + 1 : centre + reach + 1]
            )
            if not near:
                continue
            if o.output == "negative":
                targets, labels = [word], [1.0]
                for _ in range(o.negatives):
                    place = throw() * len(WORDS) >> 32
                    other = place if throw() < t.chance[place] * 2.0**32 else int(t.other[place])
                    if other != word:
                        targets.append(other)
                        labels.append(0.0)
            else:
                way = slice(t.path_offsets[word], t.path_offsets[word + 1])
                targets, labels = t.nodes[way].tolist(), (1 - t.codes[way]).tolist()
            groups = [[each] for each in near] if model.kind == "skip-gram" else [near]
            shares = []  # of each hidden vector: {row of inputs: weight}
            for group in groups:
                share: dict[int, float] = {}
                for each in group:
                    rows = t.parts[t.part_offsets[each] : t.part_offsets[each + 1]].tolist()
                    for row in rows:
                        share[row] = share.get(row, 0) + 1 / (len(rows) * len(group))
                shares.append(share)
            hidden = np.array(
                [sum(weight * inputs[row] for row, weight in share.items()) for share in shares]
            )
            gain = (
                np.array(labels) - 1 / (1 + np.exp(-hidden @ outputs[targets].T))
            ) * rate  # (H, targets)
            error, delta = gain @ outputs[targets], gain.T @ hidden
            for row, change in zip(targets, delta, strict=True):
                outputs[row] += change
            for group, share, change in zip(groups, shares, error, strict=True):
                if o.exact:
                    for row, weight in share.items():
                        inputs[row] += weight * change
                else:
                    for each in group:
                        for row in t.parts[t.part_offsets[each] : t.part_offsets[each + 1]]:
                            inputs[row] += change
    return inputs, outputs, state[0]


VARIANTS = {
    "skip-gram": ("skip-gram", {}),
    "cbow": ("cbow", {}),
    "predictor": ("predictor", {"window": 1}),
    "word2vec's own cbow": ("cbow", {"exact": False}),
    "skip-gram, hierarchical": ("skip-gram", {"output": "hierarchical"}),
    "cbow, hierarchical": ("cbow", {"output": "hierarchical"}),
    "skip-gram, subwords": ("skip-gram", {"subwords": (2, 3), "buckets": 40}),
    "cbow, subwords": ("cbow", {"subwords": (2, 3), "buckets": 40}),
    "skip-gram, fixed window": ("skip-gram", {"dynamic_window": False, "window": 3}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_compiled_loop_is_its_slow_twin(name):
    kind, options = VARIANTS[name]
    model, text = model_of(kind, **options), text_of()
    inputs, outputs, _, dice = run(model, text, 0.1)
    slow_inputs, slow_outputs, state = twin(model, text, 0.1)
    assert int(dice[0]) == state  # the same throws
    assert np.abs(inputs - slow_inputs).max() < 1e-5 and np.abs(outputs - slow_outputs).max() < 1e-5
    assert np.abs(inputs - model.inputs.numpy()).max() > 0.01  # something moved


@pytest.mark.parametrize("name", [name for name in VARIANTS if "own" not in name])
def test_a_step_goes_down_the_gradient_of_the_loss(name):
    kind, options = VARIANTS[name]
    model = model_of(kind, **{"dynamic_window": False, "window": 2, **options, "exact": True})
    model.options = VectorsOptions(**{**vars(model.options), "subsample": 0.0})
    text, tiny = (
        np.array([2, 3], np.int32) if kind == "predictor" else np.array([2, 3, 4], np.int32),
        1e-2,
    )
    inputs, outputs, _, _ = run(model, text, 1e-4)

    def loss() -> float:
        return run(model, text, 0.0, learn=False)[2][0]

    rng = np.random.default_rng(0)
    for ours, moved in ((model.inputs, inputs), (model.outputs, outputs)):
        gradient = (ours.numpy() - moved) / 1e-4  # small steps: the places hardly hear each other
        rows = np.flatnonzero(np.abs(gradient).sum(1) > 1e-3)
        for row in rng.permutation(rows)[:4]:
            k = int(rng.integers(6))
            ours[row, k] += tiny
            above = loss()
            ours[row, k] -= 2 * tiny
            below = loss()
            ours[row, k] += tiny
            assert gradient[row, k] == pytest.approx((above - below) / (2 * tiny), abs=0.02)


def test_alias_tables_draw_each_word_as_often_as_they_should():
    for weights in (COUNTS**0.75, np.ones(7), np.array([0.0, 5.0, 0.0]), np.zeros(4)):
        chance, other = alias_table(weights.astype(float))
        found = chance / len(weights)
        for place, there in enumerate(other):
            found[there] += (1 - chance[place]) / len(weights)
        assert np.allclose(
            found, weights / weights.sum() if weights.sum() else 1 / len(weights), atol=1e-6
        )


def test_a_huffman_tree_gives_frequent_words_short_ways_and_every_word_its_own():
    ways = huffman(COUNTS.astype(float))
    codes = ["".join(str(int(turn)) for turn in way[1]) for way in ways]
    assert len(set(codes)) == len(WORDS) and not any(
        a != b and b.startswith(a) for a in codes for b in codes
    )
    lengths = np.array([len(code) for code in codes])
    assert all(
        lengths[i] <= lengths[j]
        for i in range(len(WORDS))
        for j in range(len(WORDS))
        if COUNTS[i] > COUNTS[j]
    )
    assert all(0 <= node < len(WORDS) - 1 for way in ways for node in way[0])
    assert (2.0**-lengths).sum() == 1  # Kraft: nothing is wasted
