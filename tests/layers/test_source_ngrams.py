"""N-grams around each symbol of a source: which share a row, what they add, how they learn, are kept, and are refused."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.errors import ConfigError
from seriatim.layers.source_ngrams import Grams
from seriatim.models.ladder import create
from seriatim.models.recipe import TrainingOptions
from seriatim.parallel import Workers
from seriatim.training.gradients import add_gradients
from tests.ladder import parts_of as parse
from tests.tasks.translate.test_encoder_decoder import batch_for, made, source_rows, targets

EDGE = 5


def around(row: list[int], place: int, longest: int) -> list[tuple]:
    """The n-grams around a place, written out: how it lies to the place, and its symbols."""
    at = dict(enumerate(row))
    found = []
    for n in range(2, longest + 1):
        for kind, first in (
            ("begins", place),
            ("ends", place - n + 1),
            *([("centred", place - n // 2)] if n % 2 else []),
        ):
            found.append((kind, *(at.get(i, EDGE) for i in range(first, first + n))))
    return found


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in rows], batch_first=True
    ), torch.tensor([len(row) for row in rows])


def counted(
    longest: int, cells: int, rows: list[list[int]], width: int = 8, dropout: float = 0.0
) -> Grams:
    """A table with random vectors for the frequent n-grams of these rows, which come in two parts."""
    layer = Grams(EDGE, longest, cells, width, dropout)
    layer.count([padded(rows[::2]), padded(rows[1::2])])
    torch.nn.init.normal_(layer.table.weight)
    return layer


def random_sources(count: int) -> list[list[int]]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, EDGE, rng.integers(1, 9)).tolist() for _ in range(count)]


@pytest.mark.parametrize("longest", [2, 3, 5])
def test_keys_depend_on_the_n_gram_and_its_place_alone(longest):
    layer, rows, found = Grams(EDGE, longest, 10, 8), random_sources(80), {}
    for row, marks in zip(rows, layer.keys(*padded(rows)).tolist(), strict=True):
        for place in range(len(row)):
            for gram, key in zip(around(row, place, longest), marks[place], strict=True):
                found.setdefault(gram, set()).add(key)
    assert all(
        len(keys) == 1 for keys in found.values()
    )  # the same n-gram, in whatever row, padded or not
    assert len(set.union(*found.values())) == len(found) > 30  # others have others


@pytest.mark.parametrize("cells", [20, 5000])
def test_the_most_frequent_have_a_row_and_what_occurs_once_has_none(cells):
    rows = random_sources(40)
    layer, counts = (
        counted(4, cells, rows),
        Counter(
            gram for row in rows for place in range(len(row)) for gram in around(row, place, 4)
        ),
    )
    x, lengths = padded(rows)
    keys = {
        gram: key
        for row, marks in zip(rows, layer.keys(x, lengths).tolist(), strict=True)
        for place in range(len(row))
        for gram, key in zip(around(row, place, 4), marks[place], strict=True)
    }
    known = [gram for gram in counts if keys[gram] in layer.known.tolist()]
    wanted = [count for _, count in counts.most_common(cells) if count > 1]
    assert sorted((counts[gram] for gram in known), reverse=True) == wanted and 0 < len(
        known
    ) < len(counts)


def test_a_place_is_told_the_sum_of_what_is_known_around_it():
    rows = random_sources(40)
    layer, (x, lengths) = counted(4, 50, rows).eval(), padded(rows)
    keys, known = layer.keys(x, lengths), layer.known.tolist()
    by_hand = torch.zeros(*x.shape, 8)
    for row, place, k in np.ndindex(*keys.shape):
        if int(keys[row, place, k]) in known:
            by_hand[row, place] += layer.table.weight[
                known.index(int(keys[row, place, k]))
            ].detach()
    assert torch.allclose(layer(x, lengths), by_hand, atol=1e-5) and by_hand.abs().sum() > 0


def test_nothing_is_heard_before_anything_was_counted():
    assert not Grams(EDGE, 3, 9, 8)(*padded(random_sources(5))).any()


def test_some_are_not_heard_in_training_and_the_mean_stays():
    rows = random_sources(2)
    layer, (x, lengths) = counted(3, 97, rows * 2, dropout=0.5), padded(rows)
    with torch.no_grad():
        heard = torch.stack([layer.train()(x, lengths) for _ in range(3000)])
        expected = layer.eval()(x, lengths)
        assert heard.std(0)[0, 0].min() > 0.1 and torch.allclose(heard.mean(0), expected, atol=0.25)


def test_gradients_of_parts_side_by_side_are_those_of_the_whole():
    model, batch = (
        made("lstm, n-grams", dropout=0.0, source_ngrams_dropout=0.0),
        batch_for("lstm, n-grams", source_rows(), targets(6, 5)),
    )
    model.source_ngrams.count([(batch.x, batch.x_lengths)] * 2)
    torch.nn.init.normal_(model.source_ngrams.table.weight)
    found = []
    for parts in (1, 2):
        model.zero_grad()
        with Workers(parts) as workers:
            add_gradients(
                lambda rows: model.loss(rows)[0],
                batch,
                list(model.parameters()),
                parts,
                workers,
                nullcontext,
            )
        found.append(model.source_ngrams.table.weight.grad.to_dense().clone())
    assert torch.allclose(*found, atol=1e-6) and found[0].abs().sum() > 0


def test_n_grams_tell_what_an_encoder_that_hears_nothing_cannot_know(tmp_path):
    """Each symbol of the target is the sum of two neighbours in the source, and nothing but the n-grams brings them together."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 4, 5) for _ in range(900)]
    pairs = [
        (" ".join(map(str, row)), " ".join(str(each) for each in (row[:-1] + row[1:]) % 4))
        for row in rows
    ]
    (tmp_path / "pairs.tsv").write_text(
        "source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in pairs)
    )
    train, test = st.read(str(tmp_path / "pairs.tsv")).split(0.9, 0.1)
    blind = {
        "unit": "token",
        "target_unit": "token",
        "encoder_mixer": "none",
        "width": 16,
        "heads": 1,
        "updates": 250,
        "rows": 16,
        "rate": 0.01,
        "dropout": 0.0,
    }
    plain = st.fit("translate", "transformer", train, positions="none", layers=1, **blind)
    told = st.fit(
        "translate",
        "transformer",
        train,
        positions="none",
        layers=1,
        out=tmp_path / "run",
        source_ngrams=2,
        cells=512,
        source_ngrams_dropout=0.0,
        **blind,
    )
    found = told.evaluate(test)["nats_per_token"]
    assert found < plain.evaluate(test)["nats_per_token"] - 0.1
    assert st.load(tmp_path / "run").evaluate(test)["nats_per_token"] == found


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cells": 9}, "Received: cells=9"),
        ({"source_ngrams_dropout": 0.1}, "Add source_ngrams=6"),
        ({"source_ngrams": 1}, "two symbols or more"),
        ({"source_ngrams": 3, "bidirectional": False}, "look ahead"),
        ({"source_ngrams": 3, "cells": 1 << 27}, "cells=2097152 or fewer"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ConfigError, match=words):
        create(parse("lstm", settings, "translate"), 20, 20, 0, False)


def test_numbers_have_no_n_grams():
    with pytest.raises(ConfigError, match="sources of numbers"):
        create(parse("lstm", {"source_ngrams": 3}, "translate"), 20, 0, 3, False)


def test_a_table_cannot_learn_by_sgd():
    from seriatim.training.optimisers import make_optimiser

    with pytest.raises(ConfigError, match="source_ngrams="):
        make_optimiser(made("lstm, n-grams"), TrainingOptions(optimiser="sgd"))
