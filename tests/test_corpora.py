"""Built-in corpora: what is collected from the standard library, what is left out, and how they are named."""
from __future__ import annotations

import sysconfig

import pytest

from seriatim.data.corpora import CORPORA, is_corpus, open_corpus, python_code, python_docs
from seriatim.data.sequences import Sequences
from seriatim.data.sources import SOURCES, generate
from seriatim.errors import ConfigError, DataError


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A standard library of our own making."""
    files = {
        "b.py": b'"""Second."""\r\n\r\ndef f():\r\n    """Line one.\r\n\r\n    Line two."""\r\n',
        "a.py": b'"""First."""\nclass A:\n    """A class."""\n    def method(self):\n        """Second."""\n'
                b'try:\n    pass\nexcept ValueError:\n    async def g():\n        "In a handler."\n',
        "package/c.py": b'# -*- coding: latin-1 -*-\n"""Caf\xe9."""\n',
        "broken.py": b"def (:\n", "undecodable.py": b'"""\xff"""\n', "null.py": b'"""\x00"""\n', "empty.py": b"",
        "escape.py": b'pattern = "\\d"\n', "notes.txt": b'"""Not Python."""\n',
        "test/d.py": b'"""A test."""\n', "package/tests/e.py": b'"""A test."""\n', "site-packages/f.py": b'"""Foreign."""\n',
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))


def text_of(data: Sequences) -> str:
    assert len(data) == 1 and data.by == "stream" and data.unit == "character" and data.entropy is None
    return data[0]["text"]


def test_docs_of_a_small_library(library):
    docs = ["First.", "A class.", "Second.", "In a handler.", "Line one.\n\nLine two.", "Café."]
    assert text_of(python_docs()) == "".join(doc + "\n\n" for doc in docs)


@pytest.mark.filterwarnings("error")
def test_code_of_a_small_library(library):
    text = text_of(python_code())
    assert text.startswith('"""First."""\nclass A:') and "\r" not in text and 'pattern = "\\d"' in text
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
    for function in (python_docs, python_code):
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


def test_every_source_is_a_corpus():
    assert set(CORPORA) == set(SOURCES) | {"python-docs", "python-code"}
    data = open_corpus("markov:length=500,seed=2")
    assert data.origin == "markov:length=500,seed=2" and data.entropy > 0
    assert data[0] == generate("markov:length=500,seed=2")[0]


def test_names():
    assert is_corpus("python-docs") and is_corpus("markov") and is_corpus("markov:order=2") and is_corpus("markov:nonsense")
    assert not is_corpus("book.txt") and not is_corpus("") and not is_corpus("C:\\book.txt")


@pytest.mark.parametrize("name, words", [
    ("python-doc", "Did you mean 'python-docs'"), ("book.txt", "Choose from"), ("python-docs:most=5", "no parameters"),
    ("markov:order=x", "whole number"),
])
def test_bad_names(name, words):
    with pytest.raises(ConfigError) as caught:
        open_corpus(name)
    assert words in str(caught.value)
