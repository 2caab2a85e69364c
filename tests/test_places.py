"""Nobody's files are lost: a folder is ours by its mark, a new run is written beside the old one, and
only files of ours are ever removed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from seriatim import call, fit, load, storage
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError
from seriatim.runs import places
from seriatim.runs.places import MARK, POINTS, REPLACING, Place, kind_of

DATA = Sequences(
    {"text": Field.of_text(["to be or not to be, that is the question. " * 9])},
    by="stream",
    unit="character",
)
SMALL = {"width": 8, "rows": 2, "length": 8, "updates": 4, "checkpoint_seconds": 0.0}


class Stop(BaseException):
    """The process dies here."""


def markov(out: Path, order: int = 1, **settings):
    return fit("language", "markov", DATA, order=order, out=out, **settings)


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def stop_at(monkeypatch, point: str, time: int = 1) -> None:
    left = [time]

    def reached(here: str) -> None:
        left[0] -= here == point
        if here == point and left[0] == 0:
            raise Stop

    monkeypatch.setattr(storage, "reached", reached)


FOREIGN = [
    {"config.toml": b"[tool]\nmine = 1\n", "thesis.txt": b"years of work"},
    {"config.toml": b""},
    {"a.partial": b"half of a download", "b.partial": b""},
    {"manifest.json": b"{}", "config.toml": b"[run]\nformat = 3\n"},
    {MARK: b"something else"},
    {MARK: b"", "thesis.txt": b"years of work"},
]


@pytest.mark.parametrize("files", FOREIGN)
@pytest.mark.parametrize("flags", [{}, {"resume": True}, {"overwrite": True}])
def test_a_folder_of_somebody_else_is_refused_and_left_as_it_is(tmp_path, files, flags):
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with pytest.raises(RunError, match="not a run folder"):
        markov(folder, **flags)
    assert contents(folder) == files and os.listdir(tmp_path) == ["theirs"]


@pytest.mark.parametrize("begun", ["nothing", "empty", "a mark that was being written"])
def test_a_folder_with_nothing_in_it_is_taken(tmp_path, begun):
    if begun != "nothing":
        (tmp_path / "run").mkdir()
    if begun.startswith("a mark"):
        (tmp_path / "run" / MARK).touch()
    markov(tmp_path / "run")
    load(tmp_path / "run")


def test_a_folder_of_a_comparison_is_no_run_folder(tmp_path):
    places.claim(tmp_path / "table", places.COMPARISON)
    with pytest.raises(RunError, match=r"not a run folder. Received: a comparison folder"):
        markov(tmp_path / "table", overwrite=True)


def test_what_others_put_into_a_run_folder_moves_along(tmp_path):
    run = tmp_path / "run"
    markov(run)
    (run / "notes.txt").write_text("mine")
    (run / "backup.partial").write_text("mine, too")
    (run / "pictures").mkdir()
    (run / "pictures" / "a.png").write_text("drawn")
    markov(run, order=2, overwrite=True)
    assert load(run).parts[0].options.order == 2 and os.listdir(tmp_path) == ["run"]
    assert (run / "notes.txt").read_text() == "mine"
    assert (run / "backup.partial").exists() and (run / "pictures" / "a.png").exists()
    assert not (run / REPLACING).exists()


def test_a_link_to_a_run_folder_stays_a_link(tmp_path):
    markov(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    markov(tmp_path / "link", order=2, overwrite=True)
    assert (tmp_path / "link").is_symlink() and load(tmp_path / "real").parts[0].options.order == 2


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("point", [*storage.POINTS, *POINTS])
@pytest.mark.parametrize("time", [1, 3, 6])
def test_whatever_stops_an_overwrite_there_is_a_whole_run_at_every_moment(
    tmp_path, monkeypatch, point, time, atomic
):
    run = tmp_path / "run"
    markov(run)
    (run / "notes.txt").write_text("mine")
    if not atomic:
        monkeypatch.setattr(places, "exchanged", lambda first, second: False)
    stop_at(monkeypatch, point, time)
    try:
        markov(run, order=2, overwrite=True)
    except Stop:
        assert load(run).parts[0].options.order in (1, 2)
        if point in ("exchanged", "moved", "cleared"):
            assert load(run).parts[0].options.order == 2
    monkeypatch.setattr(storage, "reached", lambda point: None)
    try:
        markov(run, order=2, overwrite=True, resume=True)
    except RunError as error:
        assert "finished" in str(error)
    assert load(run).parts[0].options.order == 2
    assert os.listdir(tmp_path) == ["run"] and (run / "notes.txt").read_text() == "mine"
    assert not (run / REPLACING).exists() and not list(run.glob("*.partial"))


@pytest.mark.parametrize("renames", [1, 2])
def test_names_that_cannot_be_exchanged_in_one_step_are_put_right(tmp_path, monkeypatch, renames):
    run, real, left = tmp_path / "run", os.rename, [renames]
    markov(run)
    monkeypatch.setattr(places, "exchanged", lambda first, second: False)

    def rename(first, second):
        real(first, second)
        left[0] -= 1
        if left[0] == 0:
            raise Stop

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(Stop):
        markov(run, order=2, overwrite=True)
    with pytest.raises(RunError, match="finished"):
        markov(run, order=2, overwrite=True, resume=True)
    assert load(run).parts[0].options.order == 2 and os.listdir(tmp_path) == ["run"]


def test_a_fit_that_was_to_replace_another_is_resumed_beside_it(tmp_path):
    from tests.ladder import fit_events

    run, settings = tmp_path / "run", SMALL | {"overwrite": True}
    whole = fit("language", "lstm", DATA, out=tmp_path / "whole", **SMALL)
    markov(run)
    before = contents(run)
    events = fit_events("language", "lstm", DATA, out=run, settings=settings)
    while not list(tmp_path.glob("run.new/checkpoint-*")):
        next(events)
    events.close()
    assert contents(run) == before
    with pytest.raises(RunError, match=r"run.new: overwrite= resume="):
        markov(run)
    fit("language", "lstm", DATA, out=run, resume=True, **settings)
    assert whole.folder is not None
    weights = [(each / "weights.safetensors").read_bytes() for each in (run, whole.folder)]
    assert weights[0] == weights[1] and not (tmp_path / "run.new").exists()


def test_two_cannot_replace_the_same_run(tmp_path):
    markov(tmp_path / "run")
    place = Place(tmp_path / "run", overwrite=True)
    with pytest.raises(RunError, match="another process"):
        markov(tmp_path / "run", overwrite=True)
    place.lock.release()
    markov(tmp_path / "run", overwrite=True)


def test_files_of_others_beside_are_in_the_way(tmp_path):
    markov(tmp_path / "run")
    (tmp_path / "run.new").mkdir()
    (tmp_path / "run.new" / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"run.new exists and is not a run folder"):
        markov(tmp_path / "run", overwrite=True)
    load(tmp_path / "run")
    assert (tmp_path / "run.new" / "notes.txt").exists()


@pytest.mark.parametrize("time", range(1, 8))
@pytest.mark.parametrize("act", ["fit", "save"])
def test_a_full_disk_leaves_the_earlier_run_as_it_was(tmp_path, monkeypatch, time, act):
    run, left = tmp_path / "run", [time]
    model = markov(run)
    before = contents(run)

    def full(point: str) -> None:
        left[0] -= point == "written"
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(storage, "reached", full)
    try:
        if act == "fit":
            markov(run, order=2, overwrite=True)
        else:
            model.save(run, overwrite=True)
    except RunError as error:
        assert "No space left" in str(error)
        assert contents(run) == before and load(run)
        assert act == "fit" or os.listdir(tmp_path) == ["run"]
        monkeypatch.setattr(storage, "reached", lambda point: None)
        markov(run, order=2, overwrite=True)
    assert os.listdir(tmp_path) == ["run"] and kind_of(run) == "run"


def test_leftovers_of_a_finished_run_go_when_it_is_asked_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr("seriatim.runs.folder.clear", lambda folder: None)
    fit("language", "lstm", DATA, out=tmp_path / "run", **SMALL)
    assert list((tmp_path / "run").glob("checkpoint-*"))
    with pytest.raises(RunError, match="finished"):
        fit("language", "lstm", DATA, out=tmp_path / "run", resume=True, **SMALL)
    assert not list((tmp_path / "run").glob("checkpoint-*"))


def test_a_run_without_its_mark_opens_and_is_not_replaced(tmp_path):
    markov(tmp_path / "run")
    (tmp_path / "run" / MARK).unlink()
    load(tmp_path / "run")
    with pytest.raises(RunError, match="not a run folder"):
        markov(tmp_path / "run", overwrite=True)


def test_a_run_that_was_whole_when_its_process_died_keeps_no_checkpoints(tmp_path, monkeypatch):
    run, settings = tmp_path / "run", SMALL | {"overwrite": True}
    markov(run)
    monkeypatch.setattr("seriatim.runs.folder.clear", died)
    with pytest.raises(Stop):
        fit("language", "lstm", DATA, out=run, **settings)
    monkeypatch.undo()
    assert list(tmp_path.glob("run.new/checkpoint-*"))
    with pytest.raises(RunError, match="finished"):
        fit("language", "lstm", DATA, out=run, resume=True, **settings)
    assert load(run).spec == "lstm" and not list(tmp_path.rglob("checkpoint-*"))


def test_neither_does_one_of_a_comparison(tmp_path, monkeypatch):
    asked = {"models": "lstm", "out": str(tmp_path / "table")} | SMALL
    monkeypatch.setattr("seriatim.runs.folder.clear", died)
    with pytest.raises(Stop):
        call("compare", "language", DATA, **asked)
    monkeypatch.undo()
    assert list(tmp_path.rglob("checkpoint-*"))
    call("compare", "language", DATA, resume=True, **asked)
    assert load(tmp_path / "table" / "runs" / "lstm") and not list(tmp_path.rglob("checkpoint-*"))


def died(folder: Path) -> None:
    raise Stop
