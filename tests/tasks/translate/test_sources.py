"""Several sources of different kinds for one target."""

from __future__ import annotations

import json

import numpy as np
import polars
import pytest
import torch

import seriatim
from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.scaled import Scaled
from seriatim.comparison.running import copies
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.fitting import fit_events
from seriatim.tasks.translate import TASK
from seriatim.tasks.translate.codec import PairCodec, of_pairs
from seriatim.tasks.translate.models.encoder_decoder import EncoderDecoder, packed
from seriatim.tasks.translate.options import PairReading
from seriatim.tasks.translate.pictures import alignment as draw
from seriatim.tasks.translate.references import gathered
from seriatim.tasks.translate.sources import further_sources, with_further

COLOURS = {"rose": "red", "leaf": "green", "sky": "blue", "coal": "black"}
SETTINGS = {"unit": "token", "width": 16, "heads": 1, "threads": 1, "seed": 1}


def seen(count: int, seed: int = 0) -> dict[str, list]:
    """A colour that only the word tells, and a size that only the numbers tell."""
    dice = np.random.default_rng(seed)
    words = [str(dice.choice(list(COLOURS))) for _ in range(count)]
    numbers = [dice.normal(size=2).tolist() for _ in range(count)]
    said = (f"{'big' if v[0] > 0 else 'small'} {COLOURS[w]}" for w, v in zip(words, numbers))
    return {"source": words, "picture": numbers, "target": list(said)}


def right(model, data: dict[str, list]) -> float:
    """The share of targets that are those of their own row."""
    asked = {name: column for name, column in data.items() if name != "target"}
    found = [item["target"] for item in model.predict(asked)["items"]]
    return float(np.mean([a == b for a, b in zip(found, data["target"], strict=True)]))


@pytest.fixture(scope="module")
def model():
    return seriatim.fit("translate", "gru", seen(400), also="picture", updates=150, **SETTINGS)


def arrays_of(predictor) -> dict[str, bytes]:
    return {name: each.numpy().tobytes() for name, each in predictor.model.arrays().items()}


def test_a_target_of_two_sources_is_learned_from_both_and_not_from_one(model):
    test = seen(60, 9)
    assert right(model, test) > 0.9
    alone = seriatim.fit("translate", "gru", seen(400), seen(50, 8), updates=150, **SETTINGS)
    assert right(alone, {key: test[key] for key in ("source", "target")}) < 0.75


def test_one_vector_of_several_sources_is_their_mean(model):
    pooled = seriatim.fit(
        "translate", "vector", seen(400), also="picture", updates=150, rate=1e-2, **SETTINGS
    )
    assert right(pooled, seen(60, 9)) > 0.9 and pooled.model.kinds is None
    batch = of_pairs(pooled.codec.encode(prepared(seen(5))), np.arange(5))
    whole = pooled.model.everything(batch)[2]
    one = Batch(batch.x, batch.x_lengths, batch.y, batch.y_mask)
    with torch.inference_mode():
        pictures, lengths = batch.also[0]
        heard = pooled.model.also[0](pictures, lengths, torch.nn.Identity())
        second = pooled.model.pool(heard, lengths)
        pooled.model.also, rest = torch.nn.ModuleList(), pooled.model.also
        first = pooled.model.everything(one)[2]
        pooled.model.also = rest
    assert torch.allclose(whole, (first + second) / 2, atol=1e-6)


def prepared(data: dict[str, list]) -> Sequences:
    return TASK.cut.prepare(TASK.cut.sequences(data, PairReading(also="picture")), {})


def test_sources_stand_one_after_another_with_the_padding_behind():
    """By hand: rows of one and two, and of two and one vectors."""
    first = torch.tensor([[[1.0], [9.0]], [[2.0], [3.0]]]), torch.tensor([1, 2])
    second = torch.tensor([[[4.0], [5.0]], [[6.0], [9.0]]]), torch.tensor([2, 1])
    x, lengths = packed([first, second])
    assert x[..., 0].tolist() == [[1.0, 4.0, 5.0], [2.0, 3.0, 6.0]] and lengths.tolist() == [3, 3]
    third = torch.tensor([[[7.0]], [[8.0]]]), torch.tensor([1, 0])
    x, lengths = packed([first, third])
    assert x[0, :2, 0].tolist() == [1.0, 7.0] and x[1, :2, 0].tolist() == [2.0, 3.0]
    assert lengths.tolist() == [2, 2]


def test_neighbours_and_padding_change_no_answer(model):
    data = {
        "source": ["rose", "leaf sky coal rose", "sky"],
        "picture": [[1.0, 0.0], [-1.0, 2.0], [0.5, 0.5]],
    }
    together = [item["log_prob"] for item in model.predict(data)["items"]]
    for s, expected in enumerate(together):
        one = {name: column[s : s + 1] for name, column in data.items()}
        assert model.predict(one)["items"][0]["log_prob"] == pytest.approx(expected, abs=1e-5)


def test_alignment_says_which_source_was_used(model):
    record = model.alignment({"source": "rose", "picture": [1.5, 0.0]}, target="big red")
    assert record["source"] == ["rose", "</s>", "picture"]
    assert record["origins"] == ["source", "source", "picture"]
    size, colour, _ = np.array(record["weights"])
    assert size[2] > 0.5 > colour[2]
    drawn = draw(record)
    assert any(row["attended to"] == "picture" for row in drawn.rows)
    assert "Read are source, picture." in drawn.says


def test_verbs_of_one_text_take_a_dict_and_refuse_a_text_in_words(model):
    one = {"source": "leaf", "picture": [-2.0, 0.0]}
    (item,) = model.generate(one)["items"]
    assert (item["text"], item["prompt"]) == ("small green", "leaf")
    assert seriatim.generate(model, one)["items"][0]["text"] == "small green"
    assert model.tree(one, beam=2)["results"][0]["target"] == "small green"
    assert "does not know 'oak'" in model.generate({**one, "source": "oak"})["notes"][0]
    for verb in (model.generate, model.alignment, model.tree):
        with pytest.raises(ConfigError, match=r"beside the source 'picture'.*`predict`.*a dict"):
            verb("leaf")
    with pytest.raises(DataError, match="no column 'picture', which is read beside"):
        model.predict(["leaf"])
    with pytest.raises(DataError, match="numbers"):
        model.predict({"source": ["leaf"], "picture": ["a picture"]})


@pytest.mark.parametrize("form", ["jsonl", "parquet", "csv", "tsv"])
def test_further_columns_of_files_are_read_as_in_the_fit(form, tmp_path):
    data = seen(40)
    size = [v[0] for v in data["picture"]]
    table = {"source": data["source"], "size": size, "note": ["so so"] * 40}
    table |= {"target": data["target"]} | (
        {"picture": data["picture"]} if form in ("jsonl", "parquet") else {}
    )
    file = tmp_path / f"pairs.{form}"
    frame = polars.DataFrame(table)
    if form == "jsonl":
        frame.write_ndjson(file)
    elif form == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file, separator="," if form == "csv" else "\t")
    also = "size,note" if "picture" not in table else "picture, size"
    model = seriatim.fit("translate", "gru", file, also=also, updates=3, **SETTINGS)
    kinds = [isinstance(codec, Scaled) for codec in model.codec.also.values()]
    assert kinds == [True, "picture" in table]
    model.save(tmp_path / "run")
    again = seriatim.load(tmp_path / "run")
    assert again.reading.also == also and len(again.predict(file)["items"]) == 40
    assert again.score(file)["items"] == model.score(table)["items"]


def test_columns_that_are_not_there_or_not_beside_are_refused():
    data = seen(20)
    with pytest.raises(DataError, match="no column 'pictures'"):
        seriatim.fit("translate", "gru", data, also="pictures", **SETTINGS)
    with pytest.raises(ConfigError, match="another column"):
        seriatim.fit("translate", "gru", data, also="target", **SETTINGS)
    for name in ("lexicon", "joint", "lexicon+gru"):
        with pytest.raises(ConfigError, match=r"a model that counts reads one source.*2 sources"):
            seriatim.fit("translate", name, data, also="picture", unit="token")


def test_the_codec_of_several_sources_comes_back_and_strangers_are_refused():
    codec = PairCodec.fit(prepared(seen(20)), CodecOptions(unit="token"))
    record = json.loads(json.dumps(codec.to_json()))
    again = PairCodec.from_json(record, "codec.json")
    assert again.to_json() == codec.to_json()
    assert again.sizes == codec.sizes and codec.sizes[-1] == ((0, 2),)
    assert (
        "also"
        not in PairCodec.from_json(
            record | {"pair": {k: v for k, v in record["pair"].items() if k != "also"}},
            "codec.json",
        ).to_json()["pair"]
    )
    for harm in (
        [],
        {"": record["pair"]["target"]},
        {"picture": None},
        {"picture": {}},
        {"a": {"mean": []}},
    ):
        with pytest.raises(DataError):
            PairCodec.from_json(record | {"pair": record["pair"] | {"also": harm}}, "codec.json")


def test_sources_are_equal_if_all_of_them_are():
    data = {"source": ["a", "a", "a"], "picture": [[1.0], [2.0], [1.0]], "target": ["x", "y", "z"]}
    pairs = with_further(TASK.cut.sequences(data), "picture")
    assert further_sources(pairs) == ["picture"] and with_further(pairs, "picture") is not None
    first, references = gathered(pairs)
    assert first.tolist() == [0, 1] and [len(each) for each in references] == [2, 1]
    hashes = TASK.cut.pieces(pairs)
    other = TASK.cut.pieces(
        with_further(TASK.cut.sequences(data | {"picture": [[1.0], [2.0], [3.0]]}), "picture")
    )
    assert (hashes == other).tolist() == [True, True, False]


def test_equal_sources_stay_together_and_equal_words_do_not():
    data = TASK.cut.prepare(TASK.cut.sequences(seen(200), PairReading(also="picture")), {})
    train, valid = TASK.cut.hold_out(data, [])
    assert len(valid) == 10 and "text" not in train.fields
    assert set(COLOURS) >= {str(valid.field("source").raw(s)) for s in range(10)}
    assert list(train.fields) == ["source", "target", "also:picture"]


def test_runs_of_the_same_sources_are_mixed(model):
    other = seriatim.fit(
        "translate", "transformer", seen(400), also="picture", updates=20, layers=1, **SETTINGS
    )
    mixed = model.joined([other])
    test = seen(4, 5)
    assert len(mixed.predict(test)["items"]) == 4
    assert mixed.alignment({"source": "rose", "picture": [1.0, 1.0]})["origins"][-1] == "picture"
    plain = seriatim.fit("translate", "gru", seen(100), seen(9, 2), updates=2, **SETTINGS)
    with pytest.raises(ConfigError, match="know the same symbols"):
        model.joined([plain])


def test_what_counts_is_left_out_of_a_comparison_and_words_that_come_again_are_no_copies():
    data = prepared(seen(150))
    assert TASK.cut.unable(data) == ["lexicon", "joint"] and copies(TASK.cut.by_key(data)) == 0
    plain = TASK.cut.prepare(TASK.cut.sequences(seen(150)), {})
    assert TASK.cut.unable(plain) == [] and copies(TASK.cut.by_key(plain)) > 0.9
    asked = {"also": "picture", "models": "vector,gru", "updates": 2} | SETTINGS
    record = seriatim.compare("translate", seen(100), **asked)
    assert {row["model"] for row in record["rows"]} == {"vector", "gru"}


def test_a_killed_fit_of_several_sources_resumes_to_the_same_bits(tmp_path):
    settings = SETTINGS | {
        "also": "picture", "updates": 12, "dropout": 0.3, "rows": 4, "length": 16, "validations": 6,
    }  # fmt: skip
    data = seen(60)
    whole = seriatim.fit("translate", "gru", data, out=tmp_path / "whole", **settings)
    asked = settings | {"checkpoint_seconds": 0.0, "out": str(tmp_path / "halves")}
    events = fit_events(TASK, "gru", data, settings=asked)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 6:
            break
    events.close()
    again = seriatim.fit("translate", "gru", data, out=tmp_path / "halves", resume=True, **settings)
    assert again.metrics["updates"] == 12
    assert arrays_of(again) == arrays_of(whole) == arrays_of(seriatim.load(tmp_path / "halves"))


def test_without_further_sources_a_model_is_as_it_was():
    """No weight more, and the same numbers drawn at the start."""
    options = TASK.rungs["gru"].options(mixer="gru", width=8, heads=1, score="dot")
    torch.manual_seed(0)
    one = EncoderDecoder(5, options, 6)
    torch.manual_seed(0)
    two = EncoderDecoder(5, options, 6, 0, False, 0, ())
    assert one.arrays().keys() == two.arrays().keys()
    assert not [name for name in one.arrays() if name.startswith(("also", "kinds"))]


def test_an_empty_further_source_is_read_as_its_end():
    data = Sequences(
        {
            "source": Field.of_text(["a", "b"]),
            "target": Field.of_text(["x", "y"]),
            "also:more": Field.of_text(["", "c d"]),
        },
        unit="token",
    )
    codec = PairCodec.fit(data, CodecOptions(unit="token"))
    batch = of_pairs(codec.encode(data), np.arange(2))
    assert batch.also[0][1].tolist() == [1, 3]
    assert batch.rows([1]).also[0][1].tolist() == [3]
