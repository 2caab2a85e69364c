"""Runs that others made, ranked on a file that they do not have."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from dataclasses import replace

import pytest

import seriatim as st
from seriatim.comparison.board import authors
from seriatim.errors import ConfigError, DataError, RunError, SeriatimError
from tests.terminal import call as typed
from tests.terminal import good

SECRET = "zanzibar"  # stands in the files that nobody is to see


def sentences(many: int, seed: int) -> str:
    dice = random.Random(seed)
    words = ["the", "dog", "sees", "a", "cat", "and", "runs", "home", "with", "old", "fish"]
    return "\n".join(" ".join(dice.choices(words, k=dice.randint(3, 8))) for _ in range(many))


def messages(many: int, seed: int) -> str:
    dice = random.Random(seed)
    rows = ["label\ttext"]
    for _ in range(many):
        spam = dice.random() < 0.5
        words = "win cash now free ok the" if spam else "tea home soon mum ok the"
        rows.append(f"{'spam' if spam else 'ham'}\t{' '.join(dice.choices(words.split(), k=5))}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """What a class has handed in, and two files."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "train.txt").write_text(sentences(200, 0))
    (folder / "hidden.txt").write_text(sentences(80, 1) + f"\n{SECRET}\n")
    (folder / "train.tsv").write_text(messages(200, 0))
    (folder / "hidden.tsv").write_text(messages(80, 1) + f"{SECRET}\t{SECRET}\n")

    def fit(who: str, task: str, model: str, file: str, **asked) -> None:
        st.fit(task, model, folder / file, out=folder / who, **asked)

    fit("anna", "language", "markov", "train.txt")
    fit("ben", "language", "markov", "train.txt", unit="word")
    fit("cara", "language", "unigram", "train.txt")
    fit("dora", "language", "markov", "train.txt", by="line")
    fit("fred", "classify", "naive-bayes", "train.tsv")
    fit("gina", "classify", "majority", "train.tsv")
    fit("hal", "classify", "naive-bayes", "train.tsv", unit="character")
    shutil.copytree(folder / "anna", folder / "damaged")
    weights = folder / "damaged" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"oops")
    return folder


def board(place, file: str, *names: str, **asked) -> dict:
    return st.call("leaderboard", [place / name for name in names], place / file, **asked)


def test_authors_are_ranked_with_intervals_and_words(place):
    record = board(place, "hidden.txt", "cara", "ben", "anna")
    rows = record["rows"]
    assert [(row["author"], row["model"]) for row in rows][-1] == ("cara", "unigram")
    assert {row["author"] for row in rows} == {"anna", "ben", "cara"}
    for row in rows:
        low, high = row["interval"]["bits_per_character"]
        assert low <= row["bits_per_character"] <= high and row["status"] == "ok"
        alone = st.evaluate(place / row["author"], place / "hidden.txt")
        assert alone["bits_per_character"] == row["bits_per_character"]
    assert rows[0]["against"] is None and rows[2]["against"]["word"] == "better"
    assert record["kind"] == "leaderboard" and record["figure"] == "bits_per_character"
    assert record["verdict"].startswith(rows[0]["author"]) and "of fitting" not in record["verdict"]
    assert record["unit"] == ", ".join(row["protocol"]["unit"] for row in (rows[0], rows[1]))


def test_labels_by_different_units_are_ranked_together(place):
    record = board(place, "hidden.tsv", "fred", "gina", "hal")
    assert [row["author"] for row in record["rows"]][-1] == "gina"
    assert record["measured_on"] == 81 and all(row["status"] == "ok" for row in record["rows"])
    one = st.call("evaluate", place / "fred", place / "hidden.tsv", against=str(place / "gina"))
    assert (one["against"]["word"], record["rows"][2]["against"]["word"]) == ("better", "better")


def test_nothing_of_the_file_is_in_it(place):
    for file, names in (("hidden.txt", ("anna", "cara")), ("hidden.tsv", ("fred", "gina"))):
        record = board(place, file, *names, "damaged" if "txt" in file else "hal")
        assert SECRET not in json.dumps(record) and SECRET not in record._repr_html_()
        assert not {"sample", "notes", "disagreements"} & {*record, *record["rows"][0]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken.jsonl", f'{{"label": "ham", "text": "{SECRET}\n'),
        ("short.tsv", f"label\ttext\nham\t{SECRET}\n{SECRET}\n"),
        ("other.csv", f"kind,body\nham,{SECRET}\n"),
        ("plain.txt", SECRET),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_without_what_stands_in_it(place, name, text):
    (place / name).write_text(text)
    with pytest.raises(SeriatimError) as error:
        board(place, name, "fred", "gina")
    assert SECRET not in str(error.value)
    said = typed("leaderboard", place / name, place / "fred", place / "gina")
    assert said.code and SECRET not in said.out + said.err


def test_one_that_fails_keeps_its_row_with_the_reason(place):
    record = board(place, "hidden.txt", "anna", "damaged", "dora", "nobody")
    reasons = {row["author"]: row.get("reason") for row in record["rows"]}
    assert record["rows"][0]["author"] == "anna" and reasons["anna"] is None
    assert "is not the file that was written" in reasons["damaged"]
    assert "81 sequences by line, and anna as 1 sequence by stream" in reasons["dora"]
    assert "is not a run folder" in reasons["nobody"]
    assert "Without a figure: damaged (failed), dora (failed), nobody (failed)" in record["verdict"]


def test_how_a_file_is_read_is_said_for_all_at_once(place):
    renamed = (place / "hidden.tsv").read_text().replace("label\ttext", "kind\tbody")
    (place / "other.tsv").write_text(renamed)
    record = board(place, "other.tsv", "fred", "gina", label="kind", field="body")
    assert all(row["status"] == "ok" for row in record["rows"])
    with pytest.raises(ConfigError, match="has no option 'labell'"):
        board(place, "other.tsv", "fred", "gina", labell="kind")


def test_who_reads_the_file_otherwise_is_not_ranked(place):
    """Settings of reading stand in a run folder, which its author may have changed."""
    cheat = st.load(place / "fred")
    cheat.reading = replace(cheat.reading, distinct=True)
    cheat.save(place / "cheat")
    with (place / "twice.tsv").open("w") as file:
        file.write((place / "hidden.tsv").read_text() + "ham\ttea tea tea tea tea\n" * 30)
    record = board(place, "twice.tsv", "cheat", "fred", "gina")
    reasons = {row["author"]: row.get("reason") for row in record["rows"]}
    assert reasons["fred"] is None and reasons["gina"] is None
    assert "it reads the file as" in reasons["cheat"] and "the same for all" in reasons["cheat"]


def test_who_has_seen_the_file_is_told(place):
    st.fit("classify", "naive-bayes", place / "hidden.tsv", out=place / "sly", overwrite=True)
    record = board(place, "hidden.tsv", "sly", "gina")
    assert "of this file seen in training: sly 100 %" in record._repr_html_()


def test_what_makes_no_sense_is_refused(place):
    with pytest.raises(ConfigError, match=r"one task are ranked.*language: anna; classify: fred"):
        board(place, "hidden.txt", "anna", "fred")
    with pytest.raises(ConfigError, match="no run was named"):
        board(place, "hidden.txt")
    with pytest.raises(ConfigError, match="each run is measured once"):
        board(place, "hidden.txt", "anna", "../" + place.name + "/anna")
    with pytest.raises(ConfigError, match="reads data"):
        st.call("leaderboard", [place / "anna"])
    with pytest.raises(ConfigError, match="all are held against the first"):
        board(place, "hidden.txt", "anna", against="x")
    with pytest.raises(SeriatimError, match="there is no such file"):
        board(place, "nothing.txt", "anna", "cara")
    vectors = st.fit("words", "glove", sentences(200, 2).splitlines(), width=4, epochs=1)
    with pytest.raises(ConfigError, match="models of words are not ranked"):
        st.call("leaderboard", [vectors], place / "hidden.txt")
    with pytest.raises(
        RunError, match=r"none of these runs can be opened.*nobody is not a run folder"
    ):
        board(place, "hidden.txt", "nobody", "damaged")
    with pytest.raises(DataError):
        board(place, "train.txt", "fred", "gina")


def test_authors_are_called_by_their_folders(tmp_path):
    for name in ("a/run", "b/run", "c"):
        (tmp_path / name).mkdir(parents=True)
    runs = [tmp_path / name for name in ("a/run", "b/run", "c")]
    assert authors(runs) == ["a/run", "b/run", "c"]
    model = st.fit("language", "unigram", "markov:length=500")
    assert authors([model, model, tmp_path / "c"]) == ["unigram", "unigram-2", "c"]


def test_it_is_typed_and_printed(place, monkeypatch):
    monkeypatch.chdir(place)
    said = typed("leaderboard", "hidden.txt", "anna", "cara", "dora")
    assert said.code == 1 and "Failed: dora: see the table" in said.err
    assert "author" in said.out and "anna predicts this data best" in said.out
    assert said.err.count("read as text by stream") == 1 and SECRET not in said.out + said.err
    rows = list(
        csv.DictReader(
            io.StringIO(good("leaderboard", "hidden.tsv", "fred", "gina", "--format", "csv").out)
        )
    )
    assert [row["author"] for row in rows] == ["fred", "gina"] and "seconds" not in rows[0]
    assert float(rows[0]["low"]) <= float(rows[0]["accuracy"]) <= float(rows[0]["high"])
    record = json.loads(good("leaderboard", "hidden.tsv", "fred", "gina", "--format", "json").out)
    assert [row["author"] for row in record["rows"]] == ["fred", "gina"]
    assert typed("leaderboard", "hidden.txt").code == 2
    assert typed("leaderboard", "hidden.txt", "anna", "--format", "xml").code == 2
    words = typed("evaluate", "anna", "hidden.txt", "--format", "csv").err
    assert "results are printed as a table or as JSON" in words
    assert "--label" in good("leaderboard", "hidden.tsv", "fred", "--help").out
