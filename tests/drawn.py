"""What is in a picture: the data of its description, the texts of its drawing."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from seriatim.show.charts import Chart

HOSTILE = [
    "<script>alert(1)</script>",
    "$x$",
    "datum.x || 1",
    "half \udc80",
    "שלום עולם",
    "a\nb",
    'quo"te',
    "very long " * 30,
]


def datasets(chart: Chart) -> list[list[dict[str, Any]]]:
    """The rows of each view of a description."""
    found = []

    def look(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("data"), dict):
                found.append(chart.data_of(part))
            for name, each in part.items():
                if name != "datasets":
                    look(each)
        elif isinstance(part, list):
            for each in part:
                look(each)

    look(chart.body)
    return found


def data_in(chart: Chart) -> list[dict[str, Any]]:
    """All rows of data anywhere in a description, the same ones once."""
    rows = [row for each in datasets(chart) for row in each]
    return list({json.dumps(row, sort_keys=True): row for row in rows}.values())


def texts_in(svg: str) -> list[str]:
    """The texts of a drawing, in the order they were drawn."""
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def sound(chart: Chart) -> Chart:
    """A chart that can be drawn light and dark, wide and narrow, and whose table is plain."""
    assert chart.title and chart.says and "\n" not in chart.says
    json.dumps(chart.rows, allow_nan=False).encode()
    for theme, width in (("light", 640), ("dark", 390)):
        svg = chart.svg(theme, width)
        assert svg.startswith("<svg") and "<script" not in svg
        assert "NaN" not in svg and "undefined" not in svg
    return chart
