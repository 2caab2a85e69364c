"""The site of docs/: built strictly, and nothing in it is loaded from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FOREIGN = re.compile(r"\s*(https?:|wss?:|ftp:)?//", re.I)
LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href"}
CLICKED = {"a", "area"}  # what a reader may follow
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""", re.I)
IN_SCRIPT = re.compile(
    r"""(?:import|importScripts|fetch|\.open|\.src\s*=|Worker)\s*\(?\s*["'`]([^"'`]+)""", re.I
)
PACKAGES = re.compile(
    r"//(?:[\w-]+\.)*(?:unpkg\.com|jsdelivr\.net|cloudflare\.com|googleapis\.com)"
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing of it."""

    def log_message(self, *words: object) -> None:
        """Nothing."""


class Loads(HTMLParser):
    """What a page would load from other hosts."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Attributes that load, and styles."""
        self.inside = tag if tag in ("style", "script") else ""
        for name, value in attrs:
            loads = name in LOADING or (name == "href" and tag not in CLICKED)
            if loads and FOREIGN.match(value or ""):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "style":
                self.found += in_style(value or "")

    def handle_endtag(self, tag: str) -> None:
        """Behind a style or a script."""
        self.inside = ""

    def handle_data(self, data: str) -> None:
        """Styles and scripts that stand in the page."""
        if self.inside == "style":
            self.found += in_style(data)
        if self.inside == "script":
            self.found += in_script(data)


def in_style(text: str) -> list[str]:
    """What a style sheet loads from elsewhere."""
    return [each for each in IN_STYLE.findall(text) if FOREIGN.match(each)]


def in_script(text: str) -> list[str]:
    """What a script loads from elsewhere, as far as it is written out."""
    return [each for each in IN_SCRIPT.findall(text) if FOREIGN.match(each)] + PACKAGES.findall(
        text
    )


def loads(path: Path) -> list[str]:
    """What a file would load from other hosts."""
    text = path.read_text()
    readers = {".css": in_style, ".js": in_script}
    return readers.get(path.suffix, lambda page: Loads(page).found)(text)


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ('<a href="https://a.b">x</a><img src="c.png"><link href="d.css">', 0),
        ('<img src="https://a.b/c.png"><link href="//a.b/d.css">', 2),
        ('<style>p { background: url("https://a.b/c") }</style>', 1),
        ('<p style="background: url(//a.b/c)">', 1),
        ('<script>fetch("https://a.b")</script><p>url(https://a.b)</p>', 1),
        ('<svg><image xlink:href="http://a.b/c.png"></svg>', 1),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', 0),
    ],
)
def test_loads_from_elsewhere_are_found(page, count):
    assert len(Loads(page).found) == count


def test_loads_of_scripts_and_styles_are_found():
    assert in_style('@import "https://a.b/c.css"; p { src: url(data:font) }') == [
        "https://a.b/c.css"
    ]
    assert in_script('x = "https://unpkg.com/mermaid"; import("./here.js")') == ["//unpkg.com"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site):
    kinds = {".html", ".css", ".js", ".svg"}
    files = [path for path in site.rglob("*") if path.suffix in kinds]
    assert {path.name: found for path in files if (found := loads(path))} == {}


@pytest.mark.slow
def test_the_site_has_notebooks_references_and_formulas(site):
    notebooks = {path.stem for path in (ROOT / "examples").glob("*.ipynb")}
    assert notebooks and notebooks == {path.stem for path in (site / "examples").glob("*.html")}
    reference = (site / "api.html").read_text()
    asked = re.findall(r"<!-- ::: ([\w.]+) -->", (ROOT / "docs" / "api.md").read_text())
    assert len(asked) > 15 and all(f'id="{name}"' in reference for name in asked)
    formulas = (site / "index.html").read_text()
    assert "<math" in formulas and "MathKept" not in formulas


@pytest.mark.slow
def test_a_browser_asks_no_other_host(site):
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "CI installs chromium: see .ci/run"
        pytest.skip("no chromium: install it to run this test")
    from playwright.sync_api import sync_playwright

    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as play:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        page = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        for name in ("index", "api", "rungs/attention", "examples/forecast"):
            page.goto(f"{here}{name}.html", wait_until="networkidle")
        page.locator("input.md-search__input").click()
        page.keyboard.type("kneser", delay=20)
        page.wait_for_selector("a.md-search-result__link")
        page.context.browser.close()
        server.shutdown()
    assert said == [] and asked
    assert [each for each in asked if not each.startswith((here, "data:", "blob:"))] == []
