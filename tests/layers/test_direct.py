"""Direct connections: which n-grams share a row, what they add, how they learn and are kept."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.errors import ConfigError
from seriatim.layers.direct import Votes
from seriatim.models.ladder import create
from tests.ladder import parts_of as parse
from tests.ladder import random_rows, small_model


def test_cells_depend_on_the_last_symbols_alone_and_on_each_of_them():
    votes, seen = (
        Votes(7, 3, 100_003),
        torch.randint(7, (200, 9), generator=torch.Generator().manual_seed(0)),
    )
    cells = votes.cells(torch.cat([votes.empty(200), seen], 1))  # (200, 9, 3)
    by_context: dict[tuple, set] = {}
    for row, marks in zip(seen.tolist(), cells.tolist(), strict=True):
        row = [7, 7, *row]
        for t, mark in enumerate(marks):
            for n in range(3):
                by_context.setdefault(tuple(row[t + 2 - n : t + 3]), set()).add(mark[n])
    assert all(
        len(each) == 1 for each in by_context.values()
    )  # the same n-gram, wherever it stands
    assert (
        len(set.union(*by_context.values())) > 0.99 * len(by_context) > 400
    )  # others elsewhere, but for chance


def test_logits_are_those_of_the_network_and_the_sum_of_the_votes():
    model, y = small_model("lstm, direct"), random_rows(2, 5)
    hidden, _ = model.run(y, model.empty(2))
    network, _ = model.through(model.embed(y), model.resting(2))
    table, seen = model.votes.table.weight, torch.cat([model.votes.empty(2), y], 1)
    by_hand = model.read(network).logits + torch.stack(
        [table[cells].sum(1) for cells in model.votes.cells(seen)]
    )
    assert torch.allclose(model.read(hidden).logits, by_hand, atol=1e-5)


def test_votes_learn_what_a_network_too_small_cannot(tmp_path):
    text = "".join(np.random.default_rng(0).permutation(list("abcdefghijklmnop"))) * 400
    narrow = {"width": 2, "updates": 60, "rows": 4, "length": 16, "rate": 0.02}
    train, test = (st.Sequences.of([each], by="stream") for each in (text, text[:800]))
    alone = st.fit("language", "rnn", train, **narrow)
    voted = st.fit("language", "rnn", train, out=tmp_path / "2", direct=2, cells=512, **narrow)
    found = voted.evaluate(test)["nats_per_token"]
    assert found < 0.2 < 1 < alone.evaluate(test)["nats_per_token"]
    assert st.load(tmp_path / "2").evaluate(test)["nats_per_token"] == found


def test_a_table_for_many_words_is_refused():
    with pytest.raises(ConfigError, match="cells=13421 or fewer"):
        create(parse("lstm", {"direct": 3, "cells": 1 << 18}), 10_000)


def test_settings_of_votes_without_votes_are_refused():
    with pytest.raises(ConfigError, match="Received: cells=9"):
        create(parse("lstm", {"cells": 9, "width": 8}), 20)


@pytest.mark.parametrize(
    ("model", "vocabulary", "settings", "votes"),
    [
        ("lstm", 67, {}, True),
        ("gru", 258, {"width": 128}, True),
        ("lstm", 67, {"direct": 0}, False),
        ("lstm", 67, {"width": 96}, False),
        ("lstm", 5000, {}, False),
        ("rnn", 67, {}, False),
    ],
)
def test_votes_stand_beside_gates_unless_something_else_is_asked_for(
    model, vocabulary, settings, votes
):
    made = create(parse(model, settings), vocabulary)
    assert hasattr(made, "votes") == votes
    if votes:
        assert made.votes.reach == 8
        assert made.votes.table.weight.numel() <= 1 << 24
