"""What labels need beside the stack of language models: each part against torch's own or a slow twin, on rows of different lengths."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seriatim.codecs.options import CodecOptions
from seriatim.errors import ConfigError
from seriatim.layers.attention import Attention
from seriatim.layers.bidirectional import Both, turned
from seriatim.layers.convolution import Convolution
from seriatim.layers.letters import Letters, affixes
from seriatim.layers.pool import Pool
from seriatim.layers.positions import Places, rotate, turn
from seriatim.layers.recurrent import Recurrent
from seriatim.tasks.labels.codec import LabelCodec, of_examples
from tests.labels import labelled, sentences, tagged

B, T, D = 5, 9, 8
LENGTHS = torch.tensor([9, 1, 4, 2, 7])
KERNELS = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


def inputs(seed: int = 1) -> torch.Tensor:
    return torch.randn(B, T, D, generator=torch.Generator().manual_seed(seed))


def real(lengths: torch.Tensor = LENGTHS) -> torch.Tensor:
    return torch.arange(T) < lengths[:, None]


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b, atol=1e-5, rtol=0))


def with_other_padding(x: torch.Tensor) -> torch.Tensor:
    return torch.where(real()[..., None], x, inputs(seed=2))


# Recurrence both ways


@torch.no_grad()
@pytest.mark.parametrize("cell", KERNELS)
def test_both_ways_is_torchs_own_on_packed_rows(cell):
    torch.manual_seed(0)
    mixer, twin, x = (
        Both(D, lambda half, inputs: Recurrent(cell, half, inputs=inputs)),
        KERNELS[cell](D, D // 2, batch_first=True, bidirectional=True),
        inputs(),
    )
    for name, value in mixer.onward.cell.named_parameters():
        getattr(twin, name).copy_(value)
        getattr(twin, f"{name}_reverse").copy_(dict(mixer.backward.cell.named_parameters())[name])
    packed, _ = twin(pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))
    expected = pad_packed_sequence(packed, batch_first=True)[0]
    y, _ = mixer(x, mixer.empty(B), LENGTHS)
    assert y.shape == (B, T, D) and close(y[real()], expected[real()])


@torch.no_grad()
@pytest.mark.parametrize(
    "cell, activation",
    [("coupled", "tanh"), ("gru-before", "tanh"), ("rnn", "sigmoid"), ("rnn", "relu")],
)
def test_both_ways_is_one_recurrence_on_a_row_and_one_on_the_row_turned_round(cell, activation):
    one = lambda half, inputs: Recurrent(cell, half, activation, "uniform", inputs=inputs)
    mixer, x = Both(D, one), inputs()
    y, _ = mixer(x, mixer.empty(B), LENGTHS)
    for row, length in enumerate(LENGTHS):
        alone = x[row : row + 1, :length]
        onward, _ = mixer.onward(alone, mixer.onward.empty(1))
        backward, _ = mixer.backward(alone.flip(1), mixer.backward.empty(1))
        assert close(y[row, :length], torch.cat([onward, backward.flip(1)], -1)[0])


def test_turning_round_twice_changes_nothing_and_padding_stays_where_it_is():
    turn = turned(6, torch.tensor([6, 1, 3]))
    assert turn.tolist() == [[5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5], [2, 1, 0, 3, 4, 5]]
    assert torch.equal(turn.gather(1, turn), torch.arange(6).expand(3, -1))


def test_an_odd_width_has_no_two_halves():
    with pytest.raises(ConfigError, match="width 7"):
        Both(7, lambda half, inputs: Recurrent("lstm", half, inputs=inputs))


@torch.no_grad()
def test_inputs_of_a_recurrence_may_have_another_size_than_its_outputs():
    for cell in (*KERNELS, "coupled"):
        mixer = Recurrent(cell, 3, inputs=D)
        y, _ = mixer(inputs(), mixer.empty(B), LENGTHS)
        assert (
            y.shape == (B, T, 3)
            and mixer.cell.weight_ih_l0.shape[1] == D
            and mixer.cell.weight_hh_l0.shape[1] == 3
        )


# Centred convolution


@torch.no_grad()
@pytest.mark.parametrize(
    "kernel, dilation, gated",
    [
        (3, 1, True),
        (3, 2, False),
        (5, 1, True),
        (2, 1, False),
        (4, 2, True),
        (1, 1, True),
        (31, 1, False),
    ],
)
def test_a_centred_convolution_is_its_sum_over_the_row_alone(kernel, dilation, gated):
    mixer, x = Convolution(D, kernel, dilation, gated, "relu", centred=True), inputs()
    y, state = mixer(x, mixer.empty(B), LENGTHS)
    before = (kernel - 1) * dilation // 2
    for row, length in enumerate(LENGTHS):
        for t in range(length):
            places = [t - before + k * dilation for k in range(kernel)]
            z = mixer.weights.bias + sum(
                mixer.weights.weight[:, :, k] @ x[row, place]
                for k, place in enumerate(places)
                if 0 <= place < length
            )
            assert close(y[row, t], z[:D] * z[D:].sigmoid() if gated else z.relu())
    assert torch.equal(state, mixer.empty(B))


@torch.no_grad()
def test_without_lengths_all_rows_are_whole():
    mixer, x = Convolution(D, 3, 1, centred=True), inputs()
    assert torch.equal(
        mixer(x, mixer.empty(B))[0], mixer(x, mixer.empty(B), torch.full((B,), T))[0]
    )


# Pooling


def pooled_slowly(pool: Pool, x: torch.Tensor) -> torch.Tensor:
    """(L, D), the vectors of one row -> (D,)."""
    if not len(x):
        return torch.zeros(D)
    if pool.kind == "attention":
        w, _, u = pool.asked
        scores = torch.stack(
            [(u.weight @ torch.tanh(w.weight @ each + w.bias))[0] for each in x]
        ).exp()
        return sum(score / scores.sum() * each for score, each in zip(scores, x, strict=True))
    if pool.kind in ("last", "unit") and pool.bidirectional:
        return torch.cat([x[-1, : D // 2], x[0, D // 2 :]])
    return (
        sum(x) / len(x)
        if pool.kind == "mean"
        else torch.stack([max(column) for column in x.T])
        if pool.kind == "max"
        else x[-1]
    )


@torch.no_grad()
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["last", "mean", "max", "attention", "unit"])
def test_every_pool_is_its_definition_row_by_row(kind, both):
    torch.manual_seed(0)
    pool, lengths = Pool(kind, D, both), torch.tensor([9, 1, 0, 4, 0])
    y = pool(
        inputs() - 3, lengths
    )  # mostly below zero, so that padding taken for a zero would be the largest
    assert close(
        y,
        torch.stack(
            [
                pooled_slowly(pool, x[:length])
                for x, length in zip(inputs() - 3, lengths, strict=True)
            ]
        ),
    )
    assert not y[lengths == 0].any()


@torch.no_grad()
def test_the_weights_of_a_pool_by_attention_are_shares_of_the_real_positions():
    pool, lengths = Pool("attention", D, False), torch.tensor([9, 1, 0, 4, 2])
    weights = pool.weights(inputs(), lengths)
    assert (
        close(weights.sum(1), (lengths > 0).float())
        and not weights[~real(lengths)].any()
        and (weights[real(lengths)] > 0).all()
    )


@pytest.mark.parametrize("kind", ["last", "mean", "max", "attention", "unit"])
def test_gradients_of_a_pool_are_numbers_also_for_rows_of_nothing(kind):
    x = inputs().requires_grad_()
    Pool(kind, D, False)(x, torch.tensor([9, 1, 0, 4, 0])).sum().backward()
    assert x.grad.isfinite().all() and not x.grad[2].any() and x.grad[0].any()


# Letters


@torch.no_grad()
@pytest.mark.parametrize("kind", ["convolution", "lstm"])
def test_a_word_says_the_same_alone_and_beside_longer_words(kind):
    torch.manual_seed(0)
    part, words = Letters(kind, 12, 6), [[3, 4, 5], [7], [], [2, 3, 4, 5, 6, 7, 8, 9]]
    together = part(torch.tensor([word + [0] * (10 - len(word)) for word in words]))
    assert together.shape == (4, 6)
    for word, found in zip(words, together, strict=True):
        assert close(part(torch.tensor([word or [0]]))[0], found)
    assert len({tuple(row) for row in together.tolist()}) == 4


@torch.no_grad()
def test_letters_by_convolution_are_the_largest_answers_between_begin_and_end():
    part, word = Letters("convolution", 12, 6), [3, 4, 5]
    table, weights = part.embedding.weight, part.mixer.weights
    framed = torch.cat(
        [torch.zeros(1, 6), table[[12, *word, 13]], torch.zeros(1, 6)]
    )  # begin, letters, end, nothing around
    answers = [
        sum(weights.weight[:, :, k] @ framed[t + k] for k in range(3)) + weights.bias
        for t in range(5)
    ]
    assert close(part(torch.tensor([word]))[0], torch.stack(answers).relu().amax(0))


@torch.no_grad()
def test_letters_by_recurrence_are_the_last_states_of_both_ways():
    part, word = Letters("lstm", 12, 6), [3, 4, 5]
    framed = part.embedding.weight[[12, *word, 13]][None]
    onward, backward = part.mixer.onward, part.mixer.backward
    expected = torch.cat(
        [onward(framed, onward.empty(1))[1][0], backward(framed.flip(1), backward.empty(1))[1][0]],
        -1,
    )
    assert close(part(torch.tensor([word])), expected)


def test_affixes_are_looked_up_by_the_first_and_the_last_letters_alone():
    words = torch.tensor(
        [[2, 3, 4, 5, 6, 7, 8], [9, 9, 9, 9, 6, 7, 8], [6, 7, 8, 0, 0, 0, 0], [0] * 7]
    )
    lengths = (words > 0).sum(1)
    rows = affixes(words, lengths)  # (4, 8)
    first, other, short, nothing = rows.tolist()
    assert (
        first[4:7] == other[4:7] == short[4:7] and first[7] != other[7]
    )  # the last three letters are the same, the last four are not
    assert not set(first[:4]) & set(other[:4]) and len(set(first)) == 8
    assert (
        short[2] == short[3] and short[6] == short[7] and short[2] != short[6]
    )  # a short word is its own longest affix, at both ends
    assert (
        affixes(words[:1, :], lengths[:1]).tolist()
        == [first]
        == affixes(torch.nn.functional.pad(words[:1], (0, 5)), lengths[:1]).tolist()
    )
    assert len(set(nothing)) == 2
    part = Letters("affixes", 12, 6)
    plain = part(words)
    part.affixes.weight.data[first[6]] += 1  # the row of the last three letters
    assert torch.allclose((part(words) - plain).mean(1), torch.tensor([1.0, 1.0, 2.0, 0.0]))


def test_a_batch_holds_each_of_its_words_once_and_padding_is_a_word_without_letters():
    data = labelled(
        [("a", "to be or not to be"), ("b", ""), ("a", "be incomprehensible"), ("b", "or")]
    )
    codec = LabelCodec.fit(data, CodecOptions(unit="word"), "label")
    batch = of_examples(codec.encode(data), np.array([0, 1, 3]))
    assert (
        batch.letters.shape == (5, 3)
        and not batch.letters[0].any()
        and len(batch.letters.unique(dim=0)) == 5
    )
    assert batch.words.tolist() == [
        [
            batch.words[0, 0],
            batch.words[0, 1],
            batch.words[0, 2],
            batch.words[0, 3],
            batch.words[0, 0],
            batch.words[0, 1],
        ],
        [0] * 6,
        [batch.words[0, 2]] + [0] * 5,
    ]
    assert (batch.letters[batch.words[0]] > 0).sum(1).tolist() == [2, 2, 2, 3, 2, 2]
    assert batch.x_lengths.tolist() == [6, 0, 1] and batch.y.tolist() == [[0], [1], [1]]


def test_a_batch_of_nothing_is_one_place_wide_and_nothing_counts():
    codec = LabelCodec.fit(sentences(20), CodecOptions(unit="token"), "tags")
    batch = of_examples(codec.encode(tagged([[], []], [[], []])), np.arange(2))
    assert (
        batch.x.shape == batch.y.shape == batch.words.shape == (2, 1)
        and not batch.y_mask.any()
        and batch.x_lengths.tolist() == [0, 0]
    )


# Attention over whole sequences


def heard(mixer: Attention, places: Places, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    x, frame = places.whole(x, lengths)
    return mixer(x, mixer.empty(len(x)), lengths, frame)[0]


@torch.no_grad()
@pytest.mark.parametrize("score", ["scaled", "mlp"])
@pytest.mark.parametrize("context", [1, 3, 64])
def test_attention_to_both_sides_is_a_weighted_mean_of_the_row_alone(context, score):
    torch.manual_seed(0)
    mixer, places, x, heads = (
        Attention(D, 2, score),
        Places("rotary", D, D // 2, context),
        inputs(),
        2,
    )
    y = heard(mixer, places, x, LENGTHS)
    for row, length in enumerate(LENGTHS):
        q, k, v = (
            each.view(length, heads, D // heads).transpose(0, 1)
            for each in mixer.inward(x[row, :length]).chunk(3, -1)
        )  # (H, L, E)
        q, k = (rotate(each[None], turn(torch.arange(length)[None], D // heads)) for each in (q, k))
        fits = mixer.scores(q, k, torch.ones(length, length, dtype=torch.bool))[0]  # (H, L, L)
        for t in range(length):
            window = slice(max(0, t - context + 1), t + context)
            weights = torch.softmax(fits[:, t, window], -1)
            assert close(
                y[row, t],
                mixer.outward(torch.einsum("hs,hse->he", weights, v[:, window]).flatten()),
            )
    assert y.isfinite().all() and close(
        heard(mixer, places, with_other_padding(x), LENGTHS)[real()], y[real()]
    )


@pytest.mark.parametrize("context", [1, 3, 64])
def test_who_may_hear_whom(context):
    _, frame = Places("none", D, D // 2, context).whole(inputs(), LENGTHS)
    allowed = [
        [[(abs(t - s) < context and s < length) or t == s for s in range(T)] for t in range(T)]
        for length in LENGTHS
    ]
    assert frame.mask[:, 0].tolist() == allowed and frame.turn is None


@torch.no_grad()
@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "none", "rotary"])
def test_places_are_told_as_in_a_text_that_goes_on(kind):
    places, x = Places(kind, D, D // 2, 64), inputs()
    told, frame = places.whole(x, LENGTHS)
    onward, _, other = places(x, places.empty(B))
    assert torch.equal(told, onward) and torch.equal(told, x) == (kind in ("none", "rotary"))
    assert (frame.turn is None) == (kind != "rotary") and (
        kind != "rotary" or all(map(torch.equal, frame.turn, other.turn))
    )


def test_a_sequence_longer_than_the_table_of_places_is_refused():
    with pytest.raises(ConfigError, match="8 learned positions"):
        Places("learned", D, D // 2, 8).whole(inputs(), LENGTHS)
