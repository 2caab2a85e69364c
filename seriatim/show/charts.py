"""A picture is a description: Vega-Lite made from a record, drawn wherever it is wanted.

    chart = Chart(view, title="runs/book", says="Lower is better: ...", rows=[...])
    chart.save("x.svg")      svg, png, pdf, html (interactive, one file), json (the description)

The view is built with Altair, which checks it against Vega-Lite's schema. It names roles, not
colours: `style="accent"` in marks, categories and ramps by their ranges, so that one description is
drawn light and dark. What comes from outside is only ever a value of the data: never the name of a
field, never part of an expression. Nothing is fetched: a description holds all of its data.
"""

from __future__ import annotations

import copy
import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import ConfigError, RunError, extras, nearest
from seriatim.records import Record, record
from seriatim.storage import write_bytes

if TYPE_CHECKING:
    import altair

Row = dict[str, Any]
Specification = dict[str, Any]

WIDTH, NARROW = 640, 390  # pixels; no picture is drawn narrower than the second
AROUND = 110  # pixels beside the views of a picture of several, for axes and the names at ends
FORMATS = ("png", "svg", "pdf", "html", "json")
FONT = "system-ui, Liberation Sans, Arial, Helvetica, sans-serif"
MONOSPACE = "ui-monospace, Liberation Mono, Menlo, Consolas, monospace"

# Told apart by every kind of colour vision, and legible as letters on their ground (tests/show).
LIGHT = {
    "paper": "#ffffff",
    "ink": "#22333b",
    "soft": "#5f6e76",
    "hair": "#e3e7e9",
    "accent": "#c1440e",
    "over": "#ffffff",
    "names": ("#c1440e", "#1f4fd0", "#2b7d5b", "#22333b", "#86679b", "#5c2a0c", "#9227b0"),
    "heat": ("#ffffff", "#fbe6d6", "#f7cbae", "#f0a47b", "#e07a4a", "#c1440e", "#7a2405"),
    "cool": ("#ffffff", "#d5e5ec", "#8dbdd0", "#3a86a8", "#1f4d63"),
    "apart": ("#0063a6", "#8dbdd0", "#f4f5f6", "#f0a47b", "#c1440e"),
}
DARK = {
    "paper": "#172126",
    "ink": "#e8ecee",
    "soft": "#a3aeb4",
    "hair": "#33424a",
    "accent": "#ff8a5b",
    "over": "#172126",
    "names": ("#ff8a5b", "#7f95d0", "#00b294", "#e8ecee", "#f2c900", "#a5f5b4", "#e07bf5"),
    "heat": ("#172126", "#3b2a24", "#6b3a25", "#a5502a", "#dd7040", "#ffa57c", "#ffe3d3"),
    "cool": ("#172126", "#21404f", "#2f6d87", "#5aa7c6", "#c3e4f1"),
    "apart": ("#5db5f0", "#2f6d87", "#243038", "#a5502a", "#ff8a5b"),
}
THEMES = {"light": LIGHT, "dark": DARK}


class Chart:
    """A picture as data, and the faces it has: files, a notebook's SVG, a page.

    `title` is what it is of, `says` one sentence of what one sees, `rows` the table behind it.
    """

    def __init__(
        self, view: altair.TopLevelMixin | Any, title: str, says: str, rows: Sequence[Row]
    ):
        body = view.to_dict() if not isinstance(view, dict) else copy.deepcopy(view)
        for name in ("$schema", "config"):
            body.pop(name, None)
        self.body: Specification = body
        self.title, self.says, self.rows = readable(title), readable(says), list(rows)
        self.notes: list[str] = []  # what a reader must know besides
        self.what = ""  # its name among the pictures of its record
        self.place: Path | None = None  # where it would be kept
        self.written: str | None = None  # the file it was written to, if any

    def __repr__(self) -> str:
        return f"Chart({self.title!r}: {self.says})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: an SVG, without script."""
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    # -- the description
    def specification(
        self, theme: str = "light", width: float = WIDTH, titled: bool = True
    ) -> Specification:
        """The whole description at this width, in these colours; on a page title and sentence are
        the page's own, so they may be left out."""
        check_look(theme, width)
        whole = fitted(self.body, max(width, NARROW - 40))
        whole["config"] = config(theme)
        whole["description"] = f"{self.title}. {self.says}"
        if titled:
            letters = int(max(width, NARROW - 40) / 6.2)
            says = textwrap.wrap(self.says, letters) or [""]
            title = textwrap.shorten(self.title, letters - 8, placeholder=" …") or self.title
            whole["title"] = {"text": title, "subtitle": says}
        return whole

    def record(self) -> Record:
        """The picture as a record: what it shows, where it was written, and how it is described."""
        return record(
            "picture",
            what=self.what,
            title=self.title,
            says=self.says,
            written=self.written,
            specification=self.specification(),
            notes=self.notes,
        )

    def data_of(self, view: Specification) -> list[Row]:
        """The rows that a view of the description draws, or all its views draw."""
        data: Specification = view.get("data", self.body.get("data")) or {"values": []}
        return data["values"] if "values" in data else self.body["datasets"][data["name"]]

    # -- its faces
    def svg(self, theme: str = "light", width: float = WIDTH, titled: bool = True) -> str:
        """Drawn as SVG; the same chart gives the same text."""
        return engine().vegalite_to_svg(
            self.specification(theme, width, titled), allowed_base_urls=[]
        )

    def png(self, theme: str = "light", width: float = WIDTH, scale: float = 2) -> bytes:
        """Drawn in pixels, `scale` for each of the description's."""
        whole = self.specification(theme, width)
        return engine().vegalite_to_png(whole, scale=scale, allowed_base_urls=[])

    def pdf(self, width: float = WIDTH) -> bytes:
        """Drawn as a page of PDF."""
        whole = self.specification("light", width)
        return engine().vegalite_to_pdf(whole, allowed_base_urls=[])

    def json(self) -> str:
        """The description itself."""
        return json.dumps(self.specification(), ensure_ascii=False, indent=1)

    def html(self) -> str:
        """A page of its own: interactive, light or dark as the reader likes, no network."""
        from seriatim.show.pages import page

        return page(self.title, [("", self)])

    def save(self, out: str | Path, theme: str = "light") -> Path:
        """Write it; the ending says in which format."""
        check_look(theme)
        path, format = Path(out), format_of(out)
        if format == "png":
            content = self.png(theme)
        elif format == "pdf":
            content = self.pdf()
        else:
            content = {"svg": lambda: self.svg(theme), "html": self.html, "json": self.json}[
                format
            ]().encode("utf-8", "xmlcharrefreplace")
        write_bytes(path, content)
        self.written = str(path)
        return path


@extras
def engine() -> Any:
    """vl-convert: Vega-Lite to pictures, with its own JavaScript and without a network."""
    import vl_convert

    return vl_convert


def format_of(out: str | Path) -> str:
    """The format that the ending of a picture's name asks for."""
    format = Path(out).suffix.lstrip(".").lower() or "png"
    if format not in FORMATS:
        raise RunError(
            f"pictures are written as {', '.join(FORMATS)}",
            got=Path(out).name,
            do="Choose another --out",
        )
    return format


def beside(run: str | Path, name: str) -> Path:
    """A file in a run's folder, or next to the file that takes its place."""
    return (Path(run) if Path(run).is_dir() else Path(run).parent) / name


def readable(name: Any) -> str:
    """A name that can be written: no halves of surrogate pairs, nothing that does not print."""
    name = str(name).encode("utf-8", "replace").decode()
    return "".join(letter if letter.isprintable() else "·" for letter in name)


def check_look(theme: Any, width: Any = WIDTH) -> None:
    """Refuse a theme that there is not, and a width that is no number."""
    if not isinstance(theme, str) or theme not in THEMES:
        raise ConfigError("there is no such theme", got=theme, do=nearest(str(theme), THEMES))
    if isinstance(width, bool) or not isinstance(width, (int, float)):
        raise ConfigError("a width is a number of pixels", got=repr(width), do=f"Write {WIDTH}")


# -- colours and letters
def config(theme: str) -> Specification:
    """What is the same in all pictures: letters, lines and the colours of roles."""
    colours = THEMES[theme]
    ink, soft, line = colours["ink"], colours["soft"], colours["hair"]
    axis = {
        "labelColor": soft,
        "titleColor": soft,
        "gridColor": line,
        "domainColor": line,
        "tickColor": line,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelFontWeight": "normal",
        "labelLimit": 220,
        "labelSeparation": 6,  # labels nearer to each other than this are left out
        "tickSize": 4,
    }
    heading = {"color": ink, "fontSize": 13, "anchor": "start", "frame": "bounds", "offset": 10}
    return {
        "background": colours["paper"],
        "font": FONT,
        "padding": 10,
        "view": {"stroke": None},
        "axis": axis,
        "axisQuantitative": {"tickCount": 6},
        "title": heading | {"subtitleColor": soft, "subtitleFontSize": 11.5, "subtitlePadding": 5},
        "header": {"labelColor": ink, "titleColor": soft, "labelFontSize": 11},
        "legend": {"labelColor": ink, "titleColor": soft, "titleFontWeight": "normal"},
        "line": {"strokeWidth": 2, "strokeCap": "round", "strokeJoin": "round"},
        "text": {"fontSize": 11, "color": ink},
        "rule": {"color": line},
        "range": {
            "category": list(colours["names"]),
            "heatmap": list(colours["heat"]),
            "ramp": list(colours["cool"]),
            "diverging": list(colours["apart"]),
        },
        "style": styles(colours),
        "concat": {"spacing": 14},
    }


def styles(colours: Mapping[str, Any]) -> Specification:
    """The roles that marks may have."""
    found: Specification = {}
    for role in ("ink", "soft", "accent", "paper", "over", "hair"):
        colour = colours[role]
        found[role] = {"color": colour, "fill": colour, "stroke": colour}
        found[f"{role}-line"] = {"color": colour, "stroke": colour}
        found[f"{role}-text"] = {"color": colour, "fill": colour}
        found[f"{role}-hollow"] = {
            "color": colour,
            "fill": colours["paper"],
            "stroke": colour,
            "strokeWidth": 1.8,
        }
    accent, second = colours["accent"], colours["names"][1]
    found["band"] = {"color": accent, "fill": accent, "fillOpacity": 0.16, "strokeOpacity": 0}
    found["bar"] = {"color": second, "fill": second, "stroke": None}
    return found


# -- sizes
def fitted(body: Specification, width: float) -> Specification:
    """The description at a width in pixels: views one above the other are as wide as there is room,
    grids have fewer columns, what has a size for each step keeps it. `pages.js` does the same."""
    whole = copy.deepcopy(body)
    wide = round(width - 20)
    if "vconcat" in whole:
        for view in whole["vconcat"]:
            widen(view, wide - AROUND)
    elif "concat" in whole:
        each = max(number_of(view.get("width"), 200) for view in whole["concat"])
        whole["columns"] = max(1, min(whole.get("columns", 99), int(wide // (each + 40))))
    elif "facet" not in whole:
        stepped = isinstance(whole.get("height"), dict)  # Vega-Lite fits only what has a height
        widen(whole, wide - AROUND if stepped else wide)
        if not stepped and not isinstance(whole["width"], dict):
            whole["autosize"] = {"type": "fit-x", "contains": "padding"}
    return whole


def widen(view: Specification, width: float) -> None:
    """A view this wide, unless its steps say how wide it is."""
    if isinstance(view.get("width"), (int, float)) or "width" not in view:
        view["width"] = width


def number_of(value: Any, otherwise: float) -> float:
    """A width if it is a number."""
    return value if isinstance(value, (int, float)) else otherwise


# -- parts that rooms build on
def values(rows: Iterable[Row]) -> Any:
    """Rows as the data of a view. They stand in a description once, however many layers draw them,
    and the check against Vega-Lite's schema looks at the description and not at every number, which
    a class of Altair's would do."""
    return {"values": list(rows)}


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places in pixels, moved as little as may be so that none is nearer to another than `gap`, and
    within bounds where there is room: names at the ends of lines.

    >>> spread([10, 12, 50], 11, 0, 100)
    [5.5, 16.5, 50.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, list[int]]] = []  # where the first of a block is, and who is in it
    for i in order:
        begin, members = float(places[i]), [i]
        while blocks and blocks[-1][0] + gap * len(blocks[-1][1]) > begin:
            _, others = blocks.pop()
            members = [*others, *members]
            wishes = [places[each] - gap * place for place, each in enumerate(members)]
            begin = sum(wishes) / len(wishes)
        begin = min(max(begin, low), high - gap * (len(members) - 1))
        blocks.append((begin, members))
    found = [0.0] * len(places)
    for begin, members in blocks:
        for place, each in enumerate(members):
            found[each] = begin + gap * place
    return found


def domain_of(
    numbers: Iterable[float | None], margin: float = 0.06, least: float = 0.0
) -> tuple[float, float]:
    """From the least to the greatest, with a margin; never empty, and not narrower than `least`.

    >>> domain_of([0.5, 0.5], least=0.25)
    (0.375, 0.625)
    """
    known = [each for each in numbers if each is not None] or [0.0, 1.0]
    low, high = min(known), max(known)
    room = (high - low) * margin or (0.0 if least else abs(high) * margin or 1.0)
    room = max(room, (least - (high - low)) / 2)
    return low - room, high + room


def powers(low: float, high: float) -> list[float]:
    """Where a logarithmic axis has its ticks: powers of ten, and 3 between them where there is room.

    >>> powers(0.09, 120), powers(0.5, 40)
    ([0.1, 1.0, 10.0, 100.0], [1.0, 3.0, 10.0, 30.0])
    """
    begin, end = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1.0, 3.0) if end - begin <= 4 else (1.0,)
    every = max(1, (end - begin) // 8)
    found = [float(f"{step}e{power}") for power in range(begin, end + 1, every) for step in steps]
    return [each for each in found if low <= each <= high]


def letters(names: Iterable[str], size: float = 6.4) -> int:
    """Pixels that the longest of some names needs."""
    return round(max((len(name) for name in names), default=0) * size) + 14


def short(name: Any, longest: int = 24) -> str:
    """A name as long as there is room."""
    name = readable(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"
