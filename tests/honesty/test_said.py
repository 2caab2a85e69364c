"""What tables, checks and messages say, where it was not so."""

from __future__ import annotations

import random
import re
from io import StringIO

import pytest
from rich.console import Console

import seriatim as st
from seriatim.leaderboard import notes_under
from seriatim.settings import named
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
    share, words = (
        r"(4[5-9]|50)",
        "of the test was seen in training: the figures are not about new data",
    )
    assert re.search(
        f"{share} % {words}", record["verdict"]
    )  # some of the training data is held out
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


AGAINST = [
    ("language", "txt", "kneser-ney", "unigram", {}, "bits/char -"),
    ("classify", "csv", "naive-bayes", "majority", {}, "accuracy +"),
    ("tag", "tsv", "hmm", "most-frequent", {}, "accuracy "),
    ("regress", "csv", "linear", "average", {}, "MAE -"),
    ("sets", "txt", "gru", "frequencies", {"updates": 2, "width": 8}, "bits/step "),
    ("autoencode", "txt", "decoder", "decoder", {"updates": 2}, "nats/symbol +0"),
]


def shown(name: str, record: dict) -> str:
    """The table of an evaluation."""
    out = StringIO()
    Console(width=200, file=out).print(named(task(name).verbs["evaluate"].table)(record))
    return out.getvalue()


@pytest.mark.parametrize("name, ending, model, other, settings, begins", AGAINST)
def test_of_two_models_it_is_said_which_is_better_and_by_how_much(
    tmp_path, name, ending, model, other, settings, begins
):
    """Language printed nothing of --against, labels a p without a direction."""
    train, test = tmp_path / f"train.{ending}", tmp_path / f"test.{ending}"
    train.write_text(written(name, LINES))
    test.write_text(written(name, OTHERS[:100]))
    first = st.fit(name, model, str(train), **settings)
    second = first if other == model else st.fit(name, other, str(train))
    record = first.evaluate(str(test), against=second)
    found, figure = record["against"], task(name).figure(record["against"]["figure"])
    low, high = found["interval"]["difference"]
    assert low <= found["difference"] <= high and found["words"].startswith(begins)
    assert found["word"] == "undecided" or (found["word"] == "better") == (
        figure.signed(found["difference"]) < 0
    )
    assert f"{other}: {found['words']}" in " ".join(shown(name, record).split())
    back = second.evaluate(str(test), against=first)["against"]
    assert back["difference"] == pytest.approx(-found["difference"], abs=1e-9)
    turned = {"better": "worse", "worse": "better", "undecided": "undecided"}
    assert back["word"] == turned[found["word"]]


def test_forecasts_are_told_apart_in_words_and_what_is_impossible_is_said():
    x = [DRAWN.gauss(0, 1) for _ in range(300)]
    mean, last = (st.fit("forecast", name, x[:200], horizon=1) for name in ("mean", "persistence"))
    record = mean.evaluate(x, begin="200", against=last)
    assert record["against"]["words"].startswith("MASE -")
    assert "this model is better" in shown("forecast", record)
    plain, smooth = (
        st.fit("language", "markov", LINES, add=add, unit="character") for add in (0.0, 1.0)
    )
    found = smooth.evaluate(["zebra quagga"] * 40, against=plain)["against"]
    assert found["difference"] is None and found["word"] == "better"
    assert found["words"].startswith("bits/char impossible for the other one")
