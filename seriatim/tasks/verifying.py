"""Whether a run folder is what was written: every file, and the model that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.errors import RunError, SeriatimError
from seriatim.progress import passing
from seriatim.records import Record, record
from seriatim.runs.places import LEFT, MANIFEST, OURS, folders_of
from seriatim.tasks.opening import damages, load, open_other, read_manifest


def verify(folder: str | Path) -> Record:
    """Look through a run folder, or through all runs of a comparison; nothing is changed."""
    place = Path(folder)
    runs = [verified(each) for each in passing("verifying", list(folders_of(place)))]
    if not runs:
        raise RunError(f"{place} holds no run", do="Give a run folder, or that of a comparison")
    whole = all(each["whole"] for each in runs)
    return record("verification", folder=str(place), whole=whole, runs=runs)


def verified(folder: Path) -> dict[str, Any]:
    """What is found in one run folder: of each file whether it is as it was written, and whether
    they make a model; besides them, what a killed fit left and what others put there."""
    if not (folder / MANIFEST).is_file():
        open_other(folder)  # says what it is, unless it is a file of others
        raise RunError(
            f"{folder} has no checksums to be held against", do="Give a folder that fit wrote"
        )
    try:
        manifest = read_manifest(folder)
        wrong = damages(folder, manifest)
        names = manifest["files"]
    except SeriatimError as error:
        return seen(folder, [], str(error))
    files = [
        {"file": name, "bytes": entry.get("bytes"), "found": wrong.get(name, "as written")}
        for name, entry in names.items()
    ]
    files += [{"file": name, "bytes": None, "found": wrong[name]} for name in wrong.keys() - names]
    try:
        model = None if wrong else load(folder, verify=False)
        return seen(folder, files, "" if model else f"{len(wrong)} not as written")
    except SeriatimError as error:
        return seen(folder, files, str(error))


def seen(folder: Path, files: list[dict[str, Any]], problem: str) -> dict[str, Any]:
    """One run of the record."""
    names = sorted(each.name for each in folder.iterdir())
    return {
        "run": str(folder),
        "whole": not problem,
        "problem": problem or None,
        "files": files,
        "leftovers": [name for name in names if LEFT.fullmatch(name)],
        "others": [name for name in names if not OURS.fullmatch(name)],
    }


def table(found: Record) -> str:
    """The same in words: a line for each run, and for each file that is not as it was written."""
    lines = []
    for run in found["runs"]:
        size = sum(each["bytes"] or 0 for each in run["files"])
        words = f"whole: {len(run['files'])} files, {size:,} bytes" if run["whole"] else "NOT WHOLE"
        lines.append(f"{run['run']}: {words}")
        wrong = [each for each in run["files"] if each["found"] != "as written"]
        lines += [f"  {each['file']}: {each['found']}" for each in wrong]
        if run["problem"] and not wrong:
            lines.append(f"  {run['problem']}")
        if run["leftovers"]:
            lines.append(f"  left by a fit: {', '.join(run['leftovers'])}")
        if run["others"]:
            lines.append(f"  not ours: {', '.join(run['others'])}")
    return "\n".join(lines)
