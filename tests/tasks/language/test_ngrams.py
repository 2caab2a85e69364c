"""The explorer: continuations with the back-off behind them, and frequencies over time, against slow twins."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seriatim
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.tasks.language.ngrams import continuations, nodes_after, over_time
from seriatim.tasks.language.pictures import frequency
from seriatim.verbs import call
from tests.terminal import Screen, furnish, good, refused

COUNTING = ["unigram", "markov", "kneser-ney", "witten-bell", "absolute", "good-turing"]
corpora = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=8
)


def fitted(rows, model="kneser-ney", unit="token", by="line", **settings):
    texts = [row if isinstance(row, str) else " ".join(row) for row in rows]
    return seriatim.fit("language", model, Sequences.of(texts, by=by, unit=unit), **settings)


def ask(run, pattern, **options):
    """The verb, in Python."""
    return call("ngrams", run, pattern, **options)


def dated(dates, texts) -> Sequences:
    return Sequences({"date": Field.of_text(dates), "text": Field.of_text(texts)})


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = furnish(tmp_path_factory.mktemp("home"))
    good(
        "fit",
        "language",
        "kneser-ney",
        folder / "book.txt",
        "--by",
        "line",
        "--unit",
        "word",
        "--order",
        3,
        "--out",
        folder / "counts",
    )
    return folder


# The back-off


def test_the_five_words_of_the_documentation_by_hand():
    """p(cat | the) = 1/4 + 1/2 p(cat),  p(cat) = 1/12 + 1/2 1/6: see docs/rungs/counts.md."""
    rows = continuations(fitted(["the cat saw the dog"], order=2), "the *")["rows"]
    pair, single = rows[0]["orders"]
    assert rows[0]["symbol"] == "cat" and (
        rows[0]["count"],
        pair["context_count"],
        pair["amount"],
        pair["discount"],
    ) == (1, 2, 1, 0.5)
    assert [pair[key] for key in ("probability", "share", "lent")] == pytest.approx(
        [1 / 3, 1 / 4, 1 / 2]
    )
    assert [single[key] for key in ("probability", "share", "lent")] == pytest.approx(
        [1 / 6, 1 / 12, 1 / 2]
    )
    assert (pair["order"], pair["ngram"], single["order"], single["ngram"]) == (
        2,
        ["the", "cat"],
        1,
        ["cat"],
    )


@pytest.mark.parametrize("model", COUNTING)
@settings(max_examples=15, deadline=None)
@given(corpora, st.lists(st.sampled_from("abcd"), max_size=4))
def test_every_order_is_its_share_and_what_it_borrows(model, rows, context):
    predictor = fitted(rows, model, **({} if model == "unigram" else {"order": 3}))
    V, found = (
        predictor.codec.size,
        continuations(predictor, " ".join([*context, "*"]), top=100)["rows"],
    )
    expected = np.exp(
        predictor.model.log_probs(
            nodes_after(
                predictor.model, predictor.codec.encode_text(" ".join(context)).tolist()
            ).numpy()
        )[0]
    )
    assert [row["probability"] for row in found] == pytest.approx(
        sorted(expected[expected > 0], reverse=True), abs=1e-6
    )
    for row in found:
        orders = row["orders"]
        assert (
            orders[0]["probability"] == pytest.approx(row["probability"], abs=1e-6)
            and orders[-1]["order"] == 1
        )
        for each, shorter in zip(orders, [*orders[1:], {"probability": 1 / V}], strict=True):
            assert each["share"] >= 0
            assert each["share"] + (each["lent"] or 0) * shorter["probability"] == pytest.approx(
                each["probability"], abs=1e-6
            )
            alone = nodes_after(
                predictor.model, predictor.codec.encode_text(" ".join(each["ngram"][:-1])).tolist()
            ).numpy()
            number = {**predictor.codec.number, "</s>": STOP}[row["symbol"]]
            assert each["probability"] == pytest.approx(
                math.exp(predictor.model.log_probs(alone)[0, number]), abs=1e-6
            )
        rest = math.prod(each["lent"] or 0 for each in orders) / V
        assert sum(each["contribution"] for each in orders) + rest == pytest.approx(
            row["probability"], abs=1e-6
        )


@settings(max_examples=40, deadline=None)
@given(corpora, st.lists(st.sampled_from("abcd"), max_size=3))
def test_counts_are_those_of_a_dictionary(rows, context):
    counts: Counter = Counter()
    for row in rows:
        ended = [*row, "</s>"]
        for n in range(1, 5):
            counts.update(tuple(ended[t : t + n]) for t in range(len(ended) - n + 1))
    followed = Counter({gram[:-1]: 0 for gram in counts})
    for gram, many in counts.items():
        followed[gram[:-1]] += many
    longest = next(
        n for n in range(len(context), -1, -1) if followed[tuple(context[len(context) - n :])]
    )
    record = continuations(fitted(rows, order=4), " ".join([*context, "*"]), top=100)
    for row in record["rows"]:
        assert (
            row["orders"][0]["order"] == longest + 1 and row["count"] == row["orders"][0]["count"]
        )
        for each in row["orders"]:
            assert each["count"] == counts[tuple(each["ngram"])]
            before = tuple(each["ngram"][:-1])
            assert each["context_count"] == (
                counts[before]
                if before
                else sum(many for gram, many in counts.items() if len(gram) == 1)
            )
    assert bool([note for note in record["notes"] if "never followed" in note]) == (
        longest < len(context)
    )


def test_the_top_of_the_list_is_what_predict_gives(home):
    predictor = seriatim.load(home / "counts")
    expected = predictor.predict(Sequences.of(["Zebra the cat"], unit="word"), top=5)["items"][0][
        "next"
    ]
    found = ask(home / "counts", "the cat *", top=5)["rows"]
    assert [(row["symbol"], pytest.approx(row["probability"], abs=1e-6)) for row in found] == [
        (each["symbol"], each["probability"]) for each in expected
    ]


def test_a_model_without_counts_shows_its_probabilities(home):
    predictor = seriatim.load(home / "counts")
    tables = predictor.model.tables
    tables.counts, tables.amounts, predictor.model.discounts = (
        [np.zeros(0, np.int32)] * 3,
        [np.zeros(0, np.uint8)] * 3,
        [],
    )
    rows, expected = (
        continuations(predictor, "the *")["rows"],
        ask(home / "counts", "the *")["rows"],
    )
    assert [row["probability"] for row in rows] == [row["probability"] for row in expected]
    assert (
        {row["count"] for row in rows}
        == {None}
        == {
            each[key]
            for row in rows
            for each in row["orders"]
            for key in ("count", "context_count", "discount")
        }
    )


@pytest.mark.parametrize(
    "shrunk", [{"prune": "0,1"}, {"threshold": 0.01}, {"bits": 8}, {"closed": True}], ids=str
)
def test_models_that_were_made_smaller_add_up_too(home, shrunk):
    predictor = fitted(
        ["the cat saw the dog and the cat ran", "the dog ran", "a cat saw a dog"], order=3, **shrunk
    )
    for pattern in ("the *", "saw the *", "ran *"):
        for row in continuations(predictor, pattern, top=100)["rows"]:
            for each, shorter in zip(row["orders"], row["orders"][1:]):
                assert each["share"] >= 0 and each["share"] + (each["lent"] or 0) * shorter[
                    "probability"
                ] == pytest.approx(each["probability"], abs=1e-6)
                assert each["count"] != 0 or shrunk == {
                    "closed": True
                }  # what is left out may have occurred
            last = row["orders"][-1]
            assert "closed" not in shrunk or last["share"] + last["lent"] / (
                predictor.codec.size - 1
            ) == pytest.approx(last["probability"], abs=1e-6)


def test_an_arpa_file_is_explored_like_the_run_it_came_from(home):
    good("export", home / "counts", "--out", "model.arpa")
    expected = {
        row["symbol"]: row["probability"] for row in ask(home / "counts", "the cat *")["rows"]
    }
    record = good("ngrams", "model.arpa", "the cat *", "--format", "json").json()
    assert {row["symbol"]: row["probability"] for row in record["rows"]} == pytest.approx(
        expected, abs=1e-5
    )
    assert "the cat *" in good("ngrams", "model.arpa", "the cat *").out


# The * anywhere, and no *


def test_a_star_inside_is_ranked_by_itself_and_all_that_follows():
    predictor = fitted(["a b c d", "a c c d", "a b d", "c a c c"], order=3)
    record = continuations(predictor, "a * c d", top=100)
    assert (record["context"], record["after"]) == (["a"], ["c", "d"])
    for row in record["rows"]:
        phrase = (
            continuations(predictor, f"a {row['symbol']} c d")["rows"][1:]
            if row["symbol"] != "<unk>"
            else None
        )
        assert phrase is None or row["probability"] == pytest.approx(
            math.prod(each["probability"] for each in phrase), rel=1e-5
        )
    chances = [row["probability"] for row in record["rows"]]
    assert (
        chances == sorted(chances, reverse=True) and len(chances) == predictor.codec.size - 1
    )  # nothing follows the end
    assert (
        sum(row["posterior"] for row in record["rows"]) == pytest.approx(1)
        and record["rows"][0]["symbol"] in "bc"
    )
    assert {
        row["symbol"]: row["count"] for row in continuations(predictor, "a * c", top=2)["rows"]
    } == {"b": 1, "c": 2}


def test_a_star_may_come_first():
    record = continuations(fitted(["a b", "c b", "a b", "d e"], order=2), "* b")
    assert (
        record["context"] == []
        and record["rows"][0]["symbol"] == "a"
        and record["rows"][0]["count"] == 2
    )


def test_a_phrase_has_the_log_probability_that_scoring_gives():
    predictor = fitted(["the cat saw the dog", "the dog ran"], order=3)
    record = continuations(predictor, "<s> the dog saw </s>")
    assert [row["symbol"] for row in record["rows"]] == ["the", "dog", "saw", "</s>"]
    assert record["log_prob"] == pytest.approx(
        predictor.score(Sequences.of(["the dog saw"], unit="token"))["items"][0]["log_prob"],
        abs=1e-5,
    )
    assert (
        record["count"] is None
        and continuations(predictor, "the dog")["count"] == 2
        and continuations(predictor, "dog saw")["count"] == 0
    )


def test_an_impossible_phrase_and_nothing_possible_are_told():
    predictor = fitted(["a b", "a c"], "markov", order=1, add=0)
    record = continuations(predictor, "b a")
    assert record["log_prob"] is None and json.dumps(record, allow_nan=False)
    assert [row["symbol"] for row in continuations(predictor, "a *")["rows"]] == ["b", "c"]
    nothing = continuations(predictor, "a * a")
    assert nothing["rows"] == [] and "probability 0" in nothing["notes"][0]


def test_sentences_begin_after_s():
    predictor = fitted(["the cat", "the dog", "a cat the"], order=3)
    assert continuations(predictor, "<s> *")["rows"][0]["orders"][0]["ngram"] == ["<s>", "the"]
    assert (
        continuations(predictor, "<s> *")["rows"][0]["count"]
        == 2
        != continuations(predictor, "*")["rows"][0]["count"]
    )


@pytest.mark.parametrize(
    "unit, pattern, context, first",
    [
        ("character", "th*", ["t", "h"], "e"),
        ("character", "*he", [], "t"),
        ("byte", "th*", ["t", "h"], "e"),
        ("word", "the *", ["the"], "cat"),
        ("token", "the *", ["the"], "cat"),
        ("character", "the ca*", [*"the ca"], "t"),
    ],
)
def test_patterns_are_cut_as_the_run_cuts_text(unit, pattern, context, first):
    record = continuations(
        fitted(["the cat saw the cat and the cat"] * 3, unit=unit, order=4), pattern
    )
    assert record["context"] == context and record["rows"][0]["symbol"] == first


def test_subwords_are_continued_by_subwords():
    record = continuations(
        fitted(["the cat saw the cat and the cat"] * 3, unit="subword", order=3, vocabulary=270),
        "saw the *",
    )
    assert record["rows"][0]["symbol"] == " cat" and "".join(record["context"]) == "saw the"


def test_a_star_that_is_meant_is_escaped():
    predictor = fitted(["2*3=6", "2*4=8"], unit="character", order=3)
    assert {row["symbol"] for row in continuations(predictor, r"2\**", top=2)["rows"]} == {"3", "4"}
    predictor = fitted(["a * b", "a * c"], order=3)
    assert {row["symbol"] for row in continuations(predictor, r"a \* *", top=2)["rows"]} == {
        "b",
        "c",
    }


def test_case_is_folded_where_the_run_folds_it():
    assert (
        continuations(fitted(["the Cat"], unit="word", lower=True, order=2), "THE *")["rows"][0][
            "symbol"
        ]
        == "cat"
    )


def test_unknown_words_and_unseen_contexts_are_noted(home):
    record = ask(home / "counts", "quizzical the *")
    assert record["unknown"] == ["quizzical"] and record["context"] == ["quizzical", "the"]
    assert "'quizzical'" in record["notes"][0] and "'the' answers" in record["notes"][1]
    answer = good("ngrams", home / "counts", "quizzical the *")
    assert answer.err.splitlines() == [f"note: {note}" for note in record["notes"]]


def test_of_a_mixture_the_part_that_counts_is_shown():
    data = Sequences.of(["the cat saw the dog and the cat ran"] * 30, unit="word")
    mixture = seriatim.fit("language", "uniform+kneser-ney", data, data, order=2)
    record = continuations(mixture, "the *")
    assert record["model"] == "kneser-ney" and "uniform+kneser-ney" in record["notes"][0]
    assert record["rows"][0]["probability"] == pytest.approx(
        float(
            np.exp(
                mixture.model.parts[1]
                .log_probs(
                    nodes_after(mixture.model.parts[1], [mixture.codec.number["the"]]).numpy()
                )[0]
                .max()
            )
        ),
        abs=1e-6,
    )


# The command line


def test_the_command_prints_the_record_of_python_or_a_table(home):
    record = good("ngrams", home / "counts", "the *", "--top", 5, "--format", "json").json()
    assert (
        record == json.loads(json.dumps(ask(home / "counts", "the *", top=5)))
        and len(record["rows"]) == 5
    )
    table = good("ngrams", home / "counts", "the *", "--top", 5)
    lines = table.out.splitlines()
    assert (
        table.err == ""
        and lines[0].startswith("the *")
        and lines[1].split() == ["symbol", "count", "before", "probability", "back-off"]
    )
    for row, line in zip(record["rows"], lines[2:]):
        counts = [str(row["count"]), str(row["different_before"])]
        assert (
            line.split()[:4] == [row["symbol"], *counts, f"{row['probability']:.4f}"]
            and "█" in line
            and " = " in line
            and " × " in line
        )


@pytest.mark.parametrize("pattern", ["the *", "the * sat", "the cat sat", "*"])
def test_tables_fit_into_a_terminal(home, monkeypatch, pattern):
    monkeypatch.setenv("TERM", "dumb")
    assert all(
        len(line) <= 80
        for line in good("ngrams", home / "counts", pattern, out=Screen()).out.splitlines()
    )


def test_characters_and_relative_frequencies_have_their_table(home, here):
    book = home / "book.txt"
    good("fit", "language", "markov", book, "--order", 2, "--add", 0.01, "--out", "plain")
    lines = good("ngrams", "plain", "th*", "--top", 2).out.splitlines()
    assert lines[2].startswith("'e'") and " of " in lines[2]


REFUSED = [
    ("ngrams {home}/lstm the*", "markov, kneser-ney"),
    ("ngrams {home}/markov a*b*", "one *"),
    ("ngrams {home}/counts the --top 0", "top"),
    ("ngrams {home}/counts the --top x", "top"),
    ("ngrams {home}/counts the --date year", "frequencies of models of language"),
    ("ngrams {home}/counts the --every month --smooth 3", "--every"),
    ("ngrams {home}/counts", "ngrams reads one pattern"),
    ("frequencies {home}/book.txt --phrases the", "--date"),
    ("frequencies dated.csv --phrases the --date year --top 3", "--top"),
    ("frequencies dated.csv --phrases the --date year --every week", "year"),
    ("frequencies dated.csv --phrases the --date year --unit byte", "word"),
    ("frequencies dated.csv --phrases the --date year --smooth -1", "smooth"),
    ("frequencies dated.csv --phrases , --date year", "commas"),
    ("frequencies dated.csv --phrases the", "--date"),
    ("frequencies dated.csv --date year", "--phrases"),
    ("frequencies dated.csv the --date year", "one file"),
    ("frequencies", "one file"),
]


@pytest.mark.parametrize("command, words", REFUSED, ids=[command for command, _ in REFUSED])
def test_a_wrong_command_is_refused(home, here, command, words):
    (here / "dated.csv").write_text("year,text\n1843,the cat\n")
    refused(*command.format(home=home).split(), code=2, words=words)


@pytest.mark.parametrize(
    "command, words",
    [
        ("ngrams nowhere the*", "no such folder"),
        ("ngrams dated.csv the*", "not a run folder"),
        ("frequencies dated.csv --phrases the --date yaer", "'year'"),
        ("frequencies dated.csv --phrases the --date text", "dated.csv:2"),
        ("frequencies dated.csv --phrases the --date year --every day", "every"),
        ("frequencies dated.csv --phrases the --date year --field txt", "'text'"),
        ("plot dated.csv --what frequencies --phrases the --date year --out a.gif", "png"),
        ("frequencies missing.csv --phrases the --date year", "no such file"),
    ],
)
def test_wrong_data_is_refused(here, command, words):
    (here / "dated.csv").write_text("year,text\n1843,the cat\n")
    refused(*command.split(), code=1, words=words)


def test_an_empty_pattern_is_refused(home):
    refused("ngrams", home / "counts", " \t", code=2, words="empty")
    refused("ngrams", home / "markov", "", code=2, words="empty")


# Over time


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1990, 1996), st.lists(st.sampled_from("abc"), min_size=1, max_size=8)
        ),
        min_size=1,
        max_size=12,
    ),
    st.lists(st.lists(st.sampled_from("abcz"), min_size=1, max_size=4), min_size=1, max_size=4),
    st.integers(0, 3),
)
def test_frequencies_are_those_of_a_dictionary(rows, phrases, smooth):
    record = over_time(
        dated([str(year) for year, _ in rows], [" ".join(words) for _, words in rows]),
        [" ".join(phrase) for phrase in phrases],
        "date",
        smooth=smooth,
        unit="token",
    )
    years = range(min(year for year, _ in rows), max(year for year, _ in rows) + 1)
    tokens = [sum(len(words) for year, words in rows if year == wanted) for wanted in years]
    assert record["periods"] == [str(year) for year in years] and record["tokens"] == tokens
    for phrase, found in zip(phrases, record["phrases"], strict=True):
        counts = [
            sum(
                words[t : t + len(phrase)] == phrase
                for year, words in rows
                if year == wanted
                for t in range(len(words))
            )
            for wanted in years
        ]
        assert found["counts"] == [
            count if many else None for count, many in zip(counts, tokens)
        ] and found["count"] == sum(counts)
        plain = [1e6 * count / many if many else None for count, many in zip(counts, tokens)]
        near = [
            [value for value in plain[max(0, p - smooth) : p + smooth + 1] if value is not None]
            for p in range(len(plain))
        ]
        assert found["frequency"] == pytest.approx(plain)
        assert found["smoothed"] == pytest.approx(
            [None if here is None else sum(some) / len(some) for here, some in zip(plain, near)],
            abs=1e-6,
        )


def test_a_phrase_never_reaches_into_the_next_text():
    record = over_time(
        dated(["1900", "1900", "1900"], ["the steam", "engine", "the steam engine"]),
        "steam engine, engine the, engine",
        "date",
    )
    assert [each["count"] for each in record["phrases"]] == [1, 0, 2] and record["notes"] == [
        "'engine the' does not occur"
    ]


@pytest.mark.parametrize(
    "every, dates, periods",
    [
        (
            "year",
            [
                "1843",
                "1845.0",
                "1846-05-01",
                "1847-05",
                "1848/05/01",
                "1849-5-1",
                " 1850 ",
                "2024-05-01T12:00:00",
                "2023-05-01 12:00:00.5",
                "2022-01-01T10:00Z",
            ],
            [1843, 1845, 1846, 1847, 1848, 1849, 1850, 2024, 2023, 2022],
        ),
        (
            "month",
            ["1843-11", "1844-02-29", "1844/1", "1843-12-31T23:59"],
            ["1843-11", "1844-02", "1844-01", "1843-12"],
        ),
        (
            "day",
            ["2024-02-28", "2024-03-01", "2024/2/29"],
            ["2024-02-28", "2024-03-01", "2024-02-29"],
        ),
    ],
)
def test_dates_of_every_form_find_their_period(every, dates, periods):
    record = over_time(dated(dates, ["word"] * len(dates)), "word", "date", every=every, smooth=0)
    assert {
        name for name, count in zip(record["periods"], record["phrases"][0]["counts"]) if count
    } == {str(each) for each in periods}
    assert sum(record["tokens"]) == len(dates) and record["periods"] == sorted(record["periods"])


def test_numbers_are_years_and_come_from_every_kind_of_table(here):
    rows = [{"year": 1843, "text": "The cat"}, {"year": 1845, "text": "the dog"}]
    frame = polars.DataFrame(rows)
    frame.write_csv(here / "a.csv")
    frame.write_csv(here / "a.tsv", separator="\t")
    frame.write_parquet(here / "a.parquet")
    frame.with_columns(polars.date("year", 5, 1).alias("year")).write_parquet(here / "b.parquet")
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (here / "b.jsonl").write_text(
        "".join(json.dumps(row | {"year": row["year"] + 0.0}) + "\n" for row in rows)
    )
    for name in ("a.csv", "a.tsv", "a.parquet", "b.parquet", "a.jsonl", "b.jsonl"):
        record = good(
            "frequencies", name, "--phrases=the", "--date=year", "--lower", "--format=json"
        ).json()
        assert record["periods"] == ["1843", "1844", "1845"] and record["phrases"][0]["counts"] == [
            1,
            None,
            1,
        ]
        assert over_time(name, "the", "year")["phrases"][0]["count"] == 1


@pytest.mark.parametrize(
    "wrong",
    ["soon", "1843-13", "1843-02-30", "01/05/1843", "1843.5", "18430501", "", "1843-05-01x"],
)
def test_a_date_that_cannot_be_read_is_told_with_its_line(here, wrong):
    (here / "dated.jsonl").write_text(
        '{"date": "1843-05-01", "text": "a"}\n\n' + json.dumps({"date": wrong, "text": "b"}) + "\n"
    )
    with pytest.raises(DataError) as error:
        over_time("dated.jsonl", "a", "date")
    assert (
        (error.value.file, error.value.line) == ("dated.jsonl", 3)
        and repr(wrong) == error.value.got
        and "1843-05" in error.value.do
    )


def test_a_wild_date_does_not_fill_the_memory():
    with pytest.raises(DataError, match="span"):
        over_time(dated(["0001-01-01", "2024-01-01"], ["a", "a"]), "a", "date", every="day")


def test_text_is_found_beside_dates_that_are_text_and_units_may_be_chosen():
    data = Sequences(
        {"when": Field.of_text(["1900"]), "body": Field.of_text(["Don't panic, don't."])}
    )
    assert (
        over_time(data, ["Don't"], "when")["phrases"][0]["count"] == 1
        and over_time(data, ["panic,"], "when", unit="token")["phrases"][0]["count"] == 1
    )
    assert over_time(data, "don't", "when", lower=True, field="body")["phrases"][0]["count"] == 2
    assert over_time(data, "on", "when", unit="character")["phrases"][0]["count"] == 2
    with pytest.raises(ConfigError, match="no words"):
        over_time(data, [" ", "a"], "when")


def test_periods_without_text_are_gaps_in_table_and_picture(here):
    years = (*range(1840, 1850), *range(1853, 1860))
    (here / "dated.csv").write_text(
        "year,text\n" + "".join(f"{year},steam {'engine' if year % 2 else ''}\n" for year in years)
    )
    asked = ("dated.csv", "--date", "year", "--phrases", "steam engine, $x_1$")
    answer = good("frequencies", *asked)
    rows = {
        line.split()[0]: line.split()[1:] for line in answer.out.splitlines() if line[:1] == "1"
    }
    assert (
        rows["1851"] == ["-"]
        and rows["1850"] == ["-"]
        and rows["1841"][:2] == ["2", "500,000.0"]
        and len(rows) == 20
    )
    [course] = [line[-20:] for line in answer.out.splitlines() if line.startswith("steam engine")]
    assert [place for place, height in enumerate(course) if height == " "] == [10, 11, 12]
    drawn = good("plot", *asked, "--what", "frequencies", "--out", "frequency.png")
    assert drawn.out == "frequency.png\n"
    assert (here / "frequency.png").read_bytes().startswith(b"\x89PNG")
    record = good(
        "plot", *asked, "--what", "frequencies", "--out", "frequency.svg", "--format", "json"
    )
    assert record.err == "" and record.json()["written"] == "frequency.svg"
    frequencies = good("frequencies", *asked, "--format", "json").json()["phrases"][0]["frequency"]
    assert frequencies[10] is None and "1850" not in json.dumps(record.json()["specification"])


@pytest.mark.parametrize(
    "every, dates",
    [
        ("year", ["1900"]),
        ("year", ["-44", "1900"]),
        ("month", ["1900-01", "1900-03"]),
        ("day", ["2024-01-01", "2024-03-05"]),
    ],
)
def test_pictures_are_drawn_for_every_kind_of_period(every, dates):
    record = over_time(dated(dates, ["a b a"] * len(dates)), "a, b, nowhere", "date", every=every)
    chart = frequency(record)
    assert "nowhere" in chart.svg() and chart.svg() == frequency(record).svg()
    assert chart.rows[0]["drawn"] == record["phrases"][0]["smoothed"][0]


def test_the_table_of_many_periods_is_left_out_and_its_course_kept(here):
    (here / "dated.csv").write_text(
        "year,text\n" + "".join(f"{year},steam and sail\n" for year in range(1700, 1900))
    )
    lines = good("frequencies", "dated.csv", "--phrases=steam", "--date=year").out.splitlines()
    assert len(lines) == 3 and len(lines[2].split()[-1]) == 50
