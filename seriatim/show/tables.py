"""Parts of tables: where results go, bars and sparklines."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from seriatim.measuring.fingerprint import seen_in_words
from seriatim.records import Record
from seriatim.show.console import CarefulConsole

WIDE = 160  # columns of a file


def output() -> Console:
    """Where results go: stdout, as wide as the terminal; in a file as wide as COLUMNS says, or wide
    enough, and without colours."""
    if sys.stdout.isatty():
        return CarefulConsole()
    said = os.environ.get("COLUMNS", "")
    width = int(said) if said.isdecimal() and int(said) else WIDE
    return CarefulConsole(width=width, no_color=True, highlight=False)


def in_letters(table: RenderableType) -> str:
    """A table as plain lines, as in a file."""
    console = CarefulConsole(width=WIDE, no_color=True, highlight=False, file=io.StringIO())
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines)


def width_of(table: RenderableType) -> int:
    """The columns that a table takes if it may."""
    return CarefulConsole(width=10_000, height=100).measure(table).maximum


def narrowed(table: Table, least: int = 8) -> Table:
    """The same, where figures would be cut: columns that have a greatest width, which are those of
    names, are made narrower."""
    for column in table.columns:
        over = width_of(table) - output().width
        if over > 0 and column.max_width:
            column.max_width = max(least, column.max_width - over)
    return table


def write(table: RenderableType) -> None:
    """Print a table; in a file without the blanks that fill its lines."""
    console = output()
    if sys.stdout.isatty():
        console.print(table)
    else:
        with console.capture() as captured:
            console.print(table)
        sys.stdout.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())


def add_protocol(table: Table, record: Record) -> None:
    """What the figures of a record rest on, a row each."""
    told = any("seen in training" in words for words in record.get("notes", ()))
    for name, value in record["protocol"].items():
        if name == "seen_in_training" and told:
            continue
        words = seen_in_words(value) if name == "seen_in_training" else str(value)
        table.add_row(f"protocol: {name.replace('_', ' ')}", Text(words))


def add_against(table: Table, record: Record) -> None:
    """What this model is against another one, if that was asked."""
    if "against" in record:
        table.add_row("against", Text("{model}: {words}".format(**record["against"])))


def captioned(table: RenderableType, words: list[str]) -> RenderableType:
    """A table with what its reader must know below."""
    return Group(table, Text(), *(Text(each, "yellow") for each in words)) if words else table


def side(name: str) -> Literal["left", "right"]:
    """On which side the cells of a column begin."""
    return "right" if name == "right" else "left"


def short(number: float | None) -> str:
    """1234567 -> 1.2M."""
    if number is None:
        return ""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


EIGHTHS = " ▏▎▍▌▋▊▉█"


HEIGHTS = "▁▂▃▄▅▆▇█"


ORDERS = (
    "#c1440e",
    "#e0813a",
    "#d9ad49",
    "#7fa182",
    "#4f8a9b",
    "#8088a6",
)  # colours of the longest n-gram, the next shorter, ...


def bar(share: float, cells: int) -> str:
    """A bar that fills a share of so many cells, to an eighth of a cell."""
    eighths = round(8 * cells * min(1.0, max(0.0, share)))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def sparkline(values: Sequence[float | None], cells: int = 60, zero: bool = True) -> str:
    """Values over time as heights of letters; a blank where there are none. Neighbours share a cell
    if there are too many. Heights begin at zero, or else at the least value.

    >>> sparkline([1, 2, 3, 4]), sparkline([101, 102, None, 104], zero=False)
    ('▃▅▇█', '▁▃ █')
    """
    means = in_cells(values, cells)
    known = [mean for mean in means if mean is not None]
    low = 0.0 if zero else min(known, default=0.0)
    return letters_of(means, low, max(known, default=0.0))


def trend(past: Sequence[float | None], coming: Sequence[float | None], cells: int) -> list[str]:
    """What was and what comes as two rows of letters, on one scale.

    >>> trend([1, 2, 3], [4, 5], 10)
    ['▁▃▅', '▇█']
    """
    after = min(len(coming), max(1, cells // 3))
    both = [in_cells(past, max(1, cells - after)), in_cells(coming, after)]
    known = [mean for means in both for mean in means if mean is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return [letters_of(means, low, high) for means in both]


def in_cells(values: Sequence[float | None], cells: int) -> list[float | None]:
    """The mean of the neighbours that share a cell; None where there is nothing."""
    step = max(1, -(-len(values) // cells))
    means: list[float | None] = []
    for begin in range(0, len(values), step):
        some = [value for value in values[begin : begin + step] if value is not None]
        means.append(sum(some) / len(some) if some else None)
    return means


def letters_of(means: Sequence[float | None], low: float, high: float) -> str:
    """Heights between two values."""
    span = high - low or 1.0
    return "".join(
        " " if mean is None else HEIGHTS[max(0, min(7, int(8 * (mean - low) / span)))]
        for mean in means
    )


def strip(value: float, bounds: tuple[float, float], scale: tuple[float, float], cells: int) -> str:
    """A value and its interval as a dot on a line, along a scale that others share.

    >>> strip(2.0, (1.0, 3.0), (0.0, 4.0), 9)
    '  ──●──  '
    """
    low, high = scale
    step = (high - low) / (cells - 1) or 1.0
    place, begin, end = (
        min(cells - 1, max(0, round((each - low) / step))) for each in (value, *bounds)
    )
    line = "".join("─" if begin <= cell <= end else " " for cell in range(cells))
    return f"{line[:place]}●{line[place + 1 :]}"


def course(values: Sequence[float | None], cells: int = 30) -> str:
    """How a loss went, from first to last, as a row of letters; "" of fewer than two."""
    known = [value for value in values if value is not None]
    return sparkline(known, cells, zero=False) if len(known) > 1 else ""


# What happens inside a model: records of `seriatim.tasks.language.inside`

BITS = (0.5, 1, 2, 4, 8, 16)  # where one shade ends and the next begins


SHADES = ("#fdf7f1", "#fbe6d6", "#f7cbae", "#f0a47b", "#e07a4a", "#c1440e", "#7a2405")


def shade(bits: float | None) -> int:
    """The number of the shade, 0 for what was expected; what was impossible has the strongest."""
    return len(BITS) if bits is None else sum(bits >= bound for bound in BITS)


def style(number: int) -> str:
    """Letters on the ground of a shade."""
    return f"{'#22333b' if number < 4 else '#ffffff'} on {SHADES[number]}"


def visible(symbol: str) -> str:
    """A symbol as it can stand in a line."""
    symbol = symbol.replace("\n", "⏎")
    return "".join(letter if letter.isprintable() else "·" for letter in symbol)


# Lines that several rooms print


def score_lines(record: Record) -> str:
    """A line for each sequence: its log-probability, its tokens, and how many are unknown; a blank
    line has tokens, none, and no log-probability."""
    lines = (
        f"{number(row['log_prob']) if row['tokens'] else ''}\t{row['tokens']}\t{row['unknown']}"
        for row in record["items"]
    )
    return "\n".join(lines)


def number(value: float | None) -> str:
    """A log-probability; what is impossible has none."""
    return "-inf" if value is None else f"{value:.6f}"


def next_lines(record: Record) -> str:
    """A line for each sequence: the likeliest next symbols with their probabilities."""
    return "\n".join(
        "\t".join(f"{each['symbol']!r} {each['probability']:.3f}" for each in row["next"])
        for row in record["items"]
    )


def generated_lines(record: Record) -> str:
    """The texts that were written; of several each under its number and log-probability."""
    items = record["items"]
    if len(items) == 1:
        return items[0]["text"]
    return "\n".join(
        f"--- {i}  log p {item['log_prob']:.2f}\n{item['text']}" for i, item in enumerate(items, 1)
    )
