"""Mistakes as users make them: mypy finds one on every line that says so, and no other.
Never run: see `tests/test_typed.py`."""

from pathlib import Path
from typing import TYPE_CHECKING

import seriatim as st

if TYPE_CHECKING:
    model = st.fit("language", "lstm", "book.txt", minutes=3)
    spam = st.fit("classify", "linear", "sms.tsv")
    table = st.compare("classify", "sms.tsv")

    st.fit("langauge", "lstm", "book.txt")  # wrong
    st.fit("language", "lstm", "book.txt", widht=256)  # wrong
    st.fit("language", "lstm", "book.txt", width="wide")  # wrong
    st.fit("language", "lstm", "book.txt", unit="words")  # wrong
    st.fit("language", "lstm", "book.txt", calibrate=True)  # wrong
    st.fit("language", "lstm", "book.txt", progress=print)  # wrong
    st.fit("language", "lstm", 5)  # wrong
    st.fit("language", "lstm")  # wrong
    st.fit("language", "lstm", "book.txt", on_event="wandb")  # wrong
    st.compare("words", "wiki.txt")  # wrong
    st.compare("classify", "sms.tsv", minute=3)  # wrong
    st.compare("classify", "sms.tsv", folds="ten")  # wrong
    model.explain("free entry")  # wrong
    spam.generate("free entry")  # wrong
    spam.predict(["win"], topp=2)  # wrong
    spam.explain("win", method="magic")  # wrong
    spam.evaluate("test.tsv", against="runs/other")  # wrong
    st.predict(spam, ["win"], probability=True)  # wrong
    table.to_dataframe()  # wrong
    st.split("language", "book.txt", colums="text")  # wrong
    st.load(Path("run"), in8=True)  # wrong
    model.evaluate()  # wrong
    st.generate("run", 5)  # wrong
    model.saev("run")  # wrong
