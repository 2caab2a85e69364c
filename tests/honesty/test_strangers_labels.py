"""What strangers met with labels, tags and tables: probabilities that no data can bear out, columns
and rows taken for what they are not, refusals that name no way out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import seriatim as st
from seriatim.errors import SeriatimError
from seriatim.tasks.labels.metrics import calibration, cooled, temperature
from tests.honesty import seriatim

# -- how sure


def endings(count: int = 180, seed: int = 0) -> tuple[list[str], list[str]]:
    """Names of three languages, which their ends tell for sure."""
    dice = np.random.default_rng(seed)
    ends = {"de": "mann", "fi": "nen", "it": "ini"}
    labels = [list(ends)[i % 3] for i in range(count)]
    letters = list("abdeghklmorstu")
    return ["".join(dice.choice(letters, 5)) + ends[each] for each in labels], labels


def test_what_is_always_right_is_not_certain():
    names, labels = endings()
    model = st.fit("classify", "linear", (names, labels))
    unknown = model.predict(["smith"], probabilities=True)["items"][0]["probabilities"]
    assert max(each["probability"] for each in unknown) < 0.999
    fresh, true = endings(60, seed=1)
    found = model.evaluate((fresh, true))
    assert found["accuracy"] == 1.0 and 0.0 < found["log_loss"] < 2 / 180
    assert abs(model.explain("smith")["logit"]) < 20


def test_a_doubt_bounds_the_temperature_where_all_are_right_and_hardly_moves_it_elsewhere():
    dice = np.random.default_rng(0)
    scores, truth = dice.normal(size=(400, 3)), dice.integers(0, 3, 400)
    scores[np.arange(400), truth] += 1.5
    best, t = temperature(scores, truth), temperature(scores, truth, doubt=True)
    assert best < t < 1.05 * best
    scores[np.arange(400), truth] += 9
    sure = cooled(scores, temperature(scores, truth, doubt=True))[np.arange(400), truth]
    assert math.isclose(float(np.exp(sure).mean()), 1 - 1 / 402, abs_tol=1e-3)


def test_a_loss_of_nothing_is_zero():
    sure = np.log(np.array([[1.0, 1e-300], [1e-300, 1.0]]))
    assert str(calibration(sure, np.array([0, 1]))["log_loss"]) == "0.0"


# -- rows of numbers


def told(task: str, model: str, data: object, **settings: object) -> tuple[object, list[str]]:
    """A fitted model, and what was said meanwhile."""
    said: list[str] = []
    found = st.fit(
        task, model, data, on_event=lambda event: said.append(event.get("words", "")), **settings
    )
    return found, said


def features(count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """(S, 6) vectors, and values that need two of their places."""
    dice = np.random.default_rng(1)
    x = dice.normal(size=(count, 6))
    return x, 2 * x[:, 0] + np.where(x[:, 1] > 0, 3, -3)


SEQUENCES = "150 sequences of 6 steps, one number each; 6 features of one step each: X[:, None, :]"


def test_what_rows_of_numbers_are_is_said_and_mlp_reads_vectors():
    x, y = features()
    _, said = told("regress", "average", (x[:150], y[:150]))
    assert said.count(SEQUENCES) == 1
    model, said = told("regress", "mlp", (x[:150], y[:150]), updates=300)
    vectors = "150 vectors, 6 features each; sequences of 6 steps, one number each: X[:, :, None]"
    assert said.count(vectors) == 1 and SEQUENCES not in said
    assert model.evaluate((x[150:], y[150:]))["r_squared"] > 0.5
    with pytest.raises(SeriatimError, match=r"rows of 3 numbers.*Give rows of 6 numbers"):
        model.predict(x[:2, :3])
    _, said = told("regress", "average", (x[:150, None, :], y[:150]))
    assert not any("features" in each for each in said)


def test_vectors_of_a_fit_are_those_of_its_run_and_of_an_estimator(tmp_path):
    from seriatim.sklearn import SequenceRegressor

    x, y = features()
    model = st.fit("regress", "mlp", (x, y), updates=20, out=str(tmp_path / "run"))
    again = st.load(tmp_path / "run")
    assert again.predict(x[:3])["items"] == model.predict(x[:3])["items"]
    assert again.evaluate((x, y))["protocol"]["seen_in_training"] > 0.8  # a tenth was held out
    found = SequenceRegressor("mlp", updates=20, random_state=0).fit(x, y)
    assert found.predictor_.codec.channels == 6 and found.predict(x).shape == (len(x),)


def test_rows_of_a_comparison_are_told_once():
    x, y = features(150)
    said: list[str] = []
    hear = lambda event: said.append(event.get("words", ""))
    st.compare("regress", (x, y), models="average,linear", on_event=hear)
    assert said.count(SEQUENCES) == 1


# -- windows of a long table


def windows(disorder: bool, named: str = "t") -> dict[str, list]:
    """Forty windows of twenty rows, in their order or not; the label is the level."""
    dice = np.random.default_rng(0)
    rows = [
        (f"w{9 - w % 10}-{w}", i, (3 if w % 2 else -3) + dice.normal(), "hi" if w % 2 else "lo")
        for w in range(40)
        for i in range(20)
    ]
    order = dice.permutation(len(rows)) if disorder else range(len(rows))
    columns = zip(*(rows[i] for i in order), strict=True)
    return dict(zip(("window", named, "v", "state"), map(list, columns), strict=True))


def test_windows_are_the_same_in_any_order_of_rows():
    models = []
    for disorder in (False, True):
        data = windows(disorder, "sample")
        model, said = told("classify", "linear", data, series="window", label="state")
        assert model.codec.channels == 1
        words = "is their time" if disorder else "is left out; --channels takes it"
        assert any("'sample' counts the rows" in each and words in each for each in said)
        models.append(model)
    data = windows(True, "sample")
    for model in models:
        items = model.predict(data)["items"]
        assert [each["series"] for each in items] == list(dict.fromkeys(data["window"]))
        truth = dict(zip(data["window"], data["state"], strict=True))
        assert all(each["label"] == truth[each["series"]] for each in items)
    frame = models[0].predict(data).to_frame()
    assert list(frame["series"])[:2] == list(dict.fromkeys(data["window"]))[:2]


def test_a_short_window_alone_is_read_as_in_the_fit():
    model, _ = told("classify", "linear", windows(False, "sample"), series="window", label="state")
    one = {"window": ["new"] * 5, "sample": [1, 2, 3, 4, 5], "v": [3.0, 2.5, 3.5, 3.1, 2.9]}
    assert [(each["series"], each["label"]) for each in model.predict(one)["items"]] == [
        ("new", "hi")
    ]


# -- tables, and what is said of them


def test_check_says_that_a_first_row_may_be_data_and_that_no_label_is_known(tmp_path):
    pairs = tmp_path / "plural.tsv"
    words = ["kytyr", "mymi", "kes", "tolu", "rami", "sipe", "dola", "venu"]
    pairs.write_text("".join(f"{each}\t{each}r\n" for each in words))
    said = seriatim("check", pairs)
    assert "the first row may be data" in said.out and "'kytyr' and 'kytyrr'" in said.out
    assert "--columns source,target" in said.out
    again = seriatim("check", pairs, "--columns", "source,target")
    assert "may be data" not in again.out and "no column is known" not in again.out
    names = tmp_path / "names.tsv"
    names.write_text("name\tlanguage\n" + "".join(f"{each}\tit\n" for each in words))
    said = seriatim("check", names)
    assert "no column is known for a label: name, language" in said.out
    assert "--label NAME" in said.out and "may be data" not in said.out
    assert "no column is known" not in seriatim("check", names, "--label", "language").out


def test_tags_behind_another_mark_are_refused_with_the_way_out(tmp_path):
    file = tmp_path / "tags.txt"
    file.write_text("la;DET\ncanto;NOUN\n\nvecchio;ADJ\n" * 9)
    said = seriatim("fit", "tag", "most-frequent", file)
    assert "a blank or a tab between them" in said.err and "here it is ';'" in said.err
    assert "tr ';' '\\t' < FILE" in said.err
    said = seriatim("fit", "tag", "most-frequent", file, "--input-format", "columns")
    assert "a blank or a tab between them, this one has a single column" in said.err


def test_a_table_without_a_known_label_is_refused_with_its_columns():
    remarks = ["a b c", "d e f", "g h i"] * 10
    table = {"remark": remarks, "verdict": ["good", "bad", "good"] * 10, "stars": [5, 1, 5] * 10}
    with pytest.raises(SeriatimError, match=r"columns: remark, verdict, stars. .*label="):
        st.fit("classify", "naive-bayes", table)
    with pytest.raises(SeriatimError, match=r"columns: remark, verdict, stars. .*label="):
        st.fit("regress", "linear", table)
    data = windows(False)
    with pytest.raises(SeriatimError, match=r"has no column 'stat'.*Did you mean 'state'"):
        st.fit("classify", "linear", data, series="window", label="stat")
    with pytest.raises(SeriatimError, match=r"columns: window, t, v, state. .*label="):
        st.fit("classify", "linear", data, series="window")


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_columns_of_single_numbers_are_refused_with_the_way_out(task):
    x, y = features(30)
    table = {name: x[:, i] for i, name in enumerate("abcdef")} | {"price": y.round()}
    with pytest.raises(SeriatimError, match=r"give \(X, y\), X an array"):
        st.fit(task, "linear", table, label="price")


def test_pictures_that_are_offered_are_those_of_the_run(tmp_path):
    data = (["a b", "c d", "e f"] * 10, ["x", "y", "x"] * 10)
    st.fit("classify", "majority", data, out=str(tmp_path / "run"))
    with pytest.raises(SeriatimError) as refused:
        st.plot(tmp_path / "run", data, what="fan")
    offered = str(refused.value)
    assert "confusion" in offered and "horizon" not in offered and "leaderboard" not in offered


def test_of_a_series_that_never_changes_no_model_is_recommended(tmp_path):
    (tmp_path / "a.csv").write_text("x\n" + "7.0\n" * 60)
    asked = ("--models", "mean,persistence", "--horizon", 4, "--out", tmp_path / "out")
    said = seriatim("compare", "forecast", tmp_path / "a.csv", *asked)
    assert "Nothing tells them apart" in said.out.replace("\n", " ")
    assert "Try:" not in said.err and "Written:" in said.err
