"""Nothing is process-wide: what happens in one thread is what happens alone, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.layers.randomness import drawn_from, normal_like, seeded, uniform
from seriatim.models.ladder import create
from seriatim.parallel import Workers, flushed, set_threads, side_by_side, threads, throughout
from seriatim.progress import listening, passing
from tests.ladder import VARIANTS, fit_events, settings_for, spec_of
from tests.ladder import parts_of as parse

CPU = torch.device("cpu")
TEXT = Sequences(
    {"text": Field.of_text(["to be or not to be, that is the question. " * 40])},
    by="stream",
    unit="character",
)
PLACES = ("mat", "hat", "bed", "dew", "fig")
LINES = [f"the {a} sat on the {b}" for a in ("cat", "dog", "rat", "fog") for b in PLACES]
LABELLED = Sequences(
    {"text": Field.of_text(LINES), "label": Field.of_text(line.split()[1] for line in LINES)},
    by="line",
)


@pytest.fixture(params=[1, 2])
def torch_threads(request) -> Iterator[int]:
    """The whole process with so many threads, those to come included."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def weights(model: st.Predictor) -> bytes:
    return b"".join(array.numpy().tobytes() for _, array in sorted(model.model.arrays().items()))


def writer() -> bytes:
    settings = {"width": 64, "rows": 8, "length": 8, "validations": 2, "seed": 3, "dropout": 0.3}
    return weights(st.fit("language", "lstm", TEXT, updates=12, weight_dropout=0.2, **settings))


def labeller() -> bytes:
    settings = {
        "width": 48,
        "rows": 8,
        "seed": 5,
        "validations": 2,
        "dropout": 0.3,
        "word_dropout": 0.2,
    }
    return weights(st.fit("classify", "gru", LABELLED, updates=15, **settings))


def together(*works: Callable[[], Any]) -> list[Any]:
    """All of them at once, each in a thread of its own."""
    ready = Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        ready.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))


def in_a_thread(work: Callable[[], Any]) -> Any:
    return together(work)[0]


def test_two_fits_in_two_threads_are_what_each_is_alone(torch_threads):
    drawn = torch.get_rng_state()
    alone = [in_a_thread(writer), in_a_thread(labeller)]
    assert alone[0] == writer()  # in whatever thread
    assert together(writer, labeller) == alone
    assert torch.equal(torch.get_rng_state(), drawn)
    assert torch.get_num_threads() == torch_threads == in_a_thread(torch.get_num_threads)


def test_fits_with_threads_of_their_own_leave_those_of_others_alone(torch_threads):
    def number(own: int) -> set[int]:
        events = fit_events(
            "language", "lstm", TEXT, settings={"updates": 20, "threads": own, "width": 8}
        )
        return {torch.get_num_threads() for _ in events}

    assert together(*(partial(number, own) for own in (1, 2, 3))) == [{torch_threads}] * 3
    assert in_a_thread(torch.get_num_threads) == torch.get_num_threads() == torch_threads


def test_fits_that_take_turns_in_one_thread_are_what_each_is_alone():
    settings = {"width": 16, "updates": 12, "dropout": 0.3, "validations": 6}

    def events(model: str, seed: int):
        return fit_events("language", model, TEXT, settings=settings | {"seed": seed})

    def finished(running) -> bytes:
        while True:
            try:
                next(running)
            except StopIteration as end:
                return weights(end.value)

    alone = [finished(events("lstm", 1)), finished(events("gru", 2))]
    first, second = events("lstm", 1), events("gru", 2)
    for _, _, _ in zip(range(4), first, second, strict=False):
        torch.rand(7)
    assert [finished(first), finished(second)] == alone


@pytest.fixture(scope="module", params=["lstm", "kneser-ney"])
def predictor(request) -> st.Predictor:
    counts = request.param == "kneser-ney"
    return st.fit(
        "language", request.param, TEXT, **({} if counts else {"updates": 10, "width": 96})
    )


def test_eight_threads_may_ask_one_predictor(torch_threads, predictor):
    asked = [TEXT.part(i, 120 + 9 * i) for i in range(8)]

    def ask(i: int) -> list[Any]:
        prompt = "to be or not"[: i + 2]
        return [
            predictor.score(asked[i]),
            predictor.generate(prompt, length=12, seed=i),
            predictor.generate(prompt, length=6, beam=2, count=2),
            predictor.predict(asked[i]),
            "".join(predictor.stream(prompt, length=6, seed=i)),
        ]

    alone = [in_a_thread(partial(ask, i)) for i in range(8)]
    assert together(*(partial(ask, i) for i in range(8))) == alone
    assert torch.get_num_threads() == torch_threads == in_a_thread(torch.get_num_threads)


def test_a_number_of_threads_is_that_of_one_thread(torch_threads):
    with threads(3):
        assert torch.get_num_threads() == 3
        assert in_a_thread(torch.get_num_threads) == torch_threads
        with Workers(2) as workers:
            assert workers.map(lambda _: torch.get_num_threads(), range(4)) == [1] * 4
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == torch_threads == in_a_thread(torch.get_num_threads)
    set_threads(torch_threads)
    assert torch.get_num_threads() == torch_threads


def test_numbers_next_to_zero_are_flushed_where_that_is_asked_for_and_put_back():
    small = torch.tensor([1e-39])

    def vanishes() -> bool:
        return bool((small * 0.5 == 0).item())

    for outside in (False, True):
        torch.set_flush_denormal(outside)
        try:
            with flushed():
                assert vanishes()
            assert vanishes() is outside
        finally:
            torch.set_flush_denormal(False)


@pytest.mark.parametrize("name", ["lstm", "transformer", "convolution", "bigram", *VARIANTS])
def test_initial_weights_are_drawn_as_torch_draws_them_and_from_a_generator_of_their_own(name):
    parts, before = parse(spec_of(name), settings_for(name)), torch.get_rng_state()
    with seeded(7) as generator:
        model = create(parts, 9)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(7)
    try:
        other = create(parts, 9)
        assert torch.equal(
            torch.get_rng_state(), generator.get_state()
        )  # so far, and from there on
    finally:
        torch.set_rng_state(before)
    for key, array in model.arrays().items():
        assert torch.equal(array, other.arrays()[key])


def test_every_kind_of_draw_is_redirected():
    before = torch.get_rng_state()
    with seeded(1) as generator:
        found = [
            torch.rand(3), torch.randn(3), torch.randint(9, (3,)), torch.randint(2, 9, (3,)), torch.randperm(5),
            torch.empty(3).uniform_(), torch.bernoulli(torch.full((3,), 0.5)), uniform((2,), CPU), torch.rand_like(torch.ones(3)),
            normal_like(torch.ones(2)), torch.multinomial(torch.ones(4), 2), torch.randn_like(torch.ones(3)),
        ]  # fmt: skip
    assert torch.equal(torch.get_rng_state(), before) and len(found) == 12
    with drawn_from(generator):
        uniform((3,), CPU), normal_like(torch.ones(3))
    assert torch.equal(torch.get_rng_state(), before)


def test_events_are_made_in_their_context_and_looked_at_outside():
    def numbers() -> Iterator[int]:
        try:
            yield torch.get_num_threads()
            yield torch.get_num_threads()
        except KeyboardInterrupt:
            yield -torch.get_num_threads()
        return "end"

    own = torch.get_num_threads()
    events = throughout(numbers(), partial(threads, own + 2))
    assert next(events) == own + 2 and torch.get_num_threads() == own
    assert events.throw(KeyboardInterrupt()) == -own - 2 and torch.get_num_threads() == own
    with pytest.raises(StopIteration, match="end"):
        next(events)
    events = throughout(numbers(), partial(threads, own + 2))
    next(events)
    events.close()
    assert torch.get_num_threads() == own


def test_who_listens_hears_what_is_done_for_them_and_nothing_else():
    heard: list[float] = []
    others = Thread(target=lambda: list(passing("elsewhere", range(5))))
    with listening(lambda event: heard.append(event["share"])):
        others.start()
        others.join()
        assert not heard
        for _ in passing("here", range(2)):
            assert list(side_by_side(lambda i: sum(passing("apart", [i, i])), [1, 2])) == [2, 4]
    assert sorted(heard) == [0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75]


def test_a_users_process_is_left_as_it_is():
    program = "import os; before = dict(os.environ); import seriatim.parallel; assert os.environ == before"
    environment = {key: value for key, value in os.environ.items() if key != "GOMP_SPINCOUNT"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_numbers_that_are_drawn_are_numbers():
    with drawn_from(torch.Generator().manual_seed(0)):
        x = uniform((1000,), CPU).numpy()
    assert x.min() >= 0 and x.max() < 1 and np.abs(x.mean() - 0.5) < 0.05


def test_what_a_translator_hears_is_what_its_own_thread_asked(monkeypatch):
    from tests.specimens import specimens

    asked = next(each for each in specimens("translate") if each.spec == "transformer")
    model, batch = asked.model, asked.batch()
    model.eval()
    alone, real = model.trace(batch), model.run

    def run(*given: Any) -> Any:
        """The same, while another thread asks."""
        other = Thread(target=lambda: real(*given))
        other.start()
        other.join()
        return real(*given)

    monkeypatch.setattr(model, "run", run, raising=False)
    beside = model.trace(batch)
    assert alone and all(torch.equal(alone[name], beside[name]) for name in alone)
