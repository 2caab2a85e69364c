"""Sequences of numbers with a label, and sequences of any kind with a value: what is learned, what is kept, what is measured, what is refused."""
from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics

import seriatim
from seriatim.agreement import value_report
from seriatim.batches import Batch, of_examples
from seriatim.codecs.labelled import Examples, Labelled
from seriatim.codecs.symbols import load_codec
from seriatim.comparison import compare
from seriatim.config import CodecOptions
from seriatim.data.sequences import Field, Sequences
from seriatim.data.series import series_with
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.fitting import fit
from seriatim.labelling import PLACES, estimates
from seriatim.models import MODELS, create, parse
from seriatim.models.base import Model
from seriatim.predictor import load
from seriatim.value_predictor import WITHIN
from tests.terminal import call, good, refused

SMALL = {"width": 8, "layers": 1, "heads": 2, "context": 64, "dropout": 0.3}
QUICK = {"width": 16, "rate": 2e-2, "dropout": 0.0, "validations": 4}
COUNT_SYMBOLS = ("naive-bayes", "markov-bayes")
RUNGS = {f"{task} {name}": (task, name) for task in ("classify", "regress") for name in MODELS[task] if name not in COUNT_SYMBOLS}
every_model = pytest.mark.parametrize("name", RUNGS)


def processes(count: int, seed: int = 0) -> Sequences:
    """Two autoregressive processes of the same mean and variance, told apart only by how they go on."""
    dice, rows, labels = np.random.default_rng(seed), [], []
    for i in range(count):
        share, row = (0.0, 0.95)[i % 2], [dice.standard_normal()]
        for _ in range(int(dice.integers(25, 40))):
            row.append(share * row[-1] + np.sqrt(1 - share ** 2) * dice.standard_normal())
        rows.append(np.array(row) + 5)
        labels.append(("quick", "slow")[i % 2])
    return Sequences({"values": Field.of_numbers(rows), "label": Field.of_labels(labels)})


def quantities(count: int, seed: int = 0, noise: float = 0.1) -> Sequences:
    """Two channels, and 100 + 20 (mean of the first - half the mean of the second) + noise as value."""
    dice = np.random.default_rng(seed)
    rows = [dice.standard_normal((int(dice.integers(1, 9)), 2)) + 3 * dice.standard_normal(2) for _ in range(count)]
    values = [100 + 20 * (row[:, 0].mean() - row[:, 1].mean() / 2 + noise * dice.standard_normal()) for row in rows]
    return Sequences({"values": Field.of_numbers(rows), "value": Field.of_numbers([[value] for value in values])})


def reviews(count: int, seed: int = 0) -> Sequences:
    """Texts whose value is the mean of what their words are worth."""
    worth = {"awful": -3.0, "bad": -1.0, "so": 0.0, "film": 0.0, "fine": 1.0, "great": 3.0}
    dice = np.random.default_rng(seed)
    rows = [dice.choice(list(worth), int(dice.integers(2, 7))).tolist() for _ in range(count)]
    return Sequences({"text": Field.of_text(map(" ".join, rows)), "value": Field.of_numbers([[np.mean([worth[word] for word in row])] for row in rows])})


@cache
def examples_of(task: str) -> tuple[Labelled, Examples]:
    """Seventeen sequences of three channels, one of them empty."""
    dice = np.random.default_rng(1)
    rows = [dice.standard_normal((length, 3)) for length in (0, 1, 2, 30, *range(3, 16))]
    said = Field.of_labels(dice.choice(["a", "b"], 17)) if task == "classify" else Field.of_numbers(dice.standard_normal((17, 1)))
    data = Sequences({"values": Field.of_numbers(rows), {"classify": "label", "regress": "value"}[task]: said})
    codec = Labelled.fit(data, CodecOptions(), {"classify": "label", "regress": "value"}[task])
    return codec, codec.encode(data)


def made(name: str) -> Model:
    task, rung = RUNGS[name]
    known = vars(parse(rung, {}, task)[0].options)
    codec, _ = examples_of(task)
    return create(parse(rung, {key: value for key, value in SMALL.items() if key in known}, task), codec.size, *codec.sizes)


@cache
def small_model(name: str) -> Model:
    """Counts are counted, weights are random but not small."""
    torch.manual_seed(0)
    model = made(name)
    if isinstance(model, torch.nn.Module):
        model.eval()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    else:
        list(model.counting(examples_of(RUNGS[name][0])[1]))
    return model


def batch_of(name: str, rows=range(17)) -> Batch:
    return of_examples(examples_of(RUNGS[name][0])[1], np.array(rows))


def asked(model: Model, batch: Batch) -> torch.Tensor:
    """(B, K) log-probabilities, or (B, 2) means and deviations."""
    with torch.inference_mode():
        found = model.unroll(batch)[0]
        return (torch.cat(found.parameters, -1) if hasattr(found, "parameters") else found.log_probs())[:, 0].double()


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b, atol=1e-5, rtol=1e-5))


# Every model that reads numbers


@every_model
def test_answers_differ_from_sequence_to_sequence(name):
    found = asked(small_model(name), batch_of(name))
    assert found.isfinite().all() and (found.std(0).max() > 1e-3) == (RUNGS[name][1] not in ("majority", "average"))


@every_model
def test_padding_is_not_read(name):
    batch = batch_of(name)
    padding = (torch.arange(batch.x.shape[1]) >= batch.x_lengths.clamp(min=1)[:, None])[..., None]
    assert close(asked(small_model(name), replace(batch, x=torch.where(padding, 7.0, batch.x))), asked(small_model(name), batch))


@every_model
def test_a_sequence_has_the_same_answer_alone_and_among_seventeen(name):
    alone = torch.cat([asked(small_model(name), batch_of(name, [s])) for s in range(17)])
    assert close(asked(small_model(name), batch_of(name)), alone)


@every_model
def test_saved_arrays_give_the_same_model_and_others_are_refused(name):
    model, again = small_model(name), made(name)
    again.load_arrays({key: array.clone() for key, array in model.arrays().items()})
    if isinstance(again, torch.nn.Module):
        again.eval()
    assert torch.equal(asked(again, batch_of(name)), asked(model, batch_of(name)))
    with pytest.raises(ValueError):
        made(name).load_arrays({"nonsense": torch.zeros(3)})


@pytest.mark.parametrize("name", [name for name, (task, rung) in RUNGS.items() if not MODELS[task][rung].counts])
def test_gradients_reach_every_parameter(name):
    torch.manual_seed(1)
    model = made(name)
    model.loss(batch_of(name))[0].backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())


@pytest.mark.parametrize("rung", COUNT_SYMBOLS)
def test_models_that_count_symbols_say_so_and_a_comparison_goes_on_without_them(rung):
    with pytest.raises(ConfigError, match=r"counts symbols.*gru"):
        fit("classify", rung, processes(20))
    record = compare("classify", processes(80), ["majority", rung])
    assert [(row["model"], row["status"]) for row in record["rows"]] == [("majority", "ok"), (rung, "failed")] and "symbols" in record["rows"][1]["reason"]


# What is learned


def test_numbers_have_a_recipe_of_their_own_unless_something_else_is_asked_for():
    words, numbers, asked_for = (parse("gru", settings, "classify", kind)[0].training for settings, kind in (({}, False), ({}, True), ({"steps": 9}, True)))
    assert numbers.epochs > words.epochs and numbers.rate > words.rate and (asked_for.steps, asked_for.epochs, asked_for.rate) == (9, None, numbers.rate)
    assert fit("classify", "gru", processes(20), steps=1, width=8).parts[0].training.rows == numbers.rows


@pytest.mark.parametrize(("rung", "settings"), [("linear", {}), ("gru", QUICK | {"steps": 60, "pool": "mean"})])
def test_two_processes_are_told_apart(rung, settings):
    record = fit("classify", rung, processes(300), **settings).evaluate(processes(200, seed=1))
    assert record["accuracy"] > 0.95 and record["protocol"]["unit"] == "step" and record["protocol"]["channels"] == 1


def test_drawings_are_known_by_their_shape():
    model = fit("classify", "linear", "drawings:count=400")
    record = model.evaluate("drawings:count=200,seed=1")
    assert record["accuracy"] > 0.9 and len(record["classes"]) == 12
    with pytest.raises(ConfigError, match="numbers"):
        model.explain("a square")


@pytest.mark.parametrize(("rung", "settings"), [("linear", {}), ("mean", QUICK | {"steps": 150, "rows": 8})])
@pytest.mark.parametrize("kind", [quantities, reviews])
def test_a_known_function_of_the_sequence_is_found(kind, rung, settings):
    record = fit("regress", rung, kind(300), **settings).evaluate(kind(200, seed=1))
    assert record["r_squared"] > 0.9 and record["skill"] > 0.6


def test_the_average_says_what_the_training_values_are():
    train, test = quantities(60), quantities(50, seed=1)
    values, model = train.fields["value"].flat, fit("regress", "average", train)
    found = model.predict(test)[7]
    assert (found["value"], found["deviation"]) == pytest.approx((values.mean(), values.std()), rel=1e-5)
    low, high = stats.norm(values.mean(), values.std()).interval(0.8)
    assert found["interval"] == pytest.approx([low, high], rel=1e-5)
    record = model.evaluate(test)
    assert record["skill"] == pytest.approx(0, abs=1e-5) and record["r_squared"] <= 1e-9


def test_ridge_is_scikit_learns_and_says_how_far_it_is_off():
    from sklearn.linear_model import Ridge
    train, test = quantities(200, noise=1.0), quantities(200, seed=1, noise=1.0)
    model = fit("regress", "linear", train, strength=0.5)
    x = model.model.learn_traits(model.codec.encode(train).x)
    twin = Ridge(2.0).fit(x, model.codec.encode(train).y.flat[:, 0])
    assert np.allclose(model.model.weights[:, 0], twin.coef_, atol=1e-6)
    record = model.evaluate(test)
    assert 0.7 < record["coverage"] < 0.9 and model.predict(test[:1])[0]["deviation"] == pytest.approx(20, rel=0.15)


# Figures


def test_figures_are_scikit_learns_and_scipys():
    dice = np.random.default_rng(0)
    truth, mean, deviation = dice.normal(50, 9, 300), dice.normal(50, 9, 300), dice.uniform(1, 20, 300)
    record = value_report(truth, mean, deviation, 48.0, WITHIN)
    assert record["mae"] == pytest.approx(metrics.mean_absolute_error(truth, mean)) and record["r_squared"] == pytest.approx(metrics.r2_score(truth, mean))
    assert record["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, mean))
    assert record["nats_per_value"] == pytest.approx(-stats.norm(mean, deviation).logpdf(truth).mean())
    low, high = stats.norm(mean, deviation).interval(0.8)
    assert record["coverage"] == pytest.approx(((low <= truth) & (truth <= high)).mean()) and record["width"] == pytest.approx((high - low).mean())
    assert record["skill"] == pytest.approx(1 - record["mae"] / np.abs(truth - 48).mean())
    error = np.abs(truth - mean).std() / np.sqrt(300)
    assert record["interval"] == pytest.approx([record["mae"] - 1.96 * error, record["mae"] + 1.96 * error], abs=0.3 * error)


def test_equal_values_have_no_variance_to_explain():
    record = value_report(np.ones(3), np.ones(3), np.ones(3), 1.0, WITHIN)
    assert record["r_squared"] is None and record["skill"] is None and json.dumps(record, allow_nan=False)


def test_a_comparison_ranks_by_the_absolute_error_and_folds_use_every_sequence():
    record = compare("regress", quantities(100), ["average", "linear"], folds=4)
    assert [row["model"] for row in record["rows"]] == ["linear", "average"] and record["figure"] == "mae" and record["rows"][1]["p"] < 0.05
    assert record["rows"][0]["mae"] < record["rows"][1]["mae"] and all(low <= row["mae"] <= high for row in record["rows"] for low, high in [row["interval"]])


# What is kept


@pytest.mark.parametrize(("task", "rung", "data"), [
    ("classify", "gru", processes(30)), ("classify", "linear", processes(30)), ("regress", "gru", quantities(30)),
    ("regress", "linear", reviews(30)), ("regress", "lstm", reviews(30)), ("regress", "average", reviews(30))])
def test_a_run_is_kept_to_the_bit(task, rung, data, tmp_path):
    model = fit(task, rung, data, out=tmp_path / "run", **({} if MODELS[task][rung].counts else {"steps": 2, "width": 8}))
    again = load(tmp_path / "run")
    assert again.predict(data) == model.predict(data) and again.codec.to_json() == model.codec.to_json() and repr(again) == repr(model)
    record, other = model.evaluate(data), again.evaluate(data)
    assert all(record[key] == other[key] for key in record if "second" not in key)


@pytest.mark.parametrize("damage", [{"numbers": {"mean": [], "deviation": [], "vector": False}}, {"labels": ["a"]}, {"own": 3}, {"letters": "ba"}])
def test_a_damaged_codec_is_refused(damage):
    codec, _ = examples_of("regress")
    assert load_codec(codec.to_json(), "codec.json").sizes == codec.sizes
    with pytest.raises(DataError, match=r"codec\.json"):
        load_codec(codec.to_json() | damage, "codec.json")


def test_weights_of_other_channels_do_not_fit(tmp_path):
    fit("classify", "gru", processes(30), out=tmp_path / "run", steps=1, width=8)
    record = json.loads((tmp_path / "run" / "codec.json").read_text())
    record["numbers"] = {"mean": [0.0, 0.0], "deviation": [1.0, 1.0], "vector": False}
    (tmp_path / "run" / "codec.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match="not the file"):
        load(tmp_path / "run")


def test_eight_bits_are_nearly_as_good(tmp_path):
    fit("regress", "gru", quantities(40), out=tmp_path / "run", steps=3, width=16)
    whole, less = (load(tmp_path / "run", bits=bits).predict(quantities(20, seed=1)) for bits in (32, 8))
    assert whole != less and np.allclose([row["value"] for row in whole], [row["value"] for row in less], atol=5)


def test_estimates_do_not_depend_on_what_is_asked_beside(monkeypatch):
    model, data = fit("regress", "gru", quantities(40), steps=3, width=8), quantities(60, seed=2)
    whole = estimates(model.model, model.codec.encode(data, labelled=False))
    monkeypatch.setattr("seriatim.labelling.PLACES", 20)
    assert PLACES > 20 and np.allclose(estimates(model.model, model.codec.encode(data, labelled=False)), whole, atol=1e-5)


# From files


def test_rows_of_numbers_and_of_channels_are_read(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"values": [1, 2.5], "label": 3}\n{"values": [], "label": 4}\n')
    data = seriatim.read(str(file))
    assert data.main.raw(0).tolist() == [1, 2.5] and data.main.lengths.tolist() == [2, 0] and data.unit is None
    file.write_text('{"values": [[1, 2], [3, 4]], "value": 3}\n{"values": [], "value": 3.5}\n')
    data = seriatim.read(str(file))
    assert data.main.flat.tolist() == [[1, 2], [3, 4]] and data.main.lengths.tolist() == [2, 0] and data.fields["value"].flat.tolist() == [3, 3.5]


@pytest.mark.parametrize("second", ["[[1, 2], [3]]", "[[1, 2, 3]]", "[1, 2]", "[[1, NaN]]", "[[1, null]]", "[[]]", '[["a", 1]]', "[[[1]]]"])
def test_rows_that_differ_are_refused_with_their_line(tmp_path, second):
    file = tmp_path / "a.jsonl"
    file.write_text('{"values": [[1, 2]], "label": "a"}\n{"values": ' + second + ', "label": "b"}\n')
    with pytest.raises(DataError, match=r"a\.jsonl:2: .*'values'"):
        seriatim.read(str(file))


def test_values_are_numbers_however_they_are_called_or_written():
    text, numbers = Field.of_text(["good", "bad"] * 20), Field.of_numbers([[float(i % 7)] for i in range(40)])
    for fields in ({"value": numbers}, {"label": numbers}, {"label": Field.of_labels(f"{i % 7}" for i in range(40))},
                   {"value": Field.of_text(f"{i % 7}" for i in range(40))}, {"label": Field.of_labels(["a", "b"] * 20), "value": numbers}):
        assert fit("regress", "average", Sequences({"text": text} | fields)).predict(Sequences({"text": text}))[0]["value"] == pytest.approx(2.875)
    with pytest.raises(DataError, match=r"holds no number here.*many"):
        fit("regress", "average", Sequences({"text": text, "value": Field.of_text(["many"] * 40)}))


def test_each_series_of_a_long_table_is_a_sequence(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("who,day,pulse,label\na,2024-01-02,4,ill\nb,2024-01-01,7,well\na,2024-01-01,3,ill\nb,2024-01-02,8,well\n")
    data = series_with(seriatim.read(str(file)), "label", "who")
    assert [data.main.raw(s).tolist() for s in range(2)] == [[[3], [4]], [[7], [8]]] and data.lines.tolist() == [2, 3] and data.by == "line"
    assert [data.fields["label"].raw(s) for s in range(2)] == [["ill"], ["well"]]
    file.write_text(file.read_text().replace("8,well", "8,ill"))
    with pytest.raises(DataError, match=r"long\.csv:5: .*same in all rows"):
        series_with(seriatim.read(str(file)), "label", "who")


# What is refused


def with_nan(data: Sequences) -> Sequences:
    values = data.main.values.copy()
    values[data.main.offsets[3]] = np.nan
    name = data.main_name()
    return replace(data, fields=data.fields | {name: replace(data.main, values=values)}, origin="file.jsonl", lines=np.arange(1, len(data) + 1))


@pytest.mark.parametrize(("task", "data"), [("classify", processes(40)), ("regress", quantities(40))])
def test_missing_numbers_are_refused_by_their_sequence_and_line(task, data):
    with pytest.raises(DataError, match=r"file\.jsonl:4: sequence 4 holds numbers that are missing"):
        fit(task, "linear", with_nan(data))
    with pytest.raises(DataError, match=r"file\.jsonl:4: sequence 4 holds numbers that are missing"):
        fit(task, "linear", data).predict(with_nan(data))


def test_other_data_than_it_was_trained_on_is_refused():
    one, two, text = fit("classify", "linear", processes(20)), fit("regress", "linear", quantities(20)), fit("regress", "linear", reviews(20))
    cases = [(one, quantities(3), "2 channels"), (two, processes(3), "1 channel"), (two, reviews(3), "text"), (text, processes(3), "not text")]
    for model, other, words in cases:
        with pytest.raises(DataError, match=words):
            model.predict(other)


REFUSED = {
    "one value": (quantities(1), {}, "same value"),
    "constant values": (replace(quantities(9), fields=quantities(9).fields | {"value": Field.of_numbers([[3.0]] * 9)}), {}, "same value"),
    "no value": (processes(9).only("values"), {}, "no number here|no value for each"),
    "nothing to read": (Sequences({"value": Field.of_numbers([[1.0], [2.0]])}), {}, "nothing to be read"),
    "several values": (Sequences({"text": Field.of_text(["a", "b"]), "value": Field.of_numbers([[1.0, 2.0], [2.0]])}), {}, "one number for each"),
    "an infinite value": (Sequences({"text": Field.of_text(["a", "b"]), "value": Field.of_numbers([[1.0], [np.inf]])}), {}, "no number here"),
    "units of numbers": (quantities(9), {"unit": "word"}, "not cut into symbols"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_values_to_learn_is_refused(name):
    data, settings, words = REFUSED[name]
    with pytest.raises((DataError, ConfigError), match=words):
        fit("regress", "average", data, **settings)


@pytest.mark.parametrize(("task", "spec", "settings", "words"), [
    ("classify", "gru", {"letters": "lstm"}, "letter by letter"), ("regress", "average+linear", {}, "not mixed"),
    ("regress", "gru", {"label_smoothing": 0.1}, "not smoothed"), ("regress", "linear", {"calibrate": True}, "calibrated"), ("tag", "gru", {}, "numbers")])
def test_what_is_not_for_numbers_or_values_is_refused(task, spec, settings, words):
    data = {"classify": processes(20), "regress": quantities(20)}.get(task) or replace(
        processes(20), fields={"values": processes(20).main, "tags": Field.of_symbols([["x"]] * 20)})
    with pytest.raises((DataError, ConfigError), match=words):
        fit(task, spec, data, **settings)


# From the command line


def written(data: Sequences, path: Path) -> Path:
    rows = [{"values": data.main.raw(s).tolist(), "value": data.fields["value"].raw(s)[0]} for s in range(len(data))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_verb_works_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, data = written(quantities(90), tmp_path / "a.jsonl"), seriatim.read(str(written(quantities(30, seed=1), tmp_path / "b.jsonl")))
    assert "nats per value on validation" in good("fit", "regress", "gru", file, "--steps", 2, "--width", 8, "--out", "run").out
    record, model = good("evaluate", "run", "b.jsonl", "--format", "json").json(), load("run")
    assert record["mae"] == model.evaluate(data)["mae"] and "R²" in good("evaluate", "run", "b.jsonl").out
    assert good("predict", "run", "b.jsonl", "--format", "json").json() == model.predict(data)
    first = [float(number) for number in good("predict", "run", "b.jsonl").out.splitlines()[0].split("\t")]
    assert first == pytest.approx([model.predict(data)[0]["value"], model.predict(data)[0]["deviation"], *model.predict(data)[0]["interval"]], rel=1e-4)
    shown = good("compare", "regress", file, "--models", "average,linear", "--out", "all").out
    assert "MAE" in shown and (tmp_path / "all" / "report.html").exists() and "r_squared" in (tmp_path / "all" / "table.csv").read_text()
    refused("predict", "run", "b.jsonl", "--positive", "x", words="threshold")
    refused("fit", "regress", "gru", file, "--channels", "a", words="--series")


def test_a_field_with_another_name_is_the_value_or_the_sequence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"name": f"n{i}", "load": [i, i + 1.0, 2.0 * i], "price": 3.0 * i} for i in range(40)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    good("fit", "regress", "linear", "a.jsonl", "--label", "price", "--field", "load", "--out", "run")
    found = good("evaluate", "run", "a.jsonl", "--label", "price", "--field", "load", "--format", "json").json()
    assert found["r_squared"] > 0.99 and found["protocol"]["unit"] == "step"


def test_long_tables_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = processes(40)
    lines = [f"s{s},{t},{value},{data.fields['label'].raw(s)[0]}" for s in range(40) for t, value in enumerate(data.main.raw(s))]
    (tmp_path / "long.csv").write_text("\n".join(["who,time,pulse,state", *lines]) + "\n")
    table = ("long.csv", "--series", "who", "--label", "state")
    good("fit", "classify", "linear", *table, "--out", "run")
    assert good("evaluate", "run", *table, "--format", "json").json()["count"] == 40
    assert len(good("predict", "run", *table).out.splitlines()) == 40
    assert call("fit", "classify", "linear", "long.csv", "--series", "whom", "--out", "other").code == 1
