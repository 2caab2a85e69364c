"""Where a run is written, so that nobody's files are lost.

A folder is ours by its mark, `.seriatim`, the first file that is written into it; any other folder
that is not empty is refused. A run that replaces another is written beside it, in NAME.new, and the
two exchange their names when it is whole; until then the earlier one is as it was. Only files of
ours are ever removed, by their names; what else lies in the earlier folder moves along.

    NAME.new/.replacing, no manifest     the new one is being written, or was killed: --resume
    NAME.new/.replacing, a manifest      it is whole, and the names are still to be exchanged
    NAME/.replacing                      they are exchanged, and NAME.new holds what was replaced
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from seriatim import storage
from seriatim.errors import RunError
from seriatim.storage import read_json, sync_folder

fcntl: ModuleType | None = None
with suppress(ImportError):  # not every system has it
    fcntl = import_module("fcntl")

CURVES = "tensorboard"  # a folder of curves for another program, if they were asked for
MARK, REPLACING = ".seriatim", ".replacing"
RUN, COMPARISON = "run", "comparison"  # what a mark says that a folder is
MANIFEST, PLAN = "manifest.json", "config.toml"
WRITTEN = r"codec\.json|config\.toml|weights\.safetensors|metrics\.json|seen\.safetensors|events\.jsonl|card\.md"
PASSING = r"checkpoint-\d+\.safetensors|ids\.npy"  # there while a fit is under way
OURS = re.compile(rf"\.seriatim|\.replacing|({WRITTEN}|{PASSING}|manifest\.json)(\.partial)?")
LEFT = re.compile(rf"{PASSING}|({WRITTEN}|{PASSING}|manifest\.json)\.partial")
POINTS = ("marked", "exchanged", "moved", "cleared")  # where tests stop the process
EXCHANGE, HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


# -- whose folder it is
def mark_of(kind: str) -> bytes:
    """What the mark of a folder holds."""
    return f"a {kind} folder of seriatim\n".encode()


def kind_of(folder: Path) -> str | None:
    """What the mark of a folder says that it is; none if it has none. A mark that was being written
    when the process died says nothing, and such a folder has nothing else."""
    try:
        content = (folder / MARK).read_bytes()
    except OSError:
        return None
    if not content and len(os.listdir(folder)) == 1:
        return ""
    return next((kind for kind in (RUN, COMPARISON) if content == mark_of(kind)), None)


def claim(folder: Path, kind: str) -> bool:
    """Make a folder ours, if it is new or empty, or was being made when the process died; whether
    there was nothing in it. Somebody else's is refused."""
    found = kind_of(folder)
    if found == kind:
        return False
    if os.path.lexists(folder) and (not folder.is_dir() or (found != "" and any(folder.iterdir()))):
        raise foreign(folder, kind)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_bytes(mark_of(kind))
    storage.reached("marked")
    return True


def foreign(folder: Path, kind: str = RUN) -> RunError:
    """What is said of a folder that is not ours."""
    found = kind_of(folder)
    got = f"no {MARK} in it, by which it would be known" if folder.is_dir() else "a file"
    return RunError(
        f"{folder} exists and is not a {kind} folder",
        got=f"a {found} folder" if found else got,
        do="Choose another --out",
    )


def ours(folder: Path, names: re.Pattern[str] = OURS) -> list[Path]:
    """The files of a folder that we wrote, the manifest first and the mark last: a folder that is
    being emptied is not taken for a finished run, and is ours to the end."""
    found = [
        each for each in folder.iterdir() if names.fullmatch(each.name) and not real_folder(each)
    ]
    return sorted(found, key=lambda each: (each.name == MARK) - (each.name == MANIFEST))


def real_folder(path: Path) -> bool:
    """Whether it is a folder and no link to one."""
    return path.is_dir() and not path.is_symlink()


def remove(folder: Path) -> None:
    """Remove what we wrote, and the folder if that was all."""
    for each in [*(folder / CURVES).glob("events.out.tfevents.*"), *ours(folder)]:
        each.unlink(missing_ok=True)
    for each in (folder / CURVES, folder):
        with suppress(OSError):
            each.rmdir()


def clear(folder: Path) -> None:
    """Remove what only served while a fit was under way."""
    for each in ours(folder, LEFT):
        each.unlink(missing_ok=True)


def interrupted(folder: Path) -> bool:
    """Whether a finished run was interrupted, so that it can be gone on with."""
    with suppress(RunError):
        metrics = read_json(folder / "metrics.json")
        return isinstance(metrics, dict) and metrics.get("interrupted") is True
    return False


# -- one at a time
class Lock:
    """One process at a time in some folders; the system gives them free when the process dies,
    however it dies. The folder itself is locked; where a system cannot do that, a file beside it."""

    def __init__(self) -> None:
        self.handles: dict[Path, int] = {}
        self.beside: dict[Path, Any] = {}

    def take(self, folder: Path) -> None:
        """Nobody else in this folder."""
        if folder in self.handles or folder in self.beside:
            return
        try:
            if fcntl is not None:
                self.handles[folder] = os.open(folder, os.O_RDONLY)
                fcntl.flock(self.handles[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                from filelock import FileLock

                self.beside[folder] = FileLock(folder.with_name(f".{folder.name}.lock"))
                self.beside[folder].acquire(blocking=False)
        except OSError:  # a Timeout of filelock is one
            raise RunError(
                f"another process is fitting in {folder}", do="Wait for it, or choose another --out"
            ) from None

    def release(self, folder: Path | None = None) -> None:
        """Let others in, into this folder or into all."""
        for each in list(self.handles) if folder is None else [folder]:
            if each in self.handles:
                os.close(self.handles.pop(each))
        for each in list(self.beside) if folder is None else [folder]:
            if each in self.beside:
                self.beside.pop(each).release()


# -- where a run is written
class Place:
    """The folder that was asked for, `out`, and the one that is written to, `folder`: the same, or
    one beside it that takes its name when it is whole."""

    def __init__(self, out: Path, resume: bool = False, overwrite: bool = False):
        self.out, self.lock, self.made = out, Lock(), False
        self.real, self.beside, self.away = names_of(out)
        try:
            self.folder = self.chosen(resume, overwrite)
        except OSError as error:
            self.lock.release()
            words = error.strerror or error
            raise RunError(
                f"cannot make the folder {out}", got=words, do="Choose another --out"
            ) from None
        except BaseException:
            self.lock.release()
            raise

    def chosen(self, resume: bool, overwrite: bool) -> Path:
        """The folder to write to, made and locked."""
        self.lock_runs()
        if self.recover() and resume:
            raise self.swept()
        if resume and overwrite and (self.beside / REPLACING).is_file():
            if (self.beside / MANIFEST).is_file():
                self.exchange()
                raise self.swept()
            return self.beside
        if resume and self.resumable():
            return self.real
        if (self.real / MANIFEST).is_file() and not overwrite and kind_of(self.real) == RUN:
            raise self.swept() if resume else self.finished()
        if overwrite and kind_of(self.real) == RUN and (self.real / PLAN).is_file():
            return self.next_to()
        if (self.real / PLAN).is_file() and kind_of(self.real) == RUN:
            raise RunError(
                f"{self.out} holds an unfinished fit",
                do="Add --resume to go on with it, or --overwrite to begin anew",
            )
        return self.taken(self.real)

    def lock_runs(self) -> None:
        """Lock whatever of the folder, the one beside it and the one put away is a run."""
        for each in (self.real, self.beside, self.away):
            if kind_of(each) == RUN:
                self.lock.take(each)

    def taken(self, folder: Path) -> Path:
        """A folder for us alone, with nothing in it but its mark."""
        self.made = claim(folder, RUN) or not (folder / PLAN).is_file()
        self.lock.take(folder)
        return folder

    def resumable(self) -> bool:
        """Whether there is a fit that was begun, or interrupted."""
        begun = kind_of(self.real) == RUN and (self.real / PLAN).is_file()
        return begun and (not (self.real / MANIFEST).is_file() or interrupted(self.real))

    def swept(self) -> RunError:
        """Of a run that was whole when its process died: its checkpoints have served, unless it was
        interrupted."""
        if not interrupted(self.real):
            clear(self.real)
        return self.finished()

    def finished(self) -> RunError:
        """What is said of a run that is whole."""
        do = "Choose another --out, or add --overwrite to replace it"
        if interrupted(self.real):
            do += ", or --resume to go on from where it was interrupted"
        if (self.beside / REPLACING).is_file():
            do += f". A fit that was to replace it stands in {self.beside}: --overwrite --resume"
        return RunError(f"{self.out} holds a finished fit", do=do)

    def next_to(self) -> Path:
        """A new folder beside the one that is to be replaced; what an earlier try left there goes."""
        if kind_of(self.beside) == RUN:
            others = {each.name for each in self.beside.iterdir()}
            others -= {CURVES, *(each.name for each in ours(self.beside))}
            if others:
                raise RunError(
                    f"{self.beside} is in the way, and there are files in it that are not ours",
                    got=", ".join(sorted(others)[:3]),
                    do="Move them",
                )
            remove(self.beside)
            self.lock.release(self.beside)
        folder = self.taken(self.beside)
        (folder / REPLACING).touch()
        return folder

    def begin(self) -> None:
        """What was finished is not while it is gone on with."""
        (self.folder / MANIFEST).unlink(missing_ok=True)

    def settle(self) -> None:
        """The run is whole: let it have its name."""
        if self.folder == self.real:
            return
        try:
            self.exchange()
        except OSError as error:
            raise RunError(
                f"{self.folder} cannot take the name of {self.out}",
                got=error.strerror or error,
                do="Both are whole: move them yourself",
            ) from None

    def abandon(self) -> None:
        """Leave nothing of a run that was refused before it had learned anything."""
        if self.made and not any(self.folder.glob("checkpoint-*")):
            remove(self.folder)

    # -- exchanging names
    def recover(self) -> bool:
        """Complete, or take back, what a process that died was about to do; whether a run was
        replaced by that."""
        if kind_of(self.away) == RUN:
            if not os.path.lexists(self.real):
                os.rename(self.away, self.real)
            elif (self.real / REPLACING).is_file() and not self.beside.exists():
                os.rename(self.away, self.beside)
        replaced = kind_of(self.real) == RUN and (self.real / REPLACING).is_file()
        if replaced:
            self.move_along()
        return replaced

    def exchange(self) -> None:
        """The new folder and the earlier one exchange their names, in one step where the system can."""
        if not exchanged(self.beside, self.real):
            os.rename(self.real, self.away)
            os.rename(self.beside, self.real)
            os.rename(self.away, self.beside)
        sync_folder(self.real.parent)
        storage.reached("exchanged")
        self.move_along()

    def move_along(self) -> None:
        """What others put into the earlier folder belongs into the new one; then the earlier run goes."""
        if kind_of(self.beside) == RUN:
            own = set(ours(self.beside))
            for each in set(self.beside.iterdir()) - own:
                if not os.path.lexists(self.real / each.name):
                    os.rename(each, self.real / each.name)
            storage.reached("moved")
            remove(self.beside)
        storage.reached("cleared")
        (self.real / REPLACING).unlink(missing_ok=True)


def names_of(out: Path) -> tuple[Path, Path, Path]:
    """A run folder, the one beside it that will replace it, and where it is put for a moment where
    names are not exchanged in one step."""
    real = Path(os.path.realpath(out))
    name = real.name or "run"
    return real, real.parent / f"{name}.new", real.parent / f"{name}.old"


def standing(out: Path, overwrite: bool) -> Path:
    """The folder of a fit that would be gone on with."""
    _, beside, _ = names_of(out)
    return beside if overwrite and (beside / REPLACING).is_file() else out


def exchanged(first: Path, second: Path) -> bool:
    """Let two folders exchange their names in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return rename(HERE, os.fsencode(first), HERE, os.fsencode(second), EXCHANGE) == 0


def folders_of(folder: Path) -> Iterator[Path]:
    """The run folders of a comparison, in order; a run folder itself."""
    if kind_of(folder) == COMPARISON:
        runs = folder / "runs"
        yield from sorted(runs.iterdir()) if runs.is_dir() else ()
    else:
        yield folder
