"""The campaign in short: a few malformed files for every reader, a few hostile records of every kind, in
this process; the whole is `make campaign`."""

from __future__ import annotations

from contextlib import suppress

import pytest

import seriatim as st
from seriatim.errors import SeriatimError
from tests.campaign import children, fuzz, readers, values
from tests.terminal import prose

FEW = 25


@pytest.mark.parametrize("case", [case for case in readers.cases() if case not in readers.SLOW])
def test_malformed_files_are_read_or_refused(case, tmp_path):
    one = readers.prepare(case, tmp_path)
    fates = [one(number, 1000) for number in range(FEW)]
    assert not all(fates)


def test_what_was_found_before_stays_mended(tmp_path):
    for file in sorted(fuzz.FOUND.glob("*/*")):
        path = tmp_path / readers.sources(file.parent.name)[0]
        path.write_bytes(file.read_bytes())
        with suppress(SeriatimError):
            readers.reader(file.parent.name, tmp_path)(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of subwords, laid out as the campaign's are."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "language").mkdir()
    (folder / "language" / "train.txt").write_text(prose(40, 10))
    (folder / "language" / "test.txt").write_text(prose(6, 11))
    for role in ("pieces", "unigrams", "word-piece", "fallback", "normal-form"):
        model, settings = values.SUBWORDS["language", role]
        out = folder / "language" / "runs" / role
        settings = values.given(settings, folder)
        st.fit("language", model, folder / "language" / "train.txt", out=out, **settings)
    return folder


@pytest.mark.parametrize("kind", values.KINDS)
def test_hostile_records_are_refused_or_harmless(kind, runs, tmp_path, monkeypatch):
    monkeypatch.setenv(values.RUNS, str(runs))
    one = values.prepare(kind, tmp_path)
    fates = [one(number, 1000) for number in range(FEW)]
    assert not all(fates)


def test_a_child_that_dies_is_known_by_its_number(tmp_path, monkeypatch):
    """Children that end badly are told, and the rest of their batch goes on."""
    ended = iter(
        [(5, ""), (0, '{"accepted": 1, "refused": 1, "wrong": [], "seconds": 1, "peak": 1}')]
    )

    class Done:
        def __init__(self, code: int):
            self.returncode = code

    def instead(command, **_):
        code, report = next(ended)
        if code:
            (tmp_path / "at").write_text("7")
        else:
            assert command[5] == "8"  # behind the one that died
            (tmp_path / "report.json").write_text(report)
        return Done(code)

    monkeypatch.setattr(children.subprocess, "run", instead)
    found = children.batches("module", "case", 0, 10, 0, tmp_path)
    assert [each["number"] for each in found["wrong"]] == [7] and found["cases"] == 10
