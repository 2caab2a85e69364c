"""Pairs, as strangers bring them: single words, sums, vectors, files with flaws; and chords."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.progress import listening
from seriatim.tasks import task
from tests.honesty import seriatim

ENDS = ("t", "k", "l", "p", "n")


def words(count: int) -> list[tuple[str, str]]:
    """Verbs and their past tenses: regular ones, and those in -ing, which have -ang."""
    rng = np.random.default_rng(0)
    found: dict[str, str] = {}
    while len(found) < count:
        stem = "".join(rng.choice(list("bdfgmrsv")) + rng.choice(list("aeiou")) for _ in range(2))
        if rng.random() < 0.2:
            found[stem[:-1] + "ing"] = stem[:-1] + "ang"
        else:
            verb = stem + str(rng.choice(ENDS))
            found[verb] = verb + "ed"
    return list(found.items())


def table(path: Path, pairs: list[tuple[str, ...]], *names: str) -> Path:
    """Pairs as a file of columns between tabs."""
    rows = [names, *pairs] if names else pairs
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def tenses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with past tenses, and a run fitted with nothing but the file."""
    folder = tmp_path_factory.mktemp("tenses")
    pairs = words(500)
    table(folder / "train.tsv", pairs[:400], "source", "target")
    table(folder / "test.tsv", pairs[400:], "source", "target")
    said = seriatim("fit", "translate", "joint", folder / "train.tsv", "--out", folder / "run")
    assert said.code == 0
    (folder / "said.txt").write_text(said.err)
    return folder


def test_single_words_are_cut_into_characters_which_is_said(tenses: Path) -> None:
    """15: 2,500 past tenses were cut into subwords without a word: 0 % right, and the wrong winner."""
    said = (tenses / "said.txt").read_text()
    assert "unit: character" in said and "no blanks" in said and "--unit" in said
    record = seriatim("evaluate", tenses / "run", tenses / "test.tsv", "--format", "json").record
    assert record["protocol"]["unit"] == "character" and record["exact"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "unit", "target_unit"),
    [
        ("{a}{b}", "character", "character"),
        ("K {a} B {b}", "character", "token"),
        ("the word {word} was said by somebody", "subword", "subword"),
    ],
)
def test_the_unit_follows_from_the_targets(target: str, unit: str, target_unit: str) -> None:
    """15: subwords for all pairs, whatever they are."""
    letters, rng = list("abcdefghij"), np.random.default_rng(1)
    some = [tuple(rng.choice(letters, 2)) for _ in range(400)]
    more = [f"w{rng.integers(10**6)}" for _ in some]
    sources = [a + b + word for (a, b), word in zip(some, more, strict=True)]
    targets = [target.format(a=a, b=b, word=word) for (a, b), word in zip(some, more, strict=True)]
    fields = {"source": Field.of_text(sources), "target": Field.of_text(targets)}
    model = st.fit("translate", "lexicon", Sequences(fields))
    assert model.codec.options.unit == unit
    assert model.codec.target.options.unit == target_unit


def test_help_and_models_state_what_is_used() -> None:
    """15: `models gru` said `--unit character`, which was not so."""
    shown = seriatim("models", "gru", "--task", "translate", "--format", "json").record
    unit = shown["models"]["gru"]["unit"]
    assert not unit["default"] and "targets have no blanks" in unit["help"]
    text = " ".join(seriatim("fit", "translate", "gru", "--help").out.split())
    assert "default: character where targets have no blanks" in text


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gru", "lstm", "transformer"])
def test_sums_are_learned_by_default(tmp_path: Path, model: str) -> None:
    """15: sums such as 12+7 had 0 % by default."""
    rng = np.random.default_rng(0)
    sums = {(int(a), int(b)) for a, b in rng.integers(0, 100, (2800, 2))}
    pairs = [(f"{a}+{b}", str(a + b)) for a, b in sorted(sums)]
    pairs = [pairs[i] for i in rng.permutation(len(pairs))]
    file = table(tmp_path / "sums.tsv", pairs[200:], "source", "target")
    test = table(tmp_path / "test.tsv", pairs[:200], "source", "target")
    said = seriatim("fit", "translate", model, file, "--updates", 1500, "--out", tmp_path / "run")
    assert said.code == 0
    record = seriatim("evaluate", tmp_path / "run", test, "--format", "json").record
    assert record["exact"] > 0.6


def test_vectors_are_divided_by_source(tmp_path: Path) -> None:
    """16: vectors and 8 different targets: "too few different pairs", since equal targets, and not
    equal vectors, were kept together."""
    rng = np.random.default_rng(0)
    names = [f"number {i}" for i in range(8)]
    rows = [
        json.dumps({"source": row.tolist(), "target": names[i % 8]})
        for i, row in enumerate(rng.normal(size=(200, 3)))
    ]
    file = tmp_path / "vectors.jsonl"
    file.write_text("\n".join(rows * 2) + "\n")  # each twice: both stay on one side
    flags = ("--updates", 2, "--width", 8, "--heads", 1, "--out", tmp_path / "run")
    said = seriatim("fit", "translate", "gru", file, *flags)
    assert said.code == 0, said.err
    cut = st.load(tmp_path / "run").task.cut
    train, valid = cut.hold_out(cut.prepare(st.read(file), {}), [])
    several = [
        {each.field("source").row(s).tobytes() for s in range(len(each))} for each in (train, valid)
    ]
    assert not several[0] & several[1] and len(several[0] | several[1]) == 200
    assert set(valid[s]["target"] for s in range(len(valid))) <= set(names)


def test_an_empty_source_has_an_empty_target(tenses: Path) -> None:
    """18: an empty line was answered with "Eine Gruppe von Menschen."."""
    file = tenses / "gaps.txt"
    file.write_text("badat\n\nfagot\n   \n")
    said = seriatim("predict", tenses / "run", file)
    lines = said.out.split("\n")
    assert len(lines) == 5 and lines[1] == lines[3] == "" and lines[0] == "badated"
    assert "2 sources have nothing to translate" in said.err and "lines 2, 4" in said.err
    items = seriatim("predict", tenses / "run", file, "--format", "json").record["items"]
    assert [item["log_prob"] is None for item in items] == [False, True, False, True]


def test_an_overlong_line_is_named_by_its_own_number_and_the_rest_goes_on(tenses: Path) -> None:
    """18: an overlong line stopped the job, with a wrong number."""
    pairs = words(60)
    pairs.insert(40, ("x" * 10_001, "y"))
    train = table(tenses / "long.tsv", pairs, "source", "target")
    said = seriatim("fit", "translate", "joint", train, "--out", tenses / "long")
    assert said.code == 0 and "line 42" in said.err and "10,000" in said.err
    file = tenses / "long.txt"
    file.write_text("badat\n" + "x" * 10_001 + "\nfagot\n")
    said = seriatim("predict", tenses / "run", file)
    assert said.code == 0 and said.out.split("\n")[:3] == ["badated", "", "fagoted"]
    assert "line 2" in said.err


def test_rows_that_are_no_pairs_are_left_out_and_said_with_their_lines(tmp_path: Path) -> None:
    """18: pairs with an empty side were learned, and a row of another width stopped the job."""
    pairs: list[tuple[str, ...]] = [("source", "target"), *words(60)]
    pairs[10], pairs[20], pairs[30] = ("", "bad"), ("bad", ""), ("one", "two", "three")
    file = table(tmp_path / "flaws.tsv", pairs)
    said = seriatim("fit", "translate", "joint", file, "--out", tmp_path / "run")
    assert said.code == 0, said.err
    assert "2 pairs have an empty side" in said.err and "lines 11, 21" in said.err
    assert "1 line is no pair" in said.err and "31" in said.err


def test_a_header_under_other_names_is_no_pair(tmp_path: Path) -> None:
    """18: with `--columns id,source,target` the header was learned."""
    rows = [("No", "English", "German"), *((str(i), *pair) for i, pair in enumerate(words(60)))]
    file = table(tmp_path / "header.tsv", rows)
    flags = ("--columns", "id,source,target", "--out", tmp_path / "run")
    said = seriatim("fit", "translate", "joint", file, *flags)
    assert said.code == 0 and "line 1 names the columns" in said.err
    assert "'id' not read" in said.err
    assert "E" not in st.load(tmp_path / "run").codec.symbols


PAST = [("go", "went"), ("see", "saw"), ("walk", "walked"), ("run", "ran"), ("come", "came")]
NOUNS = [("house", "Haus"), ("dog", "Hund"), ("cat", "Katze"), ("bird", "Vogel")]


@pytest.mark.parametrize(
    ("rows", "mark", "many"),
    [
        (PAST, "\t", 5),
        (PAST, ",", 5),
        ([("source", "target"), *PAST], ",", 5),
        ([("Target", "SOURCE"), *PAST], ",", 5),
        ([("English", "German"), *NOUNS], ",", 4),
        ([("en", "de"), *NOUNS], "\t", 4),
        ([("English sentence", "German_sentence"), *NOUNS], ",", 4),
        ([("Volapük", "Ido"), *PAST], ",", 5),  # the only ones with capitals
        ([("Haus", "house"), *[(b, a) for a, b in NOUNS]], "\t", 5),
        ([("12+7", "19"), ("3+5", "8"), ("2+2", "4")], "\t", 3),
        ([("sum", "result"), ("3+5", "8"), ("2+2", "4")], "\t", 2),
        ([("spoken", "written"), ("3+5", "8"), ("2+2", "4")], "\t", 2),  # words over numbers
        ([("1", *PAST[0]), ("2", *PAST[1]), ("3", *PAST[2])], "\t", 3),
    ],
)
def test_a_first_row_that_may_be_a_pair_is_one(tmp_path: Path, rows, mark: str, many: int) -> None:
    """Short pairs without a header lost their first row."""
    file = tmp_path / ("a.csv" if mark == "," else "a.tsv")
    file.write_text("".join(mark.join(row) + "\n" for row in rows))
    cut = task("translate").cut
    pairs = cut.prepare(cut.sequences(file), {})
    assert len(pairs) == many
    first = rows[len(rows) - many][-2:]
    expected = first if rows[0][0] != "Target" else first[::-1]
    assert (pairs[0]["source"], pairs[0]["target"]) == expected


def test_a_run_of_pairs_without_a_header_reads_others_alike(tmp_path: Path) -> None:
    train, test = table(tmp_path / "train.tsv", words(60)), table(tmp_path / "test.tsv", PAST)
    said = seriatim("fit", "translate", "joint", train, "--out", tmp_path / "run")
    assert "are no names of columns" in said.err and "60 sequences without a header" in said.err
    assert len(seriatim("predict", tmp_path / "run", test).out.splitlines()) == len(PAST)
    headed = table(tmp_path / "headed.tsv", [("English", "German"), *PAST])
    record = seriatim("evaluate", tmp_path / "run", headed, "--format", "json").record
    assert record["pairs"] == len(PAST)


def test_figures_of_sentences_are_none_for_single_words(tenses: Path) -> None:
    """Issue 22, pairs: BLEU and chrF of single words mean nothing."""
    run, test = tenses / "run", tenses / "test.tsv"
    record = seriatim("evaluate", run, test, "--format", "json").record
    assert record["bleu"] is record["chrf"] is record["meteor"] is record["wer"] is None
    assert record["exact"] > 0.5 and record["cer"] < 0.5
    said = seriatim("evaluate", run, test).out
    assert "exact" in said and "edits" in said and "BLEU" not in said and "chrF" not in said


@pytest.mark.slow
def test_single_words_are_ranked_by_exact_ones(tenses: Path) -> None:
    """Issue 22, pairs: chrF ranked models of single words."""
    ranked = seriatim(
        "compare",
        "translate",
        tenses / "train.tsv",
        "--models",
        "lexicon,joint",
        "--format",
        "json",
    )
    rows = ranked.record["rows"]
    assert [row["quality"] for row in rows] == sorted(
        (100 * row["exact"] for row in rows), reverse=True
    )
    assert all(row["chrf"] is None and row["bleu"] is None for row in rows)


@pytest.mark.slow
def test_tuning_the_search_is_announced(tenses: Path) -> None:
    """17: `--tune-search` was silent for minutes after 100 %."""
    events: list[dict[str, Any]] = []
    with listening(events.append):
        st.load(tenses / "run").tune_search(st.read(str(tenses / "test.tsv")))
    assert "tuning the search" in {event.get("words") for event in events}


def test_tuning_the_search_takes_a_tenth_of_the_fit(tenses: Path) -> None:
    """17: it took 7 minutes, whatever the fit had."""
    model = st.load(tenses / "run")
    model.metrics["seconds"] = 600.0
    assert model.affordable(300, 1000.0) == 300  # counted, or by updates: as many as always
    (joint,) = model.parts
    model.parts = model.task.parts("gru", {"minutes": 10})
    assert model.affordable(300, 4.9) < 100 and model.affordable(300, 1000.0) == 20
    model.parts = [joint]


def test_looking_at_validation_data_is_a_bounded_sample() -> None:
    """17: an autoencoder's six minutes were eight: each look read 1,000 sequences thrice."""
    from seriatim.tasks.autoencode.codec import Samples
    from seriatim.tasks.autoencode.cut import MOST_LOOKED, AutoencodeLesson

    field = Field(np.zeros(900_000, np.int32), np.arange(0, 900_001, 300), "symbols")
    samples = Samples(field, np.zeros((3000, 0), np.int64))
    some = AutoencodeLesson(samples, samples).looked_at(samples)
    assert 0 < len(some.x.flat) <= MOST_LOOKED + 300


def test_chords_are_counted_where_they_are_left_out_and_kept_as_sets(tmp_path: Path) -> None:
    """18: of MIDI chords only the upper note was kept, without a word."""
    chord = b"\x00\x90\x3c\x50\x00\x90\x40\x50\x00\x90\x43\x50"
    off = b"\x83\x60\x80\x3c\x00\x00\x80\x40\x00\x00\x80\x43\x00"
    track = (chord + off) * 3 + b"\x00\xff\x2f\x00"
    header = b"MThd\x00\x00\x00\x06\x00\x00\x00\x01\x01\xe0"
    file = tmp_path / "chords.mid"
    file.write_bytes(header + b"MTrk" + len(track).to_bytes(4, "big") + track)
    notes: list[str] = []
    st.read(str(file), notes=notes)
    assert ["6 of 9 notes" in each and "roll" in each for each in notes] == [True]
    assert st.read(str(file), input_format="roll")[0]["tokens"] == ["60+64+67"] * 12
    (read,) = {tuple(row["tokens"]) for row in st.tasks.task("sets").cut.sequences(file)}
    assert read == ("60+64+67",) * 12
