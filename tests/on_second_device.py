"""Networks on another device than the CPU: a second device that refuses what a GPU refuses.

No accelerator is needed: see tests/second_device.py. `make test` has one model for each mixer and each
room, the slow tests every network of every room and every verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import seriatim as st
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError
from seriatim.layers import devices
from seriatim.models.network import Network
from seriatim.tasks import task as room
from tests.conformance import every
from tests.examples import EXAMPLES, Workshop
from tests.ladder import fit_events
from tests.second_device import NAME, second_device
from tests.specimens import Specimen, specimen

TIMES = ("second", "seconds", "started", "ended", "device", "per_second", "load")
# one model of each mixer, and each room that has networks
FEW = {
    ("language", "rnn"): "rnn",
    ("language", "lstm"): "lstm",
    ("language", "transformer"): "attention",
    ("classify", "gru"): "gru",
    ("tag", "chain"): "gru with a chain",
    ("regress", "mean"): "none",
    ("sets", "gru"): "sets",
    ("translate", "gru"): "attention to a source",
    ("translate", "transformer"): "a source that is attended to",
    ("forecast", "convolution"): "convolution",
    ("autoencode", "lstm"): "one vector",
}
NETWORKS = [each for each in every() if not each.counts and each.task != "words"]


@pytest.fixture
def second(monkeypatch) -> Iterator[torch.device]:
    """The second device is the accelerator that `auto` finds."""
    with second_device() as device:
        monkeypatch.setattr(devices, "ACCELERATORS", (NAME,))
        yield device


def near(one: Any, other: Any, where: str = "") -> None:
    """The same record but for rounding, and for what tells of time."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            if not any(each in key for each in TIMES):
                near(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for i, pair in enumerate(zip(one, other, strict=True)):
            near(*pair, f"{where}[{i}]")
    elif isinstance(one, (float, np.ndarray)):
        assert one == pytest.approx(other, rel=2e-3, abs=2e-4, nan_ok=True), where
    else:
        assert one == other, where


def places(predictor: Any) -> set[str]:
    """Where the weights of its networks are."""
    parts = [part for part in predictor.model.parts if isinstance(part, nn.Module)]
    return {each.device.type for part in parts for each in part.parameters()}


def used(s: Specimen, folder: Path) -> None:
    """Fitted there, saved, opened there and at home: the records are the same."""
    fitted = s.fit(folder)
    assert places(fitted) == {NAME} and fitted.metrics["device"] == NAME
    there, at_home = st.load(folder), st.load(folder, device="cpu")
    assert places(there) == {NAME} and places(at_home) == {"cpu"}
    records = s.records(there)
    near(records, s.records(at_home))
    near(records, s.records(fitted))


@pytest.mark.parametrize(("task", "name"), FEW, ids=lambda each: each)
def test_a_model_of_each_mixer_is_fitted_saved_opened_and_asked(task, name, second, tmp_path):
    used(specimen(task, name), tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("s", NETWORKS, ids=repr)
def test_every_network_is_fitted_saved_opened_and_asked(s, second, tmp_path):
    used(s, tmp_path / "run")


def learns(task: str, spec: str) -> bool:
    """Whether a part of it is a network."""
    return not all(part.counts for part in room(task).parts(spec, {}))


ASKED = [
    (task, verb, role, number)
    for task, example in EXAMPLES.items()
    if task != "words"
    for verb, asks in example.asks.items()
    if verb in room(task).verbs and room(task).verbs[verb].runs  # others are asked of no model
    for number, ask in enumerate(asks)
    for role in ask.models or example.models
    if role in example.models and learns(task, example.models[role][0][0])
]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> Workshop:
    """Runs that were fitted there."""
    return Workshop(tmp_path_factory.mktemp("workshop"), 0)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "verb", "role", "number"), ASKED)
def test_every_verb_of_every_room_says_the_same_there(task, verb, role, number, workshop, second):
    ask = EXAMPLES[task].asks[verb][number]
    run, data = workshop.run(task, role), workshop.data(task, ask.data)
    found = [
        st.call(verb, run, data, device=each, **workshop.options(task, ask))
        for each in ("auto", "cpu")
    ]
    near(*found)


def arrays_of(predictor: Any) -> dict[str, bytes]:
    """The bits of what was learned."""
    arrays = predictor.model.arrays()
    return {name: each.cpu().numpy().tobytes() for name, each in arrays.items()}


TEXT = "the cat sat on the mat. " * 40
SMALL = {"width": 8, "rows": 4, "length": 8, "seed": 3, "threads": 1}


def stream() -> Sequences:
    """One text."""
    return Sequences.of([TEXT], by="stream", unit="character")


@pytest.mark.parametrize("model", ["lstm", "transformer", "markov+convolution"])
def test_a_fit_in_two_halves_has_the_bits_of_one_in_one_piece(model, second, tmp_path):
    settings = SMALL | {"updates": 12, "dropout": 0.3, "checkpoint_seconds": 0.0}
    whole = st.fit("language", model, stream(), **settings)
    halves = {"out": tmp_path / "halves", "settings": settings}
    events = fit_events("language", model, stream(), **halves)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 5:
            break
    events.close()
    torch.manual_seed(99)
    again = st.fit("language", model, stream(), out=halves["out"], resume=True, **settings)
    assert arrays_of(again) == arrays_of(whole)


def test_without_draws_what_is_learned_is_what_the_cpu_learns(second):
    settings = SMALL | {"updates": 6, "dropout": 0.0}
    there = st.fit("language", "gru", stream(), **settings)
    at_home = st.fit("language", "gru", stream(), device="cpu", **settings)
    assert places(there) == {NAME} and places(at_home) == {"cpu"}
    for name, array in at_home.model.arrays().items():
        assert torch.allclose(array, there.model.arrays()[name].cpu(), atol=1e-4), name


def test_autocast_is_that_of_the_device(second):
    found = []
    for precision in ("float32", "bfloat16"):
        settings = SMALL | {"updates": 4, "precision": precision}
        for model in ("lstm", "transformer"):
            found.append(st.fit("language", model, stream(), **settings))
            assert np.isfinite(found[-1].metrics["valid"]) and places(found[-1]) == {NAME}
    assert all(arrays_of(one) != arrays_of(other) for one, other in zip(found[:2], found[2:]))


class Homesick(Network):
    """A network that makes a tensor without saying where."""

    def embed(self, symbols: Tensor) -> Tensor:
        """Each symbol a little larger."""
        return super().embed(symbols) * torch.linspace(1, 2, self.options.width)


def test_a_model_that_makes_a_tensor_on_the_cpu_fails_there_and_nowhere_else(second, monkeypatch):
    rungs = room("language").rungs
    wrong = replace(rungs["lstm"], implementation=f"{__name__}:Homesick")
    monkeypatch.setitem(rungs, "lstm", wrong)
    st.fit("language", "lstm", stream(), device="cpu", updates=2, **SMALL)
    with pytest.raises(RuntimeError, match=r"same device.*second:0 and cpu"):
        st.fit("language", "lstm", stream(), updates=2, **SMALL)


def test_the_second_device_refuses_what_a_gpu_refuses(second):
    there, here = torch.ones(3, device=second), torch.ones(3)
    for wrong in (
        lambda: there + here,
        lambda: here.add_(there),
        lambda: torch.cat([there, here]),
        lambda: nn.Linear(3, 2)(there),
        lambda: nn.Embedding(3, 2).to(second)(torch.tensor([1])),
        lambda: here[torch.tensor([0], device=second)],
    ):
        with pytest.raises(RuntimeError, match=r"same device"):
            wrong()
    with pytest.raises(TypeError, match="to numpy"):
        there.numpy()
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(3, device=second, generator=torch.Generator())
    assert (there * torch.tensor(2.0) + 1).tolist() == [3.0] * 3
    assert there[torch.tensor([0, 2])].cpu().equal(torch.ones(2))


def test_how_many_rows_are_packed_is_told_on_the_cpu_as_on_every_device(second):
    """Torch packs by one piece of code wherever the rows lie: `meta` tells what it does."""
    lengths = torch.tensor([2, 1])
    for device in (second, torch.device("meta")):
        rows = torch.ones(2, 2, 3, device=device)
        packed, sizes = torch._VF._pack_padded_sequence(rows, lengths, True)
        assert packed.device.type == device.type and sizes.device.type == "cpu"
        with pytest.raises(RuntimeError, match=r"lengths.*CPU"):
            torch._VF._pack_padded_sequence(rows, lengths.to(device), True)


# -- choosing


def test_a_device_that_is_not_here_is_refused_and_auto_takes_what_is(monkeypatch):
    assert devices.chosen("auto").type == devices.chosen("cpu").type == "cpu"
    with pytest.raises(ConfigError, match=r'not here.*device="cuda"'):
        st.fit("language", "lstm", stream(), device="cuda", updates=1, **SMALL)
    with pytest.raises(ConfigError, match="tpu"):
        st.fit("language", "lstm", stream(), device="tpu", updates=1, **SMALL)


def test_what_counts_takes_a_device_too_and_stays_on_the_cpu(second):
    found = st.fit("language", "kneser-ney", stream(), device="auto")
    assert found.score("the cat") == st.fit("language", "kneser-ney", stream()).score("the cat")


def test_what_only_the_cpu_can_is_refused_elsewhere(second, monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match="compiled on the CPU"):
        st.fit("language", "lstm", stream(), updates=1, compile="yes", **SMALL)
    st.fit("language", "lstm", stream(), out=tmp_path / "run", updates=1, **SMALL)
    assert places(st.load(tmp_path / "run", int8=True)) == {"cpu"}
    with pytest.raises(ConfigError, match="8 bits on the CPU"):
        st.load(tmp_path / "run", int8=True, device="cuda")
