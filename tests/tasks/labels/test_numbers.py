"""Sequences of numbers with a label or a value: every model that reads them, what is kept, how files
are read, what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

import seriatim
from seriatim import fit, load
from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.data.sequences import Field, Sequences
from seriatim.data.series import series_with
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model
from seriatim.models.ladder import create
from seriatim.tasks import task as room
from seriatim.tasks.labels.codec import Examples, LabelCodec, of_examples
from tests.labels import processes, quantities, reviews
from tests.ladder import parts_of

SMALL = {"width": 8, "layers": 1, "heads": 2, "context": 64, "dropout": 0.3}


RUNGS = {
    f"{task} {name}": (task, name)
    for task in ("classify", "regress")
    for name, rung in room(task).rungs.items()
    if not rung.symbols and not rung.needs
}


every_model = pytest.mark.parametrize("name", RUNGS)


@cache
def examples_of(task: str) -> tuple[LabelCodec, Examples]:
    """Seventeen sequences of three channels, one of them empty."""
    dice = np.random.default_rng(1)
    rows = [dice.standard_normal((length, 3)) for length in (0, 1, 2, 30, *range(3, 16))]
    said = (
        Field.of_labels(dice.choice(["a", "b"], 17))
        if task == "classify"
        else Field.of_numbers(dice.standard_normal((17, 1)))
    )
    data = Sequences(
        {"values": Field.of_numbers(rows), {"classify": "label", "regress": "value"}[task]: said}
    )
    codec = LabelCodec.fit(data, CodecOptions(), {"classify": "label", "regress": "value"}[task])
    return codec, codec.encode(data)


def made(name: str) -> Model:
    task, rung = RUNGS[name]
    known = vars(parts_of(rung, {}, task)[0].options)
    codec, _ = examples_of(task)
    return create(
        parts_of(rung, {key: value for key, value in SMALL.items() if key in known}, task),
        codec.size,
        *codec.sizes,
    )


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
        return (
            torch.cat(found.parameters, -1) if hasattr(found, "parameters") else found.log_probs()
        )[:, 0].double()


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b, atol=1e-5, rtol=1e-5))


@every_model
def test_answers_differ_from_sequence_to_sequence(name):
    found = asked(small_model(name), batch_of(name))
    assert found.isfinite().all() and (found.std(0).max() > 1e-3) == (
        RUNGS[name][1] not in ("majority", "average")
    )


@every_model
def test_padding_is_not_read(name):
    batch = batch_of(name)
    padding = (torch.arange(batch.x.shape[1]) >= batch.x_lengths.clamp(min=1)[:, None])[..., None]
    assert close(
        asked(small_model(name), replace(batch, x=torch.where(padding, 7.0, batch.x))),
        asked(small_model(name), batch),
    )


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


@pytest.mark.parametrize(
    "name", [name for name, (task, rung) in RUNGS.items() if not room(task).rungs[rung].counts]
)
def test_gradients_reach_every_parameter(name):
    torch.manual_seed(1)
    model = made(name)
    model.loss(batch_of(name))[0].backward()
    assert all(
        parameter.grad is not None and parameter.grad.abs().sum() > 0
        for parameter in model.parameters()
    )


@pytest.mark.parametrize(
    ("task", "rung", "data"),
    [
        ("classify", "gru", processes(30)),
        ("classify", "linear", processes(30)),
        ("regress", "gru", quantities(30)),
        ("regress", "linear", reviews(30)),
        ("regress", "lstm", reviews(30)),
        ("regress", "average", reviews(30)),
    ],
)
def test_a_run_is_kept_to_the_bit(task, rung, data, tmp_path):
    model = fit(
        task,
        rung,
        data,
        out=tmp_path / "run",
        **({} if room(task).rungs[rung].counts else {"updates": 2, "width": 8}),
    )
    again = load(tmp_path / "run")
    assert (
        again.predict(data) == model.predict(data)
        and again.codec.to_json() == model.codec.to_json()
        and repr(again) == repr(model)
    )
    record, other = model.evaluate(data), again.evaluate(data)
    assert all(record[key] == other[key] for key in record if "second" not in key)


@pytest.mark.parametrize(
    "damage",
    [
        {"numbers": {"mean": [], "deviation": [], "vector": False}},
        {"labels": ["a"]},
        {"own": 3},
        {"letters": "ba"},
    ],
)
def test_a_damaged_codec_is_refused(damage):
    codec, _ = examples_of("regress")
    assert LabelCodec.from_json(codec.to_json(), "codec.json").sizes == codec.sizes
    with pytest.raises(DataError, match=r"codec\.json"):
        LabelCodec.from_json(codec.to_json() | damage, "codec.json")


def test_rows_of_numbers_and_of_channels_are_read(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"values": [1, 2.5], "label": 3}\n{"values": [], "label": 4}\n')
    data = seriatim.read(str(file))
    assert (
        data.main.raw(0).tolist() == [1, 2.5]
        and data.main.lengths.tolist() == [2, 0]
        and data.unit is None
    )
    file.write_text('{"values": [[1, 2], [3, 4]], "value": 3}\n{"values": [], "value": 3.5}\n')
    data = seriatim.read(str(file))
    assert (
        data.main.flat.tolist() == [[1, 2], [3, 4]]
        and data.main.lengths.tolist() == [2, 0]
        and data.fields["value"].flat.tolist() == [3, 3.5]
    )


@pytest.mark.parametrize(
    "second",
    [
        "[[1, 2], [3]]",
        "[[1, 2, 3]]",
        "[1, 2]",
        "[[1, NaN]]",
        "[[1, null]]",
        "[[]]",
        '[["a", 1]]',
        "[[[1]]]",
    ],
)
def test_rows_that_differ_are_refused_with_their_line(tmp_path, second):
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"values": [[1, 2]], "label": "a"}\n{"values": ' + second + ', "label": "b"}\n'
    )
    with pytest.raises(DataError, match=r"a\.jsonl:2: .*'values'"):
        seriatim.read(str(file))


def test_each_series_of_a_long_table_is_a_sequence(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text(
        "who,day,pulse,label\na,2024-01-02,4,ill\nb,2024-01-01,7,well\na,2024-01-01,3,ill\nb,2024-01-02,8,well\n"
    )
    data = series_with(seriatim.read(str(file)), "label", "who")
    assert (
        [data.main.raw(s).tolist() for s in range(2)] == [[[3], [4]], [[7], [8]]]
        and data.lines.tolist() == [2, 3]
        and data.by == "line"
    )
    assert [data.fields["label"].raw(s) for s in range(2)] == [["ill"], ["well"]]
    file.write_text(file.read_text().replace("8,well", "8,ill"))
    with pytest.raises(DataError, match=r"long\.csv:5: .*same in all rows"):
        series_with(seriatim.read(str(file)), "label", "who")


def with_nan(data: Sequences) -> Sequences:
    values = data.main.values.copy()
    values[data.main.offsets[3]] = np.nan
    name = data.main_name()
    return replace(
        data,
        fields=data.fields | {name: replace(data.main, values=values)},
        origin="file.jsonl",
        lines=np.arange(1, len(data) + 1),
    )


@pytest.mark.parametrize(
    ("task", "data"), [("classify", processes(40)), ("regress", quantities(40))]
)
def test_missing_numbers_are_refused_by_their_sequence_and_line(task, data):
    with pytest.raises(
        DataError, match=r"file\.jsonl:4: sequence 4 holds numbers that are missing"
    ):
        fit(task, "linear", with_nan(data))
    with pytest.raises(
        DataError, match=r"file\.jsonl:4: sequence 4 holds numbers that are missing"
    ):
        fit(task, "linear", data).predict(with_nan(data))


def test_other_data_than_it_was_trained_on_is_refused():
    one, two, text = (
        fit("classify", "linear", processes(20)),
        fit("regress", "linear", quantities(20)),
        fit("regress", "linear", reviews(20)),
    )
    cases = [
        (one, quantities(3), "2 channels"),
        (two, processes(3), "1 channel"),
        (two, reviews(3), "text"),
        (text, processes(3), "not text"),
    ]
    for model, other, words in cases:
        with pytest.raises(DataError, match=words):
            model.predict(other)


@pytest.mark.parametrize(
    ("task", "spec", "settings", "words"),
    [
        ("classify", "gru", {"letters": "lstm"}, "letter by letter"),
        ("regress", "gru", {"label_smoothing": 0.1}, "not smoothed"),
        ("regress", "linear", {"calibrate": True}, "calibrate"),
        ("tag", "gru", {"letters": "lstm"}, "letter by letter|same label"),
    ],
)
def test_what_is_not_for_numbers_or_values_is_refused(task, spec, settings, words):
    data = {"classify": processes(20), "regress": quantities(20)}.get(task) or replace(
        processes(20), fields={"values": processes(20).main, "tags": Field.of_symbols([["x"]] * 20)}
    )
    with pytest.raises((DataError, ConfigError), match=words):
        fit(task, spec, data, **settings)
