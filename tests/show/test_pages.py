"""Pages need no network: nothing is named that could be fetched, and nothing runs but their own two
scripts. The browser's part is in the slow tests."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import seriatim as st
from seriatim.show.charts import fitted
from seriatim.show.curves import leaderboard, learning, quality
from seriatim.show.pages import own_script, page, table
from tests.show.test_charts import HOSTILE, comparison, course

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
MOST_BYTES = 3_000_000


class Seen(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[tuple[dict, str]] = []
        self.inside = False  # a script
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = attributes, text + data


def whole(name: str = "book") -> str:
    charts = [leaderboard(comparison((name, "b"))), quality(comparison()), learning(course())]
    return page(name, [("One", charts[0]), ("Two", charts[1]), (name, charts[2])])


def test_a_page_names_nothing_to_fetch_and_allows_its_own_scripts_only():
    text = whole()
    seen = Seen(text)
    for _, attributes in seen.tags:
        assert not {"src", "href", "srcset", "action"} & attributes.keys()
    running = [body for attributes, body in seen.scripts if "type" not in attributes]
    policy = next(a["content"] for t, a in seen.tags if a.get("http-equiv"))
    sums = [base64.b64encode(hashlib.sha256(b.encode()).digest()).decode() for b in running]
    assert len(running) == 2 and all(f"'sha256-{each}'" in policy for each in sums)
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert len(text.encode()) < MOST_BYTES


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_leave_their_place_in_a_page(name):
    seen = Seen(whole(name))
    assert len(seen.scripts) == 6  # themes, three charts, two scripts
    for attributes, body in seen.scripts:
        if attributes.get("type") == "application/json":
            json.loads(body)


def test_there_is_a_table_behind_every_picture():
    seen = [tag for tag, _ in Seen(whole()).tags]
    assert seen.count("figure") == seen.count("details") == seen.count("table") == 3


def test_a_table_escapes_what_stands_in_it():
    text = table([{"a": "<b>", "n": 1234.5}, {"a": None, "n": 2}])
    assert "<b>" not in text and "&lt;b&gt;" in text and 'class="number"' in text


def test_the_script_widens_as_python_does():
    """The constants of the two are the same; the browser's test compares what they draw."""
    around = int(re.search(r"AROUND = (\d+)", own_script())[1])
    assert fitted({"vconcat": [{"mark": "point"}]}, 520)["vconcat"][0]["width"] == 500 - around


def test_a_fit_and_an_evaluation_write_their_pages(tmp_path):
    data = "markov:length=6000"
    model = st.fit(
        "language", "markov", data, order=1, out=tmp_path / "run", report=tmp_path / "fit.html"
    )
    fitted_page = (tmp_path / "fit.html").read_text()
    assert "markov" in fitted_page and "order" in fitted_page
    found = st.evaluate(model, "markov:length=2000,seed=3", report=str(tmp_path / "e.html"))
    evaluated = (tmp_path / "e.html").read_text()
    assert f"{found['bits_per_character']:.3f}" in evaluated and "Protocol" in evaluated
    with pytest.raises(st.SeriatimError, match="a report is a page"):
        st.evaluate(model, data, report="e.pdf")


def test_a_comparison_tells_where_the_two_best_disagree(tmp_path):
    found = st.compare("language", "markov:length=6000", "unigram,markov", out=tmp_path / "c")
    apart = found["disagreements"]
    assert [apart["first"], apart["second"]] == [row["model"] for row in found["rows"][:2]]
    assert apart["items"] and all("bits" in each["first"] for each in apart["items"])
    assert found["command"].startswith("seriatim compare language markov:length=6000")
    text = (tmp_path / "c" / "report.html").read_text()
    assert found["verdict"][:30] in text and "Where the two best disagree" in text
    assert text.index(found["verdict"][:30]) < text.index("Leaderboard")


@pytest.mark.slow
def test_a_report_opens_in_a_browser_without_requests_errors_or_serious_findings(tmp_path):
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "CI installs chromium: see .ci/run"
        pytest.skip("no chromium: install it to run this test")
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    st.compare(
        "language",
        "markov:length=20000",
        "unigram,markov,lstm",
        out=tmp_path / "c",
        updates=30,
        width=16,
    )
    file = tmp_path / "c" / "report.html"
    assert file.stat().st_size < MOST_BYTES
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)):
            visit(browser, Path(file).as_uri(), scheme, width, Axe())
        browser.close()


def visit(browser, address: str, scheme: str, width: int, axe) -> None:
    """Open a page, look at every figure, and see what the browser and the auditor say."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened, said, asked = context.new_page(), [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(address)
    figures = opened.locator("figure[data-chart]")
    assert figures.count() > 1
    for i in range(figures.count()):
        figures.nth(i).scroll_into_view_if_needed()
        opened.wait_for_selector(f"figure[data-chart=chart-{i + 1}][data-drawn={scheme}]")
    assert said == [] and [each for each in asked if each != address] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.run(opened).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    context.close()
