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
from seriatim.report import ended
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


def test_the_page_of_what_counts_says_what_it_is_and_names_no_settings_of_others(tmp_path):
    """It once had an empty headline, and the optimiser of a ridge regression."""
    rows = "\n".join(f"2024-01-{1 + i:02d},{10 + i % 7}" for i in range(30))
    (tmp_path / "s.csv").write_text(f"date,sales\n{rows}\n")
    asked = {"horizon": 3, "context": 7, "season": 7, "out": tmp_path / "run"}
    st.fit("forecast", "lags-ridge", tmp_path / "s.csv", **asked, report=tmp_path / "fit.html")
    said = (tmp_path / "fit.html").read_text()
    body = said[said.index("<main>") : said.index("</main>")]
    assert "ridge regression" in body and "30 values, 1 sequence, in " in body
    assert "No figure was measured" in body and '<p class="answer"></p>' not in body
    assert "<dt>horizon</dt><dd>3</dd>" in body and "<dt>season</dt><dd>7</dd>" in body
    for other in ("optimiser", "rate", "unit", "method", "higher", "windows"):
        assert f"<dt>{other}</dt>" not in body
    assert not re.search(r"\d\.\d{5}", body)


def test_the_page_of_a_network_says_once_how_it_ended():
    metrics = {"updates": 60, "improving": False, "unfinished": True, "stopped": "updates"}
    metrics |= {"ending": "60 updates, 3.33 epochs; no longer improving", "seconds": 1.23456}
    metrics |= {"valid": 7 / 30, "said": "share of labels wrong 0.233", "per": "x", "judged_on": 30}
    rows = ended(metrics)
    assert rows["on validation data"] == "share of labels wrong 0.233"
    assert "do not prove: unfinished" in rows["how it ended"] and rows["seconds"] == "1.235"
    assert not {"valid", "unfinished", "improving", "per", "judged_on"} & rows.keys()


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


@pytest.mark.slow
def test_pictures_below_the_fold_are_drawn_without_scrolling_and_light_on_paper(tmp_path):
    """They stayed light and 620 pixels wide until somebody scrolled to them, in the dark, too."""
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "CI installs chromium: see .ci/run"
        pytest.skip("no chromium: install it to run this test")
    from playwright.sync_api import sync_playwright

    file = tmp_path / "page.html"
    charts = [("", learning(course() | {"title": f"run {i}", "per": "x" * 40})) for i in range(6)]
    file.write_text(page("several", charts))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 390, "height": 600}, color_scheme="dark")
        opened = context.new_page()
        opened.goto(file.as_uri())
        opened.wait_for_selector("figure[data-chart=chart-6][data-drawn=dark]")
        visible = "[...document.querySelectorAll('.still')].map(e => e.offsetHeight > 0)"
        assert opened.evaluate(visible) == [False] * 6
        wide = "Math.max(...[...document.querySelectorAll('.picture')].map(p => p.scrollWidth))"
        assert opened.evaluate(wide) <= 350
        opened.emulate_media(media="print")
        assert opened.evaluate(visible) == [True] * 6
        ground = "getComputedStyle(document.body).backgroundColor"
        assert opened.evaluate(ground) == "rgb(255, 255, 255)"
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
    wide = "[...document.querySelectorAll('.picture')].every(p => p.scrollWidth <= p.clientWidth)"
    assert opened.evaluate(wide)  # names at the ends of lines are not cut
    found = axe.run(opened).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    context.close()
