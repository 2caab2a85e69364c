"""Pairs in numbers, a Predictor of targets, and its run folder."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console

import seriatim
from seriatim import verbs
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.scaled import Scaled
from seriatim.codecs.symbols import STOP
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.fitting_options import OpeningOptions
from seriatim.measuring.measured import Measured
from seriatim.progress import listening
from seriatim.settings import named
from seriatim.tasks.translate import TASK
from seriatim.tasks.translate.codec import PairCodec, of_pairs
from seriatim.tasks.translate.cut import TranslateLesson
from seriatim.tasks.translate.metrics import p_of_difference, score_pairs
from seriatim.tasks.translate.references import gathered
from seriatim.tasks.translate.search import least_risk
from seriatim.tasks.translate.tables import generated_lines, target_lines, translation_figures


def pairs_of(sources, targets, unit="token") -> Sequences:
    return Sequences(
        {"source": Field.of_text(sources), "target": Field.of_text(targets)}, unit=unit
    )


def prepared(data: Sequences) -> Sequences:
    return TASK.cut.prepare(data, {})


def targets(record: dict) -> list[str]:
    return [item["target"] for item in record["items"]]


@pytest.fixture(scope="module")
def data() -> Sequences:
    return read("copy:length=5,count=800,symbols=8,seed=1")


@pytest.fixture(scope="module")
def model(data):
    return seriatim.fit("translate", "gru", data, width=32, updates=250, rate=1e-2, seed=1, heads=1)


# -- the codec
@pytest.mark.parametrize(
    "options",
    [
        {"unit": "token"},
        {"unit": "character"},
        {"unit": "subword", "vocabulary": 270},
        {"unit": "character", "target_unit": "token"},
        {"unit": "subword", "vocabulary": 270, "shared": True},
        {"unit": "byte"},
    ],
    ids=str,
)
def test_pairs_come_back_and_so_does_their_codec(options):
    data = pairs_of(["a b", "b c d", ""], ["x y", "y z z", "x"])
    codec = PairCodec.fit(data, CodecOptions(**options))
    pairs = codec.encode(data)
    assert [codec.decode(pairs.y.row(s)) for s in range(3)] == ["x y", "y z z", "x"]
    assert all(pairs.x.row(s)[-1] == STOP for s in range(3)) and len(pairs.x.row(2)) == 1
    assert (codec.source is codec.target) == bool(options.get("shared"))
    again = PairCodec.from_json(json.loads(json.dumps(codec.to_json())), "codec.json")
    assert again.to_json() == codec.to_json() and again.sizes == codec.sizes
    assert np.array_equal(again.encode(data).x.flat, pairs.x.flat) and (
        again.source is again.target
    ) == (codec.source is codec.target)


def test_given_symbols_of_both_sides_share_one_vocabulary():
    data = Sequences(
        {
            "source": Field.of_symbols([["a", "b"], ["c"]]),
            "target": Field.of_symbols([["b", "d"], ["a"]]),
        }
    )
    codec = PairCodec.fit(data, CodecOptions(unit="token", shared=True))
    assert (
        set(codec.symbols[2:]) == {"a", "b", "c", "d"}
        and codec.decode(codec.encode(data).y.row(0)) == "b d"
    )


def test_numbers_are_scaled_by_the_training_data_and_checked():
    vectors = Field.of_numbers([[1.0, 10.0], [3.0, 10.0], [5.0, 10.0]])
    scaled = Scaled.fit(vectors)
    found = scaled.encode(vectors)
    assert (
        found.lengths.tolist() == [1, 1, 1]
        and np.allclose(found.flat[:, 0], np.array([-1, 0, 1]) * np.sqrt(1.5))
        and not found.flat[:, 1].any()
    )
    ragged = Scaled.fit(Field.of_numbers([[1.0], [2.0, 3.0]]))
    assert ragged.encode(Field.of_numbers([[1.0, 2.0, 3.0]])).lengths.tolist() == [3]
    for wrong in (
        Field.of_numbers([[1.0]]),
        Field.of_numbers([[1.0, float("nan")]]),
        Field.of_text(["1 2"]),
    ):
        with pytest.raises(DataError, match="numbers"):
            scaled.encode(wrong)


def test_two_columns_of_any_name_are_source_and_target_and_others_are_refused():
    table = Sequences({"de": Field.of_text(["eins"]), "en": Field.of_text(["one"])})
    assert list(prepared(table).fields) == ["source", "target"]
    with pytest.raises(DataError, match="no pairs"):
        prepared(Sequences({"text": Field.of_text(["eins"])}))
    with pytest.raises(ConfigError, match="vocabulary"):
        PairCodec.fit(
            pairs_of(["a"], ["b"]), CodecOptions(unit="character", target_unit="token", shared=True)
        )


# -- translating
def test_it_learns_to_copy(model, data):
    record = model.evaluate(data[:200])
    assert record["exact"] > 0.9 and record["token_error"] < 0.05 and record["nats_per_token"] < 0.3
    assert (
        record["perplexity"] == pytest.approx(np.exp(record["nats_per_token"]))
        and record["sources"] <= 200
    )
    assert sum(each["sources"] for each in record["by_length"]) == record["sources"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"beam": 1},
        {"beam": 5, "count": 3},
        {"temperature": 0},
        {"temperature": 0.7, "seed": 3},
        {"coverage": 0.3},
    ],
    ids=str,
)
def test_a_translation_does_not_depend_on_its_neighbours_batch_or_order(model, settings):
    """500 sentences at batch sizes 1, 7 and 64, and in another order."""
    many = read(
        "copy:length=12,count=500,symbols=8,seed=7"
        if settings == {}
        else "copy:length=9,count=60,symbols=8,seed=7"
    )
    sources = model.sources(model.data(many))
    found = {
        rows: [
            model.codec.decode(each[0].symbols) for each in model.results(sources, settings, rows)
        ]
        for rows in (1, 7, 64)
    }
    assert found[1] == found[7] == found[64] == targets(model.predict(many, **settings))
    order = np.random.default_rng(0).permutation(len(many))
    if "seed" not in settings:
        assert targets(model.predict(many[order], **settings)) == [found[64][i] for i in order]


def test_demands_are_met(model, data):
    some = data[:20]
    for target in targets(model.predict(some, prefix="c")):
        assert target.startswith("c")
    for target in targets(model.predict(some, never="a, b c", beam=6)):
        assert "a" not in target.split() and "b c" not in target
    for target in targets(model.predict(some, must="h, a b", beam=12)):
        assert "h" in target.split() and "a b" in target
    for settings, words in (
        ({"must": "q"}, "does not know"),
        ({"must": "a", "temperature": 1.0}, "beam"),
        ({"draft": "x"}, "unknown setting 'draft'"),
        ({"min_bayes_risk": 3, "beam": 2}, "samples"),
        ({"prefix": "q"}, "does not know"),
        ({"beam": 3, "count": 5000}, "raise beam="),
        ({"must": "a b", "never": "b"}, "none may have"),
        ({"prefix": "c a", "never": "a"}, "none may have"),
        ({"must": "a b, c", "length": 2}, "longer than"),
    ):
        with pytest.raises(ConfigError, match=words):
            model.predict(some, **settings)


def test_the_n_best_come_with_scores_in_order(model, data):
    for record in model.predict(data[:5], beam=6, count=4)["items"]:
        scores = [result["score"] for result in record["results"]]
        assert (
            len(scores) == 4
            and scores == sorted(scores, reverse=True)
            and record["target"] == record["results"][0]["target"]
        )
        assert len({result["target"] for result in record["results"]}) == 4


def test_scores_are_what_the_search_says(model, data):
    """The log-probability of a result found by beam search is that of scoring it as a reference."""
    found = model.predict(data[:10], beam=4)["items"]
    again = Sequences(
        {
            "source": data[:10].field("source"),
            "target": Field.of_symbols([record["target"].split() for record in found]),
        }
    )
    for record, scored in zip(found, model.score(again)["items"], strict=True):
        assert (
            record["ended"]
            and record["log_prob"] == pytest.approx(scored["log_prob"], abs=1e-3)
            and scored["tokens"] == record["tokens"] + 1
        )


def test_scoring_at_once_equals_scoring_one_by_one(model, data):
    pairs = model.codec.encode(data[:7])
    together = score_pairs(model.model, pairs)
    for s in range(7):
        batch = of_pairs(pairs, np.array([s]))
        with torch.no_grad():
            assert np.allclose(
                together.row(s), model.model.predict(batch).log_prob(batch.y)[0].numpy(), atol=1e-4
            )


def test_the_least_risk_is_the_one_nearest_to_all():
    texts = ["a cat sat", "a cat sits", "a cat sat", "the dog"]
    place, worth = least_risk(texts)
    slow = [np.mean([seriatim_chrf(text, other) for other in texts]) for text in texts]
    assert texts[place] == texts[int(np.argmax(slow))] and worth == pytest.approx(max(slow))


def seriatim_chrf(found: str, reference: str) -> float:
    from sacrebleu import sentence_chrf

    return sentence_chrf(found, [reference]).score


def test_least_risk_is_a_setting(model, data):
    twice = [model.predict(data[:3], min_bayes_risk=8, seed=1) for _ in range(2)]
    assert targets(twice[0]) == targets(twice[1])


def test_a_target_that_all_samples_agree_on_has_no_risk_even_if_it_is_empty():
    assert least_risk([""] * 15 + ["x"]) == (0, 93.75)


def test_targets_have_the_room_that_those_of_training_needed():
    names = {"k": "kappa", "l": "lambda", "m": "mu", "n": "nu"}
    rng = np.random.default_rng(0)
    rows = [rng.choice(list(names), rng.integers(1, 20)).tolist() for _ in range(300)]
    pairs = pairs_of(
        [" ".join(row) for row in rows], ["".join(map(names.__getitem__, row)) for row in rows]
    )
    model = seriatim.fit(
        "translate", "joint", pairs, unit="word", target_unit="character", longest=6
    )
    assert targets(model.predict(["l " * 40])) == ["lambda" * 40]
    assert model.evaluate(pairs)["exact"] > 0.99 and model.evaluate(pairs)["cut_off"] == 0
    short = model.predict(["l " * 4], length=7)["items"][0]
    assert (
        short["target"] == "lambdal"
        and not short["ended"]
        and model.evaluate(pairs, length=1)["cut_off"] > 200
    )
    again = PairCodec.from_json(json.loads(json.dumps(model.codec.to_json())), "codec.json")
    assert again.room(np.array([1, 50])).tolist() == model.codec.room(np.array([1, 50])).tolist()
    for harm in (
        {"ratio": -1},
        {"ratio": float("nan")},
        {"ratio": 1e9},
        {"longest": -1},
        {"longest": None},
    ):
        with pytest.raises(DataError):
            PairCodec.from_json(model.codec.to_json() | harm, "codec.json")


def test_what_must_come_has_room_of_its_own(model):
    phrase = " ".join(["a", "b"] * 25)
    for settings in ({"must": phrase}, {"prefix": phrase}):
        assert phrase in targets(model.predict(["a"], **settings))[0]


def test_a_phrase_of_subwords_is_known_where_a_target_begins():
    pairs = pairs_of(
        ["dog runs cat", "cat runs dog", "dog sees cat", "cat sees dog"] * 40,
        ["Hund rennt Katze", "Katze rennt Hund", "Hund sieht Katze", "Katze sieht Hund"] * 40,
        "subword",
    )
    model = seriatim.fit(
        "translate",
        "gru",
        pairs,
        pairs,
        unit="subword",
        vocabulary=300,
        width=32,
        heads=1,
        updates=150,
        rate=1e-2,
    )
    for settings in (
        {},
        {"must": "Hund"},
        {"prefix": "Hund", "must": "Hund"},
        {"must": "Katze, Hund rennt"},
    ):
        found = model.predict(["dog runs cat"], beam=8, **settings)
        assert targets(found) == ["Hund rennt Katze"]
    never = targets(model.predict(["dog runs cat"], beam=8, never="Hund"))[0]
    assert "Hund" not in never


def test_sources_that_only_look_alike_to_the_codec_are_apart(model):
    strange = Sequences(
        {
            "source": Field.of_text(["a X", "a Y", "a Z"]),
            "target": Field.of_text(["a b", "c d", "e f"]),
        },
        unit="token",
    )
    assert model.evaluate(strange)["sources"] == 3 and len(model.measure(strange)["truth"]) == 3


def test_further_references_are_numbered_and_empty_cells_are_none(model):
    wrong = Field.of_text(["h h h"])
    data = Sequences(
        {
            "source": Field.of_text(["a"]),
            "target": wrong,
            "target2": Field.of_text([""]),
            "target_language": Field.of_text(["a"]),
        },
        unit="token",
    )
    measured = model.measure(data)
    assert measured["truth"] == [["h h h"]] and model.summarise(measured)["exact"] == 0
    assert model.measure(Sequences(data.fields | {"target3": Field.of_text(["a"])}, unit="token"))[
        "truth"
    ] == [["h h h", "a"]]


def test_equal_sources_have_several_right_targets(model, data):
    twice = Sequences(
        {
            "source": Field.of_symbols([["a", "b"], ["c"], ["a", "b"]]),
            "target": Field.of_symbols([["h"], ["c"], ["a", "b"]]),
        },
        unit="token",
    )
    first, right = gathered(twice)
    assert first.tolist() == [0, 1] and right == [[(0, 0), (0, 2)], [(0, 1)]]
    record = model.evaluate(twice)
    assert record["sources"] == 2 and record["pairs"] == 3 and record["exact"] == 1.0


def test_further_references_stand_in_further_columns(model):
    data = Sequences(
        {
            "source": Field.of_symbols([["a"]]),
            "target": Field.of_symbols([["h"]]),
            "target2": Field.of_symbols([["a"]]),
        },
        unit="token",
    )
    assert model.evaluate(data)["exact"] == 1.0


def test_any_reference_counts_for_every_figure_and_a_bad_one_does_no_harm(model):
    data = read("copy:length=5,count=20,symbols=8,seed=9")
    texts = targets(model.predict(data))
    wrong = Field.of_text(["q q q"] * len(texts))

    def figures(first: Field, second: Field) -> dict:
        return model.evaluate(
            Sequences(
                {"source": data.field("source"), "target": first, "target2": second}, unit="token"
            )
        )

    for found in (figures(wrong, Field.of_text(texts)), figures(Field.of_text(texts), wrong)):
        assert found["exact"] == 1 and found["token_error"] == found["wer"] == found["cer"] == 0
    assert (
        found["by_length"][0]["from"] == data.field("source").lengths.min()
        and found["by_length"][-1]["to"] == 5
    )


def test_samples_have_scores_too(model):
    for settings in ({"temperature": 0.0, "beam": 0}, {"temperature": 1.0, "seed": 3}):
        row = model.predict(["a b c"], length_penalty=1.0, **settings)["items"][0]
        assert row["score"] == pytest.approx(row["log_prob"] / (row["tokens"] + row["ended"])) != 0


def test_what_was_heard_is_told_symbol_by_symbol(model):
    record = model.alignment("a b c")
    assert (
        record["source"] == ["a", "b", "c", "</s>"]
        and record["target"][-1] == "</s>"
        and np.array(record["weights"]).shape == (len(record["target"]), 4)
    )
    assert np.allclose(np.array(record["weights"]).sum(1), 1)
    assert model.alignment("a b c", target="c b")["target"] == ["c", "b", "</s>"]


def test_a_run_is_kept_and_its_tuned_search_with_it(tmp_path, data):
    model = seriatim.fit("translate", "lexicon", data, tune_search=True)
    assert model.metrics["search"].keys() == {"beam", "length_penalty"}
    model.save(tmp_path / "run")
    again = seriatim.load(tmp_path / "run")
    assert again.searching({})[0].beam == model.metrics["search"]["beam"] and again.predict(
        data[:9]
    ) == model.predict(data[:9])


def test_several_runs_are_one_model(tmp_path, data, model):
    other = seriatim.fit("translate", "gru", data, width=32, updates=30, seed=2, heads=1)
    for name, each in (("a", model), ("b", other)):
        each.save(tmp_path / name)
    runs = [str(tmp_path / "a"), str(tmp_path / "b")]
    together = verbs.opened(runs)
    batch = of_pairs(model.codec.encode(data[:4]), np.arange(4))
    with torch.no_grad():
        p = [
            each.model.predict(batch).log_probs().double().exp()
            for each in (model, other, together)
        ]
    assert torch.allclose(p[2], (p[0] + p[1]) / 2, atol=1e-6)
    heard = [
        torch.stack(list(each.model.trace(batch).values())).mean((0, 2))
        for each in (model, other, together)
    ]
    assert torch.allclose(heard[2], (heard[0] + heard[1]) / 2, atol=1e-6)
    assert targets(together.predict(["a b c"], coverage=0.2)) == ["a b c"]
    assert verbs.opened(runs, how=OpeningOptions(int8=True)).int8
    other.codec = PairCodec.from_json(
        other.codec.to_json() | {"longest": 99}, "codec.json"
    )  # other lengths, the same symbols
    other.save(tmp_path / "b", overwrite=True)
    assert targets(verbs.opened(runs).predict(["a b c"])) == ["a b c"]
    letters = [" ".join("abcdefgh")] * 2  # the same symbols, and more where blanks count, too
    seriatim.fit("translate", "lexicon", pairs_of(letters, letters)).save(tmp_path / "same")
    assert len(verbs.opened([str(tmp_path / "a"), str(tmp_path / "same")]).model.parts) == 2
    seriatim.fit("translate", "lexicon", pairs_of(["a b"], ["a b"])).save(tmp_path / "c")
    several = pairs_of(letters, letters, "word")
    seriatim.fit("translate", "lexicon", several).save(tmp_path / "d")
    for run in ("c", "d"):
        with pytest.raises(ConfigError, match="same symbols"):
            verbs.opened([str(tmp_path / "a"), str(tmp_path / run)])


def uneven(count: int = 400) -> Sequences:
    """Words of which some are as frequent as others, but for a few: their order changes with what is
    held out, and both sides have words of their own."""
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 12, rng.integers(1, 6)) for _ in range(count)]
    sources = [" ".join(f"s{i}" for i in row) for row in rows]
    return pairs_of(sources, [" ".join(f"t{11 - i}" for i in row) for row in rows])


@pytest.mark.parametrize("counted", ["lexicon", "joint"])
def test_runs_of_one_file_are_mixed_though_their_symbols_have_another_order(tmp_path, counted):
    """One of them reads all of the file, the other sets some of it aside."""
    data = uneven()
    first = seriatim.fit("translate", "gru", data, width=16, heads=1, updates=60, rate=1e-2)
    second = seriatim.fit("translate", counted, data)
    for side in ("source", "target"):
        names = [getattr(each.codec, side).symbols for each in (first, second)]
        assert names[0] != names[1] and set(names[0]) == set(names[1])
    for one, other in ((first, second), (second, first)):
        mixed, half = one.joined([other]), np.log(0.5)
        batches = [of_pairs(m.codec.encode(data[:9]), np.arange(9)) for m in (one, other)]
        with torch.inference_mode():
            said = [
                m.model.predict(b).log_prob(b.y).double()
                for m, b in ((one, batches[0]), (other, batches[1]), (mixed, batches[0]))
            ]
        assert torch.allclose(said[2], torch.logaddexp(*said[:2]) + half, atol=1e-4)
        scored = mixed.predict(data[:9])["items"]
        again = Sequences(
            {
                "source": data[:9].field("source"),
                "target": Field.of_text(targets({"items": scored})),
            }
        )
        for item, score in zip(scored, mixed.score(again)["items"], strict=True):
            assert item["log_prob"] == pytest.approx(score["log_prob"], abs=1e-3)
    heard = [
        np.array(each.alignment("s1 s2 s3", target="t10 t9")["weights"])
        for each in (first, second.joined([first]))
    ]
    assert np.allclose(*heard, atol=1e-6)
    assert first.joined([second]).metrics == first.metrics


def test_a_source_may_be_a_label_or_a_vector_of_numbers():
    labels = Sequences(
        {"label": Field.of_labels(["x", "y"] * 60), "text": Field.of_text(["aab", "bba"] * 60)},
        unit="character",
    )
    model = seriatim.fit(
        "translate",
        "gru",
        labels,
        labels,
        unit="character",
        width=16,
        heads=1,
        updates=150,
        rate=1e-2,
    )
    assert targets(model.predict(prepared(labels)[:2])) == ["aab", "bba"]
    numbers = Sequences(
        {
            "source": Field.of_numbers([[0.0, 1.0], [1.0, 0.0]] * 60),
            "target": Field.of_text(["aab", "bba"] * 60),
        },
        unit="character",
    )
    model = seriatim.fit(
        "translate",
        "transformer",
        numbers,
        numbers,
        unit="character",
        width=16,
        heads=2,
        layers=1,
        updates=150,
        rate=1e-2,
    )
    assert targets(model.predict(numbers[:2])) == ["aab", "bba"]
    with pytest.raises(ConfigError, match="numbers"):
        model.generate("0 1")


@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("gru", {}),
        ("vector", {}),
        ("transformer", {"layers": 1}),
        ("transformer", {"layers": 1, "attends": False}),
    ],
)
def test_a_source_of_no_numbers_is_read_and_does_not_depend_on_its_neighbours(spec, settings):
    numbers = Sequences(
        {
            "source": Field.of_numbers([[], [1.0, 2.0], [0.5]] * 20),
            "target": Field.of_text(["c", "aab", "b"] * 20),
        },
        unit="character",
    )
    model = seriatim.fit(
        "translate",
        spec,
        numbers,
        numbers,
        unit="character",
        width=16,
        heads=2,
        updates=5,
        **settings,
    )
    alone, together = (model.score(numbers[:many])["items"][0] for many in (1, 2))
    assert alone["log_prob"] == pytest.approx(together["log_prob"], abs=1e-5)
    assert targets(model.predict(numbers[:1])) == targets(model.predict(numbers[:2]))[:1]


def test_texts_that_are_labels_are_divided_and_equal_pairs_alone_are_told_as_such():
    kinds, targets = ["dog", "cat"] * 50, [f"{number} is one" for number in range(100)]
    train, valid = TASK.cut.hold_out(
        prepared(Sequences({"source": Field.of_text(kinds), "target": Field.of_text(targets)})), []
    )
    assert len(valid) == 5 and len(train) == 95
    for field in (Field.of_text(kinds), Field.of_labels(kinds)):
        with pytest.raises(DataError, match="too few different pairs") as caught:
            TASK.cut.hold_out(
                prepared(
                    Sequences({"source": field, "target": Field.of_text(["wuff", "miau"] * 50)})
                ),
                [],
            )
        assert (
            "2 different sources and 2 different targets" in caught.value.got
            and "--valid" in caught.value.do
        )
    sources = [f"{number % 50} again" for number in range(100)]
    train, valid = TASK.cut.hold_out(
        prepared(Sequences({"source": Field.of_text(sources), "target": Field.of_text(targets)})),
        [],
    )
    assert not {valid[s]["source"] for s in range(len(valid))} & {
        train[s]["source"] for s in range(len(train))
    }


def test_data_with_labels_for_sources_is_divided_by_targets():
    labels = prepared(
        Sequences(
            {"label": Field.of_labels("xy" * 50), "text": Field.of_text(map(str, range(100)))}
        )
    )
    _, test = labels.split(0.5, 0.5)
    assert {row["source"][0] for row in (test[i] for i in range(len(test)))} == {"x", "y"}


@pytest.mark.parametrize("judge", ["bleu", "chrf", "exact"])
def test_validation_may_look_at_translations(data, judge):
    model = seriatim.fit("translate", "gru", data[:200], width=16, heads=1, updates=20, judge=judge)
    assert 0 <= model.metrics["valid"] <= 1 + 1e-4


def test_validation_tuning_and_evaluation_know_the_same_right_targets(data):
    twice = Sequences(
        {
            "source": Field.of_text(["a b"] * 2 + ["c"]),
            "target": Field.of_text(["h h h", "a b", "c"]),
        },
        unit="token",
    )
    for spec in ("gru", "lexicon+gru"):
        model = seriatim.fit(
            "translate",
            spec,
            data,
            width=32,
            updates=250,
            rate=1e-2,
            seed=1,
            heads=1,
            judge="exact",
        )
        assert targets(model.predict(["a b"])) == ["a b"]
        lesson = TranslateLesson(model.codec.encode(data), model.codec.encode(twice), model.codec)
        assert lesson.validate(model.model) < 1e-4 and model.evaluate(twice)["exact"] == 1
        assert {(each["judge"], each["worth"]) for each in model.tune_search(twice)} == {
            ("exact", 1.0)
        }


def test_weights_of_the_last_validations_are_averaged_and_resumed_to_the_bit(tmp_path, data):
    settings = {
        "width": 16,
        "heads": 1,
        "source_ngrams": 3,
        "cells": 64,
        "average": "checkpoints",
        "checkpoints": 3,
        "validations": 6,
        "scheduled_sampling": 0.3,
    }
    whole = seriatim.fit(
        "translate", "gru", data[:200], updates=24, out=tmp_path / "whole", **settings
    )
    plain = seriatim.fit("translate", "gru", data[:200], updates=24, **settings | {"average": "no"})
    assert not torch.equal(whole.model.embedding.weight, plain.model.embedding.weight)
    from seriatim.fitting import fit_events

    limits = {"updates": 24, "checkpoint_seconds": 0, "out": str(tmp_path / "cut")}
    events = fit_events(TASK, "gru", data[:200], settings=settings | limits)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 14:
            events.close()
            break
    again = seriatim.fit(
        "translate", "gru", data[:200], updates=24, out=tmp_path / "cut", resume=True, **settings
    )
    assert all(
        torch.equal(a, b)
        for a, b in zip(whole.model.arrays().values(), again.model.arrays().values(), strict=True)
    )


def test_eight_bits_translate_nearly_the_same(tmp_path, model, data):
    model.save(tmp_path / "run", overwrite=True)
    small = seriatim.load(tmp_path / "run", int8=True)
    same = np.mean(
        [
            a["target"] == b["target"]
            for a, b in zip(*(m.predict(data[:100])["items"] for m in (small, model)), strict=True)
        ]
    )
    assert same >= 0.9
    assert small.model.size() == model.model.size()


# -- records, and what is measured
def test_what_was_measured_is_kept_and_summarised_again(tmp_path, model, data):
    measured = model.measure(data[:40], beam=2)
    measured.save(tmp_path / "measured.safetensors")
    again = Measured.load(tmp_path / "measured.safetensors")
    assert model.summarise(again) == model.summarise(measured)
    assert model.row(again) == model.row(measured) and p_of_difference(again, measured) == 1
    assert len(measured.loss) == len(measured["answers"]) == len(measured["truth"])
    assert measured.item(0).keys() == {"item", "loss", "truth", "answers"}
    exact = [text in right for text, right in zip(measured["answers"], measured["truth"])]
    assert np.array_equal(measured.loss == 0, exact)


def test_the_figures_of_the_card_are_those_of_a_row(model, data):
    row = model.row(model.measure(data[:20]))
    needed = ("interval", "parameters", "symbols_per_second", "protocol")
    assert {*(figure.key for figure in TASK.figures), *needed} <= row.keys()


def test_two_models_are_told_apart_on_the_same_sources(model, data):
    other = seriatim.fit("translate", "vector", data, width=16, updates=5)
    record = model.evaluate(data[:100], against=other)["against"]
    assert record["model"] == "vector" and record["test"] == "paired bootstrap, 95 %"
    low, high = record["interval"]["difference"]
    assert low <= record["difference"] <= high and record["p"] < 0.05
    difference = [each.evaluate(data[:100])["chrf"] for each in (model, other)]
    assert record["difference"] == pytest.approx(difference[0] - difference[1])
    back = other.evaluate(data[:100], against=model)["against"]
    assert back["difference"] == pytest.approx(-record["difference"])


def test_a_sample_comes_piece_by_piece_and_a_search_at_once(model):
    for settings in ({"temperature": 1.0, "seed": 4}, {"temperature": 0.0, "beam": 0}):
        events = model.generation("a b c d", **settings)
        pieces = []
        try:
            while True:
                pieces.append(next(events))
        except StopIteration as end:
            record = end.value
        assert {each["event"] for each in pieces} == {"text"} and len(pieces) > 2
        assert "".join(each["text"] for each in pieces) == record["items"][0]["text"]
        assert record == model.generate("a b c d", **settings)
        assert targets(model.predict(["a b c d"], **settings)) == [record["items"][0]["text"]]
    assert record["items"][0]["seed"] is None and record["kind"] == "generated"
    assert list(model.generation("a b")) == []
    several = model.generate("a b", temperature=1.0, count=3, seed=5)["items"]
    assert [item["seed"] for item in several] == [5, 6, 7]


def test_what_cannot_be_met_has_no_log_probability(model):
    record = model.predict(["a"], must="a, b", length=2, never="c, d, e, f, g, h, a b, b a")
    assert record["items"][0]["log_prob"] is None
    assert target_lines(record | {"count": 2}) == ""
    found = model.generate("a", must="a, b", length=2, never="a b, b a")
    assert found["items"][0]["log_prob"] is None and generated_lines(found) == ""


def test_lines_of_targets(model):
    record = model.predict(["a b", "", "c"], beam=3)
    assert target_lines(record).split("\n") == targets(record)
    several = target_lines(model.predict(["a b", "c"], beam=3, count=2))
    blocks = (several + "\n").split("\n\n")
    assert [len(block.split("\n")) for block in blocks[:2]] == [2, 2] and blocks[2] == ""
    assert all(float(line.split("\t")[0]) <= 0 for line in blocks[0].split("\n"))


def test_tables_and_pictures_are_made_of_records(model, data):
    other = seriatim.fit("translate", "lexicon", data[:100])
    record = model.evaluate(data[:60], against=other)
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(translation_figures(record))
    shown = console.export_text()
    assert "chrF" in shown and "against" in shown and "lexicon: chrF +" in shown
    assert "beam 4" in shown and "version:" in shown and "of length" in shown
    drawn = {
        "alignment": model.alignment("a b c"),
        "tree": model.tree("a b c", beam=3),
        "lengths": record,
    }
    attending = seriatim.fit("translate", "transformer", data[:100], updates=2, width=8)
    drawn |= dict.fromkeys(("attention", "head", "lines"), attending.attention("a b c"))
    for name, picture in TASK.pictures.items():
        assert named(picture.draw)(drawn[name]).svg().startswith("<svg")


def test_a_tree_is_that_of_the_search_asked_for(model):
    records = [model.tree("a b c"), model.tree("a b c", beam=2, length_penalty=0.0, prefix="b")]
    assert [record["beam"] for record in records] == [4, 2] and records[1]["length_penalty"] == 0
    assert all(each["target"].startswith("b") for each in records[1]["results"])
    assert len(records[1]["nodes"]) < len(records[0]["nodes"])
    for settings, words in (({"temperature": 1.0}, "temperature"), ({"beam": 0}, "beam search")):
        with pytest.raises(ConfigError, match=words):
            model.tree("a", **settings)
    vector = seriatim.fit("translate", "vector", uneven(60), updates=2, width=8)
    with pytest.raises(ConfigError, match=r"attends to nothing.*joint"):
        vector.alignment("s1 s2")


def test_joint_ngrams_tell_by_which_chunks_they_write():
    """Each symbol of the target stands in one chunk, in order, and the chunks are units."""
    model = seriatim.fit("translate", "joint", uneven(60))
    for target in ("t10 t9 t8", ""):
        record = model.alignment("s1 s2 s3", target=target)
        weights = np.array(record["weights"])
        assert weights.shape == (len(record["target"]), len(record["source"]))
        assert set(weights.flat) == {0.0, 1.0} and (weights.sum(1) == 1).all()
        owners = weights.argmax(1)
        assert (np.diff(owners) >= 0).all() and owners[-1] == len(record["source"]) - 1
    with pytest.raises(DataError, match="cannot be cut into chunks"):
        model.alignment("s1", target=" ".join(["t10"] * 12))
    with pytest.raises(ConfigError, match="attends to nothing"):
        model.predict(["s1 s2"], coverage=0.2)  # a chunk may write nothing: that is no gap


def test_a_lexicon_tells_what_it_has_aligned():
    """The posterior, here by hand: how near a place is times how well it translates."""
    model = seriatim.fit("translate", "lexicon", uneven(60))
    record = model.alignment("s1 s2 s3", target="t10 t9 t8")
    weights = np.array(record["weights"])
    assert record["source"] == ["s1", "s2", "s3", "</s>"] and len(record["heads"]) == 1
    assert weights.argmax(1).tolist() == [0, 1, 2, 3] and np.allclose(weights.sum(1), 1)
    lexicon, ids = model.model, model.of_text("s1 s2 s3").x.row(0)
    far = np.abs(np.arange(4) - 1 / lexicon.ratio.item()) / (lexicon.options.spread * 4)
    table = lexicon.rows(torch.tensor(ids)[None])[0][:, model.codec.number["t9"]].double().numpy()
    expected = np.exp(-far) * (table + 1e-9)
    assert weights[1] == pytest.approx(expected / expected.sum(), abs=1e-5)
    nothing = np.array(model.alignment("s1 s2 s3", target="unheard of")["weights"])
    assert np.isfinite(nothing).all()


def test_the_search_is_tuned_while_fitting_and_said(data):
    notes = []
    events = verbs.run("fit", "translate", data[:200], model="lexicon", tune_search=True)
    verbs.follow(events, lambda event: notes.append(event.get("words", "")))
    assert any("does best on validation data (chrF by beam / penalty: 1 / 1:" in n for n in notes)


# -- files
def test_symbols_of_a_source_that_are_unknown_are_said(model):
    assert model.generate("a zebra b zebra")["notes"] == ["the model does not know 'zebra'"]
    assert model.generate("a b")["notes"] == []


@pytest.fixture
def files(tmp_path):
    lines = [f"{a} {b}" for a in "abcdef" for b in "abcdefgh"]
    (tmp_path / "train.src").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.tgt").write_text("\n".join(line.upper() for line in lines) + "\n")
    table = "".join(f"{line}\t{line.upper()}\n" for line in lines)
    (tmp_path / "pairs.tsv").write_text(table)
    (tmp_path / "named.tsv").write_text("from\tto\n" + table)
    (tmp_path / "new.txt").write_text("a b\n\nc b\n")
    return tmp_path


def test_two_files_are_pairs_and_one_is_a_table_or_sources(files):
    both = [files / "train.src", files / "train.tgt"]
    model = seriatim.fit("translate", "lexicon", both, unit="token")
    assert len(model.score(both)["items"]) == 48
    assert len(verbs.call("predict", model, files / "new.txt")["items"]) == 3
    table = verbs.call("evaluate", model, files / "pairs.tsv", columns="source,target", beam=2)
    assert table["pairs"] == 48 and table["protocol"]["search"].startswith("beam 2")
    assert table["protocol"]["seen_in_training"] == 1
    with pytest.raises(DataError, match="no targets"):
        model.evaluate(files / "new.txt")
    with pytest.raises(DataError, match="no pairs"):
        seriatim.fit("translate", "lexicon", files / "new.txt")
    with pytest.raises(DataError, match="equally many lines"):
        seriatim.fit("translate", "lexicon", [files / "train.src", files / "new.txt"])


def test_a_run_of_a_table_with_named_columns_reads_sources_and_pairs_of_files(files):
    model = seriatim.fit(
        "translate", "lexicon", files / "pairs.tsv", columns="source,target", unit="token"
    )
    model.save(files / "run")
    model = seriatim.load(files / "run")
    assert model.evaluate(files / "pairs.tsv")["pairs"] == 48
    assert len(model.predict(files / "new.txt")["items"]) == 3
    assert model.evaluate([files / "train.src", files / "train.tgt"])["pairs"] == 48


def test_a_first_line_taken_for_names_or_for_a_pair_is_told(files):
    data = ("pairs.tsv", "'a a' and 'A A' are no names of columns"), ("named.tsv", "'from', 'to'")
    for name, told in data:
        heard = []
        with listening(lambda event, heard=heard: heard.append(event.get("words"))):
            TASK.cut.sequences(files / name)
        assert any(told in words and "--columns" in words for words in heard)


def test_text_is_cut_as_the_targets_call_for_where_nothing_is_said():
    data = replace(uneven(), unit=None)
    assert seriatim.fit("translate", "lexicon", data).unit == "token"  # of few pieces
    assert seriatim.fit("translate", "lexicon", data, vocabulary=300).unit == "subword"
    assert seriatim.fit("translate", "lexicon", replace(data, unit="word")).unit == "word"
    assert seriatim.fit("translate", "lexicon", data, unit="character").unit == "character"
    assert seriatim.fit("translate", "lexicon", "copy:count=50,length=4").unit == "token"


def test_translators_are_compared(tmp_path):
    record = seriatim.compare(
        "translate",
        "copy:count=400,length=4,symbols=5",
        models="lexicon,gru",
        updates=30,
        width=16,
        heads=1,
        out=str(tmp_path / "compared"),
    )
    assert [row["status"] for row in record["rows"]] == ["ok", "ok"]
    assert record["figure"] == "quality" and all(row["sample"] for row in record["rows"])
    assert all(row["quality"] == row["chrf"] is not None for row in record["rows"])


def test_files_are_cut_into_subwords_where_nothing_is_said(files):
    both = [files / "train.src", files / "train.tgt"]
    assert seriatim.fit("translate", "lexicon", both).unit == "subword"
    data = seriatim.read(str(both[0]), str(both[1]), unit="character")
    assert seriatim.fit("translate", "lexicon", data).unit == "character"
