"""Killed for real: kill -9 at named points and random moments, resumed, and the same bits in the end.

Each fit runs in a forked child; the parent checks after every death that the folder says clearly what it is.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest
import torch

from seriatim import fit, load, storage
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError

DATA = Sequences(
    {"text": Field.of_text(["to be or not to be, that is the question. " * 30])},
    by="stream",
    unit="character",
)
SETTINGS = {
    "lstm": {
        "width": 16,
        "layers": 2,
        "rows": 4,
        "length": 16,
        "updates": 12,
        "dropout": 0.2,
        "validations": 4,
        "checkpoint_seconds": 0.0,
    },
    "transformer": {
        "width": 16,
        "layers": 2,
        "heads": 2,
        "context": 12,
        "rows": 4,
        "length": 16,
        "updates": 12,
        "dropout": 0.2,
        "validations": 4,
        "checkpoint_seconds": 0.0,
    },
}
every_model = pytest.mark.parametrize("model", list(SETTINGS))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def in_child(
    folder: Path, model: str, crash: tuple[str, int] | None = None, seconds: float | None = None
) -> bool:
    """Fit or go on fitting in a child that may be killed: at the n-th time a point is reached, or after a while. True if it got to the end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if crash:
                left = [crash[1]]

                def reached(point: str) -> None:
                    if point == crash[0]:
                        left[0] -= 1
                        if left[0] == 0:
                            os.kill(os.getpid(), signal.SIGKILL)

                storage.reached = reached
            torch.manual_seed(
                random.randrange(1000)
            )  # resuming must not depend on what came before
            fit("language", model, DATA, out=folder, resume=True, **SETTINGS[model])
            code = 0
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, (
        "a child ended in an error of its own"
    )
    return os.WIFEXITED(status)


def check_folder(folder: Path) -> None:
    """Finished and readable, or clearly unfinished: never unreadable."""
    try:
        load(folder)
    except RunError as error:
        assert "unfinished" in str(error) or "not a run folder" in str(error)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> dict[str, bytes]:
    weights = {}
    for model in SETTINGS:
        folder = tmp_path_factory.mktemp("whole") / model
        assert in_child(folder, model)
        weights[model] = (folder / "weights.safetensors").read_bytes()
    return weights


def killed_once(folder: Path, model: str, expected: bytes, **how) -> None:
    in_child(folder, model, **how)
    check_folder(folder)
    if not (folder / "manifest.json").exists():  # else it died after its work was done
        assert in_child(folder, model)
        assert not list(folder.glob("checkpoint-*")) and not list(folder.glob("*.partial"))
    load(folder)
    assert (folder / "weights.safetensors").read_bytes() == expected


@needs_fork
@every_model
@pytest.mark.parametrize("point", storage.POINTS)
@pytest.mark.parametrize(
    "write", [1, 2, 4, 9, 16, 17, 18, 20]
)  # plan, codec, checkpoints, weights, metrics, seen, manifest
def test_killed_at_a_named_point_resumes_to_the_same_bits(
    model, point, write, tmp_path, uninterrupted
):
    killed_once(tmp_path / "run", model, uninterrupted[model], crash=(point, write))


@needs_fork
@every_model
def test_the_writes_named_above_are_all_there_are(model, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        storage,
        "write_pieces",
        lambda path, pieces, real=storage.write_pieces: (
            written.append(path.name),
            real(path, pieces),
        ),
    )
    fit("language", model, DATA, out=tmp_path / "run", **SETTINGS[model])
    assert written == [
        "config.toml",
        "codec.json",
        *["checkpoint-0.safetensors"] * 13,
        "weights.safetensors",
        "metrics.json",
        "seen.safetensors",
        "card.md",
        "manifest.json",
    ]


@needs_fork
@every_model
def test_killed_again_and_again_at_random_moments_resumes_to_the_same_bits(
    model, tmp_path, uninterrupted
):
    random.seed(1)
    killed_many(tmp_path / "run", model, uninterrupted[model], kills=3)


@needs_fork
@every_model
@pytest.mark.slow
def test_killed_at_every_named_point_of_every_write(model, tmp_path, uninterrupted):
    for point in storage.POINTS:
        for write in range(1, 19):
            killed_once(
                tmp_path / f"{point}-{write}", model, uninterrupted[model], crash=(point, write)
            )


@needs_fork
@every_model
@pytest.mark.slow
def test_fifty_random_kills(model, tmp_path, uninterrupted):
    random.seed(2)
    kills, run = 0, 0
    while kills < 50:
        kills += killed_many(tmp_path / str(run), model, uninterrupted[model], kills=5)
        run += 1


def killed_many(folder: Path, model: str, expected: bytes, kills: int) -> int:
    """Kill a fit up to so many times before letting it end; the number of real kills."""
    real = 0
    for _ in range(kills):
        if in_child(folder, model, seconds=random.uniform(0.01, 0.25)):
            break
        real += 1
        check_folder(folder)
        if (folder / "manifest.json").exists():
            break
    if not (folder / "manifest.json").exists():
        assert in_child(folder, model)
    assert (folder / "weights.safetensors").read_bytes() == expected
    return real
