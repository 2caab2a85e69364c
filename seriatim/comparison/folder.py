"""The folder of a comparison: the plan it began with, rows, what was measured, tables, pages."""

from __future__ import annotations

from pathlib import Path

from seriatim.errors import RunError
from seriatim.leaderboard import ranked_csv
from seriatim.records import Record, plain
from seriatim.report import comparison_page, write_page
from seriatim.runs.places import COMPARISON, claim, kind_of
from seriatim.show.curves import data_curve, quality
from seriatim.storage import read_json, write_bytes, write_json
from seriatim.tasks.base import Task


def new_folder(folder: Path, resume: bool) -> None:
    """A folder that is there for this comparison alone; one that was marked when the process died
    is gone on with."""
    try:
        begun = kind_of(folder) == COMPARISON and not resume
        if begun or (kind_of(folder) is None and folder.is_dir() and any(folder.iterdir())):
            raise RunError(
                f"{folder} is not empty",
                do="Choose another --out, or go on with the comparison in it: --resume",
            )
        claim(folder, COMPARISON)
        for name in ("runs", "measured", "rows"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot make the folder {folder}", got=error.strerror, do="Choose another --out"
        ) from None


def resumed(folder: Path, plan: Record) -> Record | None:
    """The plan of the comparison that is gone on with, if it is the same; none was begun: None."""
    file = folder / "comparison.json"
    if not file.is_file() or kind_of(folder) != COMPARISON:
        return None
    found, wanted = read_json(file), plain(plan)
    changed = [
        key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]
    ]
    if changed:
        raise RunError(
            f"the comparison in {folder} was begun with other settings or data",
            got=", ".join(changed),
            do="Repeat the first command and add --resume, or choose another --out",
        )
    return found


def write_tables(folder: Path, result: Record, room: Task) -> None:
    """table.json and table.csv, beside the runs: there is one at every moment."""
    write_json(folder / "table.json", result)
    write_bytes(folder / "table.csv", ranked_csv(result, room).encode())


def write_pages(folder: Path, result: Record, room: Task) -> None:
    """quality.png, of a curve curve.png, and report.html."""
    if any(row["status"] == "ok" and row[result["figure"]] is not None for row in result["rows"]):
        quality(result).save(folder / "quality.png")
    if result["curve"]:
        data_curve(result).save(folder / "curve.png")
    write_page(folder / "report.html", comparison_page(result, room, folder))
