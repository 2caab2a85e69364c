"""The yardstick: figures by hand, the same for every rung, honest about what is unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seriatim
from seriatim import fit
from seriatim.data.corpora.sources import parse_source
from seriatim.data.sequences import Field, Sequences
from seriatim.data.splits import spread
from seriatim.errors import DataError
from seriatim.measuring.likelihood import BLOCK, score
from seriatim.measuring.measured import Measured
from seriatim.measuring.resampling import FIRST_BLOCK, grouped, interval
from seriatim.tasks.language.metrics import drawn, drawn_bits, p_of_difference, raw_size, regions_in
from tests.ladder import RUNGS, VOCABULARY, small_model


def of(*texts: str, by: str = "line", unit: str = "character") -> Sequences:
    return Sequences({"text": Field.of_text(texts)}, by=by, unit=unit)


# what knows its absolute place, or adds all that it ever read and never forgets
PLACED = ("sinusoidal", "concatenated", "additive")


@pytest.mark.parametrize(
    "name", [name for name in RUNGS if not any(each in name for each in PLACED)]
)
def test_blocks_side_by_side_score_a_stream_like_one_long_row(name, monkeypatch):
    """With short blocks, each after as many unscored symbols; exact for windows and counts, close for recurrence, which forgets."""
    monkeypatch.setattr("seriatim.measuring.likelihood.BLOCK", 1)
    monkeypatch.setattr(type(small_model(name)), "warm", 320, raising=False)
    ids = Field(
        np.random.default_rng(0).integers(0, VOCABULARY, 900).astype(np.int32),
        np.array([0, 900]),
        "symbols",
    )
    blocks = score(small_model(name), ids, "stream").values
    monkeypatch.setattr("seriatim.measuring.likelihood.BLOCK", BLOCK)
    error = np.abs(blocks - score(small_model(name), ids, "stream").values)
    assert (
        error.mean() < 0.01
        if {"rnn", "gru", "lstm"} & set(name.replace(",", "+").split("+"))
        else error.max() < 1e-4
    )


@pytest.mark.parametrize("name", RUNGS)
def test_a_line_scores_the_same_alone_and_among_others_and_in_chunks(name, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, VOCABULARY, n).astype(np.int32) for n in (0, 3, 40, 1, 9, 9)]
    ids = Field(
        np.concatenate(rows),
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]),
        "symbols",
    )
    together = score(small_model(name), ids, "line")
    monkeypatch.setattr("seriatim.measuring.likelihood.CHUNK", 1)
    for s in range(len(rows)):
        alone = score(small_model(name), ids.take(slice(s, s + 1)), "line").values
        assert len(alone) == len(rows[s]) + 1 and np.allclose(alone, together.row(s), atol=1e-5)


def test_figures_of_the_unigram_by_hand():
    model = fit("language", "unigram", of("aab", "b"), add=0.0)
    record = model.evaluate(of("ab"))  # training: a a b, end, b, end
    nats = -(2 * math.log(2 / 6) + math.log(2 / 6)) / 3
    assert record["nats_per_token"] == pytest.approx(nats) and record[
        "perplexity"
    ] == pytest.approx(3)
    assert record["tokens"] == 3 and record["characters"] == 3  # a, b and the end of the line
    assert record["bits_per_character"] == pytest.approx(math.log2(3))
    assert record["protocol"]["end_counts"] is True


def test_an_impossible_text_has_no_figure_but_a_count():
    record = fit("language", "markov", of("ab" * 20, by="stream"), order=1, add=0.0).evaluate(
        of("aa", by="stream")
    )
    assert (
        record["nats_per_token"] is None
        and record["perplexity"] is None
        and record["impossible"] == 1
    )


def test_unknown_symbols_cost_their_spelling_and_are_never_dropped():
    train = of("the cat sat", "the mat sat", unit="token")
    model = fit("language", "unigram", train)
    known, unknown = (
        model.evaluate(of(text, unit="token")) for text in ("the cat sat", "the ocelot sat")
    )
    assert (known["unknown"], unknown["unknown"]) == (0, 1) and known["tokens"] == unknown[
        "tokens"
    ] == 4
    blanks, extra = (
        each["bits_per_character"] * each["characters"] * math.log(2)
        - each["nats_per_token"] * each["tokens"]
        for each in (known, unknown)
    )
    assert extra - blanks == pytest.approx(model.codec.spell("ocelot")) and extra - blanks > 20
    assert 0 < blanks < 3  # they are always one blank here, but the training text is short


def test_leaving_words_out_of_the_vocabulary_does_not_improve_bits_per_character():
    data = seriatim.read("python-docs", unit="word")
    train, test = data.part(0, 200_000), data.part(200_000, 230_000)
    small, large = (
        fit("language", "unigram", train, vocabulary=size).evaluate(test) for size in (50, 20_000)
    )
    assert (
        small["nats_per_token"] < large["nats_per_token"]
    )  # most words became one: cheap by the token
    assert small["bits_per_character"] > large["bits_per_character"]  # and dear by the character


def test_units_compare_by_bits_per_character():
    data = seriatim.read("python-docs")
    train, test = data.part(0, 100_000), data.part(100_000, 110_000)
    figures = {
        unit: fit("language", "unigram", train, unit=unit).evaluate(test)
        for unit in ("character", "byte", "subword")
    }
    assert figures["character"]["bits_per_character"] == pytest.approx(
        figures["byte"]["bits_per_character"], rel=0.01
    )
    assert figures["subword"]["bits_per_character"] < figures["character"]["bits_per_character"]
    assert len({record["characters"] for record in figures.values()}) == 1


def test_the_source_itself_is_the_limit():
    source = parse_source("markov:symbols=5,length=30000,order=1,successors=2")
    data = seriatim.read("markov:symbols=5,length=30000,order=1,successors=2")
    record = fit("language", "markov", data, order=1).evaluate(
        seriatim.read("markov:symbols=5,length=30000,order=1,successors=2,draw=2")
    )
    assert record["entropy_bits"] == pytest.approx(source.entropy / math.log(2))
    assert abs(record["excess_bits"]) < 0.02


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 10), min_size=2, max_size=50), st.integers(1, 5))
def test_intervals_hold_the_mean_and_groups_lose_nothing(values, rows):
    values = np.array(values)
    cuts = np.unique(np.linspace(0, len(values), rows + 1).astype(int))
    layout = Field(values, cuts, "symbols")
    for by in ("line", "stream"):
        groups = grouped(values, layout, by)
        assert groups.sum(0) == pytest.approx([values.sum(), len(values)])
        low, high = interval(groups)
        assert low - 1e-9 <= values.mean() <= high + 1e-9 or len(groups) < 8


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        values = rng.exponential(size=6000)
        low, high = interval(
            grouped(values, Field(values, np.array([0, 6000]), "symbols"), "stream")
        )
        hits += low <= 1 <= high
    assert 170 <= hits <= 198  # 190 expected; 30 groups are few


def test_a_paired_test_sees_small_but_steady_differences():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=20_000)
    best, worse, noisy, impossible = (
        Measured({"loss": each, "offsets": np.array([0, 20_000])}, {"by": "stream"})
        for each in (
            losses,
            losses + 0.01,
            losses + rng.normal(0, 0.5, 20_000),
            np.full(20_000, np.inf),
        )
    )
    assert p_of_difference(worse, best) < 0.01 and p_of_difference(impossible, best) == 0.0
    assert p_of_difference(noisy, best) > 0.05


def regional(loss, regions: int) -> Measured:
    """Losses of symbols that are a character each, from so many regions."""
    return Measured(
        {"loss": loss, "offsets": np.array([0, len(loss)])},
        {"by": "stream", "regions": regions, "characters": len(loss)},
    )


def test_draws_over_regions_are_paired_and_are_the_same_in_every_figure():
    """Regions that are hard for both models cancel; one table, one interval and one test draw alike."""
    rng = np.random.default_rng(0)
    hard = np.repeat(rng.normal(3, 1, 10), 2000)
    losses = [hard + rng.exponential(0.1, 20_000) for _ in range(2)]
    losses[1] += 0.02
    one, other = (regional(loss, 10) for loss in losses)
    draws = drawn_bits([one, other])
    assert draws[0] == pytest.approx(drawn(one.loss, one) / np.log(2))
    assert (draws[1] - draws[0]).std() < 0.02 * draws[0].std()
    assert draws[1] - draws[0] == pytest.approx(
        drawn(losses[1] - losses[0], one) / np.log(2), rel=0.3
    )
    assert p_of_difference(one, other) < 0.05
    in_one_piece = drawn_bits(
        [one, regional(losses[1], 1)]
    )  # read with other eyes: blocks for both
    assert in_one_piece == pytest.approx(drawn_bits([regional(loss, 1) for loss in losses]))


def test_a_measured_text_says_of_how_many_regions_it_was_made():
    """Regions shorter than two blocks, and texts by line, are as they were."""
    text = seriatim.read("markov:symbols=4,length=120000,order=1,successors=2")
    _, train, test = spread(text, (0.05, 0.85, 0.1))
    fitted = fit("language", "unigram", train)
    assert test.regions == 2 and fitted.measure(test)["regions"] == 2
    assert "2 regions" in fitted.evaluate(test)["protocol"]["interval"]
    assert "blocks" in fitted.evaluate(train.part(0, 9000))["protocol"]["interval"]
    assert regions_in(test, 2 * 2 * FIRST_BLOCK) == 2 > regions_in(test, 2 * 2 * FIRST_BLOCK - 1)


def test_raw_sizes_count_characters_bytes_and_blanks_between_tokens():
    assert raw_size(Field.of_text(["né", "a"])) == (3, 4)
    assert raw_size(Field.of_symbols([["né", "a"], ["b"]])) == (5, 6)


def test_nothing_to_score_is_an_error():
    model = fit("language", "unigram", of("a b", unit="token"))
    with pytest.raises(DataError, match="nothing to score"):
        model.evaluate(of("  ", unit="token"))
