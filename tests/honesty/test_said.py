"""What tables, checks and messages say, where it was not so."""

from __future__ import annotations

import random

import pytest

import seriatim as st
from seriatim.leaderboard import notes_under
from seriatim.tasks import task

DRAWN = random.Random(0)
WORDS = [f"{a}{b}" for a in ("ba", "ko", "du", "lin", "mer") for b in ("ra", "en", "is", "ot")]
LINES = [" ".join(DRAWN.choices(WORDS, k=8)) for _ in range(300)]
OTHERS = [" ".join(DRAWN.choices(WORDS, k=8)) for _ in range(150)]
ALIKE = LINES[:50]  # which stand in the data twice


def written(task_name: str, lines: list[str]) -> str:
    """Lines as a file of a task."""
    if task_name in ("language", "autoencode"):
        return "\n".join(lines) + "\n"
    if task_name == "tag":
        tagged = ("\n".join(f"{word}\t{word[0]}" for word in line.split()) for line in lines)
        return "\n\n".join(tagged) + "\n"
    if task_name == "sets":
        return "\n".join(f"and+{line}" for line in lines) + "\n"
    answers = {
        "classify": lambda line: "even" if line.count("ra") % 2 else "odd",
        "regress": lambda line: str(line.count("a") + line.count("o") / 7),
        "translate": lambda line: " ".join(reversed(line.split())),
    }
    names = {"classify": "text,label", "regress": "text,value", "translate": "source,target"}
    rows = (f"{line},{answers[task_name](line)}" for line in lines)
    return "\n".join([names[task_name], *rows]) + "\n"


SEEN = [
    ("language", "txt", "unigram", {}),
    ("classify", "csv", "naive-bayes", {}),
    ("tag", "tsv", "most-frequent", {}),
    ("regress", "csv", "average", {}),
    ("sets", "txt", "frequencies", {}),
    ("translate", "csv", "lexicon", {}),
    ("autoencode", "txt", "decoder", {"updates": 2}),
]


@pytest.mark.parametrize("name, ending, model, settings", SEEN)
def test_a_test_that_was_learned_from_is_no_test(tmp_path, name, ending, model, settings):
    """A comparison said nothing of a test that was the training data."""
    train, test = tmp_path / f"train.{ending}", tmp_path / f"test.{ending}"
    train.write_text(written(name, [*LINES, *ALIKE]))
    test.write_text(written(name, [*LINES[:150], *OTHERS]))
    record = st.compare(name, str(train), test=str(test), models=model, **settings)
    share = 47 if name == "autoencode" else 50  # which holds out some of its training data
    words = f"{share} % of the test was seen in training: the figures are not about new data."
    assert words in record["verdict"]
    below = "\n".join(notes_under(record, task(name)))
    assert below.count("seen in training") == 1 and "stay on one side" not in below


def test_series_that_were_learned_from_are_no_test():
    x = [DRAWN.gauss(0, 1) for _ in range(200)]
    asked = {"models": "mean", "horizon": 3}
    record = st.compare("forecast", x, test=x, **asked)
    assert "of the values that are judged were seen in training" in record["verdict"]


def test_of_a_test_of_its_own_it_is_said_what_was_seen_and_of_parts_what_is_there_twice(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text(written("classify", [*LINES, *ALIKE]))
    test.write_text(written("classify", OTHERS))
    given = st.compare("classify", str(train), test=str(test), models="majority")
    assert "seen" not in given["verdict"]
    assert "none of the test was seen in training" in notes_under(given, task("classify"))
    parts = st.compare("classify", str(train), models="majority")
    below = "\n".join(notes_under(parts, task("classify")))
    assert "stay on one side" in below and "seen in training" not in below


def test_the_same_spans_are_not_the_same_answers(tmp_path):
    """Models of accuracy 100 and 99.5 % were "the same in every answer"."""
    whole = ["ann B-PER", "lee I-PER", "sat O", "in O", "rome B-LOC"]
    alone = ["lee B-PER", "sat O"]
    train = [*[whole] * 40, *[alone] * 20, *[[f"{word} O", "sat O"] for word in WORDS]]
    for name, rows in (("train.bio", train), ("test.bio", [*[whole] * 40, alone])):
        (tmp_path / name).write_text("\n\n".join("\n".join(each) for each in rows) + "\n")
    asked = {"test": str(tmp_path / "test.bio"), "models": "most-frequent,hmm"}
    record = st.compare("tag", str(tmp_path / "train.bio"), **asked)
    first, second = record["rows"]
    assert first["span_f1"] == second["span_f1"] and first["accuracy"] != second["accuracy"]
    words = f"the same span F1 as {first['model']} on every part of the test: {second['model']}"
    assert words in notes_under(record, task("tag"))
