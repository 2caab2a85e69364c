"""What a terminal shows, as HTML for a notebook: plain HTML and CSS, no script, light and dark.

The tables that rooms make for the terminal are turned round cell by cell, so that a room says once
how its records look. Whatever stands in them is escaped.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rich.console import Console, Group
from rich.errors import MarkupError
from rich.style import Style
from rich.table import Table
from rich.text import Text

from seriatim.show.pages import text, written
from seriatim.show.tables import EIGHTHS, HEIGHTS

MOST_ROWS = 60  # of a table in a notebook; a frame has them all
DRAWN = set("─●│" + EIGHTHS.strip() + HEIGHTS)  # letters that draw, which need a width
Row = dict[str, Any]

STYLE = """
.seriatim { --soft: #5f6e76; --line: #e3e7e9; font: 14px/1.45 system-ui, sans-serif; max-width: 100%; overflow-x: auto; }
@media (prefers-color-scheme: dark) { .seriatim { --soft: #a3aeb4; --line: #33424a; } }
.seriatim table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .4em 0; }
.seriatim caption { text-align: left; font-weight: 600; padding: .2em 0; }
.seriatim th, .seriatim td { text-align: left; padding: .15em .9em .15em 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: pre-wrap; }
.seriatim .right { text-align: right; white-space: nowrap; }
.seriatim .whole { white-space: pre; }
.seriatim .drawn { font-family: ui-monospace, Menlo, Consolas, monospace; white-space: pre; }
.seriatim .soft { color: var(--soft); }
.seriatim p, .seriatim pre { margin: .3em 0; white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def framed(parts: Iterable[str]) -> str:
    """Parts of HTML as one piece with its own style, which touches nothing around it."""
    return f'<div class="seriatim"><style>{STYLE}</style>{"".join(parts)}</div>'


def html_of(shown: Any) -> str:
    """What rich would print (a table, some words, several of both), as HTML."""
    if isinstance(shown, Group):
        return "".join(map(html_of, shown.renderables))
    if isinstance(shown, Table):
        return table_html(shown)
    words = inline(shown)
    return f"<p>{words}</p>" if words else ""


def table_html(table: Table) -> str:
    """A table of rich, cell by cell."""
    sides = [' class="right"' * (each.justify == "right") for each in table.columns]
    sides = [
        side or ' class="whole"' * each.no_wrap
        for side, each in zip(sides, table.columns, strict=True)
    ]
    soft = [each.style == "dim" for each in table.columns]
    title = "" if table.title is None else f"<caption>{inline(table.title)}</caption>"
    head = ""
    if table.show_header:
        titles = zip(sides, (inline(each.header) for each in table.columns), strict=True)
        cells = "".join(f'<th scope="col"{side}>{words}</th>' for side, words in titles)
        head = f"<thead><tr>{cells}</tr></thead>"
    columns = [[*each.cells] for each in table.columns]
    body = []
    for number, each in enumerate(table.rows):
        cells = "".join(
            f"<td{side}>{styled(inline(column[number]), style_of(each.style, dim))}</td>"
            for side, column, dim in zip(sides, columns, soft, strict=True)
        )
        body.append(f"<tr>{cells}</tr>")
    below = "" if table.caption is None else f'<p class="soft">{inline(table.caption)}</p>'
    return f"<table>{title}{head}<tbody>{''.join(body)}</tbody></table>{below}"


def style_of(row: Any, dim: bool) -> Style:
    """The style of a cell, from its row and its column."""
    named = Style.parse(row) if isinstance(row, str) else row or Style()
    return named + Style(dim=True) if dim else named


def inline(words: Any) -> str:
    """Words of a terminal, with their styles, as HTML."""
    if not isinstance(words, Text):
        try:
            words = Text.from_markup(str(words))
        except MarkupError:  # brackets that mean nothing
            words = Text(str(words))
    console = Console(file=io.StringIO(), color_system="truecolor", width=10_000)
    segments = words.render(console, end="")
    content = "".join(styled(escape(each.text), each.style) for each in segments)
    if words.style and not words.spans:  # what has spans brings its own style with them
        content = styled(content, console.get_style(words.style))
    letters = DRAWN & set(words.plain) or "    " in words.plain
    return f'<span class="drawn">{content}</span>' if letters else content


def styled(content: str, style: Style | None) -> str:
    """HTML in bold, soft or coloured letters."""
    if style is None or not content:
        return content
    colours = (("color", style.color), ("background", style.bgcolor))
    said = ";".join(
        f"{name}:{each.get_truecolor().hex}"
        for name, each in colours
        if each and not each.is_default
    )
    soft = ' class="soft"' if style.dim else ""
    coloured = f' style="{said}"' if said else ""
    if soft or coloured:
        content = f"<span{soft}{coloured}>{content}</span>"
    return f"<b>{content}</b>" if style.bold else content


def rows_html(rows: Sequence[Row], most: int = MOST_ROWS) -> str:
    """Rows as a table, their keys as headings; the first ones, and how many more there are."""
    names = list(dict.fromkeys(name for row in rows[:most] for name in row))
    right = {
        name: all(isinstance(row.get(name), (int, float, type(None))) for row in rows[:most])
        for name in names
    }

    def cell(tag: str, name: str, content: str) -> str:
        """A cell, aligned by what its column holds."""
        scope, side = ' scope="col"' * (tag == "th"), ' class="right"' * right[name]
        return f"<{tag}{scope}{side}>{content}</{tag}>"

    head = "".join(cell("th", name, text(name)) for name in names)
    body = "".join(
        f"<tr>{''.join(cell('td', name, written(row.get(name))) for name in names)}</tr>"
        for row in rows[:most]
    )
    more = len(rows) - most
    rest = f'<p class="soft">and {more:,} more rows: to_frame() has all</p>' if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def words_html(words: str) -> str:
    """Lines of text as they are."""
    return f"<pre>{escape(words)}</pre>" if words else ""
