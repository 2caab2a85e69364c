"""Built-in corpora: what is collected from the standard library, what is left out, and how they are named."""

from __future__ import annotations

import sysconfig

import pytest

from seriatim.data import read
from seriatim.data.corpora.pairs import PAIRS
from seriatim.data.corpora.python import (
    LABELLED,
    python_code,
    python_docs,
    python_lines,
    python_tokens,
)
from seriatim.data.corpora.signals import SIGNALS
from seriatim.data.corpora.sources import SOURCES, generate
from seriatim.data.corpora.table import CORPORA, is_corpus, open_corpus
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A standard library of our own making."""
    files = {
        "b.py": b'"""Second."""\r\n\r\ndef f():\r\n    """Line one.\r\n\r\n    Line two."""\r\n',
        "a.py": b'"""First."""\nclass A:\n    """A class."""\n    def method(self):\n        """Second."""\n'
        b'try:\n    pass\nexcept ValueError:\n    async def g():\n        "In a handler."\n',
        "package/c.py": b'# -*- coding: latin-1 -*-\n"""Caf\xe9."""\n',
        "broken.py": b"def (:\n",
        "undecodable.py": b'"""\xff"""\n',
        "null.py": b'"""\x00"""\n',
        "empty.py": b"",
        "escape.py": b'pattern = "\\d"\n',
        "notes.txt": b'"""Not Python."""\n',
        "argparse.py": b"# a comment\nimport os\n\nfor name in names:\n    print(name)  # said\n    print(name)  # said\n",
        "pickle.py": b'def load(file, *, x=0x1F):\n    return [print, a.print,\n        \'text here\']\nfor name in names:\n    """Two\n    lines"""\n',
        "test/d.py": b'"""A test."""\n',
        "package/tests/e.py": b'"""A test."""\n',
        "site-packages/f.py": b'"""Foreign."""\n',
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))


def text_of(data: Sequences) -> str:
    assert len(data) == 1 and data.by == "stream" and data.unit is None and data.entropy is None
    return data[0]["text"]


def test_docs_of_a_small_library(library):
    docs = ["First.", "A class.", "Second.", "In a handler.", "Line one.\n\nLine two.", "Café."]
    assert text_of(python_docs()) == "".join(doc + "\n\n" for doc in docs)


@pytest.mark.filterwarnings("error")
def test_code_of_a_small_library(library):
    text = text_of(python_code())
    assert (
        text.startswith('"""First."""\nclass A:') and "\r" not in text and 'pattern = "\\d"' in text
    )
    assert text.index("Second") < text.index("Line two") < text.index("Café")
    assert not any(word in text for word in ("def (", "Not Python", "A test", "Foreign", "\x00"))


def test_most_cuts(library):
    whole = text_of(python_docs())
    for most in range(1, len(whole) + 5):
        assert text_of(python_docs(most)) == whole[:most]
    with pytest.raises(ConfigError):
        python_docs(0)


@pytest.mark.parametrize("place", ["", "nowhere"])
def test_no_library(tmp_path, monkeypatch, place):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / place))
    for function in (python_docs, python_code, python_lines, python_tokens):
        with pytest.raises(DataError) as caught:
            function()
        assert caught.value.do


def test_docs_of_this_machine():
    data = open_corpus("python-docs")
    text = text_of(data)
    assert data.origin == "python-docs" and 500_000 < len(text) <= 1_500_000
    assert text.count("the ") > 5_000 and "\r" not in text
    assert text[:100_000] == text_of(python_docs(100_000))


def test_code_of_this_machine():
    data = open_corpus("python-code")
    text = text_of(data)
    assert data.origin == "python-code" and len(text) == 3_000_000
    assert text.count("def ") > 2_000 and "\r" not in text


def test_lines_of_a_small_library(library):
    data = open_corpus("python-lines")
    assert (data.by, data.origin) == ("line", "python-lines")
    assert sorted((row["text"], *row["label"]) for row in data) == [
        ("'text here']", "pickle"),
        ("def load(file, *, x=0x1F):", "pickle"),
        ("for name in names:", "argparse"),
        ("print(name)  # said", "argparse"),
        ("return [print, a.print,", "pickle"),
    ]


def test_tokens_of_a_small_library(library):
    rows = {" ".join(row["tokens"]): " ".join(row["tags"]) for row in open_corpus("python-tokens")}
    assert rows == {
        "import os": "keyword name",
        "for name in names :": "keyword name keyword name operator",
        "print ( name ) # said": "builtin operator name operator comment",
        "def load ( file , * , x = 0x1F ) :": "keyword function operator name operator operator operator name operator number operator operator",
        "return [ print , a . print , 'text here' ]": "keyword operator builtin operator name operator name operator string operator",
    }


@pytest.mark.parametrize("name", ["python-lines", "python-tokens"])
def test_lines_are_drawn_once_each_and_by_seed(name):
    some, same, whole = (
        [str(row) for row in open_corpus(name + settings)]
        for settings in (":lines=500,seed=3", ":lines=500,seed=3", ":lines=1000000")
    )
    assert (
        some == same
        and len(set(some)) == 500
        and set(some) < set(whole)
        and len(set(some) & set(whole[:500])) < 250
    )
    assert len(set(whole)) == len(whole) > 9_000


def test_lines_of_this_machine_have_their_module_for_a_label():
    data = open_corpus("python-lines")
    assert set(data.field("label").names) == set(LABELLED) and len(data) == 10_000
    assert all(len(row["text"]) >= 10 and row["text"][0] not in "# " for row in data[:1000])


def test_a_stream_of_tokens_is_cut_into_lines_of_64_steps():
    stream, lines = read("piano:length=150"), read("piano:length=150", by="line")
    assert (stream.unit, stream.by, lines.unit, lines.by) == ("token", "stream", "token", "line")
    assert lines.main.lengths.tolist() == [64, 64, 22]
    assert [step for row in lines for step in row["tokens"]] == stream[0]["tokens"]


def test_a_stream_of_numbers_is_not_cut_into_lines():
    with pytest.raises(ConfigError, match="has no lines"):
        read("seasonal", by="line")


def test_sets_are_fitted_on_the_piano_as_it_comes():
    import seriatim as st

    predictor = st.fit("sets", "rnn", "piano:length=1500", width=8, epochs=1)
    record = predictor.evaluate(read("piano:length=300,draw=2", by="line"))
    assert predictor.by == "line" and 0 < record["bits_per_step"] < 60


def test_every_source_is_a_corpus():
    assert set(CORPORA) == set(SOURCES) | set(PAIRS) | set(SIGNALS) | {
        "python-docs",
        "python-code",
        "python-lines",
        "python-tokens",
    } | {"drawings", "tunes", "sentences"}
    data = open_corpus("markov:length=500,seed=2")
    assert data.origin == "markov:length=500,seed=2" and data.entropy > 0
    assert data[0] == generate("markov:length=500,seed=2")[0]


def test_names():
    assert (
        is_corpus("python-docs")
        and is_corpus("markov")
        and is_corpus("markov:order=2")
        and is_corpus("markov:nonsense")
    )
    assert not is_corpus("book.txt") and not is_corpus("") and not is_corpus("C:\\book.txt")


@pytest.mark.parametrize(
    "name, words",
    [
        ("python-doc", "Did you mean 'python-docs'"),
        ("book.txt", "Choose from"),
        ("python-docs:most=5", "no parameters"),
        ("markov:order=x", "whole number"),
        ("python-lines:line=3", "Did you mean 'lines'"),
        ("python-tokens:lines=0", "at least 1"),
    ],
)
def test_bad_names(name, words):
    with pytest.raises(ConfigError) as caught:
        open_corpus(name)
    assert words in str(caught.value)
