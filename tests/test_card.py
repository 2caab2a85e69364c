"""The model card of a run: from its records, escaped, and nobody's in the way."""

from __future__ import annotations

import re

import seriatim as st
from seriatim.runs.card import escaped

TINY = {"updates": 3, "width": 8, "compile": "no"}


def mail(folder, name="mail.tsv", label="spam"):
    """A file of messages."""
    file = folder / name
    rows = (f"win {i}\t{label}\ntea {i}\tham\n" for i in range(40))
    file.write_text("text\tlabel\n" + "".join(rows))
    return file


def test_every_run_has_a_card_with_what_is_known_of_it(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text("the cat sat on the mat\n" * 2000)
    model = st.fit("language", "rnn", file, out=tmp_path / "run", **TINY)
    card = (tmp_path / "run" / "card.md").read_text()
    heads = re.findall("^## (.*)$", card, re.M)
    assert heads == ["Trained on", "Figures", "Settings", "How to use it", "Limits"]
    assert "# rnn, a model of language" in card and "| book.txt |" in card
    assert str(tmp_path) not in card, "where it was made is nobody's business"
    assert model.metrics["said"] in card and "| rnn: width | 8 |" in card
    assert "model.surprisal" in card and "Unfinished" in card
    assert "chose among updates" in card


def test_a_model_that_counts_says_that_no_figure_is_known(tmp_path):
    model = st.fit("language", "markov", "markov:length=2000")
    model.save(tmp_path / "run")
    card = (tmp_path / "run" / "card.md").read_text()
    assert "Nothing was held out" in card and "Data in memory" in card


def test_a_saved_copy_knows_what_the_first_one_was_trained_on(tmp_path):
    st.fit("classify", "naive-bayes", mail(tmp_path), out=tmp_path / "run")
    st.load(tmp_path / "run").save(tmp_path / "copy")
    assert "mail.tsv" in (tmp_path / "copy" / "card.md").read_text()


def test_a_card_may_be_changed(tmp_path):
    st.fit("classify", "naive-bayes", mail(tmp_path), out=tmp_path / "run")
    (tmp_path / "run" / "card.md").write_text("# Mine")
    assert st.load(tmp_path / "run", verify=True).predict(["win"])["items"]
    found = st.call("verify", tmp_path / "run")
    assert not found["whole"] and found["runs"][0]["files"][-1]["found"] == "another size"
    st.load(tmp_path / "run").save(tmp_path / "copy")
    assert "## Limits" in (tmp_path / "copy" / "card.md").read_text()


def test_names_are_no_markdown_and_no_html(tmp_path):
    evil = mail(tmp_path, "a`b|[c](d)<script>.tsv")
    st.fit("classify", "naive-bayes", evil, out=tmp_path / "run")
    card = (tmp_path / "run" / "card.md").read_text()
    assert r"a\`b\|\[c\]\(d\)&lt;script&gt;.tsv" in card and "<script" not in card
    assert escaped("two\nlines\x1b & \ud800") == "two lines· &amp; ?"
