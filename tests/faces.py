"""What every face must be: HTML without scripts, every element closed, and a frame with rows."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from seriatim.faces import Result, rows_of


class Tags(HTMLParser):
    """Which elements a page has, and that each is closed."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_face(record: Any) -> None:
    """A record with a face: JSON, HTML, and as many rows in a frame as it has."""
    assert isinstance(record, Result) and json.loads(json.dumps(record)) == record
    seen = Tags(record._repr_html_()).seen
    assert seen[:2] == ["div", "style"] and "script" not in seen and len(seen) > 2
    frame = record.to_frame("polars")
    assert frame.height == len(rows_of(record)) > 0 and frame.width > 0
