"""Beam search: what it finds, what it must find, and what it never finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.batches import prompts
from seriatim.codecs.symbols import STOP
from seriatim.decoding.beam import Beam, Search, beam
from seriatim.decoding.constraints import Demands, Met
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from tests.ladder import VOCABULARY, small_model

MODEL = "markov"
START = prompts([np.zeros(0, np.int64)])


def search(
    width: int = 50,
    length: int = 5,
    rows: int = 1,
    count: int = 1,
    penalty: float = 0.0,
    tree=None,
    **demands,
):
    options = DecodingOptions(beam=width, length=length, count=count, length_penalty=penalty)
    with torch.inference_mode():
        return beam(
            small_model(MODEL),
            prompts([np.zeros(0, np.int64)] * rows),
            options,
            (STOP,),
            (),
            Demands(**demands),
            tree,
        )


def best_ended(**demands):
    """The best result that came to its end, of a beam wide enough for all."""
    return next(
        result for result in search(width=2000, length=4, count=500, **demands)[0] if result.ended
    )


def every_sequence(length: int) -> dict[tuple[int, ...], float]:
    """The log-probability of every sequence that ends within this length, its end included."""
    model, found = small_model(MODEL), {}
    with torch.no_grad():
        following, state = model.start(START)
        level = [((), 0.0, following.log_probs()[0], state)]
        for _ in range(length):
            coming = []
            for symbols, total, log_probs, inner in level:
                found[symbols] = total + float(log_probs[STOP])
                for symbol in range(VOCABULARY):
                    if symbol != STOP:
                        following, after = model.step(torch.tensor([symbol]), inner)
                        coming.append(
                            (
                                (*symbols, symbol),
                                total + float(log_probs[symbol]),
                                following.log_probs()[0],
                                after,
                            )
                        )
            level = coming
    return found


EVERY = every_sequence(4)


@pytest.mark.parametrize(
    "must",
    [
        ((3,),),
        ((3,), (4,)),
        ((3, 4),),
        ((2, 2),),
        ((5,), (2, 3)),
        ((2, 2), (2, 3)),
        ((2, 3), (3, 4)),
        ((3,), (2, 3)),
        ((2, 2, 3),),
    ],
)
def test_a_wide_beam_finds_the_best_sequence_that_has_all_it_must(must):
    def has(symbols: tuple[int, ...]) -> bool:
        return all(
            any(symbols[i : i + len(phrase)] == phrase for i in range(len(symbols)))
            for phrase in must
        )

    best = max((symbols for symbols in EVERY if has(symbols)), key=EVERY.__getitem__)
    found = best_ended(must=must)
    assert tuple(found.symbols) == best and found.log_prob == pytest.approx(EVERY[best], abs=1e-4)


@pytest.mark.parametrize(
    ("prefix", "must"), [((2,), ((3,),)), ((2, 4), ((4,), (3,))), ((3,), ((3,),))]
)
def test_a_result_begins_as_it_should_and_has_what_it_must(prefix, must):
    """While the prefix is written, what must come may not come yet."""
    wanted = [
        symbols
        for symbols in EVERY
        if symbols[: len(prefix)] == prefix and all(phrase[0] in symbols for phrase in must)
    ]
    assert tuple(best_ended(prefix=prefix, must=must).symbols) == max(wanted, key=EVERY.__getitem__)
    narrow = search(width=4, prefix=prefix, must=must)[0][0]
    assert tuple(narrow.symbols[: len(prefix)]) == prefix and all(
        phrase[0] in narrow.symbols for phrase in must
    )


@pytest.mark.parametrize("never", [((3,),), ((2, 3), (3, 2)), ((0,), (2,), (3,), (4,))])
def test_a_wide_beam_finds_the_best_sequence_without_what_it_never_has(never):
    def has(symbols: tuple[int, ...]) -> bool:
        return any(
            symbols[i : i + len(phrase)] == phrase for phrase in never for i in range(len(symbols))
        )

    best = max((symbols for symbols in EVERY if not has(symbols)), key=EVERY.__getitem__)
    assert tuple(best_ended(never=never).symbols) == best


def test_results_begin_with_their_prefix_and_its_probability_counts():
    found = best_ended(prefix=(4, 2))
    best = max((symbols for symbols in EVERY if symbols[:2] == (4, 2)), key=EVERY.__getitem__)
    assert tuple(found.symbols) == best and found.log_prob == pytest.approx(EVERY[best], abs=1e-4)


@pytest.mark.parametrize("options", [{"temperature": 0.0}, {"seed": 3, "count": 8}])
def test_samples_obey_the_same_demands(options):
    limits = Demands(prefix=(4, 2), never=((3,), (5, 6)), most=torch.tensor([6]))
    for result in decode(
        small_model(MODEL), START, DecodingOptions(length=20, **options), (STOP,), demands=limits
    )[0]:
        assert result.symbols[:2] == [4, 2] and 3 not in result.symbols and len(result.symbols) <= 6
        assert (5, 6) not in itertools.pairwise(result.symbols)


def test_every_row_has_room_of_its_own():
    found = search(width=3, length=50, rows=3, most=torch.tensor([1, 2, 4]), never=((STOP,),))
    assert [max((len(result.symbols) for result in each), default=0) for each in found] == [1, 2, 4]


def test_the_n_best_are_the_n_best():
    found = [result for result in search(width=2000, length=4, count=2000)[0] if result.ended][:10]
    assert [result.log_prob for result in found] == pytest.approx(
        sorted(EVERY.values(), reverse=True)[:10], abs=1e-4
    )


@given(st.lists(st.integers(2, 6), max_size=12))
@settings(max_examples=200, deadline=None)
def test_phrases_are_met_wherever_they_stand_and_may_overlap(symbols):
    demands = Demands(must=((2, 3), (4,), (2, 2, 5), (3, 4)), openings=((), (), (6, 5), ()))
    met = Met((0,) * len(demands.ways))
    for symbol in symbols:
        met = met.after(symbol, demands.ways)

    def stands(phrase: tuple[int, ...]) -> bool:
        return any(
            tuple(symbols[place : place + len(phrase)]) == phrase for place in range(len(symbols))
        )

    assert met.done == {
        i
        for i, phrase in enumerate(demands.must)
        if stands(phrase) or (i == 2 and symbols[:2] == [6, 5])
    }
    for way, place in met.open(demands.ways):
        ends = [
            many
            for many in range(len(way.symbols))
            if way.symbols[:many] == tuple(symbols[len(symbols) - many :])
        ]
        assert place == (len(symbols) if way.opening else max(ends))


def test_what_cannot_be_met_is_no_result():
    [[found]] = search(width=4, length=3, must=((2, 3), (4, 5)))
    assert found.symbols == [] and found.log_prob == -np.inf and not found.ended
    [[found]] = search(
        width=4,
        length=4,
        prefix=(2,),
        must=((3,),),
        never=tuple((symbol, 3) for symbol in range(VOCABULARY)),
    )
    assert found.symbols == [] and found.log_prob == -np.inf


def test_a_row_goes_on_while_any_beginning_is_better_than_the_worst_result():
    demands = Demands(must=((3,),))
    searching = Search(DecodingOptions(beam=2, length_penalty=0.0), demands, 2, {STOP}, [], None)
    row = [Beam([3], -5.0, Met((1,), frozenset({0}))), Beam([2], -0.1, Met((0,)))]
    results = [Result([3], score, True, score) for score in (-4.0, -4.5)]
    live, parents = searching.advance(row, [(-0.2, 1, 2), (-6.0, 0, 4)], results, last=False)
    assert [each.symbols for each in live] == [[3, 4], [2, 2]] and parents == [0, 1]


def test_the_tree_holds_every_candidate_and_leads_to_the_results():
    tree: list[dict] = []
    found = search(width=3, length=6, count=3, tree=tree)[0]
    assert [node["node"] for node in tree] == list(range(len(tree))) and all(
        -1 <= node["parent"] < node["node"] for node in tree
    )
    assert {node["fate"] for node in tree} == {"kept", "pruned", "ended"}
    for node in tree:
        if node["parent"] >= 0:
            assert (
                tree[node["parent"]]["fate"] == "kept"
                and node["log_prob"] <= tree[node["parent"]]["log_prob"] + 1e-9
            )
    ends = {}
    for node in tree:
        if node["fate"] == "ended":
            path, at = [], node["parent"]
            while at >= 0:
                path.append(tree[at]["symbol"])
                at = tree[at]["parent"]
            ends[tuple(reversed(path))] = node["log_prob"]
    for result in found:
        if result.ended:
            assert ends[tuple(result.symbols)] == pytest.approx(result.log_prob)


def test_a_step_keeps_no_more_than_the_width():
    tree: list[dict] = []
    search(width=3, length=6, tree=tree)
    steps = [
        sum(node["step"] == step and node["fate"] == "kept" for node in tree) for step in range(6)
    ]
    assert max(steps) == 3
