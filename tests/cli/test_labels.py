"""Labels and tags from the command line: the same figures as in Python, JSON everywhere, and one line for whatever is wrong."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path

import pytest

import seriatim
from seriatim.cli.main import main
from seriatim.show.progress import Watcher
from seriatim.verbs import call as call_verb
from tests.labels import COMMON, pairs, sentences
from tests.terminal import Answer, Screen, call, good, refused

PNG = b"\x89PNG\r\n\x1a\n"
SMALL = ("--updates", "3", "--width", "8")
TIMES = {"seconds", "symbols_per_second"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows, header: str = "label\ttext\n") -> str:
    return header + "".join("\t".join(row) + "\n" for row in rows)


def conllu(count: int, seed: int) -> str:
    data = sentences(count, seed)
    rows = [zip(data[s]["tokens"], data[s]["tags"], strict=True) for s in range(count)]
    return "".join(
        f"# sentence {s}\n"
        + "".join(
            f"{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n" for i, (word, tag) in enumerate(row, 1)
        )
        + "\n"
        for s, row in enumerate(rows)
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Data, and three small runs."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "mail.tsv").write_text(table(pairs(90)))
    (folder / "test.tsv").write_text(table(pairs(40, seed=1)))
    (folder / "new.txt").write_text("free cash\nMum and the dog\n")
    (folder / "train.conllu").write_text(conllu(60, 0))
    (folder / "test.conllu").write_text(conllu(20, 1))
    (folder / "book.txt").write_text("to be or not to be\n" * 40)
    good("fit", "classify", "naive-bayes", folder / "mail.tsv", "--out", folder / "bayes")
    good("fit", "classify", "gru", folder / "mail.tsv", *SMALL, "--out", folder / "network")
    good(
        "fit",
        "tag",
        "gru",
        folder / "train.conllu",
        *SMALL,
        "--embedding",
        6,
        "--letter-width",
        4,
        "--out",
        folder / "tagger",
    )
    good("fit", "language", "markov", folder / "book.txt", "--out", folder / "language")
    return folder


def other(home: Path, run: str) -> Path:
    """Data that it has not seen."""
    return home / ("test.conllu" if run == "tagger" else "test.tsv")


RUNS = pytest.mark.parametrize("run", ["bayes", "network", "tagger"])


# fit, evaluate, predict


@pytest.mark.parametrize(
    "task, model, settings",
    [
        ("classify", "majority", ()),
        ("classify", "markov-bayes", ("--counts", "kneser-ney", "--order", 2)),
        ("classify", "linear", ("--weighting", "tf-idf")),
        ("classify", "convolution", (*SMALL, "--pool", "attention")),
        ("classify", "naive-bayes+mean", ("--updates", 2)),
        ("tag", "window", (*SMALL, "--chain")),
    ],
)
def test_fit_keeps_a_run_and_tells_its_figures(home, here, task, model, settings):
    file = home / ("mail.tsv" if task == "classify" else "train.conllu")
    record = good("fit", task, model, file, *settings, "--format", "json").json()
    assert (record["out"], record["task"], record["model"]) == (
        f"runs/{model}",
        task,
        model,
    ) and record["parameters"] > 0
    assert (here / record["out"] / "manifest.json").exists() and seriatim.load(
        record["out"]
    ).task.name == task
    answer = good("fit", task, model, file, *settings, "--out", "second")
    assert answer.out.startswith(f"second: {model}, {record['parameters']:,} parameters") and (
        f"share of {'labels' if task == 'classify' else 'tags'} wrong" in answer.out
    ) == ("valid" in record)


@RUNS
def test_evaluate_gives_the_figures_of_python(home, run):
    record = good("evaluate", home / run, other(home, run), "--format", "json").json()
    expected = seriatim.evaluate(home / run, str(other(home, run)))
    assert {key: value for key, value in record.items() if key not in TIMES} == json.loads(
        json.dumps({k: v for k, v in expected.items() if k not in TIMES})
    )
    shown = good("evaluate", home / run, other(home, run)).out
    assert (
        f"{record['accuracy']:.4f}" in shown
        and f"{record['macro']['f1']:.4f}" in shown
        and all(each["name"] in shown for each in record["classes"])
    )
    assert ("known words" in shown) == (run == "tagger")


def test_evaluating_the_training_data_is_noted_beside_the_result(home):
    words = "100 % of this data was seen in training: the figures are not about new data"
    answer = good("evaluate", home / "bayes", home / "mail.tsv")
    assert words in answer.err and words in answer.out
    assert "seen in training" not in good("evaluate", home / "bayes", home / "test.tsv").err


@RUNS
def test_what_is_mistaken_for_what_is_drawn(home, here, run):
    data = other(home, run)
    for words in ((home / run, "--file", data), (home / run, data)):
        asked = ("plot", *words, "--what", "confusion", "--out", "mistakes.png")
        record = good(*asked, "--format", "json").json()
        assert record["written"] == "mistakes.png" and record["what"] == "confusion"
        assert (here / "mistakes.png").read_bytes().startswith(PNG)
        (here / "mistakes.png").unlink()
    assert good(*asked).out == "mistakes.png\n"


def test_figures_are_kept_in_a_file(home, here):
    asked = ("evaluate", home / "bayes", home / "test.tsv")
    assert good(*asked, "--out", "figures.json").out == "figures.json\n"
    found = good(*asked, "--format", "json").json()
    kept = json.loads((here / "figures.json").read_text())
    assert {k: v for k, v in kept.items() if k not in TIMES} == {
        k: v for k, v in found.items() if k not in TIMES
    }


@pytest.mark.parametrize("run", ["bayes", "network"])
def test_predict_prints_the_label_of_each_sequence(home, run):
    record = good("predict", home / run, home / "new.txt", "--format", "json").json()
    assert record == seriatim.predict(home / run, str(home / "new.txt"))
    records = record["items"]
    assert len(records) == 2
    lines = [
        line.split("\t")
        for line in good("predict", home / run, home / "new.txt", "--top", 2).out.splitlines()
    ]
    assert [line[0] for line in lines] == [record["label"] for record in records] and {
        len(line) for line in lines
    } == {3}
    assert [line[1] for line in lines] == [
        f"{first['label']} {first['probability']:.4f}"
        for first in (record["probabilities"][0] for record in records)
    ]


def test_predict_prints_a_token_and_its_tag_a_line_and_a_blank_one_between_sentences(home):
    records = good("predict", home / "tagger", home / "new.txt", "--format", "json").json()["items"]
    blocks = good("predict", home / "tagger", home / "new.txt").out.split("\n\n")
    assert blocks.pop() == "" and [
        [tuple(line.split("\t")) for line in block.splitlines()] for block in blocks
    ] == [list(zip(record["tokens"], record["tags"], strict=True)) for record in records]


def test_annotate_writes_a_file_again_with_other_tags(home, here):
    record = good(
        "annotate",
        home / "tagger",
        home / "test.conllu",
        "--out",
        "again.conllu",
        "--format",
        "json",
    ).json()
    assert (
        record["sequences"] == 20
        and f"{record['tags']:,} tags"
        in good("annotate", home / "tagger", home / "test.conllu", "--out", "more.conllu").out
    )
    old, new = (
        [line.split("\t") for line in path.read_text().splitlines()]
        for path in (home / "test.conllu", here / "again.conllu")
    )
    assert [cells[:3] + cells[4:] for cells in old] == [cells[:3] + cells[4:] for cells in new]
    found = seriatim.load(home / "tagger").predict(str(home / "test.conllu"))["items"]
    assert [cells[3] for cells in new if len(cells) == 10] == [
        tag for each in found for tag in each["tags"]
    ]


def test_a_threshold_is_chosen_and_used(home):
    record = good(
        "evaluate",
        home / "bayes",
        home / "test.tsv",
        "--positive",
        "spam",
        "--most-false",
        "0.05",
        "--format",
        "json",
    ).json()["threshold"]
    assert record["positive"] == "spam" and record["false"] <= 0.05
    assert (
        f"spam from {record['threshold']:.6g} on"
        in good(
            "evaluate",
            home / "bayes",
            home / "test.tsv",
            "--positive",
            "spam",
            "--most-false",
            "0.05",
        ).out
    )
    taken = good(
        "predict",
        home / "bayes",
        home / "test.tsv",
        "--positive",
        "spam",
        "--threshold",
        record["threshold"],
        "--format",
        "json",
    ).json()["items"]
    right = sum(
        each["label"] == label == "spam"
        for each, (label, _) in zip(taken, pairs(40, seed=1), strict=True)
    )
    assert right / sum(label == "spam" for label, _ in pairs(40, seed=1)) == pytest.approx(
        record["recall"]
    )


@pytest.mark.parametrize("run, method", [("bayes", "exact"), ("network", "gradient")])
def test_explain_tells_what_each_word_contributed(home, run, method):
    record = good("explain", home / run, "free cash Mum", "--format", "json").json()
    expected = call_verb("explain", home / run, "free cash Mum")
    assert record == json.loads(json.dumps(expected)) and record["method"] == method
    assert record == good("explain", home / run, "--text", "free cash Mum", "--format=json").json()
    shown = good("explain", home / run, "free", "cash", "Mum").out
    assert (
        all(
            each["symbol"] in shown and f"{each['contribution']:+.3f}" in shown
            for each in record["symbols"]
        )
        and record["label"] in shown
    )
    how = ("--label", "work", "--method", "occlusion")
    asked = good("explain", home / run, "free cash Mum", *how, "--format", "json").json()
    assert (asked["label"], asked["method"]) == ("work", "occlusion")


def test_calibration_lowers_the_loss_on_validation_data(home, here):
    noisy = [(label if i % 4 else "ham", text) for i, (label, text) in enumerate(pairs(60, seed=2))]
    Path("valid.tsv").write_text(table(noisy))
    for name, flags in (("plain", ()), ("calibrated", ("--calibrate",))):
        good(
            "fit",
            "classify",
            "naive-bayes",
            home / "mail.tsv",
            "--valid",
            "valid.tsv",
            "--out",
            name,
            *flags,
        )
    before, after = (
        good("evaluate", name, "valid.tsv", "--format", "json").json()
        for name in ("plain", "calibrated")
    )
    assert after["log_loss"] < before["log_loss"] - 0.01 and after["accuracy"] == before["accuracy"]
    assert (
        json.loads((here / "calibrated/metrics.json").read_text())["temperature"]
        == after["protocol"]["temperature"]
        > 1
    )


def test_a_model_that_counts_takes_those_settings_of_training_that_mean_something_to_all(home):
    good(
        "fit",
        "classify",
        "naive-bayes",
        home / "mail.tsv",
        "--minutes",
        1,
        "--seed",
        3,
        "--threads",
        1,
        "--out",
        "run",
    )
    rows = good(
        "compare",
        "classify",
        home / "mail.tsv",
        "--models",
        "naive-bayes,mean",
        "--updates",
        2,
        "--rate",
        0.1,
        "--format",
        "json",
    ).json()
    assert [row["status"] for row in rows["rows"]] == ["ok", "ok"]


@pytest.mark.parametrize(
    "content",
    [
        "text\nfree cash\ndog tea\n",
        "label,text\n,free cash\n,dog tea\n",
        "label,text\neggs,free cash\nham,dog tea\n",
    ],
)
def test_predict_asks_for_no_labels(home, content):
    Path("new.csv").write_text(content)
    for flags in (
        (),
        ("--label", "label"),
        ("--columns", "label,text")[: 2 * content.startswith("label")],
    ):
        assert [
            line.split("\t")[0]
            for line in good("predict", home / "bayes", "new.csv", *flags).out.splitlines()
        ] == ["spam", "ham"]


def test_which_of_several_fields_is_read_is_told(home):
    Path("new.csv").write_text("from,words\nMum,free cash\nme,dog tea\n")
    assert (
        "'from', 'words' the longest is read, 'words'"
        in good("predict", home / "bayes", "new.csv").err
    )
    answer = good("predict", home / "bayes", "new.csv", "--field", "words")
    assert [line.split("\t")[0] for line in answer.out.splitlines()] == ["spam", "ham"]
    how = "read as csv, 2 sequences below a header; fields from, words; 'words' is read"
    assert answer.err == f"note: new.csv: {how}\n"


def test_standard_input_is_a_file_of_every_verb(home, monkeypatch):
    def given(content: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))

    given((home / "mail.tsv").read_text())
    good("fit", "classify", "naive-bayes", "-", "--input-format", "tsv", "--out", "run")
    given("free cash\n\ndog tea\n")
    assert len(good("predict", "run", "-", "--input-format", "text").out.splitlines()) == 3
    given((home / "test.tsv").read_text())
    assert (
        good("evaluate", "run", "-", "--input-format", "tsv", "--format", "json").json()[
            "sequences"
        ]
        == 40
    )
    given((home / "test.conllu").read_text())
    good("annotate", home / "tagger", "-", "--input-format", "conllu", "--out", "again.conllu")
    good("annotate", home / "tagger", home / "test.conllu", "--out", "same.conllu")
    assert Path("again.conllu").read_bytes() == Path("same.conllu").read_bytes()


@RUNS
def test_many_sequences_are_labelled_some_at_a_time_and_a_terminal_is_told(home, monkeypatch, run):
    Path("many.txt").write_text("free cash\ntea dog Mum\nMonday\n" * 5)
    whole = good("predict", home / run, "many.txt").out
    monkeypatch.setattr("seriatim.verbs.TOGETHER", 4)
    heard, see = [], Watcher.see

    def listen(self, event):
        heard.append((event["event"], out.getvalue().count("\n")))
        see(self, event)

    monkeypatch.setattr(Watcher, "see", listen)
    err, out = Screen(), io.StringIO()
    monkeypatch.setattr("sys.stderr", err)
    with contextlib.redirect_stdout(out):
        assert main(["predict", str(home / run), "many.txt"]) == 0
    assert out.getvalue() == whole
    printed = [lines for kind, lines in heard if kind == "pass"]
    assert len(set(printed)) >= 3 and max(printed) < whole.count("\n")  # answers as they are found


# Which column is what


def test_labels_and_texts_may_be_called_anything(home):
    rows = pairs(90)
    Path("a.csv").write_text(
        "stars,kind,note,message\n"
        + "".join(f"{'ham spam work'.index(label)},{label},x,{text}\n" for label, text in rows)
    )
    Path("b.tsv").write_text(table(rows, header=""))
    Path("c.jsonl").write_text(
        "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in rows)
    )
    ways = (
        ("a.csv", "--label", "kind", "--field", "message"),
        ("b.tsv", "--columns", "label,text"),
        ("c.jsonl",),
        (home / "mail.tsv",),
    )
    for i, arguments in enumerate(ways):
        good("fit", "classify", "naive-bayes", *arguments, "--out", f"run{i}")
    assert len({good("predict", f"run{i}", home / "new.txt").out for i in range(len(ways))}) == 1
    assert (
        good(
            "evaluate", "run0", "a.csv", "--label", "kind", "--field", "message", "--format", "json"
        ).json()["labels"]
        == good("evaluate", "run0", "a.csv", "--format", "json").json()["labels"]  # remembered
        == 90
    )
    for model, settings in (("naive-bayes", ()), ("mean", ("--updates", 2))):
        good(
            "fit",
            "classify",
            model,
            "a.csv",
            "--label",
            "stars",
            "--field",
            "message",
            *settings,
            "--out",
            f"stars-{model}",
        )
        assert seriatim.load(f"stars-{model}").codec.labels.names == ["0", "4", "9"]


def test_of_equal_sequences_the_first_is_kept():
    Path("twice.tsv").write_text(table([*pairs(60), *pairs(60)]))
    whole = good("fit", "classify", "naive-bayes", "twice.tsv", "--out", "whole")
    once = good("fit", "classify", "naive-bayes", "twice.tsv", "--distinct", "--out", "once")
    different = len({text for _, text in pairs(60)})
    assert "120 sequences" in whole.err and f"{different} sequences" in once.err
    assert (
        good("evaluate", "once", "twice.tsv", "--distinct", "--format", "json").json()["sequences"]
        == different
    )
    assert len(good("predict", "once", "twice.tsv").out.splitlines()) == 120


@pytest.mark.parametrize("unit", ["character", "byte", "word", "token", "subword"])
def test_every_unit_can_be_labelled(home, unit):
    good(
        "fit",
        "classify",
        "naive-bayes",
        home / "mail.tsv",
        "--unit",
        unit,
        "--ngram",
        3,
        "--out",
        "run",
    )
    assert good("evaluate", "run", home / "test.tsv", "--format", "json").json()["accuracy"] > 0.8
    assert good("explain", "run", "free cash", "--format", "json").json()["label"] == "spam"


# compare, models


@pytest.fixture(scope="module")
def compared(home, tmp_path_factory) -> tuple[Path, Answer]:
    out = tmp_path_factory.mktemp("compared") / "out"
    return out, good(
        "compare",
        "classify",
        home / "mail.tsv",
        "--models",
        "majority,naive-bayes,mean",
        "--updates",
        2,
        "--out",
        out,
        "--format",
        "json",
    )


def test_compare_writes_table_picture_report_and_runs(compared):
    out, answer = compared
    record = answer.json()
    assert sorted(path.name for path in out.iterdir()) == [
        ".seriatim",
        "comparison.json",
        "measured",
        "quality.png",
        "report.html",
        "rows",
        "runs",
        "table.csv",
        "table.json",
    ]
    assert json.loads((out / "table.json").read_text()) == record and (
        out / "quality.png"
    ).read_bytes().startswith(PNG)
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [float(row["accuracy"]) for row in rows] == [row["accuracy"] for row in record["rows"]]
    assert {"macro_f1", "log_loss", "calibration_error"} <= rows[0].keys()
    page = (out / "report.html").read_text()
    assert (
        all(
            f">{row['model']}<" in page and f"{row['accuracy']:.2%}" in page
            for row in record["rows"]
        )
        and "Higher is better" in page
    )
    assert "seriatim predict" in answer.err and record["rows"][0]["run"] in answer.err


def test_compare_shows_the_best_first(home):
    shown = good(
        "compare", "classify", home / "mail.tsv", "--models", "majority,naive-bayes", "--out", "out"
    ).out
    assert (
        shown.index("naive-bayes") < shown.index("majority")
        and "accuracy" in shown
        and "mail.tsv: classify by word" in shown
    )


@pytest.mark.parametrize(
    "task, file, models, settings",
    [
        ("classify", "mail.tsv", "majority,naive-bayes", ()),
        ("tag", "train.conllu", "window", SMALL),
    ],
)
def test_compare_in_folds_tests_every_sequence_once(home, task, file, models, settings):
    record = good(
        "compare",
        task,
        home / file,
        "--models",
        models,
        *settings,
        "--folds",
        3,
        "--out",
        "out",
        "--format",
        "json",
    ).json()
    count = len(
        seriatim.read(str(home / file)).fields["label" if task == "classify" else "tags"].flat
    )
    assert record["folds"] == 3 and [sum(map(sum, row["confusion"])) for row in record["rows"]] == [
        count
    ] * len(record["rows"])
    assert "3 folds: every sequence was the test once" in Path("out/report.html").read_text()


def test_plot_draws_the_runs_and_comparisons_of_labels(home, here, compared):
    for source in (home / "network", home / "tagger", compared[0]):
        good("plot", source, "--out", "picture.png")
        assert (here / "picture.png").read_bytes().startswith(PNG)


def test_models_tells_the_settings_of_a_task():
    assert (
        "--chain" in good("models", "lstm", "--task", "tag").out
        and "--chain" not in good("models", "lstm", "--task", "classify").out
    )
    record = good("models", "naive-bayes", "--format", "json").json()
    assert "ngram" in record["models"]["naive-bayes"]


@RUNS
def test_json_is_all_that_stands_on_stdout_and_stderr_is_silent(home, run):
    for arguments in (
        ("evaluate", home / run, other(home, run)),
        ("predict", home / run, other(home, run)),
        *([] if run == "bayes" else [("predict", home / run, home / "new.txt", "--int8")]),
    ):
        answer = good(*arguments, "--format", "json")
        assert isinstance(answer.json(), (dict, list)) and answer.err == ""


# What is refused


WRONG = [
    ("fit clasify naive-bayes mail.tsv", "'classify'"),
    ("fit classify naive-byes mail.tsv", "'naive-bayes'"),
    ("fit tag naive-bayes train.conllu", "task tag"),
    ("fit classify lstm+kneser-ney mail.tsv", "task classify"),
    ("fit classify naive-bayes mail.tsv --ngrm 2", "--ngram"),
    ("fit classify naive-bayes mail.tsv --ngram 0", "ngram"),
    ("fit classify naive-bayes mail.tsv --ngram nan", "ngram"),
    ("fit classify naive-bayes mail.tsv --add nan", "add"),
    ("fit classify naive-bayes mail.tsv --add -1", "add"),
    ("fit classify naive-bayes mail.tsv --prior unifrom", "'uniform'"),
    ("fit classify naive-bayes mail.tsv --width 8", "width"),
    ("fit classify linear mail.tsv --weighting tfidf", "'tf-idf'"),
    ("fit classify linear mail.tsv --strength -1", "strength"),
    ("fit classify markov-bayes mail.tsv --counts lstm", "counts"),
    ("fit classify mean mail.tsv --pool sum", "pool"),
    ("fit classify mean mail.tsv --chain", "chain"),
    ("fit classify mean mail.tsv --letters yes", "letters"),
    ("fit classify gru mail.tsv --width 7", "even"),
    ("fit classify gru mail.tsv --letters lstm --unit character", "--unit word"),
    ("fit classify gru mail.tsv --word-dropout 1", "word_dropout"),
    ("fit tag gru train.conllu --calibrate", "calibrate"),
    ("fit tag gru train.conllu --chain --label-smoothing 0.1", "--chain"),
    ("compare classify mail.tsv --folds 1", "at least 2"),
    ("compare classify mail.tsv --folds 0", "at least 2"),
    ("fit classify naive-bayes mail.tsv --rate 0.1", "--rate is not a flag here"),
    ("fit classify naive-bayes+majority mail.tsv --updates 5", "models that are trained"),
    ("fit tag hmm train.conllu --epochs 3", "models that are trained"),
    (
        "compare classify mail.tsv --models majority,naive-bayes --patience 2",
        "'patience' is not a setting of any",
    ),
    ("predict tagger new.txt --top 3", "--top is not a flag here"),
    ("predict tagger new.txt --positive DET", "models of classify"),
    ("best tagger new.txt --count 0", "count"),
    ("best bayes new.txt --count 2", "best is for models of tag"),
    ("predict bayes new.txt --method exact", "explain of models of classify"),
    ("predict language book.txt --out x.txt", "the ending"),
    ("compare classify mail.tsv --folds x", "folds"),
    ("compare language book.txt --folds 3", "labels"),
    ("compare classify mail.tsv --models majority --updates 0", "updates"),
    ("compare classify mail.tsv --models kneser-ney", "task classify"),
    ("compare classify mail.tsv --models majority --width 8", "width"),
    ("evaluate bayes mail.tsv --positive spma", "spma"),
    ("evaluate bayes mail.tsv --positive spam --most-false nan", "most_false"),
    ("evaluate bayes mail.tsv --positive spam --most-false 2", "most_false"),
    ("evaluate bayes mail.tsv --most-false 0.1", "--positive"),
    ("evaluate tagger test.conllu --positive NOUN", "classify"),
    ("evaluate language book.txt --out x.png", "seriatim plot"),
    ("predict bayes new.txt --top 0", "top"),
    ("predict bayes new.txt --positive spma", "spma"),
    ("predict bayes new.txt --threshold 0.5", "--positive"),
    ("predict bayes new.txt --positive spam --threshold nan", "nan"),
    ("predict bayes new.txt --positive spam --threshold x", "threshold"),
    ("predict bayes new.txt --explain free", "explain is a verb of its own"),
    ("predict bayes", "predict reads data"),
    ("predict bayes new.txt --text free", "one thing"),
    ("explain bayes", "explain reads one text"),
    ("explain bayes free --label eggs", "eggs"),
    ("explain bayes free --method gradient", "occlusion"),
    ("explain network free --method exact", "occlusion"),
    ("explain bayes free --method exakt", "exakt"),
    ("explain tagger free", "classify"),
    ("explain language free", "classify"),
    ("predict bayes new.txt --out x.conllu", "the ending"),
    ("annotate bayes new.txt --out x.conllu", "annotate is for models of tag"),
    ("neighbours bayes free", "neighbours is for models of autoencode, words"),
    ("generate bayes", "have no verb 'generate'"),
    ("generate tagger --prompt the", "have no verb 'generate'"),
    ("score bayes new.txt", "have no verb 'score'"),
    ("score tagger new.txt", "have no verb 'score'"),
    ("export network --out x.arpa", "export is for models of language, words"),
    ("ngrams bayes the", "ngrams is for models of language"),
    ("plot bayes --what surprisal --text free", "a picture of models of language"),
    ("plot network --what gradient --text free", "a picture of models of language"),
    ("plot tagger --what influence --text free", "a picture of models of language"),
    ("plot network --what attention --text free", "has attention maps"),
    ("generate language --draft bayes", "other symbols"),
]


@pytest.mark.parametrize("command, words", WRONG, ids=[command for command, _ in WRONG])
def test_a_wrong_command_is_told_in_one_line_with_code_2(home, monkeypatch, command, words):
    monkeypatch.chdir(home)  # where nothing may be changed
    refused(*command.split(), code=2, words=words)


BAD = {
    "empty.tsv": ("", "empty"),
    "header.tsv": ("label\ttext\n", "no sequence"),
    "one.tsv": (table([("ham", f"tea {i}") for i in range(40)]), "same label"),
    "unlabelled.txt": ("free cash\nthe dog\n" * 20, "no label"),
    "fields.csv": ("kind,text\n" + "ham,tea\nspam,cash\n" * 20, "no label"),
    "missing.tsv": (table([("ham", "tea"), ("", "cash")] * 20), "missing value"),
    "nan.jsonl": ('{"label": NaN, "text": "tea"}\n' * 20, "NaN in column"),
    "none.jsonl": ('{"label": null, "text": "tea"}\n' * 20, "missing"),
    "torn.tsv": ("label\ttext\nham\ttea\nspam\n", "columns"),
    "labels.csv": ("label,size\nham,1\nspam,2\n", "nothing to be labelled"),
    "tags.conllu": (conllu(9, 3), "no label"),
    "damaged.tsv": (table(pairs(9)).encode() + "ham\tKäse".encode() + b" \xe4\n", "UTF-8"),
    "blank.tsv": (table([("ham", " "), ("spam", "")] * 20), "too short"),
    "short.tsv": (table([("ham", "tea"), ("spam", "cash")]), "too short"),
    "nowhere.tsv": (None, "no such file"),
}


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "one.tsv"])
@pytest.mark.parametrize("verb", ["fit classify mean", "compare classify"])
def test_data_that_cannot_be_learned_from_is_told_by_name(kind, verb):
    content, words = BAD[kind]
    if content is not None:
        Path(kind).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert kind in refused(*verb.split(), kind, code=1, words=words)


def test_a_single_label_is_nothing_to_compare():
    Path("one.tsv").write_text(BAD["one.tsv"][0])
    refused("fit", "classify", "mean", "one.tsv", code=1, words="same label")
    answer = call(
        "compare", "classify", "one.tsv", "--models", "majority,naive-bayes", "--format", "json"
    )
    rows = answer.json()["rows"]
    assert answer.code == 1 and all(
        row["status"] == "failed" and "same label" in row["reason"] for row in rows
    )


@pytest.mark.parametrize(
    "kind",
    [
        "empty.tsv",
        "header.tsv",
        "unlabelled.txt",
        "missing.tsv",
        "nan.jsonl",
        "tags.conllu",
        "damaged.tsv",
        "nowhere.tsv",
    ],
)
@pytest.mark.parametrize("run", ["bayes", "network"])
def test_data_that_cannot_be_evaluated_is_told_by_name(home, kind, run):
    content, words = BAD[kind]
    if content is not None:
        Path(kind).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert kind in refused("evaluate", home / run, kind, code=1, words=words)


def test_labels_and_tags_unseen_in_training_are_wrong_and_told(home):
    Path("test.tsv").write_text("label\ttext\nham\ttea\n\neggs\ttoast\n")
    shown = good("evaluate", home / "bayes", "test.tsv").out
    assert (
        "infinite" in shown
        and "labels unseen in training" in shown
        and "eggs 1   (counted as wrong)" in shown
    )
    assert good("evaluate", home / "bayes", "test.tsv", "--format", "json").json()[
        "unseen_labels"
    ] == {"eggs": 1}
    assert (
        "'eggs'"
        in good(
            "fit", "classify", "mean", home / "mail.tsv", "--valid", "test.tsv", "--updates", 1
        ).err
    )
    Path("test.bio").write_text("the DET\ndog NUON\n")
    assert "NUON 1" in good("evaluate", home / "tagger", "test.bio").out
    Path("strange.tsv").write_text("label\ttext\neggs\ttoast\n")
    refused(
        "fit",
        "classify",
        "mean",
        home / "mail.tsv",
        "--valid",
        "strange.tsv",
        "--updates",
        1,
        code=1,
        words="strange.tsv",
    )


@pytest.mark.parametrize(
    "row, words",
    [
        (
            '{"tokens": ["the", "dog"], "tags": ["DET"]}',
            "not as many tags as symbols. Received: 1 and 2",
        ),
        ('{"tokens": ["the"], "tags": [1]}', "numbers"),
        ('{"tokens": ["the", 2], "tags": ["DET", "NOUN"]}', "list of"),
        ('{"tokens": [], "tags": []}', "nothing to evaluate"),
        ('{"tokens": ["the"], "tag": "DET"}', "no tag for each element"),
    ],
)
def test_tags_of_another_length_or_kind_are_told_by_file(home, row, words):
    Path("tags.jsonl").write_text(row + "\n")
    assert "tags.jsonl" in refused("evaluate", home / "tagger", "tags.jsonl", code=1, words=words)


def test_data_of_another_kind_is_told_as_such(home):
    refused("evaluate", home / "tagger", home / "test.tsv", code=1, words="no tag for each element")
    refused(
        "evaluate", home / "bayes", home / "test.conllu", code=1, words="no label for each sequence"
    )
    refused(
        "evaluate", home / "bayes", home / "book.txt", code=1, words="no label for each sequence"
    )
    refused(
        "fit",
        "classify",
        "mean",
        home / "book.txt",
        "--updates",
        1,
        code=1,
        words="no label for each sequence",
    )
    refused(
        "fit",
        "tag",
        "window",
        home / "mail.tsv",
        "--updates",
        1,
        code=1,
        words="no tag for each element",
    )
    refused(
        "fit", "classify", "naive-bayes", home / "mail.tsv", "--label", "knid", code=1, words="knid"
    )
    refused(
        "fit",
        "classify",
        "naive-bayes",
        home / "mail.tsv",
        "--field",
        "txet",
        code=1,
        words="'text'",
    )
    refused(
        "fit",
        "classify",
        "naive-bayes",
        home / "mail.tsv",
        "--columns",
        "text",
        code=1,
        words="columns",
    )
    refused("predict", home / "bayes", "nowhere.txt", code=1, words="no such file")
    refused("explain", home / "bayes", "", code=1, words="nothing to explain")
    refused(
        "annotate",
        home / "tagger",
        home / "new.txt",
        "--out",
        "x.conllu",
        code=1,
        words="10 columns",
    )


def test_a_text_of_one_stream_is_read_line_by_line_when_labels_are_asked_for(home):
    assert (
        len(good("predict", home / "bayes", home / "book.txt", "--format", "json").json()["items"])
        == 40
    )


def test_words_that_all_labels_share_tell_nothing(home):
    Path("plain.txt").write_text(" ".join(COMMON) + "\nzebra\n")
    records = good("predict", home / "bayes", "plain.txt", "--format", "json").json()["items"]
    prior = sorted(seriatim.load(home / "bayes").model.prior.exp().tolist(), reverse=True)
    found = [[each["probability"] for each in record["probabilities"]] for record in records]
    assert found[1] == pytest.approx(prior) and found[0] != pytest.approx(prior)


def test_every_line_of_a_text_has_its_answer_blank_ones_too(home):
    Path("blank.txt").write_text("hello\n\n   \nfree prize\n")
    assert len(good("predict", home / "bayes", "blank.txt").out.splitlines()) == 4
    assert (
        len(good("predict", home / "bayes", "blank.txt", "--format", "json").json()["items"]) == 4
    )


def test_the_best_rows_of_tags_come_best_first_and_only_of_chains(home):
    good("fit", "tag", "hmm", home / "train.conllu", "--out", "hmm")
    asked = ("best", "hmm", home / "train.conllu", "--count")
    rows = good(*asked, 3, "--format", "json").json()["items"]
    tags = good("predict", "hmm", home / "train.conllu", "--format", "json").json()["items"]
    assert [each["results"][0]["tags"] for each in rows] == [each["tags"] for each in tags]
    assert all(
        each["results"] == sorted(each["results"], key=lambda row: -row["log_prob"])
        for each in rows
    )
    assert good(*asked, 1).out.count("\n\n") == len(rows)
    refused("best", home / "tagger", home / "train.conllu", code=2, words="judged one by one")
    refused("best", home / "bayes", home / "mail.tsv", code=2, words="best is for models of tag")
