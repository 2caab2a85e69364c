"""Sequences of sets: the distribution, the codec, every rung, the predictor and the command line."""

from __future__ import annotations

import io
import itertools
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from rich.console import Console

import seriatim as st
from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.data.sequences import Field, Sequences
from seriatim.distributions.symbols import Bernoulli
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.models.base import Model
from seriatim.models.ladder import create
from seriatim.tasks.sets import TASK
from seriatim.tasks.sets.codec import SetCodec, of_sets, set_prompts
from seriatim.tasks.sets.metrics import score_sets
from seriatim.tasks.sets.models import Frequencies, PooledCoins
from seriatim.tasks.sets.options import FrequenciesOptions
from seriatim.tasks.sets.tables import generated_lines, next_lines, score_lines, set_figures
from seriatim.verbs import call

ELEMENTS, ROWS, TIME = 4, 5, 11
TOKENS = CodecOptions(unit="token")
SMALL = {"width": 16, "layers": 2, "heads": 2, "context": 6, "dropout": 0.3}
STAYS, COMES = (
    0.9,
    0.15,
)  # how the source goes on: an element that sounds goes on sounding, another one sets in
every_rung = pytest.mark.parametrize("name", TASK.rungs)


@cache
def small_model(name: str) -> Model:
    """Counts are counted, weights are random but not small."""
    torch.manual_seed(0)
    model = create(TASK.parts(name, {} if name == "frequencies" else SMALL), ELEMENTS)
    if name == "frequencies":
        model.count(random_sets(30, 7), stop=False)
        return model
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model.eval()


def random_sets(*lengths: int) -> Field:
    dice = np.random.default_rng(len(lengths))
    values = (dice.random((sum(lengths), ELEMENTS)) < [0.1, 0.4, 0.6, 0.9]).astype(np.float32)
    return Field(values, np.concatenate([[0], np.cumsum(lengths)]), "numbers")


def random_batch() -> Batch:
    return of_sets(random_sets(*[TIME] * ROWS), np.arange(ROWS))


def source(sequences: int, seed: int, time: int = 30) -> Sequences:
    """Each of the elements sounds by itself, a Markov chain from silence on; nats per step are known."""
    dice, sounds, steps = np.random.default_rng(seed), np.zeros((sequences, ELEMENTS), bool), []
    chance, entropy = 0.0, 0.0
    for _ in range(time):
        sounds = dice.random(sounds.shape) < np.where(sounds, STAYS, COMES)
        steps.append(sounds)
        entropy += ELEMENTS * (chance * surprise(STAYS) + (1 - chance) * surprise(COMES)) / time
        chance = chance * STAYS + (1 - chance) * COMES
    lines = (
        " ".join("+".join(str(60 + i) for i in np.flatnonzero(step)) or "." for step in row)
        for row in np.stack(steps, 1)
    )
    return Sequences({"text": Field.of_text(lines)}, unit="token", entropy=entropy)


def true_nats(codec: SetCodec, data: Sequences) -> float:
    """Nats per step of data from the source, by the rule it was made by."""
    sets, losses = codec.encode(data.main), []
    for s in range(len(sets)):
        row = sets.row(s)
        chance = np.where(np.vstack([np.zeros_like(row[:1]), row[:-1]]) > 0, STAYS, COMES)
        losses.append(-np.log(np.where(row > 0, chance, 1 - chance)).sum(1))
    return float(np.concatenate(losses).mean())


def surprise(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(torch.allclose(a.double(), b.double(), atol=1e-5, rtol=0))


ALL_SETS = torch.tensor(list(itertools.product([0.0, 1.0], repeat=ELEMENTS)))  # (16, V)


# The distribution


def test_the_log_probability_is_that_of_a_slow_twin_and_all_sets_sum_to_one():
    torch.manual_seed(0)
    logits = 3 * torch.randn(2, 3, ELEMENTS)
    found = torch.stack(
        [Bernoulli(logits).log_prob(each.expand(2, 3, -1)) for each in ALL_SETS], -1
    )  # (2, 3, 16)
    for b, t, number in np.ndindex(2, 3, len(ALL_SETS)):
        p = [1 / (1 + math.exp(-a)) for a in logits[b, t].tolist()]
        slow = math.prod(
            each if inside else 1 - each
            for each, inside in zip(p, ALL_SETS[number].tolist(), strict=True)
        )
        assert found[b, t, number].exp().item() == pytest.approx(slow, rel=1e-4)
    assert close(found.exp().sum(-1), torch.ones(2, 3))
    assert close(found.mean(-1), Bernoulli(logits).mean_log_prob())
    assert close(ALL_SETS[found.argmax(-1)], Bernoulli(logits).mode())
    assert close((found.exp()[..., None] * ALL_SETS).sum(-2), Bernoulli(logits).mean())


def test_samples_follow_the_probabilities_and_the_same_dice_throw_the_same():
    sets = Bernoulli(torch.tensor([-2.0, 0.0, 0.5, 3.0]).expand(20_000, -1))
    drawn, again = (sets.sample(torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(drawn, again)
    for each in ALL_SETS:
        p = sets[0].log_prob(each).exp().item()
        share = (drawn == each).all(-1).float().mean().item()
        assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / len(drawn)) + 1e-9


def test_what_is_nearly_certain_has_a_finite_price():
    sure = Bernoulli(torch.tensor([200.0, -200.0]))
    assert (
        sure.log_prob(torch.tensor([1.0, 0.0])).item() == 0
        and sure.log_prob(torch.tensor([0.0, 1.0])).item() == -400
    )


def test_sets_are_indexed_and_joined_like_their_logits():
    logits = torch.randn(4, 6, ELEMENTS)
    whole = Bernoulli(logits)
    for index in (
        2,
        slice(1, 3),
        (slice(None), 0),
        (torch.tensor([1, 2]), torch.tensor([5, 0])),
        (slice(None), None, 1),
    ):
        assert torch.equal(whole[index].logits, logits[index])
    assert torch.equal(Bernoulli.concatenate([whole[:, :1], whole[:, 1:]], 1).logits, logits)


# The codec


def test_elements_come_in_the_order_of_their_frequency_and_rare_ones_are_left_out():
    text = Field.of_text(["b+a . c", "b a+b c"])
    codec = SetCodec.fit(text, TOKENS)
    assert codec.symbols == ["b", "a", "c"]
    assert codec.encode(text).values.tolist() == [
        [1, 1, 0],
        [0, 0, 0],
        [0, 0, 1],
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 1],
    ]
    assert (
        codec.encode(text).offsets.tolist() == [0, 3, 6]
        and codec.encode(text).values.dtype == np.float32
    )
    assert SetCodec.fit(text, CodecOptions(unit="token", minimum_count=3)).symbols == ["b"]
    assert SetCodec.fit(
        Field.of_text(["A+b a"]), CodecOptions(unit="token", lower=True)
    ).symbols == ["a", "b"]


def test_unknown_elements_are_left_out_and_counted():
    codec, text = (
        SetCodec.fit(Field.of_text(["a+b"]), TOKENS),
        Field.of_text(["a+x y", "", "b", "x+y+b"]),
    )
    assert codec.unknown(text).tolist() == [2, 0, 0, 2]
    assert codec.encode(text).values.tolist() == [[1, 0], [0, 0], [0, 1], [0, 1]]
    given = Field.of_symbols([["a+x", "y"], ["b"], ["x+y+b", "a"]]).take(slice(1, 3))
    assert codec.unknown(given).tolist() == [0, 2] and codec.encode(given).values.tolist() == [
        [0, 1],
        [0, 1],
        [1, 0],
    ]


names = some.text(some.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=3)


@settings(max_examples=50, deadline=None)
@given(
    some.lists(
        some.lists(some.sets(names, max_size=4), min_size=1, max_size=6), min_size=1, max_size=4
    ).filter(lambda rows: any(map(any, rows)))
)
def test_what_is_written_is_read_again(rows):
    text = Field.of_text(" ".join("+".join(each) or "." for each in row) for row in rows)
    codec = SetCodec.fit(text, TOKENS)
    sets = codec.encode(text)
    again = codec.encode(Field.of_text(codec.decode(sets.row(s)) for s in range(len(rows))))
    assert np.array_equal(sets.values, again.values) and np.array_equal(sets.offsets, again.offsets)
    assert [{codec.symbols[i] for i in np.flatnonzero(row)} for row in sets.values] == [
        each for row in rows for each in row
    ]


@pytest.mark.parametrize("step", ["60++64", "+60", "60+", "+", "60+64+60", "60+.", ".+."])
def test_a_step_that_is_no_set_is_an_error_with_its_line(step, tmp_path):
    (tmp_path / "roll.txt").write_text(f"60 . 64\n60 {step} 62\n")
    with pytest.raises(DataError) as caught:
        st.fit("sets", "frequencies", tmp_path / "roll.txt")
    assert (
        caught.value.line == 2
        and caught.value.file.endswith("roll.txt")
        and step in caught.value.got
    )


def test_a_codec_is_kept_as_json_and_checked_when_it_is_read():
    codec = SetCodec.fit(Field.of_text(["b+a . c", "b"]), TOKENS)
    record = json.loads(json.dumps(codec.to_json()))
    again = SetCodec.from_json(record, "codec.json")
    assert (
        isinstance(again, SetCodec)
        and again.symbols == codec.symbols
        and again.options == codec.options
    )
    for wrong in ([], "abc", ["a", "a"], ["a", 1], ["a+b"], ["."], ["a b"], [""], None):
        with pytest.raises(DataError):
            SetCodec.from_json(record | {"elements": wrong}, "codec.json")


# Every rung


def test_a_set_is_read_as_the_sum_of_its_elements_and_the_start_as_one_of_its_own():
    model, batch = small_model("lstm"), random_batch()
    read, vectors = (
        model.embed(model.opened(batch.y)),
        model.embedding.weight,
    )  # (B, 1 + T, D), (V + 1, D)
    for row, t in np.ndindex(ROWS, TIME):
        slow = sum(
            (vectors[m] for m in range(ELEMENTS) if batch.y[row, t, m]),
            torch.zeros_like(vectors[0]),
        )
        assert close(read[row, t + 1], slow)
    assert close(read[:, 0], vectors[-1].expand(ROWS, -1))


def test_a_score_leaves_the_model_training_as_it_was():
    model = create(TASK.parts("rnn", SMALL), ELEMENTS)
    first, second = (score_sets(model, random_sets(9, 3)).log_prob.values for _ in range(2))
    assert model.training and np.array_equal(first, second)  # nothing was dropped


@every_rung
def test_the_loss_counts_steps_alike_and_smoothing_spreads_over_all_sets(name):
    model, batch = small_model(name), of_sets(random_sets(9, 3), np.arange(2))
    with torch.no_grad():
        following = model.predict(batch)
        over_all = torch.stack(
            [following.log_prob(each.expand_as(batch.y)) for each in ALL_SETS]
        ).mean(0)  # (B, T)
        for smoothing in (0.0, 0.3):
            slow = (1 - smoothing) * following.log_prob(batch.y)[
                batch.y_mask
            ] + smoothing * over_all[batch.y_mask]
            assert close(model.loss(batch, None, smoothing)[0], -slow.mean())


def test_frequencies_are_counted():
    model = create(TASK.parts("frequencies", {"add": 0.5}), 2)
    model.count(
        Field(np.array([[1, 0], [1, 1], [1, 0]], np.float32), np.array([0, 2, 3]), "numbers"),
        stop=False,
    )
    following, _ = model.start(set_prompts([np.zeros((0, 2), np.float32)]))
    assert following.mean()[0].tolist() == pytest.approx([3.5 / 4, 1.5 / 4])


# The predictor


@pytest.fixture(scope="module")
def fitted() -> dict[str, st.Predictor]:
    """Models of the source: the floor, and one that remembers."""
    train, valid = source(150, 1), source(20, 2)
    return {
        "frequencies": st.fit("sets", "frequencies", train, valid),
        "lstm": st.fit("sets", "lstm", train, valid, width=32, rows=4, epochs=9, threads=1),
    }


def test_a_network_comes_close_to_the_entropy_of_a_source_and_nothing_goes_below(fitted):
    test = source(300, 3)
    records = {name: model.evaluate(test) for name, model in fitted.items()}
    lstm, floor = records["lstm"], records["frequencies"]
    assert lstm["entropy_bits"] == pytest.approx(test.entropy / math.log(2))
    truth = true_nats(fitted["lstm"].codec, test) / math.log(
        2
    )  # what the source itself says of this very data
    assert truth == pytest.approx(lstm["entropy_bits"], abs=0.05)
    assert truth < lstm["bits_per_step"] < truth + 0.08 and floor["bits_per_step"] > truth + 1
    assert lstm["excess_bits"] == pytest.approx(lstm["bits_per_step"] - lstm["entropy_bits"])
    low, high = lstm["interval"]["nats_per_step"]
    assert low < lstm["nats_per_step"] < high < floor["interval"]["nats_per_step"][0]
    assert lstm["f1"] > floor["f1"] and lstm["exact"] > floor["exact"]


def test_figures_are_those_of_a_slow_count(fitted):
    model, data = fitted["lstm"], Sequences.of(["60 60+61 . 99+62", "", "63"], unit="token")
    record, codec = model.evaluate(data), model.codec
    right = found = true = exact = 0
    for line in ("60 60+61 . 62", "63"):
        past: list[str] = []
        for step in line.split():
            asked = Sequences.of([" ".join(past)], unit="token")
            [answer] = model.predict(asked, top=codec.size)["items"]
            likely = {each["symbol"] for each in answer["next"] if each["probability"] > 0.5}
            truth = set() if step == "." else set(step.split("+"))
            right, found, true, exact = (
                right + len(likely & truth),
                found + len(likely),
                true + len(truth),
                exact + (likely == truth),
            )
            past.append(step)
    assert (record["steps"], record["sequences"], record["unknown"], record["elements"]) == (
        5,
        2,
        1,
        true,
    )
    assert (
        record["f1"] == pytest.approx(2 * right / (found + true)) and record["exact"] == exact / 5
    )
    scores = model.score(data)["items"]
    assert [(row["tokens"], row["unknown"]) for row in scores] == [
        (4, 1),
        (0, 0),
        (1, 0),
    ] and scores[1]["log_prob"] is None
    assert -sum(row["log_prob"] or 0 for row in scores) / 5 == pytest.approx(
        record["nats_per_step"]
    )


def test_sets_are_drawn_as_often_as_they_are_predicted(fitted):
    model = fitted["lstm"]
    [answer] = model.predict(Sequences.of(["60+61 60"], unit="token"), top=ELEMENTS)["items"]
    drawn = model.generate("60+61 60", length=1, count=2000, seed=5)["items"]
    assert all(each["text"].startswith("60+61 60 ") for each in drawn)
    for each in answer["next"]:
        share, p = (
            np.mean([each["symbol"] in result["text"].split()[-1].split("+") for result in drawn]),
            each["probability"],
        )
        assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 2000)


def test_a_result_depends_on_its_seed_alone_and_is_scored_as_it_was_drawn(fitted):
    model = fitted["lstm"]
    several = [item["text"] for item in model.generate(length=9, count=3, seed=4)["items"]]
    assert several == [model.text(length=9, seed=4 + i) for i in range(3)]
    assert len(set(several)) == 3
    [result] = model.generate(length=9, seed=4)["items"]
    [scored] = model.score(Sequences.of([result["text"]], unit="token"))["items"]
    assert (
        scored["log_prob"] == pytest.approx(result["log_prob"], abs=1e-3)
        and scored["tokens"] == result["tokens"] == 9
    )
    greedy = [model.text(length=9, temperature=0, seed=seed) for seed in (1, 2)]
    assert greedy[0] == greedy[1]
    with pytest.raises(ConfigError, match="beam"):
        model.generate(beam=3)


@pytest.mark.parametrize("name", ["frequencies", "gru"])
def test_saved_and_loaded_to_the_same_bits(name, tmp_path):
    more = {} if name == "frequencies" else {"updates": 2, "width": 8, "threads": 1}
    model, data = st.fit("sets", name, source(20, 1), **more), source(5, 9)
    again = st.load(model.save(tmp_path / "run"))
    assert type(again) is type(model) and again.codec.to_json() == model.codec.to_json()
    assert again.score(data) == model.score(data) and again.generate(
        length=5, seed=2
    ) == model.generate(length=5, seed=2)
    if name == "frequencies":
        with pytest.raises(ConfigError, match="8 bits"):  # counts are not linear maps
            st.load(tmp_path / "run", int8=True)
        return
    eight = st.load(tmp_path / "run", int8=True)
    assert eight.evaluate(data)["nats_per_step"] == pytest.approx(
        model.evaluate(data)["nats_per_step"], rel=0.05
    )


def test_settings_that_sets_do_not_have_are_refused():
    data = source(20, 1)
    for wrong in (
        {"unit": "word"},
        {"calibrate": True},
        {"train": Sequences.of(["60 62"], by="stream")},
    ):
        with pytest.raises((ConfigError, DataError)):
            st.fit("sets", wrong.pop("spec", "frequencies"), wrong.pop("train", data), **wrong)
    with pytest.raises(DataError, match="elements"):
        st.fit("sets", "frequencies", Sequences.of([". .", "."], unit="token"))


# What was measured


def test_what_was_measured_is_kept_and_read_again_to_the_same_record(fitted, tmp_path):
    model, data = fitted["lstm"], source(12, 5)
    measured = model.measure(data)
    measured.save(tmp_path / "measured.safetensors")
    again = Measured.load(tmp_path / "measured.safetensors")
    assert model.summarise(again) == model.summarise(measured)
    assert model.row(again) == model.row(measured) and again["truth"] == measured["truth"]
    assert measured["truth"] == [
        step for s in range(len(data)) for step in str(data[s]["text"]).split()
    ]
    same = np.array([a == b for a, b in zip(again["truth"], again["answers"], strict=True)])
    assert same.mean() == model.summarise(measured)["exact"]


def test_two_models_are_told_apart_on_the_same_sets(fitted):
    data = source(40, 6)
    record = fitted["lstm"].evaluate(data, against=fitted["frequencies"])
    assert record["against"]["model"] == "frequencies" and record["against"]["p"] < 0.01
    assert fitted["lstm"].evaluate(data, against=fitted["lstm"])["against"]["p"] == 1.0


def test_a_stream_is_refused_with_what_to_do(fitted, tmp_path):
    (tmp_path / "roll.txt").write_text("60 . 64\n60 62\n")
    for wrong in (Sequences.of(["60 62"], by="stream"), str(tmp_path / "roll.txt")):
        with pytest.raises(DataError, match="a sequence a line") as caught:
            st.fit("sets", "frequencies", wrong, by="stream")
        assert "--by" in caught.value.do
    with pytest.raises(DataError, match="a sequence a line"):
        fitted["lstm"].evaluate(Sequences.of(["60 62"], by="stream"))


def test_the_built_in_piano_is_read_by_its_own_task():
    model = st.fit("sets", "rnn", "piano:length=3000", updates=3, width=8, threads=1)
    record = model.evaluate("piano:length=500,seed=1")
    assert record["steps"] > 400 and record["unknown"] == 0 and model.by == "line"


# Lines, tables and comparisons


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("roll", 1), ("test", 2)):
        text = source(40, seed)
        Path(f"{name}.txt").write_text("".join(f"{text[s]['text']}\n" for s in range(len(text))))
    return tmp_path


def shown(record) -> str:
    """A table as it is printed."""
    console = Console(width=160, no_color=True, record=True, file=io.StringIO())
    console.print(set_figures(record))
    return console.export_text()


def test_from_a_file_to_music(here):
    st.fit("sets", "lstm", "roll.txt", updates=5, width=8, out="run")
    record = call("evaluate", "run", "test.txt")
    assert record["steps"] == 1200 and record["unknown"] == 0 and record["entropy_bits"] is None
    words = shown(record)
    assert "bits per step" in words and "F1" in words and "1,200" in words
    Path("some.txt").write_text("60+61\n62 99\n")
    answer = call("predict", "run", "some.txt", top=3)
    assert [len(row["next"]) for row in answer["items"]] == [3, 3]
    assert len(next_lines(call("predict", "run", "some.txt", top=2)).splitlines()) == 2
    assert score_lines(call("score", "run", "some.txt")).splitlines()[1].endswith("\t2\t1")
    heard: list = []
    record = call("generate", "run", "60+61 99", length=6, seed=1, listen=heard.append)
    text = generated_lines(record)
    assert text.startswith("60+61 . ") and len(text.split()) == 8
    assert any("'99'" in event.get("words", "") for event in heard)
    assert len(call("generate", "run", count=2, length=3)["items"]) == 2


def test_rungs_are_compared_by_bits_per_step(here):
    record = st.compare(
        "sets", "roll.txt", "frequencies,gru", updates=30, width=16, out="table", threads=1
    )
    assert record == json.loads(Path("table/table.json").read_text())
    assert record["figure"] == "bits_per_step"
    assert [row["model"] for row in record["rows"]] == ["gru", "frequencies"]
    assert record["rows"][0]["bits_per_step"] < record["rows"][1]["bits_per_step"]
    assert (
        record["rows"][1]["against"]["word"] == "better"
        and len(record["rows"][0]["sample"].split()) == 12
    )
    assert "bits_per_step" in Path("table/table.csv").read_text()
    assert "bits per step" in Path("table/report.html").read_text()
    floor = st.compare("sets", "roll.txt", "frequencies")["rows"][0]["bits_per_step"]
    assert floor == pytest.approx(record["rows"][1]["bits_per_step"])


def test_what_makes_no_sense_is_refused(here):
    Path("empty.txt").write_text("")
    Path("silent.txt").write_text(". .\n.\n")
    Path("wrong.txt").write_text("60 62\n60++64\n")
    st.fit("sets", "frequencies", "roll.txt", out="run")
    for file, words in (("empty", "empty"), ("silent", "no elements"), ("wrong", "wrong.txt:2")):
        with pytest.raises(DataError, match=words):
            st.fit("sets", "frequencies", f"{file}.txt")
    with pytest.raises(ConfigError, match="markov"):
        st.fit("sets", "markov", "roll.txt")
    for verb, material, asked, words in (
        ("evaluate", "wrong.txt", {}, "60\\+\\+64"),
        ("generate", "60+60", {}, "60\\+60"),
        ("generate", None, {"top_k": 3}, "top_k"),
        ("predict", "roll.txt", {"top": 0}, "top"),
        ("export", None, {"out": "run.arpa"}, "no verb"),
        ("plot", "roll.txt", {"what": "surprisal"}, "language"),
    ):
        with pytest.raises((ConfigError, DataError), match=words):
            call(verb, "run", material, **asked)


def test_from_a_file_to_music_on_the_command_line(here):
    from tests.terminal import good, refused

    fitted = good("fit", "sets", "lstm", "roll.txt", "--updates", 5, "--width", 8, "--out", "run")
    assert "nats per step" in fitted.out
    assert good("evaluate", "run", "test.txt", "--format", "json").json()["steps"] == 1200
    assert "bits per step" in good("evaluate", "run", "test.txt").out
    answer = good("generate", "run", "60+61 99", "--length", 6, "--seed", 1)
    assert answer.out.startswith("60+61 . ") and "'99'" in answer.err
    refused("fit", "sets", "frequencies", "roll.txt", "--by", "stream", code=1, words="line")
    refused("predict", "run", "test.txt", "--top", 0, code=2, words="top")
    refused("generate", "run", "--top-k", 3, code=2, words="--top-k is not a flag here")


def test_coins_are_pooled_with_the_powers_under_which_sets_are_likeliest():
    generator = torch.Generator().manual_seed(0)
    true = torch.randn(3000, 4, generator=generator)
    sets = torch.bernoulli(torch.sigmoid(true), generator=generator)
    sure = torch.stack([2 * true, torch.randn(3000, 4, generator=generator)], 1)  # (N, M, V)
    pool = PooledCoins([Frequencies(4, FrequenciesOptions()) for _ in range(2)])
    pool.weigh(sure, sets)
    powers = pool.weights()
    assert abs(powers[0] - 0.5) < 0.1 and powers[1] < 0.1  # half as sure; the other says nothing


def test_the_floor_and_a_network_have_a_row_together(tmp_path):
    record = st.compare("sets", "piano:length=2400", updates=3, width=8, out=tmp_path / "all")
    mixed = [row for row in record["rows"] if "+" in row["model"]]
    assert len(mixed) == 1 and mixed[0]["status"] == "ok" and len(mixed[0]["weights"]) == 2
    again = st.load(tmp_path / "all" / mixed[0]["run"])
    assert again.model.weights() == pytest.approx(mixed[0]["weights"])


def test_a_tune_of_several_voices_is_completed_and_written(tmp_path):
    from seriatim.data.formats.midi import roll_of, write_roll
    from seriatim.show.files import keep

    chords = [{60, 64, 67}, {60, 64}, {62}, set()]
    for i in range(12):
        write_roll([chords[(i + t) % 4] for t in range(20)], tmp_path / f"{i}.mid", grid=8)
    files = sorted(tmp_path.glob("*.mid"))
    model = st.fit("sets", "gru", files, valid=files, grid=8, width=8, updates=10)
    record = model.complete(tmp_path / "0.mid", part=0.5, length=6)
    begun = roll_of(str(tmp_path / "0.mid"), 8)
    steps = record["items"][0]["text"].split()
    assert record["roll"] == {"grid": 8, "struck": False} and len(begun) in (19, 20)
    assert steps[: len(begun) // 2] == begun[: len(begun) // 2]
    assert len(steps) == round(0.5 * len(begun)) + 6
    keep(record, tmp_path / "whole.mid")
    # rests at the end are not heard
    heard = roll_of(str(tmp_path / "whole.mid"), 8)
    assert heard == steps[: len(heard)] and set(steps[len(heard) :]) <= {"."}
    with pytest.raises(ConfigError, match="no sequence 5"):
        model.complete(tmp_path / "0.mid", number=5)
    with pytest.raises(ConfigError, match="sets of notes"):
        keep({**record, "items": [{"text": "bread+milk"}]}, tmp_path / "other.mid")
    struck = st.fit("sets", "frequencies", files, valid=files, grid=8, struck=True)
    assert struck.generate(length=2)["roll"]["struck"]
