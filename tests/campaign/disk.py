"""The disk is full at some offset of a fit, a save, an overwrite and an export: our error, and the
earlier state is whole."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import seriatim as st
from seriatim.errors import SeriatimError
from tests.campaign.cases import CASES, Figures, workshop
from tests.examples import Workshop

SIZE = 8 << 20  # of the disk
BALLAST = "ballast"


@contextmanager
def disk() -> Iterator[tuple[Path, bool]]:
    """A small disk of its own where root permits, otherwise a folder; whether it is a disk."""
    with tempfile.TemporaryDirectory() as home:
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", home]
        real = shutil.which("mount") is not None and os.geteuid() == 0
        real = real and subprocess.run(command, capture_output=True, check=False).returncode == 0
        try:
            yield Path(home), real
        finally:
            if real:
                subprocess.run(["umount", "--lazy", home], check=False)


@contextmanager
def full(home: Path, left: int, real: bool) -> Iterator[None]:
    """So many bytes can still be written: to the disk or, where there is none, to a single file."""
    if real:
        free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
        with open(home / BALLAST, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, free - left))
        try:
            yield
        finally:
            (home / BALLAST).unlink()
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def acts(made: Workshop, home: Path) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What is done while there is no room, and what must be as it was."""
    data, lstm = made.train("language", "neural"), CASES["lstm"].settings
    small = lstm | {"updates": 4}
    kept = st.fit("language", "kneser-ney", data, order=3, out=home / "kept")
    st.call("export", kept, out=str(home / "kept.arpa"))
    other = st.fit("language", "kneser-ney", data, order=2)

    def contents() -> dict[str, bytes]:
        """The earlier run and the earlier export, byte for byte."""
        assert st.call("verify", home / "kept")["whole"]
        files = [*(home / "kept").iterdir(), home / "kept.arpa"]
        return {each.name: each.read_bytes() for each in files}

    fit, lstm_fit = ("language", "lstm", data), {"out": home / "new"}
    return {
        "fit": (lambda: st.fit(*fit, **lstm_fit, **small), contents),
        "save": (lambda: other.save(home / "kept", overwrite=True), contents),
        "overwrite": (lambda: st.fit(*fit, out=home / "kept", overwrite=True, **small), contents),
        "export": (lambda: st.call("export", other, out=str(home / "kept.arpa")), contents),
    }


def needed(home: Path, act: Callable[[], Any]) -> int:
    """Bytes that an act writes, about: what there is more of afterwards, and once more for what
    is written before it takes its name."""
    before = sum(each.stat().st_size for each in home.rglob("*") if each.is_file())
    act()
    after = sum(each.stat().st_size for each in home.rglob("*") if each.is_file())
    return max(after - before, 1 << 16) * 2


def disks(count: int, seed: int = 0, names: str = "") -> Figures:
    """So many offsets of each act, evenly from nothing to all that it needs."""
    made, problems = workshop(), []
    found: dict[str, Any] = {"offsets": count, "acts": 0, "errors": 0, "succeeded": 0}
    with disk() as (home, real):
        for name in acts(made, home) if not names else names.split(";"):
            sweep(home, real)
            act, earlier = acts(made, home)[name]
            most = needed(home, act)
            for number in range(count):
                sweep(home, real)
                act, earlier = acts(made, home)[name]
                before = earlier()
                found["acts"] += 1
                try:
                    with full(
                        home, (number * most // count) & ~4095 if real else number * 997, real
                    ):
                        act()
                    found["succeeded"] += 1
                    continue
                except SeriatimError:
                    found["errors"] += 1
                except Exception as error:
                    problems.append(f"{name}: {error!r}")
                if earlier() != before:
                    problems.append(f"{name}: the earlier state is another")
                if [*home.rglob("*.partial")]:
                    problems.append(f"{name}: {[*home.rglob('*.partial')]}")
    return found | {"problems": problems, "by": "a full tmpfs" if real else "RLIMIT_FSIZE"}


def sweep(home: Path, real: bool) -> None:
    """Nothing on the disk."""
    for each in home.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
