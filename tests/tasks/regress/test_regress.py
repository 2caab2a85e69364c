"""Values of sequences: what is learned, what is measured, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import seriatim
from seriatim import compare, fit, load
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.tasks.labels.answers import PLACES, estimates
from seriatim.tasks.regress.metrics import WITHIN, value_report
from tests.labels import processes, quantities, reviews
from tests.terminal import good, refused

QUICK = {"width": 16, "rate": 2e-2, "dropout": 0.0, "validations": 4}


@pytest.mark.parametrize(
    ("rung", "settings"), [("linear", {}), ("mean", QUICK | {"updates": 150, "rows": 8})]
)
@pytest.mark.parametrize("kind", [quantities, reviews])
def test_a_known_function_of_the_sequence_is_found(kind, rung, settings):
    record = fit("regress", rung, kind(300), **settings).evaluate(kind(200, seed=1))
    assert record["r_squared"] > 0.9 and record["skill"] > 0.6


def test_the_average_says_what_the_training_values_are():
    train, test = quantities(60), quantities(50, seed=1)
    values, model = train.fields["value"].flat, fit("regress", "average", train)
    found = model.predict(test)["items"][7]
    assert (found["value"], found["deviation"]) == pytest.approx(
        (values.mean(), values.std()), rel=1e-5
    )
    low, high = stats.norm(values.mean(), values.std()).interval(0.8)
    assert found["interval"]["value"] == pytest.approx([low, high], rel=1e-5)
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
    assert 0.7 < record["coverage"] < 0.9 and model.predict(test[:1])["items"][0][
        "deviation"
    ] == pytest.approx(20, rel=0.15)


# Figures


def test_figures_are_scikit_learns_and_scipys():
    dice = np.random.default_rng(0)
    truth, mean, deviation = (
        dice.normal(50, 9, 300),
        dice.normal(50, 9, 300),
        dice.uniform(1, 20, 300),
    )
    record = value_report(truth, mean, deviation, 48.0, WITHIN)
    assert record["mae"] == pytest.approx(metrics.mean_absolute_error(truth, mean)) and record[
        "r_squared"
    ] == pytest.approx(metrics.r2_score(truth, mean))
    assert record["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, mean))
    assert record["nats_per_value"] == pytest.approx(
        -stats.norm(mean, deviation).logpdf(truth).mean()
    )
    low, high = stats.norm(mean, deviation).interval(0.8)
    assert record["coverage"] == pytest.approx(
        ((low <= truth) & (truth <= high)).mean()
    ) and record["width"] == pytest.approx((high - low).mean())
    assert record["skill"] == pytest.approx(1 - record["mae"] / np.abs(truth - 48).mean())
    error = np.abs(truth - mean).std() / np.sqrt(300)
    assert record["interval"]["mae"] == pytest.approx(
        [record["mae"] - 1.96 * error, record["mae"] + 1.96 * error], abs=0.3 * error
    )


def test_equal_values_have_no_variance_to_explain():
    record = value_report(np.ones(3), np.ones(3), np.ones(3), 1.0, WITHIN)
    assert (
        record["r_squared"] is None
        and record["skill"] is None
        and json.dumps(record, allow_nan=False)
    )


def test_a_comparison_ranks_by_the_absolute_error_and_folds_use_every_sequence():
    record = compare("regress", quantities(100), ["average", "linear"], folds=4)
    assert (
        [row["model"] for row in record["rows"]] == ["linear", "average"]
        and record["figure"] == "mae"
        and record["rows"][1]["against"]["word"] == "better"
    )
    assert record["rows"][0]["mae"] < record["rows"][1]["mae"] and all(
        low <= row["mae"] <= high
        for row in record["rows"]
        for low, high in [row["interval"]["mae"]]
    )


def test_eight_bits_are_nearly_as_good(tmp_path):
    fit("regress", "gru", quantities(40), out=tmp_path / "run", updates=3, width=16)
    whole, less = (
        load(tmp_path / "run", int8=int8).predict(quantities(20, seed=1))["items"]
        for int8 in (False, True)
    )
    assert whole != less and np.allclose(
        [row["value"] for row in whole], [row["value"] for row in less], atol=5
    )


def test_estimates_do_not_depend_on_what_is_asked_beside(monkeypatch):
    model, data = fit("regress", "gru", quantities(40), updates=3, width=8), quantities(60, seed=2)
    whole = estimates(model.model, model.codec.encode(data, labelled=False))
    monkeypatch.setattr("seriatim.tasks.labels.answers.PLACES", 20)
    assert PLACES > 20 and np.allclose(
        estimates(model.model, model.codec.encode(data, labelled=False)), whole, atol=1e-5
    )


def test_values_are_numbers_however_they_are_called_or_written():
    text, numbers = (
        Field.of_text(["good", "bad"] * 20),
        Field.of_numbers([[float(i % 7)] for i in range(40)]),
    )
    for fields in (
        {"value": numbers},
        {"label": numbers},
        {"label": Field.of_labels(f"{i % 7}" for i in range(40))},
        {"value": Field.of_text(f"{i % 7}" for i in range(40))},
        {"label": Field.of_labels(["a", "b"] * 20), "value": numbers},
    ):
        assert fit("regress", "average", Sequences({"text": text} | fields)).predict(
            Sequences({"text": text})
        )["items"][0]["value"] == pytest.approx(2.875)
    with pytest.raises(DataError, match=r"holds no number here.*many"):
        fit("regress", "average", Sequences({"text": text, "value": Field.of_text(["many"] * 40)}))


REFUSED = {
    "one value": (quantities(1), {}, "same value"),
    "constant values": (
        replace(
            quantities(9), fields=quantities(9).fields | {"value": Field.of_numbers([[3.0]] * 9)}
        ),
        {},
        "same value",
    ),
    "no value": (processes(9).only("values"), {}, "no number here|no value for each"),
    "nothing to read": (
        Sequences({"value": Field.of_numbers([[1.0], [2.0]])}),
        {},
        "nothing to be read",
    ),
    "several values": (
        Sequences(
            {"text": Field.of_text(["a", "b"]), "value": Field.of_numbers([[1.0, 2.0], [2.0]])}
        ),
        {},
        "not as many numbers for each",
    ),
    "an infinite value": (
        Sequences(
            {"text": Field.of_text(["a", "b"]), "value": Field.of_numbers([[1.0], [np.inf]])}
        ),
        {},
        "no number here",
    ),
    "units of numbers": (quantities(9), {"unit": "word"}, "not cut into symbols"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_values_to_learn_is_refused(name):
    data, settings, words = REFUSED[name]
    with pytest.raises((DataError, ConfigError), match=words):
        fit("regress", "average", data, **settings)


# From the command line


def written(data: Sequences, path: Path) -> Path:
    rows = [
        {"values": data.main.raw(s).tolist(), "value": data.fields["value"].raw(s)[0]}
        for s in range(len(data))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_verb_works_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, data = (
        written(quantities(90), tmp_path / "a.jsonl"),
        seriatim.read(str(written(quantities(30, seed=1), tmp_path / "b.jsonl"))),
    )
    assert (
        "nats per value"
        in good("fit", "regress", "gru", file, "--updates", 2, "--width", 8, "--out", "run").out
    )
    record, model = good("evaluate", "run", "b.jsonl", "--format", "json").json(), load("run")
    assert (
        record["mae"] == model.evaluate(data)["mae"]
        and "R²" in good("evaluate", "run", "b.jsonl").out
    )
    said = good("predict", "run", "b.jsonl", "--format", "json").json()
    assert said["items"] == model.predict(data)["items"]
    first = [
        float(number)
        for number in good("predict", "run", "b.jsonl").out.splitlines()[0].split("\t")
    ]
    assert first == pytest.approx(
        [
            said["items"][0]["value"],
            said["items"][0]["deviation"],
            *said["items"][0]["interval"]["value"],
        ],
        rel=1e-4,
    )
    shown = good("compare", "regress", file, "--models", "average,linear", "--out", "all").out
    assert (
        "MAE" in shown
        and (tmp_path / "all" / "report.html").exists()
        and "r_squared" in (tmp_path / "all" / "table.csv").read_text()
    )
    refused("predict", "run", "b.jsonl", "--positive", "x", words="positive")
    refused("fit", "regress", "gru", file, "--channels", "a", words="--series")


def test_a_field_with_another_name_is_the_value_or_the_sequence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"name": f"n{i}", "load": [i, i + 1.0, 2.0 * i], "price": 3.0 * i} for i in range(40)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    good(
        "fit", "regress", "linear", "a.jsonl", "--label", "price", "--field", "load", "--out", "run"
    )
    found = good(
        "evaluate", "run", "a.jsonl", "--label", "price", "--field", "load", "--format", "json"
    ).json()
    assert found["r_squared"] > 0.99 and found["protocol"]["unit"] == "step"


# What is kept, and how files are read again


def test_what_was_measured_is_kept_and_says_the_same(tmp_path):
    model, floor = (fit("regress", rung, quantities(60)) for rung in ("linear", "average"))
    data = quantities(40, seed=1)
    measured, other = model.measure(data), floor.measure(data)
    measured.save(tmp_path / "measured.safetensors")
    again = Measured.load(tmp_path / "measured.safetensors")
    assert model.summarise(again) == model.summarise(measured)
    assert model.compared(again, measured)["p"] == 1 and model.compared(again, other)["p"] < 0.05
    both = model.summarise(model.merged([again, measured]))
    assert both["sequences"] == 80 and both["mae"] == pytest.approx(model.evaluate(data)["mae"])
    assert model.evaluate(data, against=floor)["against"]["p"] < 0.05


def test_a_run_remembers_how_its_files_were_read(tmp_path):
    data = quantities(60)
    rows = [
        f"s{s},{t},{first},{second},{data.fields['value'].flat[s]}"
        for s in range(60)
        for t, (first, second) in enumerate(data.main.raw(s))
    ]
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["who,time,one,two,price", *rows]) + "\n")
    asked = {"series": "who", "label": "price", "channels": "one,two"}
    fit("regress", "linear", file, out=tmp_path / "run", **asked)
    again = load(tmp_path / "run")
    record = again.evaluate(file)  # nothing has to be said twice
    assert record["sequences"] == 60 and record["r_squared"] > 0.9
    assert len(again.predict(file)["items"]) == 60
    assert seriatim.evaluate(tmp_path / "run", file, channels="two,one")["r_squared"] < 0.9
    for other, words in (({"field": "one"}, "channels="), ({"series": ""}, "series=")):
        with pytest.raises(ConfigError, match=words):
            fit("regress", "linear", file, **asked | other)


def test_the_best_that_counts_and_the_best_network_have_a_row_together():
    record = compare("regress", quantities(120), updates=10, width=8)
    rows = {row["model"]: row for row in record["rows"]}
    mixed = next(row for name, row in rows.items() if "+" in name)
    first, second = mixed["model"].split("+")
    assert abs(sum(mixed["weights"]) - 1) < 1e-6
    assert mixed["valid"] <= min(rows[first]["valid"], rows[second]["valid"]) + 1e-6
