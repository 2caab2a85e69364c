"""Gradients of parts side by side are those of the whole."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.batches import Batch
from seriatim.layers.dropout import dropout
from seriatim.layers.randomness import drawn_from
from seriatim.models.ladder import create
from seriatim.parallel import Workers
from seriatim.training.gradients import add_gradients
from tests.ladder import parts_of as parse


def batch_of(rows: int) -> Batch:
    dice = np.random.default_rng(0)
    x, y = (torch.from_numpy(dice.integers(2, 12, (rows, 6))) for _ in range(2))
    lengths = torch.from_numpy(dice.integers(1, 7, rows))
    return Batch(x, lengths, y, torch.arange(6) < lengths.flip(0)[:, None])


def gradients(
    name: str, parts: int, dropped: float, rows: int = 7, **changes
) -> tuple[float, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    model = create(
        parse(name, {"width": 8, "heads": 2, "dropout": dropped} | changes, "translate"),
        12,
        12,
        0,
        False,
    ).train()
    batch, model.spent = batch_of(rows), 1.0
    if parts == 0:
        loss = model.loss(batch, None, 0.1)[0]
        loss.backward()
        value = loss.item()
    else:
        with Workers(parts) as workers:
            value = add_gradients(
                lambda some: model.loss(some, None, 0.1)[0],
                batch,
                list(model.parameters()),
                parts,
                workers,
                nullcontext,
            )
    return value, {name: each.grad for name, each in model.named_parameters()}


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("name", ["gru", "transformer"])
def test_parts_add_up_to_the_whole(name, parts):
    threads = torch.get_num_threads()
    (value, found), (whole, wanted) = gradients(name, parts, 0.0), gradients(name, 0, 0.0)
    assert value == pytest.approx(whole, abs=1e-5) and torch.get_num_threads() == threads
    for each, gradient in wanted.items():
        assert torch.allclose(found[each], gradient, atol=1e-5), each


@pytest.mark.parametrize("changes", [{"dropout": 0.3}, {"scheduled_sampling": 0.5}], ids=str)
def test_whoever_is_first_the_bits_are_the_same(changes):
    dropped = changes.pop("dropout", 0.0)
    (value, found), (again, same) = (
        gradients("gru", 3, dropped, rows=30, **changes) for _ in range(2)
    )
    assert value == again and all(torch.equal(found[each], same[each]) for each in found)


def test_weights_that_are_left_out_are_left_out_for_all():
    assert not create(
        parse("gru", {"width": 8, "heads": 2, "weight_dropout": 0.3}, "translate"), 12, 12, 0, False
    ).divisible


def test_layers_draw_from_the_generator_of_their_context():
    x = torch.ones(1000)
    with drawn_from(torch.Generator().manual_seed(5)):
        first = dropout(x, 0.5)
    torch.manual_seed(0)
    other = dropout(x, 0.5)
    with drawn_from(torch.Generator().manual_seed(5)):
        again = dropout(x, 0.5)
    torch.manual_seed(0)
    assert (
        torch.equal(first, again)
        and torch.equal(dropout(x, 0.5), other)
        and not torch.equal(first, other)
    )


def test_what_is_there_already_is_added_to():
    model = create(
        parse("gru", {"width": 8, "heads": 2, "dropout": 0.0}, "translate"), 12, 12, 0, False
    ).train()
    for times in (1, 2):
        with Workers(2) as workers:
            add_gradients(
                lambda some: model.loss(some)[0],
                batch_of(5),
                list(model.parameters()),
                2,
                workers,
                nullcontext,
            )
        if times == 1:
            once = {name: each.grad.clone() for name, each in model.named_parameters()}
    assert all(
        torch.allclose(each.grad, 2 * once[name], atol=1e-6)
        for name, each in model.named_parameters()
    )


@pytest.mark.parametrize("parts", [1, 2])
def test_a_fit_by_the_clock_tries_both_ways_and_says_what_it_chose(
    parts, monkeypatch, capsys, tmp_path
):
    from seriatim.training.loop import Loop

    monkeypatch.setattr(
        Loop, "trial", lambda self, batch, precision: 1.0 if self.progress.parts == parts else 2.0
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        st.fit(
            "translate",
            "gru",
            st.read("copy:length=4,count=200,symbols=6"),
            width=8,
            minutes=0.01,
            out=tmp_path / "run",
            progress=True,
        )
    finally:
        torch.set_num_threads(threads)
    assert ("in 2 parts side by side" if parts == 2 else "batches whole") in capsys.readouterr().err
    assert f'"parts": {parts}' in (tmp_path / "run" / "events.jsonl").read_text()
