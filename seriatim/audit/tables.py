"""An audit as a person reads it: the figures of each file, classes, what files share, and the
findings, the worst first."""

from __future__ import annotations

from typing import Any, Literal

from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.show.tables import ORDERS, bar, narrowed, output, sparkline, width_of

Justify = Literal["left", "right"]


BESIDE: tuple[str, Justify] = ("", "right")  # a column of numbers under the title of another
BAR: tuple[str, Justify] = ("", "left")  # the same of bars


MARKS = {"error": ("✗", "bold red"), "warning": ("▲", "yellow"), "note": ("·", "cyan")}


WIDE = {"different", "near", "shortest", ""}  # left out where there are fewer than 120 columns


MOST_CLASSES = 20  # rows of the table of labels or tags


MOST_LINES = 5  # of a finding


MOST_LETTERS, TITLE = 40, 12  # of a name, where there is room, and above a column


def audit(record: dict[str, Any], wide: bool | None = None) -> Group:
    """All of it; narrow without the histograms. Unless it is told, as wide as the screen."""
    wide = output().width >= 120 if wide is None else wide
    parts: list[Any] = []
    for each in (
        sizes(record, wide),
        classes(record, 24 if wide else 12),
        seen_before(record),
        findings(record),
    ):
        parts += [] if each is None else [each, Text()]
    return Group(*parts, verdict(record))


def grid(*columns: tuple[str, Justify]) -> Table:
    """An empty table without lines, its columns to the left or to the right."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for place, (name, justify) in enumerate(columns):
        table.add_column(
            Text(shown(name), overflow="ellipsis"),
            justify=justify,
            no_wrap=True,
            max_width=None if place else MOST_LETTERS,
        )
    return table


def share(value: float | None) -> str:
    """A share as a cell: empty where it was not asked for, - for none."""
    if not value:
        return "" if value is None else "-"
    return "< 0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"


def sizes(record: dict[str, Any], wide: bool) -> Table | None:
    """A row for each file: how much there is, and how long the sequences are."""
    files = record["files"]
    if not files:
        return None
    rows = [figures(each, files[0]["unit"]) for each in files]
    shown = [
        name
        for name in rows[0]
        if (wide or name not in WIDE) and (name != "unknown" or len(files) > 1)
    ]
    table = grid(*((name, "left" if name in ("file", "") else "right") for name in shown))
    for row in rows:
        table.add_row(*(row[name] for name in shown))
    return narrowed(table)


def figures(record: dict[str, Any], unit: str) -> dict[str, str | Text]:
    """The cells of one file."""
    length, copies = record["length"], record["duplicates"]
    histogram = Text(
        sparkline([count or None for count in length["histogram"]["counts"]]), style=ORDERS[4]
    )
    return {
        "file": Text(shown(record["name"]), overflow="ellipsis"),
        "sequences": f"{record['sequences']:,}",
        f"{unit}s": f"{record['symbols']:,}",
        "different": f"{record['different']:,}",
        "copies": share(copies["share"]),
        "near": share(copies["near_share"]),
        "unknown": share(record["unknown"] and record["unknown"]["tokens"]),
        "shortest": f"{length['least']:,}",
        "half": f"{length['median']:,.0f}",
        "99 %": f"{length['quantile_99']:,.0f}",
        "longest": f"{length['most']:,}",
        "": histogram,
    }


def classes(record: dict[str, Any], cells: int) -> Table | None:
    """How often each label or tag occurs in each file: in numbers, shares and bars as far as there
    is room, and of as many files."""
    kind = next(
        (kind for kind in ("classes", "tags") for each in record["files"] if each[kind]), None
    )
    if kind is None:
        return None
    files = [each for each in record["files"] if each[kind]]
    several = range(len(files), 0, -1)
    looks = [(len(files), True, cells // len(files)), (len(files), True, 0)]
    for many, counted, room in [*looks, *((many, False, 0) for many in several)]:
        table = balance(files, kind, many, counted, room)
        if width_of(narrowed(table)) <= output().width:
            break
    return table


def balance(files: list[dict[str, Any]], kind: str, many: int, counted: bool, cells: int) -> Table:
    """The table of labels or tags of the first so many files, with or without numbers, with bars of
    so many cells."""
    names = list(dict.fromkeys(name for each in files for name in each[kind]))
    columns: list[tuple[str, Justify]] = [
        (f"{len(names):,} {'labels' if kind == 'classes' else 'tags'}", "left")
    ]
    for each in files[:many]:
        title = shown(each["name"]) if len(files) > 1 else ""
        title = title if len(title) <= TITLE else title[: TITLE - 1] + "…"
        columns += [(title, "right"), *[BESIDE] * counted, *[BAR] * bool(cells)]
    table = grid(*columns)
    totals = [sum(each[kind].values()) for each in files]
    most = max(max(each[kind].values()) / total for each, total in zip(files, totals))
    for name in names[:MOST_CLASSES]:
        row: list[str | Text] = []
        for each, total, colour in zip(files[:many], totals, ORDERS * len(files)):
            count = each[kind].get(name, 0)
            row += [f"{count:,}"] * counted + [share(count / total)]
            row += [Text(bar(count / total / most, cells), style=colour)] if cells else []
        table.add_row(Text(shown(name), overflow="ellipsis"), *row)
    if len(names) > MOST_CLASSES:
        table.add_row(Text(f"and {len(names) - MOST_CLASSES:,} more", style="dim"))
    if many < len(files):
        table.add_row(Text(f"and {len(files) - many:,} more files", style="dim"))
    return table


def seen_before(record: dict[str, Any]) -> Table | None:
    """What is in two files."""
    if not record["across"]:
        return None
    names = ("sequences", "", "of its words", "nearly", "contradicting")
    table = grid(("in both", "left"), *((name, "right") for name in names))
    for each in record["across"]:
        table.add_row(
            Text.assemble(shown(each["file"]), (" and ", "dim"), shown(each["other"])),
            f"{each['copies']:,}",
            share(each["share"]),
            share(each["words_share"]),
            f"{each['near_copies']:,}",
            f"{each['contradicting']:,}",
            style=None if each["copies"] else "dim",
        )
    return narrowed(table)


def findings(record: dict[str, Any]) -> Table | None:
    """Each with its mark, its place and the way out."""
    if not record["findings"]:
        return None
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    names = {each["file"]: each["name"] for each in record["files"]}
    for each in record["findings"]:
        mark, style = MARKS[each["severity"]]
        some = each["lines"][:MOST_LINES]
        lines = ", ".join(map(str, some)) + (" ..." if 0 < len(some) < each["places"] else "")
        place = shown(names.get(each["file"], each["file"])) + (f":{lines}" if lines else "")
        table.add_row(
            Text(mark, style), Text.assemble((place, style), "  ", (shown(each["what"]), "bold"))
        )
        for words, colour in ((each["got"], "default"), (each["do"], "dim")):
            if words:
                table.add_row("", Text(shown(words), colour))
    return table


def shown(words: str) -> str:
    """Without what a terminal would act upon."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in words)


def verdict(record: dict[str, Any]) -> Text:
    """How many findings of each kind."""
    counts = {
        severity: sum(each["severity"] == severity for each in record["findings"])
        for severity in MARKS
    }
    if not any(counts.values()):
        return Text("✓ nothing found", "green")
    words = [
        (f"{MARKS[severity][0]} {count:,} {severity}{'s' * (count != 1)}   ", MARKS[severity][1])
        for severity, count in counts.items()
        if count
    ]
    return Text.assemble(*words)
