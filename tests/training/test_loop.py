"""The gradient loop: schedules, budgets, guards, and the same bits for the same seed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from seriatim import fit, load
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError, RunError, TrainingError
from seriatim.measuring.likelihood import score
from seriatim.models.ladder import create
from seriatim.tasks.language.cut import LanguageLesson
from seriatim.training import trials
from seriatim.training.loop import Loop
from tests.conftest import symbols
from tests.ladder import fit_events
from tests.ladder import parts_of as parse

WORDS = ("cat", "mat", "hat", "rat", "bat", "dog", "fog")
TEXT = "the cat sat on the mat. " * 60
SMALL = {"width": 16, "rows": 4, "length": 8, "seed": 3}


def stream(text: str = TEXT) -> Sequences:
    return Sequences({"text": Field.of_text([text])}, by="stream", unit="character")


def lines() -> Sequences:
    return Sequences(
        {"text": Field.of_text(f"the {a} sat on the {b}" for a in WORDS for b in WORDS)},
        by="line",
        unit="character",
    )


def loop(by: str = "stream", **settings) -> Loop:
    ids = (
        symbols([np.arange(400) % 7])
        if by == "stream"
        else symbols([np.arange(n % 9 + 1) % 7 for n in range(50)])
    )
    torch.manual_seed(0)
    part = parse("lstm", {"width": 8, "rows": 2, "length": 8, **settings})[0]
    return Loop(create([part], 7), LanguageLesson(ids, ids, by), part.training, None)


def arrays_of(model) -> bytes:
    return b"".join(array.numpy().tobytes() for _, array in sorted(model.model.arrays().items()))


def test_the_rate_rises_then_falls_to_zero():
    for decay in ("linear", "cosine"):
        trial = loop(updates=100, warmup=0.1, rate=0.5, decay=decay)
        rates = [trial.schedule.rate(share) for share in np.linspace(0, 1, 101)]
        assert (
            rates[0] < 0.01 and max(rates) == pytest.approx(0.5) and rates[-1] == pytest.approx(0)
        )
        assert np.all(np.diff(rates[:11]) > 0) and np.all(np.diff(rates[11:]) < 0)


def test_the_nearest_limit_ends_the_fit():
    events = list(loop(updates=7, epochs=100).run())
    assert (
        events[-1]["event"] == "end"
        and events[-1]["updates"] == 7
        and events[-1]["stopped"] == "updates"
    )
    trial = loop("line", epochs=2)
    assert list(trial.run())[-1]["updates"] == 2 * trial.schedule.steps_per_epoch


def test_a_wall_clock_budget_ends_the_fit_with_a_last_look_and_a_rate_of_zero():
    trial = loop(minutes=0.01)
    events = list(trial.run())
    assert trial.progress.done and events[-1]["event"] == "end" and events[-1]["valid"] is not None
    trial.progress.seconds = 60 * 0.01
    assert trial.schedule.share() == 1.0 and trial.schedule.rate(1.0) == pytest.approx(0)


@pytest.mark.parametrize("model", ["rnn", "gru", "lstm", "convolution", "transformer"])
@pytest.mark.parametrize("data", [stream, lines], ids=["stream", "lines"])
def test_every_network_learns_from_streams_and_lines(model, data):
    few, many = (
        fit("language", model, data(), updates=steps, rate=0.01, **SMALL).metrics["valid"]
        for steps in (1, 60)
    )
    assert many < few - 0.3


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not():
    settings = SMALL | {"updates": 12, "dropout": 0.2}
    first, again = (
        arrays_of(fit("language", "transformer", stream(), heads=2, **settings)) for _ in range(2)
    )
    other = arrays_of(fit("language", "transformer", stream(), heads=2, **(settings | {"seed": 4})))
    assert first == again != other


def test_carrying_the_state_changes_what_is_learned_and_not_carrying_starts_anew():
    carried, fresh = (
        arrays_of(fit("language", "lstm", stream(), updates=12, stateful=stateful, **SMALL))
        for stateful in (True, False)
    )
    assert carried != fresh


def test_truncated_backpropagation_stops_at_the_chunk():
    trial = loop(updates=5)
    batches = list(trial.lesson.epoch(0, trial.options))
    trial.update(batches[0], 0.01)
    assert all(not leaf.requires_grad for leaf in trial.past.carried[0])
    assert torch.equal(batches[1].before, batches[0].y[:, -1])


def test_early_stopping_stops_and_the_best_weights_are_kept():
    trial = loop(updates=4000, patience=2, validations=400, rate=3.0, clip=0.0, optimiser="sgd")
    events = list(trial.run())
    seen = [event["valid"] for event in events if event["event"] == "validation"]
    assert (
        events[-1]["updates"] < 4000
        and events[-1]["stopped"] == "patience"
        and events[-1]["valid"] == min(seen)
    )
    assert trial.validate()["valid"] == pytest.approx(min(seen))


@pytest.mark.parametrize("optimiser", ["muon", "adamw", "sgd"])
def test_a_loss_that_is_not_a_number_stops_before_the_weights_are_touched(optimiser):
    trial = loop(updates=50, optimiser=optimiser)
    batches = list(trial.lesson.epoch(0, trial.options))
    trial.update(batches[0], 0.01)
    with torch.no_grad():
        trial.model.bias[2] = math.nan
    before = {name: array.clone() for name, array in trial.model.arrays().items()}
    with pytest.raises(TrainingError, match=r"update 1 .*gradient of"):
        trial.update(batches[1], 0.01)
    assert all(
        torch.equal(array.nan_to_num(), before[name].nan_to_num())
        for name, array in trial.model.arrays().items()
    )


def test_clipping_bounds_the_gradient():
    for clip, below in ((0.001, True), (0.0, False)):
        trial = loop(updates=5, clip=clip)
        trial.update(next(trial.lesson.epoch(0, trial.options)), 0.0)
        norm = torch.sqrt(sum(each.grad.pow(2).sum() for each in trial.model.parameters())).item()
        assert (norm <= 0.00101) is below


@pytest.mark.parametrize("optimiser", ["muon", "adamw", "sgd"])
def test_weight_decay_pulls_matrices_only(optimiser):
    *matrices, vectors = loop(
        updates=5, weight_decay=0.5, optimiser=optimiser
    ).optimiser.param_groups
    assert {p.dim() > 1 for group in matrices for p in group["params"]} == {True} and all(
        group["weight_decay"] == 0.5 for group in matrices
    )
    assert {p.dim() > 1 for p in vectors["params"]} == {False} and vectors["weight_decay"] == 0


def test_an_interrupt_keeps_the_best_so_far(tmp_path):
    events = fit_events(
        "language",
        "lstm",
        stream(),
        out=tmp_path / "run",
        settings=SMALL | {"updates": 10_000, "validations": 2000},
    )
    for event in events:
        if event["event"] == "validation" and event["step"] >= 20:
            break
    seen = [events.throw(KeyboardInterrupt())]
    try:
        while True:
            seen.append(next(events))
    except StopIteration as end:
        predictor = end.value
    assert seen[0]["event"] == "interrupted" and predictor.metrics["updates"] < 10_000
    assert load(tmp_path / "run").metrics["valid"] == predictor.metrics["valid"] <= event["valid"]


def test_a_fit_in_two_halves_equals_one_in_one_piece(tmp_path):
    """Abandoned between two events, as if the process had gone; the other file kills it for real."""
    settings = SMALL | {"updates": 30, "dropout": 0.3, "checkpoint_seconds": 0.0}
    whole = fit("language", "lstm", stream(), out=tmp_path / "whole", **settings)
    events = fit_events("language", "lstm", stream(), out=tmp_path / "halves", settings=settings)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 13:
            break
    events.close()
    with pytest.raises(RunError, match="unfinished"):
        load(tmp_path / "halves")
    torch.manual_seed(99)
    resumed = fit("language", "lstm", stream(), out=tmp_path / "halves", resume=True, **settings)
    assert arrays_of(resumed) == arrays_of(whole)
    assert (tmp_path / "halves/weights.safetensors").read_bytes() == (
        tmp_path / "whole/weights.safetensors"
    ).read_bytes()


def test_a_fit_is_not_resumed_with_other_settings_or_data(tmp_path):
    def abandoned(**settings):
        events = fit_events(
            "language",
            "lstm",
            stream(),
            out=tmp_path / "run",
            overwrite=True,
            settings=SMALL | {"updates": 9} | settings,
        )
        next(events)
        events.close()

    abandoned()
    with pytest.raises(RunError, match="updates = "):
        fit("language", "lstm", stream(), out=tmp_path / "run", resume=True, updates=10, **SMALL)
    with pytest.raises(RunError, match="fingerprint"):
        fit(
            "language",
            "lstm",
            stream(TEXT + "a mat"),
            out=tmp_path / "run",
            resume=True,
            updates=9,
            **SMALL,
        )
    with pytest.raises(RunError, match="resume="):
        fit("language", "lstm", stream(), out=tmp_path / "run", updates=9, **SMALL)


def test_a_mixture_is_at_least_as_good_as_its_parts_on_validation_data():
    train, valid = read("markov:length=6000,symbols=8").split(0.8, 0.2)
    settings = {"updates": 40, "width": 16, "order": 1}
    both = fit("language", "markov+gru", train, valid, **settings)
    parts = [
        fit("language", "markov", train, valid, order=1),
        fit("language", "gru", train, valid, updates=40, width=16),
    ]
    losses = [each.evaluate(valid)["nats_per_token"] for each in (both, *parts)]
    assert losses[0] < min(losses[1:]) + 1e-5
    assert both.model.log_weights.exp().sum().item() == pytest.approx(1)


def test_data_too_short_to_learn_from_is_refused_with_a_way_out():
    with pytest.raises(
        DataError, match="valid="
    ):  # weights of a mixture are found on what is held out
        fit("language", "lstm+gru", stream("a"), updates=2, **SMALL)
    with pytest.raises(DataError, match="by line"):
        fit("language", "lstm", stream(), lines(), updates=2, **SMALL)
    with pytest.raises(ConfigError, match="no task"):
        fit("langage", "lstm", stream())


def test_a_text_shorter_than_a_chunk_still_trains():
    assert fit("language", "lstm", stream("abcab" * 4), updates=3, width=8).metrics["updates"] == 3


# Reach, accumulation, averages, precision


def gradients(trial: Loop) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in trial.model.parameters()]


def test_a_longer_reach_is_backpropagation_through_the_batches_before():
    """Three batches of 8 with a reach of 24 give the last one's loss the gradient of one batch of 24."""
    trial = loop(length=8, bptt=24, clip=0.0, rate=1e-12, weight_decay=0.0)
    batches = list(trial.lesson.epoch(0, trial.options))[:3]
    for batch in batches:
        trial.update(batch, 0.0)
    found = gradients(trial)
    state = None
    for batch in batches:
        distribution, state = trial.model.unroll(batch, state)
    loss = -distribution.log_prob(batches[-1].y).mean()
    trial.model.zero_grad()
    loss.backward()
    assert all(
        torch.allclose(a, b, atol=1e-6) for a, b in zip(found, gradients(trial), strict=True)
    )
    assert len(trial.past.behind) == 2


def test_gradients_of_several_batches_add_up():
    once = loop(rows=4, length=8, stateful=False, clip=0.0)
    twice = loop(rows=2, length=8, stateful=False, clip=0.0, accumulate=2)
    batch = next(once.lesson.epoch(0, once.options))
    halves = [
        replace(
            batch,
            x=batch.x[rows],
            x_lengths=batch.x_lengths[rows],
            y=batch.y[rows],
            y_mask=batch.y_mask[rows],
        )
        for rows in (slice(0, 2), slice(2, 4))
    ]
    once.update(batch, 0.0)
    for half in halves:
        twice.update(half, 0.0)
        twice.progress.batch += 1
    assert all(
        torch.allclose(a, b, atol=1e-6)
        for a, b in zip(gradients(once), gradients(twice), strict=True)
    )


def test_single_gradients_are_clipped():
    trial = loop(clip=0.0, clip_value=1e-4)
    trial.update(next(trial.lesson.epoch(0, trial.options)), 0.0)
    assert max(float(each.abs().max()) for each in gradients(trial)) <= 1e-4


def test_a_moving_average_is_validated_and_kept():
    trial = loop(updates=30, average="moving", average_decay=0.9)
    list(trial.run())
    assert trial.progress.averaged == 30 and not torch.equal(
        trial.average.mean["bias"], torch.zeros(7)
    )
    assert all(torch.equal(trial.best[name], value) for name, value in trial.model.arrays().items())


def test_on_a_plateau_averaging_begins_and_the_rate_is_cut():
    trial = loop(updates=60, average="plateau", decay="plateau", validations=30, rate=1e-9)
    list(trial.run())
    assert trial.progress.averaged > 0 or trial.progress.worse < 2
    trial.progress.cuts = 2
    assert trial.schedule.rate(0.5) == pytest.approx(1e-9 / 16)


def test_smoothed_labels_cost_what_the_formula_says():
    trial = loop()
    batch = next(trial.lesson.epoch(0, trial.options))
    with torch.no_grad():
        plain, smooth = trial.model.loss(batch)[0], trial.model.loss(batch, None, 0.2)[0]
        uniform = -trial.model.unroll(batch)[0].log_probs().mean()
    assert smooth.item() == pytest.approx(0.8 * plain.item() + 0.2 * uniform.item(), abs=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"optimiser": "muon"},
        {"rows": 0},
        {"bptt": 24},
        {"average": "moving"},
        {"accumulate": 2},
        {"accumulate": 4},
        {"decay": "plateau", "validations": 6},
        {"optimiser": "muon", "direct": 3, "cells": 64, "direct_dropout": 0.5},
    ],
)
def test_whatever_is_kept_between_updates_survives_a_stop(settings, tmp_path):
    whole = fit("language", "lstm", stream(), updates=12, checkpoint_seconds=0, **SMALL | settings)
    events = fit_events(
        "language",
        "lstm",
        stream(),
        out=tmp_path / "run",
        settings={"updates": 12, "checkpoint_seconds": 0} | SMALL | settings,
    )
    for event in events:
        if event["event"] == "validation" and event["step"] >= 5:
            break
    events.close()
    assert (tmp_path / "run" / "checkpoint-0.safetensors").exists()
    again = fit(
        "language",
        "lstm",
        stream(),
        out=tmp_path / "run",
        resume=True,
        updates=12,
        checkpoint_seconds=0,
        **SMALL | settings,
    )
    assert arrays_of(again) == arrays_of(whole)


def test_rows_are_tried_under_a_clock_and_never_otherwise():
    assert loop(updates=2, rows=0).options.rows == 16
    trial = loop(minutes=0.005, rows=0, length=4)
    found = [event for event in trial.run() if "rows" in event]
    assert len(found) == 1 and found[0]["rows"] == trial.options.rows == trial.progress.rows in (
        16,
        32,
        64,
    )
    assert trial.schedule.steps_per_epoch == trial.lesson.steps_per_epoch(trial.options)


def test_precision_is_not_tried_where_the_processor_cannot_or_the_system_does_not_let_it(
    monkeypatch,
):
    monkeypatch.setattr(trials, "has_bfloat16", lambda: False)
    assert not [event for event in loop(minutes=0.005).run() if "precision" in event]
    monkeypatch.setattr(trials, "has_bfloat16", lambda: True)
    monkeypatch.setattr(trials, "survives_bfloat16", lambda: False)
    assert not [event for event in loop(minutes=0.005).run() if "precision" in event]
    with pytest.raises(ConfigError, match="ends processes that compute in bfloat16"):
        list(loop(updates=2, precision="bfloat16").run())


def test_bfloat16_is_tried_under_a_clock_and_never_otherwise(monkeypatch, bfloat16):
    monkeypatch.setattr(trials, "has_bfloat16", lambda: True)
    assert not [event for event in loop(updates=2).run() if event["event"] == "trial"]
    (trial,) = [event for event in loop(minutes=0.005).run() if "precision" in event]
    assert trial["precision"] in ("float32", "bfloat16") and trial["float32_seconds"] > 0


def test_a_mixture_tells_what_it_reaches_itself_on_validation_data():
    predictor = fit("language", "markov+lstm", stream(), updates=2, order=2, **SMALL)
    parts = [
        -score(part, predictor.codec.encode(stream().main), "stream").values.mean()
        for part in predictor.model.parts
    ]
    assert (
        predictor.metrics["valid"] < parts[1] - 0.3
    )  # not what its network reaches, which has learned nothing yet
