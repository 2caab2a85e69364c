"""Greedy, sampling and beam search, over any model."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim import fit
from seriatim.batches import Batch, empty, prompts
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field, Sequences
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.sampling import shape
from seriatim.errors import ConfigError
from seriatim.settings import build
from tests.ladder import RUNGS, VOCABULARY, random_rows, small_model

every_rung = pytest.mark.parametrize("name", RUNGS)


def results(model, rows, **options):
    stops = options.pop("stops", ())
    return decode(
        model,
        prompts([np.asarray(row, np.int64) for row in rows]),
        DecodingOptions(**options),
        stops=stops,
    )


@every_rung
@pytest.mark.parametrize(
    "options",
    [{"temperature": 0.0}, {"beam": 3, "count": 3}, {"top_k": 3, "seed": 7}],
    ids=["greedy", "beam", "sample"],
)
def test_a_result_is_the_same_alone_and_in_a_batch_of_32(name, options):
    model = small_model(name)
    rows = [random_rows(1, 1 + i % 9, seed=i)[0].numpy() for i in range(32)]
    together = results(model, rows, length=12, stops=(STOP,), **options)
    for i in (0, 13, 31):
        alone = results(model, [rows[i]], length=12, stops=(STOP,), **options)[0]
        assert [each.symbols for each in alone] == [each.symbols for each in together[i]]


@pytest.mark.parametrize(
    "options",
    [{"temperature": 0.0}, {"beam": 3, "count": 2}, {"seed": 7, "count": 2}],
    ids=["greedy", "beam", "sample"],
)
@pytest.mark.parametrize(
    "name", ["kneser-ney", "convolution", "lstm", "transformer", "markov+lstm+transformer"]
)
def test_threads_that_share_the_rows_change_nothing(name, options):
    model, rows = small_model(name), list(np.random.default_rng(0).integers(2, 6, (21, 4)))
    found, threads = [], torch.get_num_threads()
    for many in (1, 2, 3):
        torch.set_num_threads(many)
        try:
            found.append(
                decode(model, prompts(rows), DecodingOptions(length=8, **options), (STOP,))
            )
            assert torch.get_num_threads() == many
        finally:
            torch.set_num_threads(threads)
    for one, *others in zip(*found, strict=True):
        for other in others:
            assert [each.symbols for each in one] == [each.symbols for each in other]
            assert [each.log_prob for each in one] == pytest.approx(
                [each.log_prob for each in other], abs=1e-4
            )


@every_rung
@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0.0},
        {"seed": 3},
        {"seed": 5, "temperature": 0.7, "repetition_penalty": 1.3, "top_p": 0.9},
    ],
    ids=["greedy", "sample", "shaped"],
)
@pytest.mark.parametrize("draft", ["kneser-ney", "unigram", "itself"])
def test_a_draft_changes_nothing(name, options, draft):
    model, prompt = small_model(name), random_rows(1, 5, seed=2)[0].numpy()
    guesser = model if draft == "itself" else small_model(draft)
    for length in (0, 1, 2, 14):
        chosen = DecodingOptions(length=length, ahead=3, **options)
        plain = decode(model, prompts([prompt]), chosen, (STOP,))[0][0]
        drafted = decode(model, prompts([prompt]), chosen, (STOP,), draft=guesser)[0][0]
        assert drafted.symbols == plain.symbols and drafted.ended == plain.ended
        assert drafted.log_prob == pytest.approx(plain.log_prob, abs=1e-4)


def test_a_good_draft_saves_steps():
    draft = small_model("transformer")
    model, calls = copy.deepcopy(draft), []
    extend, model.extend = (
        model.extend,
        lambda y, state: calls.append(y.shape[1]) or extend(y, state),
    )
    decode(model, prompts([np.array([3, 4])]), DecodingOptions(length=40, ahead=4), draft=draft)
    assert calls == [5] * 7 + [4]  # 40 = 1 from the prompt, 7 x 5, 4


@every_rung
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_full_beam_finds_the_best_of_all_sequences(name, penalty):
    model, prompt, length = small_model(name), random_rows(1, 3)[0], 3
    found = results(
        model, [prompt.numpy()], length=length, beam=VOCABULARY**2, length_penalty=penalty
    )[0][0]
    every = torch.tensor(list(itertools.product(range(VOCABULARY), repeat=length)))
    full = torch.cat([prompt.expand(len(every), -1), every], 1)
    with torch.no_grad():
        batch = Batch(
            empty(len(full)),
            torch.zeros(len(full), dtype=torch.long),
            full,
            torch.ones_like(full, dtype=torch.bool),
        )
        log_prob = model.predict(batch).log_prob(full)[:, len(prompt) :].sum(-1)
    assert found.symbols == every[log_prob.argmax()].tolist()
    assert found.log_prob == pytest.approx(log_prob.max().item(), abs=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0])
def test_beam_search_with_an_end_finds_the_best_finished_sequence(penalty):
    model, length = small_model("markov"), 4
    best = results(
        model, [[]], length=length, beam=VOCABULARY**3, length_penalty=penalty, stops=(STOP,)
    )[0][0]
    scores = {}
    others = [symbol for symbol in range(VOCABULARY) if symbol != STOP]
    for n in range(length + 1):
        for body in itertools.product(others, repeat=n):
            y = torch.tensor([[*body, STOP][:length]])
            with torch.no_grad():
                value = (
                    model.predict(
                        Batch(
                            empty(1),
                            torch.zeros(1, dtype=torch.long),
                            y,
                            torch.ones_like(y, dtype=torch.bool),
                        )
                    )
                    .log_prob(y)
                    .sum()
                    .item()
                )
            scores[body] = value / y.shape[1] ** penalty
    assert best.score == pytest.approx(max(scores.values()), abs=1e-6)


def test_n_best_are_different_and_ordered():
    found = results(small_model("lstm"), [[2, 3]], length=5, beam=6, count=6)[0]
    assert len({tuple(each.symbols) for each in found}) == 6
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_greedy_takes_the_most_likely_symbol_each_time():
    model = small_model("gru")
    symbols = results(model, [[2]], length=6, temperature=0.0)[0][0].symbols
    for t, symbol in enumerate(symbols):
        with torch.no_grad():
            assert model.start(prompts([np.array([2, *symbols[:t]])]))[0].mode().item() == symbol


def test_the_reported_log_probability_is_the_models_own_whatever_the_temperature():
    model = small_model("transformer")
    result = results(model, [[3]], length=8, temperature=0.3, top_k=2, seed=3)[0][0]
    y = torch.tensor([[3, *result.symbols]])
    with torch.no_grad():
        whole = model.predict(
            Batch(
                empty(1), torch.zeros(1, dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool)
            )
        ).log_prob(y)
    assert result.log_prob == pytest.approx(whole[0, 1:].sum().item(), abs=1e-4)


def test_seeds_decide_and_results_of_one_prompt_differ():
    model = small_model("lstm")
    first, again, other = (
        results(model, [[2]], length=30, seed=seed)[0][0].symbols for seed in (4, 4, 5)
    )
    assert first == again != other
    several = results(model, [[2]], length=30, seed=4, count=2)[0]
    assert [each.symbols for each in several] == [first, other]


rows_of_weights = st.lists(
    st.lists(st.floats(-8, 8), min_size=6, max_size=6), min_size=1, max_size=4
)


@settings(max_examples=80, deadline=None)
@given(rows_of_weights, st.integers(0, 6), st.floats(0.05, 1), st.floats(0, 1), st.floats(0.1, 3))
def test_filters_keep_the_likeliest_and_at_least_one(rows, top_k, top_p, min_p, temperature):
    log_probs = torch.log_softmax(torch.tensor(rows, dtype=torch.double), -1)
    options = DecodingOptions(top_k=top_k, top_p=top_p, min_p=min_p, temperature=temperature)
    weights = shape(log_probs, torch.zeros_like(log_probs, dtype=torch.bool), options, forbidden=())
    kept = weights > -torch.inf
    assert kept.any(-1).all()
    for row, keep in zip(log_probs, kept, strict=True):
        assert (
            not (~keep).any() or row[keep].min() >= row[~keep].max()
        )  # nothing likelier was dropped
    p = torch.softmax(log_probs / temperature, -1)
    if not top_k and not min_p:
        smallest = torch.where(kept, p, torch.inf).min(-1).values
        assert (
            (p * kept).sum(-1) - smallest < top_p + 1e-9
        ).all()  # without the last one it is less
    if top_p == 1 and not top_k:
        assert (p[kept] >= min_p * p.max(-1, keepdim=True).values.expand_as(p)[kept] - 1e-12).all()


def test_forbidden_symbols_never_appear_and_repetition_is_penalised():
    options = DecodingOptions(length=40, count=20, seed=1)
    found = decode(small_model("unigram"), prompts([np.array([2])]), options, forbidden=(0, 1))[0]
    assert not {0, 1} & {symbol for each in found for symbol in each.symbols}
    log_probs = torch.log_softmax(torch.zeros(1, 4), -1)
    used = torch.tensor([[True, False, False, False]])
    weights = shape(log_probs, used, DecodingOptions(repetition_penalty=2.0), ())
    assert weights[0, 0] < weights[0, 1]


def test_generation_ends_at_a_stop_symbol_and_does_not_write_it():
    found = results(small_model("markov"), [[]], length=200, count=50, stops=(STOP,))[0]
    assert (
        all(STOP not in each.symbols for each in found) and sum(each.ended for each in found) == 50
    )


def test_no_length_means_nothing_written():
    assert results(small_model("lstm"), [[2]], length=0)[0][0].symbols == []
    assert results(small_model("lstm"), [[2]], length=0, beam=2)[0][0].symbols == []


# The best of all


@pytest.mark.parametrize(
    "name", ["unigram", "markov", "kneser-ney", "good-turing", "unigram+markov"]
)
@pytest.mark.parametrize("prompt", [[], [3, 4]])
def test_the_exact_search_finds_the_most_probable_of_all_sequences(name, prompt):
    model, allowed = small_model(name), [2, 3, 4, 5, 6]
    found = decode(
        model,
        prompts([np.array(prompt, int)]),
        DecodingOptions(length=4, exact=True),
        stops=(1,),
        forbidden=(0,),
    )[0][0]
    every = torch.cartesian_prod(*[torch.tensor(allowed)] * 4)
    with torch.no_grad():
        following, state = model.start(prompts([np.array(prompt, int)] * len(every)))
        total = following.log_prob(every[:, 0]) + model.extend(every[:, :-1], state)[0].log_prob(
            every[:, 1:]
        ).sum(1)
    assert found.log_prob == pytest.approx(float(total.max()), abs=1e-5)
    assert found.symbols == every[total.argmax()].tolist() or float(
        total.sort().values[-2]
    ) == pytest.approx(float(total.max()), abs=1e-5)


def test_no_beam_beats_the_exact_search_and_a_wide_one_reaches_it():
    model = small_model("kneser-ney")
    exact = decode(
        model,
        prompts([np.array([2])]),
        DecodingOptions(length=12, exact=True),
        stops=(1,),
        forbidden=(0,),
    )[0][0].log_prob
    beams = [
        decode(
            model,
            prompts([np.array([2])]),
            DecodingOptions(length=12, beam=width, length_penalty=0.0),
            forbidden=(0, 1),
        )[0][0].log_prob
        for width in (1, 2, 8, 64)
    ]
    assert all(each <= exact + 1e-9 for each in beams) and beams[-1] == pytest.approx(exact)


def test_a_model_whose_states_never_meet_is_not_searched_for_ever(monkeypatch):
    monkeypatch.setattr("seriatim.decoding.exact.STATES", 100)
    with pytest.raises(ConfigError, match="too many states"):
        decode(
            small_model("lstm"), prompts([np.array([2])]), DecodingOptions(length=30, exact=True)
        )


def test_a_beam_gives_no_more_results_than_it_is_wide():
    with pytest.raises(ConfigError, match="raise beam= to 4") as error:
        build(DecodingOptions, {"beam": "3", "count": "4"}, "generate")
    assert error.value.got == "--beam 3 --count 4"
    assert len(results(small_model("lstm"), [[2]], length=5, beam=4, count=4)[0]) == 4
    assert DecodingOptions(count=9).count == 9  # of samples there are as many as one likes


@pytest.mark.parametrize("name", ["transformer", "markov+transformer"])
def test_what_leads_beyond_learned_positions_is_refused_before_anything_is_written(name):
    text = Sequences({"text": Field.of_text(["abcab " * 60])}, by="stream", unit="character")
    settings = {"positions": "learned", "context": 16, "width": 8, "heads": 2, "updates": 2}
    model = fit("language", name, text, **settings, length=8)
    assert len(model.text("abc", length=13)) == 16
    assert len("".join(model.stream("abc", length=13))) == 16
    for ask in (model.generate, lambda *given, **more: next(model.stream(*given, **more))):
        with pytest.raises(ConfigError, match="16 learned positions") as error:
            ask("abc", length=14)
        assert "at most 13" in error.value.do and "prompt of 3" in error.value.got
        with pytest.raises(ConfigError, match="Shorten the prompt"):
            ask("abc" * 6, length=1)
