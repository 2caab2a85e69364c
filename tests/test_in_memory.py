"""Anything in: what people have in memory is understood as the same data in a file is, to the bit;
or it is refused in words that name what can be given."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import torch

import seriatim as st
from seriatim.data.objects import FORMS
from seriatim.data.sequences import Field
from seriatim.errors import ConfigError, DataError, RunError, in_python

TEXTS = ["good film", "bad film", "fine plot", "awful plot", "good plot", "bad acting"]
LABELS = [1, 0, 1, 0, 1, 0]
WORDS = ["pro" if label else "con" for label in LABELS]
VALUES = [1.0, 2.5, 3.0, 4.0, 5.5, 6.0]
TOKENS = [["the", "dog"], ["a", "cat", "runs"], ["the", "cat"], ["a", "dog", "sits"]]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "N"], ["D", "N", "V"]]
SOURCES = ["a b", "b c", "c a", "b b", "a a", "c c"]
TARGETS = ["x y", "y z", "z x", "y y", "x x", "z z"]
STEPS = 60
LOAD = np.round(10 + np.sin(np.arange(STEPS) / 3), 4)
DAYS = pandas.date_range("2024-01-01", periods=STEPS)
NUMBERS = np.round(np.random.default_rng(0).normal(size=(12, 5)), 3)
ABOVE = (NUMBERS.mean(1) > 0).astype(int)
PANEL = {
    "unique_id": ["a"] * STEPS + ["b"] * STEPS,
    "ds": [*DAYS, *DAYS],
    "y": np.concatenate([LOAD, 2 * LOAD]),
}


# -- the same data in files
@cache
def folder() -> Path:
    """Where the files are, which are written once."""
    import tempfile

    return Path(tempfile.mkdtemp())


def lines(name: str, **columns: Any) -> Path:
    """A file of JSON lines with these columns."""
    path = folder() / f"{name}.jsonl"
    rows = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def cells(name: str, **columns: Any) -> Path:
    """A csv file with these columns."""
    path = folder() / f"{name}.csv"
    polars.DataFrame(columns).write_csv(path)
    return path


FITS = {  # task, model, settings, and the file with the same data
    "classify": ("naive-bayes", {}, lambda: lines("c", text=TEXTS, label=LABELS)),
    "words": ("naive-bayes", {}, lambda: lines("w", text=TEXTS, label=WORDS)),
    "numbers": (
        "linear",
        {"strength": 1.0},
        lambda: lines("n", values=NUMBERS.tolist(), label=ABOVE.tolist()),
    ),
    "channels": (
        "linear",
        {"strength": 1.0},
        lambda: lines("m", values=np.stack([NUMBERS] * 2, 2).tolist(), label=ABOVE.tolist()),
    ),
    "regress": ("linear", {"strength": 1.0}, lambda: lines("r", text=TEXTS, value=VALUES)),
    "tag": ("hmm", {}, lambda: lines("t", tokens=TOKENS, tags=TAGS)),
    "translate": ("lexicon", {"unit": "word"}, lambda: lines("p", source=SOURCES, target=TARGETS)),
    "language": ("markov", {"order": 1}, lambda: lines("l", text=TEXTS)),
    "tokens": ("markov", {"order": 1}, lambda: lines("k", tokens=TOKENS)),
    "stream": (
        "markov",
        {"order": 1},
        lambda: written("s.txt", "so much\ndepends\nupon so much\n"),
    ),
    "sets": ("frequencies", {}, lambda: written("e.txt", "60+64 62 .\n62 60+64\n" * 8)),
    "forecast": ("persistence", {"horizon": 3}, lambda: cells("f", value=LOAD)),
    "dated": (
        "persistence",
        {"horizon": 3},
        lambda: cells("d", time=[str(day.date()) for day in DAYS], load=LOAD),
    ),
    "wide": ("persistence", {"horizon": 3}, lambda: cells("v", channel1=LOAD, channel2=2 * LOAD)),
    "panel": (
        "persistence",
        {"horizon": 3},
        lambda: cells("q", **PANEL | {"ds": [str(day.date()) for day in PANEL["ds"]]}),
    ),
}
TASKS = {
    "words": "classify",
    "numbers": "classify",
    "channels": "classify",
    "tokens": "language",
    "stream": "language",
    "dated": "forecast",
    "wide": "forecast",
    "panel": "forecast",
}


def written(name: str, text: str) -> Path:
    """A text file."""
    path = folder() / name
    path.write_text(text)
    return path


def fitted(data: str, thing: Any, **settings: Any) -> Any:
    model, usual, _ = FITS[data]
    return st.fit(TASKS.get(data, data), model, thing, **usual, **settings)


@cache
def from_file(data: str) -> Any:
    return fitted(data, FITS[data][2]())


def frame(**columns: Any) -> Callable[[], pandas.DataFrame]:
    return lambda: pandas.DataFrame(columns)


UNDERSTOOD: list[tuple[str, str, Callable[[], Any], dict[str, Any]]] = [
    # (texts, labels), pairs, rows
    ("classify", "(X, y) of lists", lambda: (TEXTS, LABELS), {}),
    ("classify", "(X, y) of tuples", lambda: (tuple(TEXTS), tuple(LABELS)), {}),
    ("classify", "(X, y) of arrays", lambda: (np.array(TEXTS), np.array(LABELS)), {}),
    ("classify", "(X, y) of object arrays", lambda: (np.array(TEXTS, object), LABELS), {}),
    ("classify", "(X, y) of pandas", lambda: (pandas.Series(TEXTS), pandas.Series(LABELS)), {}),
    ("classify", "(X, y) of polars", lambda: (polars.Series(TEXTS), polars.Series(LABELS)), {}),
    ("classify", "(frame, column)", lambda: (frame(text=TEXTS)(), np.array(LABELS)), {}),
    ("classify", "pairs", lambda: list(zip(TEXTS, LABELS)), {}),
    ("classify", "a generator of pairs", lambda: (pair for pair in zip(TEXTS, LABELS)), {}),
    ("classify", "zip", lambda: zip(TEXTS, LABELS), {}),
    (
        "classify",
        "rows with names for their cells",
        lambda: list(zip(range(6), LABELS, TEXTS)),
        {"columns": "id,label,text"},
    ),
    ("classify", "dicts", lambda: [{"text": t, "label": n} for t, n in zip(TEXTS, LABELS)], {}),
    ("words", "an array of two columns", lambda: np.array([*zip(TEXTS, WORDS)]), {}),
    ("words", "texts as labels", lambda: (TEXTS, WORDS), {}),
    ("words", "categories", frame(text=TEXTS, label=pandas.Categorical(WORDS)), {}),
    # columns
    ("classify", "a dict of columns", lambda: {"text": TEXTS, "label": LABELS}, {}),
    ("classify", "a dict of arrays", lambda: {"text": np.array(TEXTS), "label": np.array(LABELS)}, {}),
    ("classify", "usual names", lambda: {"review": TEXTS, "sentiment": LABELS}, {}),
    ("classify", "Text and Label", lambda: {"Text": TEXTS, "Label": LABELS}, {}),
    (
        "classify",
        "named columns",
        lambda: {"stars": LABELS, "said": TEXTS},
        {"label": "stars", "field": "said"},
    ),
    ("classify", "a frame of pandas", frame(text=TEXTS, label=LABELS), {}),
    ("classify", "a frame with more", frame(text=TEXTS, label=LABELS, more=[{}] * 6), {}),
    ("classify", "a frame of polars", lambda: polars.DataFrame({"text": TEXTS, "label": LABELS}), {}),
    ("classify", "a lazy frame", lambda: polars.LazyFrame({"text": TEXTS, "label": LABELS}), {}),
    ("classify", "a table of Arrow", lambda: pyarrow.table({"text": TEXTS, "label": LABELS}), {}),
    (
        "classify",
        "a Dataset",
        lambda: datasets.Dataset.from_dict({"text": TEXTS, "label": LABELS}),
        {},
    ),
    (
        "classify",
        "an iterable Dataset",
        lambda: datasets.Dataset.from_dict({"text": TEXTS, "label": LABELS}).to_iterable_dataset(),
        {},
    ),
    (
        "classify",
        "batches of Arrow",
        lambda: pyarrow.RecordBatch.from_pydict({"text": TEXTS, "label": LABELS}),
        {},
    ),
    (
        "classify",
        "a stream of Arrow",
        lambda: pyarrow.table({"text": TEXTS, "label": LABELS}).to_reader(),
        {},
    ),
    # numbers
    ("numbers", "(rows, labels)", lambda: (NUMBERS, ABOVE), {}),
    ("numbers", "(list of arrays, labels)", lambda: (list(NUMBERS), ABOVE.tolist()), {}),
    ("numbers", "(lists, labels)", lambda: (NUMBERS.tolist(), ABOVE.tolist()), {}),
    ("numbers", "(frame of numbers, column)", lambda: (pandas.DataFrame(NUMBERS), ABOVE), {}),
    ("numbers", "(tensor, tensor)", lambda: (torch.tensor(NUMBERS), torch.tensor(ABOVE)), {}),
    ("channels", "(sequences x time x channels, labels)", lambda: (np.stack([NUMBERS] * 2, 2), ABOVE), {}),
    ("regress", "(texts, values)", lambda: (TEXTS, VALUES), {}),
    ("regress", "pairs", lambda: list(zip(TEXTS, VALUES)), {}),
    ("regress", "a column called score", frame(text=TEXTS, score=VALUES), {}),
    # tags
    ("tag", "(token lists, tag lists)", lambda: (TOKENS, TAGS), {}),
    ("tag", "pairs", lambda: list(zip(TOKENS, TAGS)), {}),
    ("tag", "sentences of words and tags", lambda: [[*zip(w, t)] for w, t in zip(TOKENS, TAGS)], {}),
    ("tag", "a frame of lists", frame(tokens=TOKENS, tags=TAGS), {}),
    ("tag", "Arrow", lambda: pyarrow.table({"tokens": TOKENS, "tags": TAGS}), {}),
    # pairs
    ("translate", "pairs", lambda: list(zip(SOURCES, TARGETS)), {}),
    ("translate", "(sources, targets)", lambda: (SOURCES, TARGETS), {}),
    ("translate", "a frame", lambda: polars.DataFrame({"source": SOURCES, "target": TARGETS}), {}),
    ("translate", "the first two columns", frame(german=SOURCES, english=TARGETS), {}),
    # text
    ("language", "a list", lambda: list(TEXTS), {}),
    ("language", "a tuple", lambda: tuple(TEXTS), {}),
    ("language", "a generator", lambda: (text for text in TEXTS), {}),
    ("language", "an array", lambda: np.array(TEXTS), {}),
    ("language", "a column of pandas", lambda: pandas.Series(TEXTS), {}),
    ("language", "a column of polars", lambda: polars.Series("x", TEXTS), {}),
    ("language", "the texts of a frame", frame(n=range(6), text=TEXTS), {}),
    ("tokens", "token lists", lambda: TOKENS, {}),
    ("tokens", "tuples of tokens", lambda: [*map(tuple, TOKENS)], {}),
    ("stream", "one text", lambda: "so much\ndepends\nupon so much\n", {}),
    ("stream", "texts one after another", lambda: ["so much\n", "depends\nupon so much\n"], {"by": "stream"}),
    ("sets", "sets", lambda: [[{60, 64}, {62}, set()], [[62], (60, 64)]] * 8, {}),
    # series
    ("forecast", "an array", lambda: LOAD, {}),
    ("forecast", "a list", lambda: LOAD.tolist(), {}),
    ("forecast", "a column", lambda: pandas.Series(LOAD), {}),
    ("forecast", "a tensor", lambda: torch.tensor(LOAD), {}),
    ("dated", "a column with dates for an index", lambda: pandas.Series(LOAD, DAYS, name="load"), {}),
    ("dated", "a frame with dates for an index", lambda: pandas.DataFrame({"load": LOAD}, DAYS), {}),
    ("dated", "a dict of dates", lambda: {"day": [d.date() for d in DAYS], "load": LOAD}, {}),
    ("dated", "datetime64", lambda: {"t": DAYS.to_numpy(), "load": LOAD}, {"time": "t"}),
    ("dated", "times of a zone", lambda: {"t": DAYS.tz_localize("UTC"), "load": LOAD}, {}),
    ("dated", "Arrow", lambda: pyarrow.table({"time": list(DAYS), "load": LOAD}), {}),
    ("dated", "one channel of two", frame(t=DAYS, other=LOAD, load=LOAD), {"channels": "load"}),
    ("wide", "an array of two columns", lambda: np.stack([LOAD, 2 * LOAD], 1), {}),
    ("panel", "a long frame of pandas", frame(**PANEL), {}),
    ("panel", "a long frame of polars", lambda: polars.DataFrame(PANEL), {}),
    ("panel", "an index of two levels", lambda: frame(**PANEL)().set_index(["unique_id", "ds"]), {}),
]  # fmt: skip


def test_there_are_many():
    assert len(UNDERSTOOD) + len(REFUSED) >= 45


@pytest.mark.parametrize(
    ("data", "thing", "settings"),
    [pytest.param(d, thing, asked, id=f"{d}-{name}") for d, name, thing, asked in UNDERSTOOD],
)
def test_what_is_in_memory_is_the_same_as_in_a_file(data, thing, settings):
    expected, found = from_file(data), fitted(data, thing(), **settings)
    one, other = expected.model.arrays(), found.model.arrays()
    assert one.keys() == other.keys() and found.by == expected.by
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert found.codec.options == expected.codec.options
    assert (
        found.trained_on.arrays()["hashes"].tolist()
        == expected.trained_on.arrays()["hashes"].tolist()
    )


# -- forms that no file has
def test_several_series_have_numbers_for_names():
    for thing in ([LOAD, LOAD[:40]], np.stack([LOAD, LOAD])[:, :, None], [pandas.Series(LOAD)] * 2):
        model = st.fit("forecast", "persistence", thing, horizon=3)
        assert [item["series"] for item in model.predict(thing)["items"]] == ["0", "1"]


def test_months_and_hours_of_an_index_are_steps():
    months = pandas.Series(LOAD, pandas.period_range("2020-01", periods=STEPS, freq="M"))
    hours = pandas.Series(
        LOAD, pandas.date_range("2024-01-01", periods=STEPS, freq="h", tz="Asia/Tokyo")
    )
    for series, first in ((months, "2025-01-01"), (hours, "2024-01-03T03:00:00")):
        model = st.fit("forecast", "persistence", series, horizon=3)
        assert model.predict(series)["items"][0]["time"][0] == first


def test_dated_pairs_are_a_series():
    pairs = [(datetime.date(2024, 1, 1) + datetime.timedelta(n), x) for n, x in enumerate(LOAD)]
    model = st.fit("forecast", "persistence", pairs, horizon=2)
    assert model.predict(pairs)["items"][0]["time"] == ["2024-03-01", "2024-03-02"]


def test_whole_numbers_are_symbols_where_numbers_have_no_use():
    model = st.fit("language", "markov", np.array([[1, 2, 1], [2, 1, 2]]), order=1)
    assert (model.unit, sorted(model.codec.symbols)[:2]) == ("token", ["1", "2"])
    with pytest.raises(DataError, match=r"numbers that are not whole.*Give texts"):
        st.fit("language", "markov", np.array([[0.5, 1.5]]))


def test_two_texts_are_two_texts_and_two_columns_are_columns():
    model = fitted("classify", (TEXTS, LABELS))
    assert len(model.predict(("good film", "bad film"))["items"]) == 2
    assert len(model.predict((["good film"], [1]))["items"]) == 1
    [one] = st.fit("tag", "hmm", (TOKENS, TAGS)).predict((["the", "dog"], ["D", "N"]))["items"]
    assert one["tokens"] == ["the", "dog"]


# -- every way in
def test_every_verb_takes_what_is_in_memory():
    more = [f"{text} {n}" for n in range(10) for text in TEXTS]
    table = pandas.DataFrame({"text": more, "label": LABELS * 10})
    model = fitted("classify", table)
    assert (
        st.evaluate(model, polars.from_pandas(table))["accuracy"]
        == model.evaluate(table)["accuracy"]
    )
    assert [len(part) for part in st.split("classify", table)] == [51, 3, 6]
    rows = st.compare("classify", table, "majority,naive-bayes")["rows"]
    assert {row["model"] for row in rows} == {"majority", "naive-bayes"}
    audit = st.check(table, [("good film 0", 1)])
    assert audit["across"][0]["copies"] == 1 and audit["files"][0]["sequences"] == 60
    assert st.check(st.read(table))["files"][0]["sequences"] == 60
    assert st.read(table)[0] == {"text": "good film 0", "label": ["1"]}
    language = st.fit("language", "markov", TEXTS, order=1)
    assert st.score(language, "good film")["items"] == st.score(language, ["good film"])["items"]
    assert language.predict(pandas.Series(["good"]))["items"] == language.predict(["good"])["items"]


def test_a_fit_to_a_file_predicts_what_is_in_memory():
    path = written("headless.tsv", "".join(f"{w}\t{t}\n" for w, t in zip(WORDS * 2, TEXTS * 2)))
    model = st.fit("classify", "naive-bayes", path, input_format="tsv", columns="label,text")
    for thing in (
        ["good film"],
        "good film",
        frame(text=["good film"])(),
        {"review": ["good film"]},
    ):
        assert model.predict(thing)["items"][0]["label"] == "pro"


def test_a_text_is_no_file_and_a_file_is_no_text():
    model = fitted("classify", (TEXTS, LABELS))
    [item] = model.predict("good film")["items"]
    assert item["label"] == 1
    with pytest.raises(
        DataError, match=r"there is no file 'good'\. A text by itself goes into a list"
    ):
        model.predict("good")
    with pytest.raises(DataError, match=r"there is no file 'good film\.txt'"):
        model.predict("good film.txt")
    with pytest.raises(DataError, match="there is no such file"):
        model.predict(Path("good film"))
    assert model.predict(str(written("one text.txt", "bad film\n")))["items"][0]["label"] == 0


# -- labels keep their type
@pytest.mark.parametrize(
    "labels", [LABELS, [bool(n) for n in LABELS], [n + 0.5 for n in LABELS], np.array(LABELS)]
)
def test_labels_come_back_as_they_went_in(labels, tmp_path):
    first, second = (each.item() if isinstance(each, np.generic) else each for each in labels[:2])
    model = fitted("classify", (TEXTS, labels))
    model.save(tmp_path / "run")
    for each in (model, st.load(tmp_path / "run")):
        found = [item["label"] for item in each.predict(TEXTS[:2])["items"]]
        assert found == [first, second] and [type(x) for x in found] == [type(first)] * 2
        [item] = each.predict(TEXTS[:1], top=1)["items"]
        assert type(item["probabilities"][0]["label"]) is type(first)
        assert each.evaluate((TEXTS, labels))["accuracy"] == 1


@pytest.mark.parametrize("labels", [LABELS, [bool(n) for n in LABELS], np.array(LABELS), WORDS])
def test_probabilities_of_labels_of_any_kind_fill_their_columns(labels):
    model = fitted("classify", (TEXTS, labels))
    found = model.predict(["good", "bad"], probabilities=True)
    names = [f"probability of {each}" for each in sorted({*np.asarray(labels).tolist()})]
    for kind in ("pandas", "polars"):
        frame = found.to_frame(kind)
        assert [name for name in frame.columns if " of " in name] == names
        assert sum(np.array(frame[name]) for name in names) == pytest.approx([1, 1])
        assert np.array(frame[names[1]])[0] == found["items"][0]["probabilities"][0]["probability"]


def test_tags_come_back_as_they_went_in():
    numbers = [[ord(tag) for tag in tags] for tags in TAGS]
    model = st.fit("tag", "hmm", (TOKENS, numbers))
    assert model.predict(TOKENS[:1])["items"][0]["tags"] == numbers[0]


def test_labels_of_any_kind_are_printed_by_name(tmp_path, capsys):
    from seriatim.cli.main import main

    file = written("plain.txt", "good film\nbad film\n")
    fitted("classify", (TEXTS, [bool(n) for n in LABELS]), out=tmp_path / "labels")
    assert main(["predict", str(tmp_path / "labels"), str(file)]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == [
        "true",
        "false",
    ]
    numbers = [[ord(tag) for tag in tags] for tags in TAGS]
    st.fit("tag", "hmm", (TOKENS, numbers), out=tmp_path / "tags")
    assert (
        main(["best", str(tmp_path / "tags"), str(written("t.txt", "the dog\n")), "--count", "1"])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[0].endswith("\t68 78")


def test_zero_is_a_label_and_none_is_missing():
    data = st.Sequences({"text": Field.of_text(TEXTS), "label": Field.of_labels(LABELS)})
    assert st.fit("classify", "naive-bayes", data).predict(["bad"])["items"][0]["label"] == 0
    assert fitted("classify", (TEXTS, LABELS)).predict(TEXTS[:1], positive=0)["items"]
    for nothing in (None, float("nan"), np.nan):
        with pytest.raises(DataError, match="row 1 of 'label' is missing"):
            fitted("classify", (TEXTS, [1, nothing, 1, 0, 1, 0]))
    missing = pandas.DataFrame(
        {"text": TEXTS, "label": pandas.array([1, None, 1, 0, 1, 0], "Int64")}
    )
    with pytest.raises(DataError, match="row 1 of 'label' is missing"):
        fitted("classify", missing)
    assert len(fitted("classify", (TEXTS, LABELS)).predict(missing)["items"]) == 6


def test_a_text_that_is_missing_has_no_answer_and_teaches_nothing():
    model = fitted("classify", (TEXTS, LABELS))
    for nothing in (None, np.nan, pandas.NA):
        texts = pandas.Series(["good film", nothing], dtype=object)
        for thing in (texts, texts.to_frame("text")):
            assert [item["label"] for item in model.predict(thing)["items"]] == [1, None]
        with pytest.raises(DataError, match=r"(sequence|row) 1 .*is missing"):
            fitted("classify", (texts, [1, 0]))
        with pytest.raises(DataError, match="row 1 of 'text' is missing"):
            fitted("classify", pandas.DataFrame({"text": texts, "label": [1, 0]}))


def test_a_damaged_kind_of_labels_is_refused(tmp_path):
    from seriatim.storage import checksum

    folder = fitted("classify", (TEXTS, WORDS)).save(tmp_path / "run")
    codec = json.loads((folder / "codec.json").read_text())
    (folder / "codec.json").write_text(json.dumps(codec | {"python": "int"}))
    manifest = json.loads((folder / "manifest.json").read_text())
    size = (folder / "codec.json").stat().st_size
    manifest["files"]["codec.json"] |= {"bytes": size, "sha256": checksum(folder / "codec.json")}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises((DataError, RunError), match="not a codec of seriatim"):
        st.load(folder)


# -- forecasts from too little of the past
def weekly(steps: int = 140) -> pandas.Series:
    """A week that comes again on its way up, by day."""
    days, steps_ = pandas.date_range("2024-01-01", periods=steps), np.arange(steps)
    noise = np.random.default_rng(1).normal(0, 1, steps)
    values = 100 + 0.3 * steps_ + 10 * np.sin(steps_ * 2 * np.pi / 7) + noise
    return pandas.Series(values, index=days, name="sales")


def of_the_past(record: dict) -> list[str]:
    """Its notes on forecasts that begin with too little."""
    return [
        words for words in record["notes"] if "forecast begins" in words or "forecasts " in words
    ]


def test_a_forecast_from_too_little_of_the_past_says_so():
    sales = weekly()
    model = st.fit("forecast", "lags-ridge", sales[:120], horizon=4, context=28)
    assert of_the_past(model.predict(sales)) == [] and model.reads == 28
    (note,) = of_the_past(model.predict(sales[-3:]))
    assert note.startswith("the forecast begins with 3 of the 28 values of the past")
    assert note.endswith("give more of the past")
    several = pandas.concat([sales[-3:].rename("y"), sales.rename("y")], keys=["a", "b"])
    several = several.rename_axis(["unique_id", "ds"]).reset_index()
    panel = st.fit("forecast", "seasonal", several[3:], horizon=2, season=7, context=28)
    (note,) = of_the_past(panel.predict(several))
    assert "1 of 2 forecasts begin with 3 of the 7 values" in note


def test_forecasts_with_too_little_of_the_past_are_judged_only_where_all_have():
    sales = weekly()
    model = st.fit("forecast", "lags-ridge", sales[:100], horizon=4, context=28)
    short = model.evaluate(sales[130:])
    assert short["origins"] == 1 and "the forecast begins with 8 of" in of_the_past(short)[-1]
    assert of_the_past(short)[-1].endswith("or what came before as `past`")
    whole = model.evaluate(sales[130:], past=sales[:130], stride=1)
    assert of_the_past(whole) == [] and whole["mae"] < short["mae"]
    some, later = model.evaluate(sales[100:], begin=5), model.evaluate(sales[100:], begin=28)
    assert of_the_past(some)[0].startswith("23 of 32 forecasts are not judged")
    assert some["mae"] == later["mae"] and some["origins"] == later["origins"] == 9
    other = st.fit("forecast", "seasonal", sales[:100], horizon=4)
    paired = [other.evaluate(sales[100:], begin=n, against=model)["against"]["p"] for n in (5, 28)]
    assert paired[0] == pytest.approx(paired[1])
    assert "2 of 5 forecasts begin with 20 to 24" in of_the_past(model.backtest(sales[100:]))[0]


def test_what_learned_from_short_series_needs_no_more_than_they_had():
    sales = weekly(60)
    model = st.fit("forecast", "lags-ridge", sales, horizon=4, context=96)
    assert of_the_past(model.predict(sales)) == [] and model.reads == 28
    assert "3 of the 28" in of_the_past(model.predict(sales[-3:]))[0]


def test_a_comparison_judges_all_models_by_the_same_forecasts():
    found = st.compare("forecast", weekly(60), "seasonal,persistence", horizon=4, season=14)
    assert [of_the_past(row) for row in found["rows"]] == [[], []]
    short = st.compare("forecast", weekly(60), "seasonal,persistence", horizon=4, season=55)
    (notes,) = [row["notes"] for row in short["rows"] if row["model"] == "seasonal"]
    assert any("forecasts begin with 48 to" in words for words in notes)
    assert any("not judged" in words for words in notes) is False


def test_moments_are_options_as_python_numpy_and_pandas_have_them():
    sales = weekly()
    model = st.fit("forecast", "persistence", sales[:100], horizon=4)
    day = sales.index[110]
    told = model.evaluate(sales, begin="2024-04-20", end="2024-05-01")
    kinds = [day, day.to_pydatetime(), day.date(), day.to_datetime64(), day.to_period("D")]
    for begin in (*kinds, np.int64(110), day.tz_localize("UTC").tz_convert("Europe/Berlin")):
        for ask in (model.evaluate, lambda *a, **k: st.evaluate(model, *a, **k)):
            assert ask(sales, begin=begin, end=sales.index[121])["mae"] == told["mae"], begin
    walked = model.backtest(sales, begin=day)["items"]
    assert walked[0]["time"][0] == "2024-04-20"
    with pytest.raises(ConfigError, match="neither a row, a share nor a date"):
        model.evaluate(sales, begin=pandas.NaT)


def test_what_was_seen_is_a_share_of_what_is_judged():
    sales = weekly()
    model = st.fit("forecast", "persistence", sales[:126], horizon=4)
    (note,) = model.evaluate(sales)["notes"]
    assert note.startswith("50 % of the values that are judged were seen in training")
    assert "of the values that are judged were" in model.evaluate(sales).plot().says


# -- refusals
REFUSED: list[tuple[str, str, Callable[[], Any], str]] = [
    ("classify", "texts alone", lambda: TEXTS, "no label for each sequence"),
    ("classify", "one text", lambda: "good film", "no label for each sequence"),
    ("classify", "bytes", lambda: b"good film", "Decode it"),
    ("classify", "a set", lambda: {"good film"}, "A set has no order"),
    ("classify", "a number", lambda: 5, "cannot be understood"),
    ("classify", "an object", lambda: object(), "cannot be understood"),
    ("classify", "an open file", lambda: io.StringIO("good film"), "Give the path of the file"),
    ("classify", "nothing", list, "there is nothing in it"),
    ("classify", "unequal", lambda: (TEXTS, LABELS[:3]), "Received: 6 and 3"),
    ("classify", "a gap", lambda: (["good", None], [1, 0]), "sequence 1 is missing"),
    ("classify", "mixed", lambda: (["good", 5], [1, 0]), "sequence 1 is not like the others"),
    ("tag", "no tags", lambda: TOKENS, "no tag for each element"),
    ("translate", "no targets", lambda: SOURCES, "no pairs of source and target"),
    ("language", "ten dimensions", lambda: np.zeros((1, 2, 3, 4)), "an array of float64, 1x2x3x4"),
    ("language", "objects", lambda: [object()], "these are no sequences"),
    ("language", "frames", lambda: [frame(a=["x"])()] * 2, "several frames"),
    ("forecast", "texts", lambda: TEXTS, "no numbers over time"),
    ("forecast", "one text", lambda: "good film", "no numbers over time"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "thing", "words"),
    [pytest.param(d, thing, words, id=f"{d}-{name}") for d, name, thing, words in REFUSED],
)
def test_what_cannot_be_understood_is_refused_with_what_can(data, thing, words):
    from seriatim.tasks import task

    with pytest.raises(ValueError, match=words) as error:
        fitted(data, thing())
    assert f"Give {FORMS[task(data).cut.wants]}" in str(error.value)


@pytest.mark.parametrize(
    ("thing", "settings", "words"),
    [
        (lambda: [*zip(WORDS, TEXTS)], {}, r"look like \(label, text\)"),
        (lambda: {"train": {"text": TEXTS}}, {}, "these are several tables. Received: train"),
        (lambda: {"text": TEXTS, "label": 1}, {}, "'label' is no column"),
        (lambda: {"text": TEXTS, "Text": TEXTS}, {}, "a name of its own. Received: text, Text"),
        (
            lambda: pandas.DataFrame([["a", "b"]] * 2, columns=["text"] * 2),
            {},
            "a name of its own.*'text' 2 times",
        ),
        (
            lambda: {"text": TEXTS, "label": [1]},
            {},
            "columns are equally long. Received: text 6, label 1",
        ),
        (lambda: [{"text": "a"}, {"label": "b"}], {}, "keys of row 1 differ"),
        (lambda: (TEXTS, [1, "a", 1, 0, 1, 0]), {}, "all of a kind. Received: int and str"),
        (
            frame(text=TEXTS, label=LABELS),
            {"columns": "a,b"},
            'Received: columns="a,b", with a frame',
        ),
        (lambda: (TEXTS, LABELS), {"input_format": "csv"}, 'for files.*input_format="csv"'),
        (lambda: [*zip(TEXTS, LABELS)], {"columns": "a,b,c"}, "3 names for 2 columns"),
        (frame(text=TEXTS, label=LABELS), {"label": "stars"}, "no field 'stars'"),
        (lambda: None, {}, "fit reads data"),
    ],
)
def test_other_refusals(thing, settings, words):
    with pytest.raises(ValueError, match=words):
        fitted("classify", thing(), **settings)


def test_words_with_tags_need_sentences():
    with pytest.raises(DataError, match="where sentences end"):
        st.fit("tag", "hmm", [("the", "D"), ("dog", "N")])


def test_sequences_of_refuses_what_it_would_misread():
    for thing in (frame(a=["x"])(), polars.DataFrame({"a": ["x"]}), {"a": ["x"]}):
        with pytest.raises(DataError, match="this has columns"):
            st.Sequences.of(thing)
    with pytest.raises(DataError, match="a text by itself goes into a list"):
        st.Sequences.of("hello")
    assert len(st.Sequences.of(pandas.Series(["a", "b"]))) == 2
    assert st.Sequences.of("so much", by="stream")[0] == {"text": "so much"}


def test_progress_is_a_truth_value():
    with pytest.raises(ConfigError, match="Give True, False or None"):
        st.fit("language", "unigram", TEXTS, progress=print)
    with pytest.raises(ConfigError, match="Give True, False or None"):
        st.compare("language", TEXTS, progress=1)


# -- the words of the door
def test_errors_of_python_speak_python():
    path = written("none.csv", "text,thing\na b,c\nd e,f\n")
    with pytest.raises(DataError, match='Name the columns with columns="label,text"') as error:
        st.fit("classify", "naive-bayes", path)
    assert "--" not in str(error.value) and "--" not in error.value.record()["error"]["do"]


def test_errors_of_the_command_line_speak_of_flags(capsys):
    from seriatim.cli.main import main

    path = written("none.csv", "text,thing\na b,c\nd e,f\n")
    assert main(["fit", "classify", "naive-bayes", str(path)]) == 1
    assert "--columns label,text" in capsys.readouterr().err
    assert main(["fit", "language", "unigram", "no such file"]) == 1
    assert "no such file: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ("Add --top-k 3", "Add top_k=3"),
        ("Leave out --label-smoothing or --chain", "Leave out label_smoothing= or chain="),
        ("Use --unit word, or --lower false", 'Use unit="word", or lower=False'),
        ("Raise --beam to 4", "Raise beam= to 4"),
        ("Type `seriatim fit --help`", "Type `seriatim fit --help`"),
        ("well-known -- and so on", "well-known -- and so on"),
        ("--fill: linear (--fill)", "fill=: linear (fill=)"),
    ],
)
def test_flags_become_arguments(typed, called):
    assert in_python(typed) == called


def test_data_that_looks_like_a_flag_stays_as_it_is():
    assert "Received: --columns" in str(DataError("wrong", got="--columns"))
    assert "Received: columns=" in str(ConfigError("wrong", got="--columns"))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: st.fit("forecast", "seasonal", LOAD, seson=7), "Did you mean 'season'"),
        (lambda: st.fit("forecast", "seasonal", LOAD, horizn=7), "Did you mean 'horizon'"),
        (lambda: st.fit("classify", "naive-bayes", (TEXTS, LABELS), labl="x"), "mean 'label'"),
        (lambda: fitted("classify", (TEXTS, LABELS), calibrat=True), "mean 'calibrate'"),
        (lambda: fitted("classify", (TEXTS, LABELS), overwrit=True), "mean 'overwrite'"),
        (lambda: st.compare("classify", (TEXTS, LABELS), "majority", minuts=1), "mean 'minutes'"),
        (lambda: st.compare("classify", (TEXTS, LABELS), "majority", labl="x"), "mean 'label'"),
        (
            lambda: st.compare("classify", (TEXTS, LABELS), "majority", overwrite=True),
            "replaces no other one. Received: overwrite=True. Choose another out=, delete .*resume=",
        ),
    ],
)
def test_a_mistyped_setting_is_told_with_the_nearest_name_of_all(ask, words):
    with pytest.raises(ConfigError, match=words):
        ask()


def test_a_mistyped_option_of_a_method_is_told_as_of_a_verb():
    model = fitted("classify", (TEXTS, LABELS))
    words = "predict of models of classify has no option 'probabilites'.*mean 'probabilities'"
    for ask in (model.predict, lambda data, **asked: st.predict(model, data, **asked)):
        with pytest.raises(ConfigError, match=words):
            ask(TEXTS, probabilites=True)
    with pytest.raises(ConfigError, match="mean 'method'"):
        model.explain("good", methd="exact")
    with pytest.raises(ConfigError, match="mean 'positive'"):
        model.evaluate((TEXTS, LABELS), postive=1)
    series = st.fit("forecast", "persistence", LOAD, horizon=2)
    with pytest.raises(ConfigError, match="predict of models of forecast has no option 'onli'"):
        series.predict(LOAD, onli="a")
    assert series.predict(data=LOAD)["items"]


# -- what comes back is named as what was given
def test_x_and_y_are_given_together():
    apart = [
        ("classify", TEXTS, LABELS),
        ("classify", np.array(TEXTS), np.array(LABELS)),
        ("classify", pandas.Series(TEXTS), pandas.Series(WORDS)),
        ("classify", frame(text=TEXTS)(), WORDS),
        ("regress", TEXTS, VALUES),
        ("tag", TOKENS, TAGS),
        ("translate", SOURCES, TARGETS),
    ]
    for task, X, y in apart:
        with pytest.raises(ConfigError, match=r"Give \(X, y\)"):
            st.fit(task, FITS[task][0], X, y)
    pairs = [*zip(TEXTS, LABELS)]
    for valid in (pairs, (TEXTS, LABELS), frame(text=TEXTS, label=LABELS)()):
        assert st.fit("classify", "naive-bayes", pairs, valid).predict(TEXTS)["items"]
    assert st.fit("language", "unigram", TEXTS, TEXTS).evaluate(TEXTS)["tokens"]


def test_rows_of_pandas_keep_their_index_and_whole_numbers_stay_whole():
    data = pandas.DataFrame({"text": ["good", None, "bad"]}, index=[7, 3, 5])
    model = fitted("classify", (TEXTS, LABELS))
    for found in (model.predict(data), model.predict(data["text"]), st.predict(model, data)):
        rows = found.to_frame("pandas")
        assert rows.index.tolist() == [7, 3, 5] and str(rows["label"].dtype) == "Int64"
        assert rows["label"].tolist()[::2] == [1, 0] and rows["label"].isna().tolist()[1]
        assert found.to_frame("polars")["label"].to_list() == [1, None, 0]
    assert model.predict(["good"]).to_frame("pandas").index.tolist() == [0]
    whole = model.predict(data[::2]).to_frame("pandas")
    assert whole["label"].dtype == np.int64 and whole.index.tolist() == [7, 5]
    assert fitted("regress", (TEXTS, VALUES)).predict(data).to_frame("pandas").index[1] == 3
    table = model.evaluate(frame(text=TEXTS, label=LABELS)()).to_frame("pandas")
    assert table.index.tolist() == [*range(len(table))]


def test_forecasts_have_the_zone_of_their_series():
    sales = weekly(40).tz_localize("Europe/Berlin")
    model = st.fit("forecast", "persistence", sales, horizon=2)
    wanted = ["2024-02-10 00:00:00+01:00", "2024-02-11 00:00:00+01:00"]
    table = sales.rename_axis("ds").reset_index()
    for data in (sales, table, polars.from_pandas(table)):
        for kind in ("pandas", "polars"):
            times = [str(each) for each in model.predict(data).to_frame(kind)["time"]]
            assert times == wanted, kind
    plain = model.predict(weekly(40)).to_frame("pandas")["time"]
    assert str(plain[0]) == "2024-02-10 00:00:00"


def test_phrases_over_time_find_their_dates():
    days = pandas.date_range("2020-01-01", periods=6, freq="300D")
    found = st.call("frequencies", frame(text=TEXTS, date=days)(), phrases="good")
    assert found["periods"] == ["2020", "2021", "2022", "2023", "2024"]
    with pytest.raises(ConfigError, match="no field of memory is called date") as error:
        st.call("frequencies", frame(text=TEXTS, when=days)(), phrases="good")
    assert len(str(error.value)) < 200 and "fields: text, when" in str(error.value)
    with pytest.raises(ConfigError, match="Received: no phrases="):
        st.call("frequencies", frame(text=TEXTS, date=days)())
