"""What counts beside a network: it is asked once, and the network stays as far as it has shown to be worth."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from seriatim import fit
from seriatim.tasks import task as room
from seriatim.tasks.labels.answers import answers
from seriatim.tasks.labels.codec import of_examples
from seriatim.tasks.labels.models.beside import SHARES
from tests.labels import labelled, messages, sentences

SMALL = {"width": 8, "updates": 3, "seed": 1}
TAGGER = SMALL | {"embedding": 6, "letters": "no", "beside": "most-frequent"}
KINDS = {
    "classify": ("classify", "mean", messages(60, seed=3), messages(80, seed=4), SMALL),
    "tag": ("tag", "gru", sentences(60), sentences(40, seed=1), TAGGER),
    "chain": ("tag", "gru", sentences(60), sentences(40, seed=1), TAGGER | {"chain": True}),
}


def fitted(kind: str, **settings):
    """A model, held-out data in its numbers, and its lesson, which has not begun."""
    task, spec, train, valid, own = KINDS[kind]
    predictor, cut = fit(task, spec, train, valid, **own | settings), room(task).cut
    train, held = (
        cut.encode(predictor.codec, cut.cut(cut.prepare(each, {}), {})) for each in (train, valid)
    )
    return predictor, held, cut.lesson(train, held, "line", predictor.codec)


def louder(model, much: float):
    """The same, but for a network that says whatever comes to it, loudly."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        for each in model.head.parameters():
            each.copy_(much * torch.randn(each.shape, generator=torch.Generator().manual_seed(0)))
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_knows_nothing_is_silenced(kind):
    predictor, held, lesson = fitted(kind)
    model = louder(predictor.model, 3.0)
    assert model.settle(held, lesson.tags)
    assert not any(each.any() for each in model.head.parameters())
    alone = answers(model.counted[1], held, lesson.tags)
    if kind != "chain":  # of two tags that are as likely, a chain finds another
        np.testing.assert_array_equal(answers(model, held, lesson.tags).found, alone.found)


def test_a_network_that_knows_more_than_counting_stays_as_it_is():
    predictor, held, _ = fitted("tag", updates=150, rate=0.02, width=16, dropout=0.0)
    before, counted = answers(predictor.model, held, True), predictor.model.counted[1]
    model = copy.deepcopy(predictor.model)
    assert not model.settle(held, True)
    after = answers(model, held, True)
    np.testing.assert_array_equal(after.log_probs, before.log_probs)
    wrong = [(each.found != held.y.flat).sum() for each in (after, answers(counted, held, True))]
    assert wrong[0] < wrong[1] / 2


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_what_the_model_would_say_with_so_much_of_its_head(kind):
    predictor, held, lesson = fitted(kind)
    model = louder(predictor.model, 1.0)
    for share, said in zip(SHARES, model.at_shares(held, lesson.tags), strict=True):
        other = copy.deepcopy(model)
        with torch.no_grad():
            for each in other.head.parameters():
                each.mul_(share)
        expected = answers(other, held, lesson.tags).log_probs
        np.testing.assert_allclose(said, expected, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_counting_says_of_held_out_data_is_asked_once(kind, monkeypatch):
    predictor, held, lesson = fitted(kind)
    model, rows = predictor.model, np.arange(len(held))
    lesson.begin(model)
    now, before = of_examples(lesson.held, rows), of_examples(held, rows)
    assert before.beside is None
    with torch.no_grad():
        for batch, places in ((now, model.heard(now)), (before, model.heard(before))):
            real = torch.arange(places.shape[1]) < batch.x_lengths[:, None]
            said = places[real] if lesson.tags else places
            if batch is now:
                kept = said
        torch.testing.assert_close(kept, said, atol=1e-5, rtol=0)
    asked = []
    monkeypatch.setattr(model.counted[1], "predict", asked.append)
    lesson.validate(model)
    assert not asked
    lesson.end(model)
    assert lesson.train.beside is None and lesson.held.beside is None


def test_the_figure_of_a_fit_is_that_of_the_network_as_it_is_kept():
    predictor, held, _ = fitted("classify", updates=40, rate=1.0, dropout=0.0)
    found = answers(predictor.model, held, False).found
    assert predictor.metrics["valid"] == pytest.approx((found != held.y.flat).mean(), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_look_at_a_part_reads_what_belongs_together(kind):
    predictor, held, lesson = fitted(kind)
    lesson.begin(predictor.model)
    rows = np.linspace(0, len(held) - 1, 20).astype(int)
    part, whole = of_examples(lesson.held.evenly(20), np.arange(20)), of_examples(lesson.held, rows)
    for name in ("x", "x_lengths", "y", "y_mask", "beside"):
        torch.testing.assert_close(getattr(part, name), getattr(whole, name), msg=name)
    assert torch.equal(part.letters[part.words], whole.letters[whole.words])


def test_of_sorted_data_a_look_at_a_part_sees_every_label():
    rows = [(label, f"{label} {i}") for label in ("ham", "spam", "work") for i in range(100)]
    data = labelled(rows)
    predictor = fit("classify", "naive-bayes", data)
    held = predictor.codec.encode(room("classify").cut.cut(data, {}))
    lesson = room("classify").cut.lesson(held, held, "line", predictor.codec)
    lesson.judged_share = 0.1
    seen = np.bincount(lesson.looked_at.y.flat)
    assert seen.sum() == 32 and seen.min() >= 10
