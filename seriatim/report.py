"""A comparison as one HTML page that needs no network: table, picture, samples, protocol."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from seriatim.leaderboard import footnotes, learned
from seriatim.records import Record
from seriatim.show.charts import quality
from seriatim.show.tables import short
from seriatim.tasks.base import Figure, Task

STYLE = """
:root { color-scheme: light dark; --ink: #22333b; --soft: #66757d; --line: #e3e7e9; --accent: #c1440e; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecee; --soft: #9aa5ab; --line: #33424a; --paper: #172126; --accent: #ff8a5b; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem; margin: 3rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.1rem; margin-top: 2.5rem; }
.soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .85rem; }
td, th { padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; }
tr.best td { font-weight: 600; }
tr.failed td { color: var(--accent); }
.bar { background: var(--accent); height: .5rem; border-radius: 2px; opacity: .8; }
figure { margin: 0; background: #fff; border-radius: 4px; padding: .5rem; }
figure svg { width: 100%; height: auto; }
pre { white-space: pre-wrap; margin: .2rem 0; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0 0 .5rem; }
"""


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{data}: which model?</title><style>{style}</style></head><body>
<h1>{data}</h1>
<p class="soft">{task} by {unit}, {budget}, measured on held-out data</p>
<p>{verdict}</p>
<h2>Leaderboard</h2>
<div class="wide"><table><tr>{headings}</tr>
{rows}
</table></div>
<p class="soft">{better} is better. {notes}</p>
<h2>Quality against time</h2>
<figure>{picture}</figure>
{samples}
<h2>Protocol</h2>
<dl>{protocol}</dl>
<p class="soft">seriatim {version}; {seconds:.0f} s in all.
Every run is kept beside this page: <code>seriatim {verb}</code></p>
</body></html>
"""


def report(record: Record, room: Task) -> str:
    """The page."""
    rows, figures = record["rows"], room.ranked_by(record["figure"])
    figure = figures[0]
    good = [row for row in rows if row["status"] == "ok" and row[figure.key] is not None]
    voices = "\n".join(
        f'<p class="soft">{escape(row["model"])}</p><pre>{escape(row["sample"])}</pre>'
        for row in good
        if "sample" in row
    )
    picture = quality(record, "svg").decode()
    minutes = record["minutes"]
    heads = (f'<th class="{kind}">{words}</th>' for kind, words in headings(figures))
    protocol = (
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(str(value))}</dd>"
        for name, value in (record["protocol"] or {}).items()
    )
    return PAGE.format(
        style=STYLE,
        data=escape(Path(record["data"]).name),
        task=escape(record["task"]),
        unit=escape(record["unit"]),
        notes=escape(". ".join(footnotes(record, room))),
        budget=f"{minutes:g} minutes asked for" if minutes else "a fixed number of updates",
        verdict=escape(record["verdict"]),
        picture=picture[picture.index("<svg") :],
        better="Higher" if figure.higher else "Lower",
        headings="".join(heads),
        rows="\n".join(table_row(i, row, good, figures) for i, row in enumerate(rows, 1)),
        samples=f"<h2>In their own voice</h2>\n{voices}" if voices else "",
        verb=escape(room.kept.format(run="runs/NAME").removeprefix("seriatim ")),
        protocol="".join(protocol),
        version=escape(record["seriatim"]),
        seconds=record["seconds"],
    )


def headings(figures: tuple[Figure, ...]) -> list[tuple[str, str]]:
    """The class and the title of each column."""
    first, *others = figures[0], *(each for each in figures[1:] if each.shown)
    beside = [("number", each.title) for each in others]
    cost = [
        ("number", name)
        for name in ("fit", "updates", "epochs", "parameters", "size", "symbols / s")
    ]
    return [
        ("", ""),
        ("", "model"),
        ("number", first.title),
        ("", "95 % interval"),
        *beside,
        *cost,
        ("", ""),
    ]


def table_row(
    place: int, row: dict[str, Any], good: list[dict[str, Any]], figures: tuple[Figure, ...]
) -> str:
    """A row of the leaderboard."""
    if row["status"] != "ok":
        words = f"{escape(row['status'])}: {escape(row['reason'])}"
        name = escape(row["model"])
        return f'<tr class="failed"><td></td><td>{name}</td><td colspan="10">{words}</td></tr>'
    first, *others = figures[0], *(each for each in figures[1:] if each.shown)
    low, high = row["interval"][first.key] or (None, None)
    most = max((each[first.key] for each in good), default=1.0) or 1.0
    share = 100 * (row[first.key] or 0) / most
    cells = [
        ("", "=" if row["tied"] and place > 1 else str(place)),
        ("", row["model"] + (" (unfinished)" if row.get("unfinished") else "")),
        ("number", first.write(row[first.key])),
        ("", "" if low is None else f"{first.write(low)} to {first.write(high)}"),
        *(("number", each.beside(row.get(each.key))) for each in others),
        ("number", f"{row['seconds']:.1f} s"),
        *(("number", words) for words in learned(row)),
        ("number", short(row["parameters"])),
        ("number", short(row["size_bytes"]) + "B"),
        ("number", short(row["symbols_per_second"])),
    ]
    filled = "".join(f'<td class="{kind}">{escape(text)}</td>' for kind, text in cells)
    bar = f'<td style="width:8rem"><div class="bar" style="width:{share:.0f}%"></div></td>'
    return f'<tr class="{"best" if place == 1 else ""}">{filled}{bar}</tr>'
