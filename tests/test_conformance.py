"""The same checks for every rung: what it means to be a model."""
from __future__ import annotations

import numpy as np
import pytest
import torch

from seriatim.batches import Batch, empty, prompts
from seriatim.config import DecodingOptions, TrainingOptions
from seriatim.decoding import decode
from seriatim.models import create, parse
from seriatim.models.base import detach, leaves, regrow, select
from seriatim.optimisers import make_optimiser
from seriatim.scoring import score, score_lines, score_stream
from tests.conftest import symbols
from tests.ladder import RUNGS, VOCABULARY, random_rows, settings_for, small_model, spec_of

TOLERANCE = 1e-5
ROWS, TIME = 5, 17
every_rung = pytest.mark.parametrize("name", RUNGS)
NETWORKS = [name for name in RUNGS if isinstance(small_model(name), torch.nn.Module)]
TOO_SIMPLE = {"bigram", "neural-ngram", "attention, simple"}                 # to learn a random text by heart


def batch_of(y: torch.Tensor, mask: torch.Tensor | None = None) -> Batch:
    return Batch(empty(len(y)), torch.zeros(len(y), dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool) if mask is None else mask)


def all_at_once(model, y: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model.predict(batch_of(y)).log_probs().double()


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a.double(), b.double(), atol=TOLERANCE, rtol=0))


@every_rung
def test_probabilities_sum_to_one(name):
    p = all_at_once(small_model(name), random_rows(ROWS, TIME)).exp()
    assert p.shape == (ROWS, TIME, VOCABULARY)
    assert close(p.sum(-1), torch.ones(ROWS, TIME))


@every_rung
def test_log_prob_of_given_symbols_is_the_cell_of_the_whole_row(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        assert close(model.predict(batch_of(y)).log_prob(y), all_at_once(model, y).gather(-1, y[..., None])[..., 0])


@every_rung
@pytest.mark.parametrize("by", ["line", "stream"])
def test_scoring_a_corpus_at_once_equals_scoring_it_row_by_row(name, by):
    model = small_model(name)
    ids = symbols([np.random.default_rng(length).integers(0, VOCABULARY, length) for length in ((7, 0, 1, 12) if by == "line" else (300,))])
    with torch.no_grad():
        walked = score_lines(model, ids) if by == "line" else score_stream(model, ids)
    assert close(torch.from_numpy(score(model, ids, by).values), torch.from_numpy(walked.values))


@every_rung
def test_step_by_step_equals_all_at_once(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        following, state = model.start(batch_of(y))
        columns = []
        for t in range(TIME):
            columns.append(following.log_probs())
            following, state = model.step(y[:, t], state)
    assert close(torch.stack(columns, 1), all_at_once(model, y))


@every_rung
def test_a_state_can_be_continued_in_two_ways(name):
    """A state is a value: going on from it changes nothing for whoever goes on from it again."""
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        _, state = model.start(batch_of(y))
        for t in range(8):
            _, state = model.step(y[:, t], state)
        one, first = model.step(y[:, 8], state)
        other, _ = model.step((y[:, 8] + 1) % VOCABULARY, state)
        after, _ = model.step(y[:, 9], first)
        whole = all_at_once(model, y)
    assert close(one.log_probs(), whole[:, 9]) and close(after.log_probs(), whole[:, 10]) and other is not None


@every_rung
def test_extending_in_chunks_equals_all_at_once(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        first, state = model.start(batch_of(y))
        columns = [first.log_probs()[:, None]]
        for begin, end in ((0, 1), (1, 8), (8, TIME - 1)):
            following, state = model.extend(y[:, begin:end], state)
            columns.append(following.log_probs())
    assert close(torch.cat(columns, 1), all_at_once(model, y))


@every_rung
def test_prompts_of_different_lengths_equal_stepping(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    lengths, whole, index = torch.tensor([0, 3, 9, 16, 12]), all_at_once(small_model(name), y), torch.arange(ROWS)
    with torch.no_grad():
        following, state = model.start(prompts([y[row, :length].numpy() for row, length in enumerate(lengths)]))
        assert close(following.log_probs(), whole[index, lengths])
        following, _ = model.step(y[index, lengths], state)
    inside = lengths < TIME - 1
    assert close(following.log_probs()[inside], whole[index, (lengths + 1).clamp(max=TIME - 1)][inside])


@every_rung
def test_the_state_carried_over_continues_the_stream(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        first, state = model.unroll(batch_of(y[:, :9]))
        second, _ = model.unroll(Batch(empty(ROWS), torch.zeros(ROWS, dtype=torch.long), y[:, 9:], torch.ones_like(y[:, 9:], dtype=torch.bool), y[:, 8]), state)
    assert close(torch.cat([first.log_probs(), second.log_probs()], 1), all_at_once(model, y))


@every_rung
def test_the_future_is_not_seen(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    other = y.clone()
    other[:, 8:] = random_rows(ROWS, TIME - 8, seed=1)
    assert close(all_at_once(model, other)[:, :9], all_at_once(model, y)[:, :9])


@every_rung
def test_padding_is_not_read(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    mask = torch.arange(TIME) < torch.tensor([17, 4, 9, 1, 12])[:, None]
    other = torch.where(mask, y, random_rows(ROWS, TIME, seed=1))
    with torch.no_grad():
        assert close(all_at_once(model, y)[mask], all_at_once(model, other)[mask])
        assert close(model.loss(batch_of(y, mask))[0], -model.predict(batch_of(other, mask)).log_prob(y)[mask].mean())


@every_rung
def test_rows_do_not_hear_each_other(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    alone = torch.cat([all_at_once(model, y[row:row + 1]) for row in range(ROWS)])
    assert close(all_at_once(model, y.flip(0)).flip(0), alone)


@every_rung
def test_a_state_has_rows_first_in_every_leaf_and_can_be_selected_and_saved(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    with torch.no_grad():
        _, state = model.unroll(batch_of(y))
        rows = torch.tensor([3, 0, 3])
        chosen = select(state, rows)
        assert all(len(leaf) == ROWS for leaf in leaves(state).values())
        following, _ = model.step(y[rows, -1], regrow(leaves(detach(chosen))))
        assert close(following.log_probs(), model.step(y[:, -1], state)[0].log_probs()[rows])


@every_rung
def test_samples_follow_the_scores(name):
    model, prompt = small_model(name), random_rows(1, 4)[0].numpy()
    many = 4000
    results = decode(model, prompts([prompt]), DecodingOptions(length=1, count=many, seed=5))[0]
    drawn = np.bincount([result.symbols[0] for result in results], minlength=VOCABULARY) / many
    with torch.no_grad():
        p = model.start(prompts([prompt]))[0].log_probs()[0].exp().numpy()
    assert np.abs(drawn - p).max() < 4 * np.sqrt(0.25 / many)


@every_rung
def test_saved_arrays_give_the_same_model(name):
    model, y = small_model(name), random_rows(ROWS, TIME)
    again = create(parse(spec_of(name), settings_for(name)), VOCABULARY)
    again.load_arrays({key: array.clone() for key, array in model.arrays().items()})
    for part in getattr(again, "parts", [again]):
        if isinstance(part, torch.nn.Module):
            part.eval()
    assert torch.equal(all_at_once(again, y), all_at_once(model, y))


@every_rung
def test_arrays_that_do_not_fit_are_refused(name):
    model = create(parse(spec_of(name), settings_for(name)), VOCABULARY)
    with pytest.raises(ValueError):
        model.load_arrays({"nonsense": torch.zeros(3)})


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in TOO_SIMPLE])
def test_a_network_overfits_one_batch(name):
    torch.manual_seed(0)
    model = create(parse(spec_of(name), settings_for(name) | {"width": 32, "dropout": 0.0, "context": 16}), VOCABULARY)
    y = random_rows(4, 12)
    optimiser = make_optimiser(model, TrainingOptions(rate=0.01))
    for _ in range(300):
        optimiser.zero_grad()
        loss, _ = model.loss(batch_of(y))
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.2


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_reach_every_parameter(name):
    model = create(parse(spec_of(name), settings_for(name)), VOCABULARY)
    model.loss(batch_of(random_rows(ROWS, TIME)))[0].backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())
