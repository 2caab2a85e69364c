"""One door behind every door: the command line, Python and the methods of a Predictor ask for the same
things by the same names, and answer with the same records."""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import seriatim as st
from seriatim import fitting, verbs
from seriatim.audit.check import check
from seriatim.audit.options import CheckOptions
from seriatim.cli import commands
from seriatim.comparison.running import Comparison
from seriatim.errors import ConfigError, RunError
from seriatim.faces import Result
from seriatim.fitting_options import CompareOptions, FitOptions
from seriatim.models.ladder import known_settings
from seriatim.models.recipe import TrainingOptions
from seriatim.progress import exhausted
from seriatim.settings import names_of
from seriatim.tasks import task as card_of
from seriatim.tasks import tasks
from seriatim.verbs import with_face
from tests.examples import EXAMPLES, Ask, Named
from tests.faces import check_face
from tests.schemas import workshop
from tests.terminal import good
from tests.test_schemas import OTHER

# flags that are no options of the same name in Python, and what they are there
BY_ANOTHER_NAME = {
    "format": "how a result is printed; Python has the record",
    "text": "texts instead of a file: a list of texts",
    "with": "with_runs=, since `with` is a word of Python",
    "int8": "of the run, not of the verb: st.call(..., int8=True), st.load(run, int8=True)",
    "device": "of the run, too: st.call(..., device=...), st.load(run, device=...)",
    "mute": "of the run, too: st.call(..., mute='0.1'), st.load(run, mute='0.1')",
    "verify": "of the run, too: st.call(..., verify=False), st.load(run, verify=False)",
    "out": "writes the record; where a verb writes itself it is an option of both",
    "valid": "the fourth argument of fit",
}
TIMES = {"seconds", "symbols_per_second"}
VERBS = [(room.name, name) for room in tasks() for name in room.verbs]
every_verb = pytest.mark.parametrize(("task", "verb"), VERBS)


# -- names
@cache
def all_options() -> dict[str, Any]:
    """Every option there is, with a value that any record which has it takes."""
    records: list[type] = [FitOptions, CompareOptions, TrainingOptions, CheckOptions]
    for room in tasks():
        records += [room.reading, room.coding, room.fitting]
        records += [rung.options for rung in room.rungs.values()]
        records += [each.options for each in room.verbs.values()]
    found: dict[str, Any] = {}
    for each in (each for cls in records for each in fields(cls)):
        if found.get(each.name) is None:
            found[each.name] = each.default
    return found


def accepted(take: Any) -> set[str]:
    """The names of the options that are not refused as unknown."""

    def known(name: str, value: Any) -> bool:
        try:
            take({name: 2 if value is None else value})
        except ConfigError as error:
            words = ("unknown setting", "no option", "not a setting")
            return not any(each in str(error) for each in words)
        return True

    return {name for name, value in all_options().items() if known(name, value)}


def flags_of(groups: list[Any]) -> set[str]:
    """The names of the flags of some groups."""
    return {flag.name for group in groups for flag in group.flags}


def typed(*words: str) -> set[str]:
    """The flags that the help of a command names."""
    lines = commands.parse([*words, "--help"]).help.splitlines()
    found = (line.split()[0] for line in lines if line.startswith("  --"))
    return {word.removeprefix("--").replace("-", "_") for word in found}


@pytest.mark.parametrize(
    ("task", "model"), [(room.name, model) for room in tasks() for model in room.rungs]
)
def test_flags_of_a_fit_are_the_settings_of_python(task, model):
    parts, others = kept_by_fit(task)
    own = known_settings(model, card_of(task).rungs)
    assert typed("fit", task, model) - {"format", "valid"} == others | (parts & own)
    with pytest.raises(ConfigError, match="'nonsense' is not a setting"):
        card_of(task).parts(model, {"nonsense": 1})


@cache
def kept_by_fit(task: str) -> tuple[set[str], set[str]]:
    """The options that a fit leaves to the parts of a model, and those that it takes itself."""
    parts, others = set(), set()
    for name, value in all_options().items():
        try:
            asked = fitting.sorted_out(card_of(task), {name: 2 if value is None else value})
            (parts if name in asked.model else others).add(name)
        except ConfigError:  # known, and of other values
            others.add(name)
    return parts, others


@pytest.mark.parametrize("task", [room.name for room in tasks() if room.figures])
def test_flags_of_a_comparison_are_the_settings_of_python(task):
    room = card_of(task)
    comparison = Comparison(room, CompareOptions(models=",".join(room.rungs)), {})
    found = {
        name
        for name in all_options()
        if any(comparison.accepts(model, name) for model in room.rungs)
    }
    assert typed("compare", task) - {"format", "valid", "test"} == found | names_of(CompareOptions)


@every_verb
def test_flags_of_a_verb_are_the_options_of_python(task, verb):
    room, card = card_of(task), card_of(task).verbs[verb]
    flags = flags_of(commands.verb_flags(verb, [room]))
    if not card.runs:
        assert flags - ({"text"} if card.reads == "text" else set()) == names_of(card.options)
        return
    run: Any = SimpleNamespace(task=room)
    found = accepted(lambda asked: verbs.sorted_out(run, card, verb, asked))
    another = set(BY_ANOTHER_NAME) | ({card.argument or "text"} if card.reads == "text" else set())
    assert flags - another == found - another
    assert found <= flags


def test_flags_of_check_are_the_options_of_python():
    assert typed("check") - {"format"} == names_of(CheckOptions)
    assert names_of(CheckOptions) <= inspect.signature(check).parameters.keys()
    with pytest.raises(ConfigError, match="unknown setting 'nonsense'"):
        st.check("markov:length=100", nonsense=1)


@every_verb
def test_a_verb_is_a_method_with_its_options(task, verb):
    room, card = card_of(task), card_of(task).verbs[verb]
    if not card.runs:
        return
    method = inspect.signature(getattr(room.predictor_class, card.method)).parameters.values()
    named = {each.name: each.default for each in method if each.kind is each.KEYWORD_ONLY}
    open_ended = any(each.kind is each.VAR_KEYWORD for each in method)
    known = {each.name: each.default for each in fields(card.options)}
    assert open_ended or named.keys() == known.keys()
    another = named.pop("against", None)  # of all rooms; a Predictor, so none is None
    assert another is None and named.items() <= known.items()


def test_word_vectors_are_evaluated_against_nothing():
    run, questions = workshop(OTHER).run("words", "neural"), Named("questions.txt")
    file = workshop(OTHER).data("words", questions)
    with pytest.raises(ConfigError, match="unknown setting 'against'"):
        st.load(run).evaluate(file, against=st.load(run))
    with pytest.raises(ConfigError, match="no option 'against'"):
        st.evaluate(run, file, against=run)


def test_a_method_does_not_pass_over_a_run_to_compare_with():
    kept = workshop(OTHER)
    model, file = kept.predictor("sets", "counted"), kept.file("sets", "test")
    with pytest.raises(ConfigError, match="another Predictor"):
        model.evaluate(file, against=str(kept.run("sets", "neural")))


@every_verb
def test_a_method_refuses_an_option_that_it_does_not_have(task, verb):
    ask, role = first_ask(task, verb)
    if not role:
        return
    predictor = workshop(OTHER).predictor(task, role)
    with pytest.raises((ConfigError, TypeError), match="nonsense"):
        by_method(predictor, verb, workshop(OTHER).data(task, ask.data), {"nonsense": 1})


# -- the same record through every door
def first_ask(task: str, verb: str) -> tuple[Ask, str]:
    """What the verb is asked first, and of which model."""
    ask = EXAMPLES[task].asks[verb][0]
    runs = card_of(task).verbs[verb].runs
    return ask, workshop(OTHER).roles(task, ask)[0] if runs else ""


def by_method(predictor: st.Predictor, verb: str, data: Any, options: dict[str, Any]) -> Any:
    """By the method of the Predictor."""
    card = predictor.task.verbs[verb]
    given = () if data is None else (data,)
    found = getattr(predictor, card.method)(*given, **options)
    return exhausted(found) if inspect.isgenerator(found) else found


def words_of(data: Any, options: dict[str, Any]) -> Iterator[str]:
    """The same, as it is typed."""
    if isinstance(data, list):
        yield from (word for text in data for word in ("--text", text))
    elif data is not None:
        yield str(data)
    for name, value in options.items():
        yield from ("--" + name.replace("_", "-"), str(value))


def cleared(options: dict[str, Any]) -> None:
    """Nothing stands where it is to be written."""
    if Path(options.get("out", "")).is_dir() and "out" in options:
        shutil.rmtree(options["out"])


def timeless(value: Any) -> Any:
    """The same without what another call cannot have alike."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list) else value


@every_verb
def test_every_door_gives_the_same_record(task, verb):
    kept = workshop(OTHER)
    for ask in EXAMPLES[task].asks[verb]:
        role = kept.roles(task, ask)[0] if card_of(task).verbs[verb].runs else ""
        data, options = kept.data(task, ask.data), kept.options(task, ask)
        subject = kept.run(task, role) if role else data
        words = list(words_of(data if role else None, options))
        cleared(options)
        given = kept.predictor(task, role) if role else subject
        found = st.call(verb, given, data if role else None, **options)
        check_face(found)
        record = timeless(found)
        cleared(options)
        printed = good(
            verb, *([] if subject is None else [subject]), *words, "--format", "json"
        ).out
        cleared(options)
        assert timeless(json.loads(printed)) == record
        if not role:
            continue
        if "against" in options:
            options["against"] = st.load(options["against"])
        asked = by_method(with_face(kept.predictor(task, role)), verb, data, options)
        assert isinstance(asked, Result), "what methods give has the same face"
        method = timeless(asked)
        assert method | {"run": str(subject)} == record


def test_a_fit_prints_what_python_gives(tmp_path):
    kept = workshop(OTHER)
    spec, settings = kept.model("sets", "counted")
    train = kept.train("sets", "counted")
    words = list(words_of(train, settings | {"out": tmp_path / "run"}))
    printed = good("fit", "sets", spec, *words, "--format", "json").json()
    model = st.fit("sets", spec, train, **settings)
    expected = model.record("fit", out=str(tmp_path / "run"), **model.metrics)
    assert timeless(printed) == timeless(expected)


# -- options
def test_options_of_a_search_reach_predict_from_python():
    run, sources = workshop(OTHER).run("translate", "neural"), ["a b", "c"]
    narrow, wide = (st.predict(run, sources, beam=n, length=4) for n in (1, 2))
    pairs = zip(narrow["items"], wide["items"], strict=True)
    assert all(one["score"] <= two["score"] + 1e-6 for one, two in pairs)
    assert [len(each["results"]) for each in st.predict(run, sources, beam=2, count=2)["items"]]


def test_an_unknown_option_is_refused_with_the_nearest_name_and_where_it_belongs():
    kept = workshop(OTHER)
    with pytest.raises(ConfigError, match=r"no option 'baem'.*beam"):
        st.predict(kept.run("translate", "neural"), ["a"], baem=2)
    with pytest.raises(ConfigError, match=r"classify has no option 'beam'.*translate predict"):
        st.predict(kept.run("classify", "counted"), ["a"], beam=2)
    with pytest.raises(ConfigError, match=r"no verb 'explain'.*classify"):
        st.call("explain", kept.run("sets", "counted"), "a")


# -- a run remembers how its data was read
def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def read_again(run: Path, file: Path) -> tuple[dict, dict]:
    """A second file, about which nothing is said; through Python and as it is typed."""
    found = st.evaluate(run, file), st.predict(run, file)
    for verb, record in zip(("evaluate", "predict"), found, strict=True):
        assert timeless(good(verb, run, file, "--format", "json").json()) == timeless(record)
    return found


def test_columns_of_a_table_without_a_header_are_remembered(tmp_path):
    rows = [("spam", "win cash"), ("ham", "tea home"), ("spam", "free cash"), ("ham", "tea")]
    text = "".join(f"{i},{label},{words}\n" for i, (label, words) in enumerate(rows * 5))
    train = written(tmp_path, "train.data", text)
    test = written(tmp_path, "test.data", "7,ham,tea tea\n8,spam,win cash\n")
    read = {"input_format": "csv", "columns": "id,kind,body", "label": "kind", "field": "body"}
    st.fit("classify", "naive-bayes", train, out=tmp_path / "run", **read)
    figures, said = read_again(tmp_path / "run", test)
    assert figures["accuracy"] == 1 and [x["label"] for x in said["items"]] == ["ham", "spam"]


def test_time_channels_and_known_columns_of_series_are_remembered(tmp_path):
    def table(hours: int) -> str:
        lines = (
            f"{i % 5},2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{i % 3},{i % 2}\n"
            for i in range(hours)
        )
        return "noise,moment,load,holiday\n" + "".join(lines)

    train = written(tmp_path, "a.csv", table(120))
    test = written(tmp_path, "b.csv", table(60))
    read = {"time": "moment", "channels": "load", "known": "holiday"}
    model = {"horizon": 2, "context": 6, "season": 6}
    run = tmp_path / "run"
    st.fit("forecast", "seasonal", train, out=run, **read, **model)
    assert st.load(run).reading.known == "holiday"
    assert st.evaluate(run, test)["channel_names"] == ["load"]
    assert good("evaluate", run, test, "--format", "json").json()["mae"] < 1e-3
    with pytest.raises(st.SeriatimError, match=r"moment|time|column"):
        st.evaluate(run, test, time="nothing")


def test_series_of_a_long_table_are_remembered(tmp_path):
    def table(hours: int) -> str:
        lines = (
            f"{name},2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{i % 3}\n"
            for name in "xy"
            for i in range(hours)
        )
        return "place,moment,load\n" + "".join(lines)

    train = written(tmp_path, "a.csv", table(96))
    test = written(tmp_path, "b.csv", table(48))
    read = {"time": "moment", "series": "place"}
    model = {"horizon": 2, "context": 6, "season": 3}
    st.fit("forecast", "seasonal", train, out=tmp_path / "run", **read, **model)
    figures, said = read_again(tmp_path / "run", test)
    assert figures["sequences"] == 2 and [each["series"] for each in said["items"]] == ["x", "y"]


def test_columns_of_tagged_words_are_remembered(tmp_path):
    rows = [("the", "D", "X"), ("dog", "N", "Y"), ("runs", "V", "Z")]
    lines = "".join(
        f"{i + 1}\t{w}\t{w}\t{tag}\t{fine}\t_\t0\troot\t_\t_\n"
        for i, (w, tag, fine) in enumerate(rows)
    )
    train = written(tmp_path, "train.conllu", (lines + "\n") * 20)
    test = written(tmp_path, "test.data", lines + "\n")
    read = {"input_format": "conllu", "columns": "form,xpos"}
    st.fit("tag", "most-frequent", train, out=tmp_path / "run", **read)
    figures, said = read_again(tmp_path / "run", test)
    assert figures["accuracy"] == 1 and said["items"][0]["tags"] == ["X", "Y", "Z"]


def test_columns_of_pairs_are_remembered(tmp_path):
    lines = [
        f"{i}\t{text}\t{text.upper()}\n" for i, text in enumerate(["a b", "b a", "a", "b"] * 6)
    ]
    train = written(tmp_path, "train.tsv", "".join(lines))
    test = written(tmp_path, "test.tsv", "".join(lines[:3]))
    read = {"columns": "id,source,target", "unit": "token"}
    st.fit("translate", "lexicon", train, out=tmp_path / "run", **read)
    figures, said = read_again(tmp_path / "run", test)
    assert figures["sources"] == 3 and said["items"][0]["source"] == "a b"


def test_a_run_folder_of_another_format_is_refused_by_its_number(tmp_path):
    from seriatim.runs.folder import FORMAT
    from seriatim.storage import checksum

    run = tmp_path / "run"
    st.fit("sets", "frequencies", ["a b", "b a+b"] * 9, out=run)
    config, manifest = run / "config.toml", run / "manifest.json"
    for number in ("0", str(FORMAT + 1), '"new"'):
        text = config.read_text()
        first = next(line for line in text.splitlines() if line.startswith("format = "))
        config.write_text(text.replace(first, f"format = {number}"))
        known = json.loads(manifest.read_text())
        known["files"]["config.toml"] = {"sha256": checksum(config), "bytes": config.stat().st_size}
        manifest.write_text(json.dumps(known))
        with pytest.raises(RunError, match=f"format {number.strip(chr(34))}.*format {FORMAT}"):
            st.load(run)
