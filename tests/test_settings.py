"""Settings: one home for each default, one error for all problems, and nothing lost on the way through TOML."""

import math
import typing
from dataclasses import asdict, fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as some

import seriatim
from seriatim.codecs.options import CodecOptions
from seriatim.decoding.options import DecodingOptions
from seriatim.errors import ConfigError, SeriatimError, nearest
from seriatim.models.ngrams.options import MarkovOptions, UniformOptions
from seriatim.models.options import NetworkOptions
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import Numbers, build, changed, from_toml, to_toml
from tests.ladder import MODELS
from tests.ladder import parts_of as parse

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
MODULES = [
    import_module(each.name)
    for each in walk_packages(seriatim.__path__, "seriatim.")
    if each.name.endswith(".options")
]
CLASSES = list(
    {
        each: None
        for module in MODULES
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each)
    }
)
EVERY_FIELD = [
    pytest.param(cls, each, id=f"{cls.__name__}.{each.name}")
    for cls in CLASSES
    for each in fields(cls)
]
STRINGS = some.text()  # any text but halves of surrogate pairs, which TOML cannot hold
PLAIN = some.one_of(STRINGS, some.integers(), some.floats(allow_nan=False), some.booleans())
KEYS = some.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True)
TABLES = some.dictionaries(KEYS, some.one_of(PLAIN, some.lists(PLAIN, max_size=4)), max_size=6)


def refused(cls, values) -> str:
    with pytest.raises(ConfigError) as error:
        build(cls, values, "here")
    return str(error.value)


def kind_of(cls, name) -> type:
    """The type of a field, without its None."""
    hint = typing.get_type_hints(cls)[name]
    return next((kind for kind in typing.get_args(hint) if kind is not type(None)), hint)


def values_of(cls, each) -> some.SearchStrategy:
    """Values that a field allows."""
    kind, rule = kind_of(cls, each.name), each.metadata
    if rule["choices"]:
        return some.sampled_from(rule["choices"])
    if kind is bool:
        return some.booleans()
    if kind is str:
        return STRINGS
    if kind is Numbers:
        return some.lists(some.integers(int(rule["least"] or 0), 9)).map(kind)
    if issubclass(kind, int):
        allowed = some.integers(rule["least"], rule["most"])
    else:
        least = rule["least"] if rule["above"] is None else rule["above"]
        allowed = some.floats(
            least,
            rule["most"],
            exclude_min=rule["above"] is not None,
            allow_nan=False,
            allow_infinity=False,
        )
    return some.one_of(some.none(), allowed) if each.default is None else allowed


def made(cls, values):
    """A record; values that do not go together are no example."""
    try:
        return cls(**values)
    except ConfigError:
        reject()


RECORDS = some.sampled_from(CLASSES).flatmap(
    lambda cls: some.fixed_dictionaries(
        {each.name: values_of(cls, each) for each in fields(cls)}
    ).map(lambda values: made(cls, values))
)


# Names


@pytest.mark.parametrize(
    "cls, wrong, right",
    [
        (NetworkOptions, "widht", "width"),
        (NetworkOptions, "laeyrs", "layers"),
        (NetworkOptions, "feedforward", "feed_forward"),
        (TrainingOptions, "optimizer", "optimiser"),
        (TrainingOptions, "weight-dacay", "weight_decay"),
        (DecodingOptions, "temprature", "temperature"),
        (DecodingOptions, "repetition", "repetition_penalty"),
        (CodecOptions, "vocab", "vocabulary"),
        (MarkovOptions, "oder", "order"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(cls, wrong, right):
    words = refused(cls, {wrong: 1})
    assert f"{wrong!r}" in words and f"Did you mean {right!r}?" in words


def test_a_name_like_no_other_is_answered_with_all_of_them():
    words = refused(MarkovOptions, {"qqqqqq": 1})
    assert "order" in words and "add" in words
    assert nearest("zzz", ["one", "two"]) == "Choose from: one, two"


def test_a_record_without_fields_says_so():
    assert "there are none" in refused(UniformOptions, {"order": 1})


@patient
@given(RECORDS)
def test_names_may_be_written_with_hyphens(options):
    assert (
        build(
            type(options),
            {name.replace("_", "-"): value for name, value in asdict(options).items()},
        )
        == options
    )


# All at once


WRONG = {
    "rate": -1,
    "rows": "many",
    "decay": "sudden",
    "updates": 0.5,
    "warmup": math.nan,
    "stateful": "perhaps",
    "momentum": 7,
    "lenght": 3,
    "seed": None,
}


@patient
@given(some.sets(some.sampled_from(sorted(WRONG)), min_size=1))
def test_all_problems_are_in_one_error_and_nothing_else_is(chosen):
    words = refused(TrainingOptions, {"epochs": 2, **{name: WRONG[name] for name in chosen}})
    assert words.startswith("here: ") and words.count(";") >= len(chosen) - 1
    for name in WRONG:
        named = f"{name}: " in words or f"{name!r}" in words
        assert named == (name in chosen)
    assert "epochs" not in words.replace("Choose from", "")


def test_problems_of_the_model_and_of_its_training_are_in_one_error():
    with pytest.raises(ConfigError) as error:
        parse("lstm", {"width": "wide", "rate": -1, "lenght": 1})
    assert all(words in str(error.value) for words in ("width: ", "rate: ", "'lenght'"))


# Types, ranges, choices


@pytest.mark.parametrize(
    "cls, name, given_value, value",
    [
        (NetworkOptions, "width", "12", 12),
        (NetworkOptions, "width", 12.0, 12),
        (NetworkOptions, "dropout", "0.5", 0.5),
        (NetworkOptions, "feed_forward", 2, 2.0),
        (NetworkOptions, "tied", "false", False),
        (NetworkOptions, "tied", "YES", True),
        (NetworkOptions, "tied", 0, False),
        (TrainingOptions, "rate", "1e-3", 0.001),
        (TrainingOptions, "updates", "none", None),
        (TrainingOptions, "minutes", "", None),
        (TrainingOptions, "minutes", None, None),
        (DecodingOptions, "stop", ".", "."),
    ],
)
def test_text_becomes_the_type_of_its_field(cls, name, given_value, value):
    found = getattr(build(cls, {name: given_value}), name)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "name, value",
    [
        *(
            ("width", value)
            for value in (
                "12.5",
                12.5,
                True,
                None,
                [12],
                {},
                "nan",
                math.nan,
                math.inf,
                "x",
                "",
                "0x10",
                b"12",
                1 + 0j,
            )
        ),
        *(
            ("dropout", value)
            for value in (math.nan, math.inf, "nan", "-inf", "1e999", True, None, [], "x", "")
        ),
        *(("tied", value) for value in (2, "maybe", None, "", [], 0.5)),
        *(("mixer", value) for value in (None, [], True, 3, "", "LSTM", "lsmt")),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(name, value):
    assert f"{name}: " in refused(NetworkOptions, {name: value})


def test_a_misspelt_choice_is_answered_with_the_nearest():
    assert "Did you mean 'lstm'?" in refused(NetworkOptions, {"mixer": "lsmt"})


@pytest.mark.parametrize("cls, each", EVERY_FIELD)
def test_a_field_takes_its_bounds_and_nothing_beyond(cls, each):
    rule, kind = each.metadata, kind_of(cls, each.name)
    tiny = 1 if issubclass(kind, (int, tuple)) else 1e-9
    good = [rule[bound] for bound in ("least", "most") if rule[bound] is not None] + list(
        rule["choices"] or ()
    )
    bad = [rule["least"] - tiny] if rule["least"] is not None else []
    bad += [rule["most"] + tiny] if rule["most"] is not None else []
    bad += [rule["above"]] if rule["above"] is not None else []
    bad += ["no such choice"] if rule["choices"] else []
    for value in good:
        assert getattr(build(cls, {each.name: value}), each.name) == (
            kind(value) if kind is Numbers else value
        )
    for value in bad:
        assert str(value) in refused(cls, {each.name: value})
    assert rule["choices"] or kind in (bool, str) or (good or bad)  # every number has a bound


@pytest.mark.parametrize("cls, each", EVERY_FIELD)
def test_every_field_has_help_and_a_default_that_passes_its_own_check(cls, each):
    assert isinstance(each.metadata["help"], str) and len(each.metadata["help"].split()) >= 2
    assert not each.metadata["help"].endswith(".")
    if each.default is not None:
        assert getattr(build(cls, {each.name: each.default}), each.name) == each.default


@patient
@given(
    some.sampled_from(CLASSES),
    some.dictionaries(
        some.one_of(
            some.text(max_size=8),
            some.sampled_from([each.name for cls in CLASSES for each in fields(cls)]),
        ),
        some.one_of(PLAIN, some.none(), some.lists(PLAIN, max_size=2), some.floats()),
        max_size=4,
    ),
)
def test_whatever_is_given_is_taken_or_refused_with_our_error(cls, values):
    try:
        assert isinstance(build(cls, values), cls)
    except ConfigError as error:
        assert "\n" not in str(error.record()["error"]["received"])


def test_changed_names_only_what_differs_from_the_defaults():
    assert changed(TrainingOptions(updates=3, rows=16)) == {"updates": 3}
    assert changed(MarkovOptions()) == {}


# Words


@pytest.mark.parametrize(
    "what, got, do, words",
    [
        ("it is late", None, "", "it is late."),
        ("it is late.", "noon", "Wait", "it is late. Received: noon. Wait."),
        ("is it late?", "noon.", "Wait!", "is it late? Received: noon. Wait!"),
        ("it is; did you mean 'late'?", None, "Wait.", "it is; did you mean 'late'? Wait."),
    ],
)
def test_each_sentence_of_an_error_ends_once(what, got, do, words):
    assert str(SeriatimError(what, got=got, do=do)) == words


def test_an_error_names_its_place_and_stays_short():
    error = SeriatimError("it is late", got="noon " * 10**6 + "\n\nnoon", file="clock.txt", line=3)
    assert (
        str(error).startswith("clock.txt:3: it is late. Received: noon noon")
        and len(str(error)) < 400
        and "\n" not in str(error)
    )
    assert error.record()["error"] == {
        "kind": "SeriatimError",
        "what": "it is late",
        "received": error.got,
        "do": "",
        "file": "clock.txt",
        "line": 3,
    }


# TOML


@settings(patient, max_examples=150)
@given(TABLES, TABLES)
def test_plain_values_survive_toml(first, second):
    found = from_toml(to_toml({"run": first, "model.0": second}), "here")
    assert repr(found) == repr(
        {"run": first, "model": {"0": second}}
    )  # repr: 1 is not True, 0.0 is not -0.0


@settings(patient, max_examples=150)
@given(RECORDS)
def test_every_options_record_survives_toml(options):
    assert build(type(options), from_toml(to_toml({"table": options}), "here")["table"]) == options


def test_none_is_left_out_and_comes_back_as_the_default():
    assert "minutes" not in to_toml({"training": TrainingOptions()})
    assert from_toml(to_toml({"a": {"b": None}}), "here") == {"a": {}}


@settings(patient, max_examples=150)
@given(some.text(some.sampled_from("ab=[]{}\"'\\\n.,#019-+eT:_ é\x00")))
def test_text_is_toml_or_is_refused_with_our_error(text):
    try:
        assert isinstance(from_toml(text, "config.toml"), dict)
    except ConfigError as error:
        assert "config.toml" in str(error)


@pytest.mark.parametrize(
    "text", ["a = " + "1" * 5000, "a = " + "[" * 20000], ids=["long number", "deep nesting"]
)
def test_absurd_toml_is_refused_with_our_error(text):
    with pytest.raises(SeriatimError, match="not valid TOML"):
        from_toml(text, "config.toml")


# Models by name


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task, rungs in MODELS.items() for name in rungs]
)
def test_a_model_by_name_has_the_settings_of_its_rung(task, name):
    [part], own = parse(name, {}, task), MODELS[task][name]
    assert (part.name, part.rung) == (name, own) and type(part.options) is own.options
    assert {key: getattr(part.options, key) for key in own.settings} == own.settings
    assert {key: getattr(part.training, key) for key in own.training} == own.training


def test_settings_go_to_the_parts_of_a_mixture_that_have_them():
    markov, lstm = parse("markov+lstm", {"order": 5, "width": "24", "seed": 7, "weight-decay": 0.5})
    assert (markov.name, lstm.name) == ("markov", "lstm")
    assert (
        markov.options == MarkovOptions(order=5)
        and lstm.options.width == 24
        and lstm.options.mixer == "lstm"
    )
    assert markov.training.seed == lstm.training.seed == 7 and lstm.training.weight_decay == 0.5


def test_a_setting_that_two_parts_have_goes_to_both():
    first, second = parse("lstm+transformer", {"width": 64})
    assert first.options.width == second.options.width == 64
    assert (first.options.layers, second.options.layers) == (
        1,
        2,
    )  # what was not given stays each rung's own


@pytest.mark.parametrize(
    "spec, values, words",
    [
        ("markov+lstm", {"temperature": 1}, ["'temperature'", "markov+lstm"]),
        ("markov", {"width": 8}, ["'width'"]),
        ("uniform", {"order": 2}, ["'order'"]),
        ("lstm", {"widht": 8, "sed": 1}, ["'widht'", "'width'", "'sed'", "'seed'"]),
        ("markov+lsmt", {}, ["'lsmt'", "'lstm'"]),
        ("", {}, ["''"]),
        ("lstm+", {}, ["''"]),
        ("markov+lstm", {"order": -1}, ["order", "-1"]),
        ("lstm", {"dropout": math.nan}, ["dropout", "nan"]),
    ],
)
def test_what_no_part_has_is_refused_by_name(spec, values, words):
    with pytest.raises(ConfigError) as error:
        parse(spec, values)
    assert all(word in str(error.value) for word in words)
