"""A class in the place of a name: fitted, compared, ranked; never kept, never named by a file."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

import seriatim as st
from seriatim.errors import ConfigError
from seriatim.models.base import Model
from seriatim.models.ladder import Rung
from seriatim.models.own import named_by, own_rungs
from seriatim.tasks import task
from tests.own import Again, Stumbling, TableNet

DATA = "markov:length=12000"
RUNGS = task("language").rungs


@pytest.fixture(scope="module")
def again():
    return st.fit("language", Again, DATA, q=0.25)


def test_a_class_is_fitted_by_its_options_and_does_what_a_model_does(again):
    assert (
        again.spec == "again"
        and repr(again) == "Predictor(language, again, 29 characters, 0 parameters)"
    )
    assert again.model.q == 0.25 and again.parts[0].counts
    assert again.evaluate("markov:length=500")["bits_per_character"] == pytest.approx(5.0, abs=0.3)
    assert again.text("aa", length=5, temperature=0) == "aaaaaaa"
    assert again.generate("a", length=3, beam=2)["items"][0]["log_prob"] < 0
    assert (
        st.evaluate([again, st.fit("language", "markov", DATA)], "markov:length=500")["tokens"]
        == 500
    )


def test_a_class_is_ranked_beside_ours_with_intervals_and_words(tmp_path, monkeypatch):
    monkeypatch.setattr("seriatim.comparison.running.can_draw", lambda: False)
    notes: list[str] = []
    asked = {"q": 0.2, "updates": 3, "threads": 1, "out": tmp_path / "all"}
    record = st.compare(
        "language",
        DATA,
        ["markov", Again, TableNet],
        on_event=lambda event: notes.append(event.get("words", "")),
        **asked,
    )
    rows = {row["model"]: row for row in record["rows"]}
    assert list(rows) == ["markov", "again", "table-net"]
    assert all(row["status"] == "ok" for row in rows.values())
    low, high = rows["again"]["interval"]["bits_per_character"]
    assert low < rows["again"]["bits_per_character"] < high
    assert rows["again"]["against"]["word"] == "better" and rows["again"]["sample"]
    assert rows["table-net"]["updates"] == 3 and rows["table-net"]["parameters"] == 30 * 29
    assert [rows[name]["run"] for name in rows] == ["runs/markov", None, None]
    assert sorted(each.name for each in (tmp_path / "all" / "runs").iterdir()) == ["markov"]
    assert {each.stem for each in (tmp_path / "all" / "measured").iterdir()} == {*rows}
    assert sum("a run folder holds no code" in each for each in notes) == 2
    assert record["command"].startswith(
        "st.compare('language', 'markov:length=12000', ['markov', Again, TableNet], q=0.2"
    )
    assert record["command"].endswith("# in Python, with your own Again, TableNet")
    assert "table-net" in record.to_frame("polars")["model"].to_list()
    # a class may have been changed meanwhile: it is fitted again, the others are kept
    fitted: list[str] = []
    st.compare(
        "language",
        DATA,
        ["markov", Again, TableNet],
        resume=True,
        on_event=lambda event: fitted.append(event.get("model", "") * (event["event"] == "rung")),
        **asked,
    )
    assert [each for each in fitted if each] == ["again", "table-net"]


def test_a_class_is_mixed_with_a_rung_of_ours():
    record = st.compare("language", DATA, [Again, "markov", "markov+again"], threads=1)
    rows = [row["model"] for row in record["rows"]]
    assert (
        sorted(rows) == ["again", "markov", "markov+again"] and record["rows"][0]["weights"] is None
    )


def test_one_that_stumbles_keeps_its_row_with_the_place():
    record = st.compare("language", DATA, [Stumbling, "unigram"])
    row = record["rows"][-1]
    assert (row["model"], row["status"]) == ("stumbling", "failed")
    assert row["reason"].startswith(
        "AttributeError: 'Stumbling' object has no attribute 'folowing'"
    )
    assert " of step)" in row["reason"]
    with pytest.raises(AttributeError, match="folowing"):
        st.fit("language", Stumbling, DATA).evaluate(DATA)


def test_it_is_never_kept(again, tmp_path):
    with pytest.raises(ConfigError, match=r"a run folder holds no code.*docs/extending"):
        again.save(tmp_path / "run")
    with pytest.raises(ConfigError, match="a run folder holds no code"):
        st.fit("language", Again, DATA, out=tmp_path / "run")
    with pytest.raises(ConfigError, match="a run folder holds no code"):
        st.fit("language", TableNet, DATA, out=tmp_path / "run", updates=1)
    assert not (tmp_path / "run").exists()


def test_no_file_can_name_it(tmp_path):
    run = tmp_path / "run"
    st.fit("language", "unigram", DATA, out=run)
    config = (run / "config.toml").read_text()
    for name in ("again", "tests.own:Again"):
        (run / "config.toml").write_text(config.replace('"unigram"', f'"{name}"'))
        with pytest.raises(st.SeriatimError):
            st.load(run, verify=False)


def test_a_rung_brings_its_own_recipe_and_a_summary_of_its_own():
    rung = Rung("logits", TableNet, Again.Options, {"q": 0.125}, {"rate": 0.5, "updates": 2})
    model = st.fit("language", rung, DATA, threads=1)
    assert model.spec == "table-net" and not model.parts[0].counts
    assert model.parts[0].training.rate == 0.5 and model.metrics["updates"] == 2
    assert model.parts[0].options.q == 0.125


def test_rows_are_called_after_their_class():
    names = {"Again": "again", "MyGRUModel": "my-gru-model", "two_back": "two-back", "A2Z": "a2-z"}
    assert {name: named_by(type(name, (), {})) for name in names} == names
    names_, own = own_rungs(["markov", Again, Again], RUNGS)
    assert names_ == ["markov", "again", "again"] and [*own] == ["again"]
    assert (
        own["again"].summary == "The last symbol again with probability q." and own["again"].counts
    )
    assert not own_rungs([TableNet], RUNGS)[1]["table-net"].counts


@dataclass
class Bare:
    q: float


def kind(name: str, **own) -> type:
    return type(name, (Again,), own)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (int, "a model is a name, a class derived from Model"),
        (3, "a model is a name"),
        (Again(5, Again.Options()), "Give the class itself, not an object of it"),
        (replace(RUNGS["gru"]), "or a Rung with such a class"),
        (kind("Markov"), "there is a model 'markov' already"),
        (kind("Named", counting=Model.counting), "does not say how it learns"),
        (kind("Named", arrays=Model.arrays), "Named has no arrays. Give it `def arrays"),
        (kind("Named", __init__=object.__init__), "Named has no __init__"),
        (kind("Named", start=Model.start), "does not say what it expects"),
        (kind("Named", step=Model.step), "does not say what it expects"),
        (kind("Named", Options=3), "Named.Options is a dataclass"),
        (kind("Named", Options=Bare), "every option has a default.*without one: q"),
    ],
)
def test_what_is_no_rung_is_refused_in_words(given, words):
    with pytest.raises(ConfigError, match=words):
        st.fit("language", given, DATA)
    with pytest.raises(ConfigError, match=words):
        st.compare("language", DATA, ["unigram", given])


def test_settings_are_checked_as_those_of_any_rung():
    with pytest.raises(ConfigError, match="'qq' is not a setting of again: Did you mean 'q'"):
        st.fit("language", Again, DATA, qq=1)
    with pytest.raises(ConfigError, match="q: must be a number"):
        st.fit("language", Again, DATA, q="much")
    unit = dataclass(type("Options", (), {"__annotations__": {"unit": str}, "unit": "x"}))
    with pytest.raises(ConfigError, match=r"the name of a setting that all fits have.*unit"):
        st.fit("language", kind("Named", Options=unit), DATA)
    with pytest.raises(ConfigError, match="there is a model 'again' already"):
        st.compare("language", DATA, [Again, type("Again", (Again,), {})])
