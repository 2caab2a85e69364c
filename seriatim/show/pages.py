"""HTML pages that need no network: pictures as descriptions with the JavaScript that draws them,
tables behind them, one file.

Nothing is fetched and nothing else can run: the policy in the head allows the page's own two
scripts by their checksums, and expressions of pictures are interpreted, not compiled.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from seriatim.show.charts import THEMES, WIDTH, Chart, Row, config, engine, readable

MOST_ROWS = 400  # of the table behind a picture
Section = tuple[str, "Chart | str"]  # a heading, which may be empty, and what stands below it

STYLE = """
:root { color-scheme: light dark; --ink: #22333b; --soft: #5f6e76; --line: #e3e7e9; --accent: #c1440e;
  --paper: #ffffff; --ground: #f6f7f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecee; --soft: #a3aeb4; --line: #33424a; --paper: #172126; --accent: #ff8a5b; --ground: #1e2a30; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 68rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
.soft { color: var(--soft); }
.answer { font-size: 1.15rem; border-left: 4px solid var(--accent); padding: .1rem 0 .1rem .9rem; margin: 1rem 0; }
.wide, .picture { overflow-x: auto; }
.broad { margin-inline: calc(-1 * clamp(0px, (100vw - 72rem) / 2, 10rem)); }
.broad td, .broad th { padding-right: .6rem; font-size: .85rem; }
.broad td { white-space: nowrap; } .broad td.words { white-space: normal; }
.wide pre { white-space: pre; overflow-wrap: normal; width: max-content; min-width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
table.whole { width: 100%; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .85rem; }
td, th { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.best td { font-weight: 600; }
tr.failed td { color: var(--accent); }
figure { margin: .5rem 0 1.5rem; }
figcaption { color: var(--soft); font-size: .92rem; margin-bottom: .3rem; }
figcaption strong { color: var(--ink); }
.picture svg { max-width: none; height: auto; display: block; }
.picture .still svg { max-width: 100%; } .live ~ .still { display: none; }
details { margin: .3rem 0; }
summary { color: var(--soft); cursor: pointer; font-size: .9rem; }
pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .88rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); padding: .6rem .8rem; border-radius: 4px; margin: .3rem 0; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; } }
@media print {
  :root { color-scheme: light; --ink: #22333b; --soft: #5f6e76; --line: #e3e7e9; --accent: #c1440e;
    --paper: #ffffff; --ground: #f6f7f8; }
  body { max-width: none; margin: 0; } .broad { margin: 0; } .wide { overflow: visible; }
  .live { display: none; } .live ~ .still { display: block; }
  figure, tr { break-inside: avoid; } details:not([open]) { display: none; }
}
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title><style>{style}</style></head><body>
<main>{body}</main>
{data}
<script>{bundle}</script>
<script>{own}</script>
</body></html>
"""


def page(title: str, sections: Iterable[Section], head: str = "") -> str:
    """A whole page: `head` is what stands above the sections, as HTML."""
    body, charts = [head or f"<h1>{text(title)}</h1>"], []
    for heading, content in sections:
        if heading:
            body.append(f"<h2>{text(heading)}</h2>")
        if isinstance(content, Chart):
            charts.append(content)
            body.append(figure(content, f"chart-{len(charts)}"))
        else:
            body.append(content)
    themes = {name: config(name) for name in THEMES}
    data = [data_block("themes", themes)]
    data += [data_block(f"chart-{i}", each.body) for i, each in enumerate(charts, 1)]
    scripts = (bundle(), own_script()) if charts else ("", "")
    return PAGE.format(
        policy=policy(scripts),
        title=text(title),
        style=STYLE,
        body="\n".join(body),
        data="\n".join(data) if charts else "",
        bundle=scripts[0],
        own=scripts[1],
    )


def figure(chart: Chart, name: str) -> str:
    """A picture as it was drawn when the page was made, what one sees, and the table behind it."""
    says = f"<strong>{text(chart.title)}</strong> {text(chart.says)}"
    drawn = chart.svg(width=WIDTH, titled=False)
    drawn = drawn.replace("<svg ", '<svg aria-hidden="true" ', 1)
    return (
        f'<figure data-chart="{name}"><figcaption>{says}</figcaption>'
        f'<div class="picture" role="img" tabindex="0" aria-label="{text(chart.says)}">'
        f'<div class="still">{drawn}</div></div>'
        f"{behind(chart)}</figure>"
    )


def behind(chart: Chart) -> str:
    """The table behind a picture, closed until it is asked for."""
    if not chart.rows:
        return ""
    more = len(chart.rows) - MOST_ROWS
    rest = f'<p class="soft">and {more:,} more rows</p>' if more > 0 else ""
    inside = table(chart.rows[:MOST_ROWS])
    return (
        f"<details><summary>As a table</summary>"
        f'<div class="wide" role="group" tabindex="0" aria-label="{text(chart.title)}">{inside}</div>{rest}</details>'
    )


def table(rows: Sequence[Row], kind: str = "") -> str:
    """Rows as an HTML table, their keys as headings; numbers to the right."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    numbers = {
        name: all(isinstance(row.get(name), (int, float, type(None))) for row in rows)
        for name in names
    }

    def cell(tag: str, name: str, content: str) -> str:
        """A cell, aligned by what its column holds."""
        side = ' class="number"' if numbers[name] else ""
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{side}{scope}>{content}</{tag}>"

    head = "".join(cell("th", name, text(name.replace("_", " "))) for name in names)
    body = "\n".join(
        "<tr>" + "".join(cell("td", name, written(row.get(name))) for name in names) + "</tr>"
        for row in rows
    )
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def written(value: Any) -> str:
    """A value in a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else text(value)


def text(value: Any) -> str:
    """Words from anywhere as HTML."""
    return escape(readable(value))


def data_block(name: str, value: Any) -> str:
    """JSON in a page: data, which no policy has to allow and which cannot end the block."""
    content = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    content = content.encode("utf-8", "replace").decode()
    return f'<script type="application/json" id="{name}">{content}</script>'


def policy(scripts: Iterable[str]) -> str:
    """What the page may do: run these scripts, and nothing else."""
    allowed = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'"
        for each in scripts
    )
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def can_draw() -> bool:
    """Whether what draws pictures is installed."""
    return all(find_spec(name) for name in ("altair", "vl_convert"))


def warm() -> None:
    """Do now what takes seconds the first time, so that a page is quickly written later."""
    import altair  # noqa: F401

    engine().vegalite_to_svg({"data": {"values": []}, "mark": "point"}, allowed_base_urls=[])
    bundle()


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as vl-convert carries them."""
    found = engine().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return found.replace("</script", "<\\/script")


@cache
def own_script() -> str:
    """Where and how pictures are drawn in a page."""
    return files("seriatim.show").joinpath("pages.js").read_text(encoding="utf-8")
