"""What positions hear, how networks of labels are trained, resumed and mixed. What every model must do: tests/conformance.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from seriatim import fit, load
from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN
from seriatim.distributions.chains import Chain
from seriatim.errors import ConfigError, DataError
from seriatim.fitting import fit_events
from seriatim.models.base import Model
from seriatim.models.ladder import create
from seriatim.tasks import task as room
from seriatim.tasks.labels.answers import answers
from seriatim.tasks.labels.codec import of_examples
from tests.labels import COMMON, OWN, labelled, messages, sentences, tagged
from tests.ladder import parts_of
from tests.specimens import specimens

NETWORKS = {
    repr(each): each
    for task in ("classify", "tag")
    for each in specimens(task)
    if each.network and not each.numbers
}


def made(name: str, **settings) -> Model:
    return NETWORKS[name].made(**settings)


def small_model(name: str) -> Model:
    return NETWORKS[name].model


def batch_of(name: str, rows=range(17)) -> Batch:
    return NETWORKS[name].batch(rows)


def asked(model: Model, batch: Batch) -> torch.Tensor:
    """(B, 1 or P, K) log-probabilities of labels or tags."""
    with torch.inference_mode():
        found = model.unroll(batch)[0]
        return (found.log_marginals() if isinstance(found, Chain) else found.log_probs()).double()


def real(name: str, batch: Batch) -> torch.Tensor:
    """(B, 1 or P) where there is an answer."""
    return (
        torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        if is_tag(name)
        else torch.ones(len(batch.x), 1, dtype=torch.bool)
    )


def is_tag(name: str) -> bool:
    return NETWORKS[name].task == "tag"


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b, atol=1e-5, rtol=0))


# What positions hear


TAGGERS = [name for name in NETWORKS if is_tag(name) and "chain" not in name]


@pytest.mark.parametrize("name", TAGGERS)
def test_one_way_a_tag_never_hears_what_comes_after_it_and_both_ways_it_does(name):
    model, batch = small_model(name), batch_of(name, [7, 16])
    row, end = 1, int(batch.x_lengths[1])
    for t in range(end - 1):
        x, words = batch.x.clone(), batch.words.clone()
        x[row, t + 1 : end], words[row, t + 1 : end] = 5, batch.words[0, 0]
        before, after = (
            asked(model, each)[row, : t + 1] for each in (batch, replace(batch, x=x, words=words))
        )
        if model.options.bidirectional and model.options.mixer != "none":
            assert (before[t] - after[t]).abs().max() > 1e-5
        else:
            assert close(before, after)


@pytest.mark.parametrize("name", [name for name in TAGGERS if "alone" not in name])
def test_a_tag_hears_what_came_before_it(name):
    batch = batch_of(name, [16])
    x = batch.x.clone()
    x[0, 2] = 5
    before, after = (asked(small_model(name), each)[0, 3] for each in (batch, replace(batch, x=x)))
    assert (before - after).abs().max() > 1e-5


@pytest.mark.parametrize(
    "name", [name for name in NETWORKS if small_model(name).letters is not None]
)
def test_letters_of_unknown_words_are_heard(name):
    codec = NETWORKS[name].codec
    texts = ["dog blub", "dog glug"]
    one, other = (
        codec.encode(
            tagged([text.split()], [["NOUN"] * 2]) if is_tag(name) else labelled([("ham", text)])
        )
        for text in texts
    )
    assert one.x.flat.tolist() == other.x.flat.tolist() and one.x.flat[1] == UNKNOWN
    first, second = (
        asked(small_model(name), of_examples(each, np.arange(1)))[0, -1] for each in (one, other)
    )
    assert (first - second).abs().max() > 1e-5


# Training


@pytest.mark.parametrize("name", ["tag: lstm", "tag: chain"])
def test_a_batch_in_which_nothing_counts_teaches_nothing(name):
    model = made(name)
    loss, _ = model.loss(batch_of(name, [1]))
    loss.backward()
    assert loss.item() == 0 and not any(
        each.grad is not None and each.grad.any() for each in model.parameters()
    )


@pytest.mark.parametrize("name", ["classify: mean", "tag: lstm"])
def test_words_are_dropped_in_training_only(name):
    model, batch = (
        made(name, dropout=0.0, word_dropout=0.5, letters="no", embedding=0),
        batch_of(name),
    )
    once, again = (model.train().embedded(batch) for _ in range(2))
    plain, unknown = model.eval().embedded(batch), model.embedding.weight[UNKNOWN]
    dropped = (once != plain).any(-1)
    assert (
        not torch.equal(once, again)
        and 0.2 < dropped[batch.x != UNKNOWN].float().mean() < 0.8
        and (once[dropped] == unknown).all()
    )
    assert torch.equal(model.embedded(batch), plain) and torch.equal(
        plain, model.embedding(batch.x)
    )


def test_letters_need_words():
    with pytest.raises(ConfigError, match='unit="word"'):
        create(parts_of("lstm", {"letters": "lstm"}, "classify"), 30, 3, 2)


def arrays_of(predictor) -> bytes:
    return b"".join(
        array.numpy().tobytes() for _, array in sorted(predictor.model.arrays().items())
    )


KILLED = [
    (
        "classify",
        "transformer",
        {"width": 8, "heads": 2, "pool": "unit", "letters": "lstm", "letter_width": 4},
    ),
    ("tag", "lstm", {"width": 8, "embedding": 6, "letter_width": 4, "chain": True}),
    ("classify", "naive-bayes+gru", {"width": 8}),
]


@pytest.mark.parametrize(
    "task, model, settings", KILLED, ids=[f"{task} {model}" for task, model, _ in KILLED]
)
def test_a_killed_fit_resumes_to_the_same_bits(task, model, settings, tmp_path):
    data = messages(40) if task == "classify" else sentences(60)
    settings = settings | {
        "updates": 6,
        "rows": 4,
        "length": 16,
        "word_dropout": 0.3,
        "dropout": 0.3,
        "checkpoint_seconds": 0.0,
        "patience": 0,
    }
    whole = fit(task, model, data, out=tmp_path / "whole", **settings)
    asked = settings | {"out": str(tmp_path / "halves")}
    events = fit_events(room(task), model, data, settings=asked)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    torch.manual_seed(99)
    resumed = fit(task, model, data, out=tmp_path / "halves", resume=True, **settings)
    assert resumed.metrics["updates"] == 6 and arrays_of(resumed) == arrays_of(whole) == arrays_of(
        load(tmp_path / "halves")
    )


# Word vectors


@pytest.fixture
def vectors(tmp_path):
    """A file of vectors of five numbers for the words of the messages, and for two more."""
    dice = np.random.default_rng(0)
    words = [*COMMON, *(word.lower() for own in OWN.values() for word in own), "zebra", "paris"]
    lines = [" ".join([word, *(f"{value:.4f}" for value in dice.normal(size=5))]) for word in words]
    file = tmp_path / "vectors.txt"
    file.write_text(f"{len(words)} 5\n" + "\n".join(lines) + "\n")
    return file


def test_frozen_vectors_stay_as_they_are_and_make_unseen_words_known(vectors):
    found = {
        frozen: fit(
            "classify", "mean", messages(40), word_vectors=str(vectors), frozen=frozen, updates=6
        )
        for frozen in (True, False)
    }
    given = dict(
        zip(
            (line.split()[0] for line in vectors.read_text().splitlines()[1:]),
            np.loadtxt(vectors, skiprows=1, usecols=range(1, 6)),
            strict=True,
        )
    )
    for frozen, predictor in found.items():
        numbers = predictor.codec.number
        assert numbers["Mum"] < predictor.codec.own <= numbers["zebra"]
        table = predictor.model.look(torch.arange(predictor.codec.size)).detach().numpy()
        ratio = {
            word: table[numbers[word]] / given[word.lower()]
            for word in ("tea", "zebra", "Mum", "the")
        }
        assert (np.stack(list(ratio.values())).std() < 1e-4) == frozen and ratio[
            "zebra"
        ].std() < 1e-4  # unseen in training: it stays
    assert found[True].model.inward.weight.shape == (100, 5)


# Mixtures


def test_a_mixture_of_label_models_is_at_least_as_good_as_its_parts():
    train, valid = messages(60), messages(30, seed=1)
    both = fit("classify", "naive-bayes+linear+mean", train, valid, updates=5)
    parts = [
        fit("classify", name, train, valid, **({"updates": 5} if name == "mean" else {}))
        for name in ("naive-bayes", "linear", "mean")
    ]
    losses = [each.evaluate(valid)["log_loss"] for each in (both, *parts)]
    assert losses[0] < min(losses[1:]) + 1e-3  # the powers are found on these very messages
    assert both.metrics["weights"] == both.model.weights() and min(both.metrics["weights"]) > 0


def test_the_powers_of_a_pool_are_a_logistic_regression_of_what_its_parts_say():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = np.stack(
        [(2 * y - 1) * sure + 2 * sure * rng.normal(size=400) for sure in (0.5, 5.0)], 1
    )  # (400, 2), one part far too sure
    said = np.stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)], 2)
    model = create(
        parts_of("majority+majority", {}, "classify"), 3, 2, mixture=room("classify").mixture
    )
    model.weigh(torch.from_numpy(said), torch.from_numpy(y))
    theirs = (
        LogisticRegression(C=1 / (1e-3 * len(y)), fit_intercept=False, tol=1e-10)
        .fit(scores, y)
        .coef_[0]
    )
    assert (
        np.allclose(model.weights(), theirs, rtol=1e-3)
        and model.weights()[0] > 5 * model.weights()[1]
    )


@pytest.mark.parametrize(
    "spec, settings", [("window+gru", {}), ("window+gru", {"chain": True})], ids=["tags", "chains"]
)
def test_a_pool_of_taggers_multiplies_what_its_parts_say_tag_by_tag(spec, settings, tmp_path):
    train, valid = sentences(60), sentences(20, seed=1)
    predictor = fit(
        "tag", spec, train, valid, updates=4, width=8, embedding=6, letter_width=4, **settings
    )
    examples, weights = predictor.codec.encode(valid), predictor.model.weights()
    whole, *parts = (
        answers(model, examples, tags=True) for model in (predictor.model, *predictor.model.parts)
    )
    together = sum(
        weight * np.maximum(part.log_probs, -60)
        for weight, part in zip(weights, parts, strict=True)
    )
    assert np.allclose(
        np.exp(whole.log_probs),
        np.exp(together - np.logaddexp.reduce(together, 1, keepdims=True)),
        atol=1e-6,
    )
    assert np.array_equal(whole.found, whole.log_probs.argmax(1)) and min(weights) > 0
    assert load(predictor.save(tmp_path / "run")).predict(valid) == predictor.predict(valid)


def test_label_smoothing_of_a_chain_is_refused():
    with pytest.raises(ConfigError, match="label_smoothing= or chain="):
        fit("tag", "lstm", sentences(20), chain=True, label_smoothing=0.1)


def test_bfloat16_trains_too(bfloat16):
    asked = {"updates": 2, "width": 8, "precision": "bfloat16"}
    assert fit("classify", "gru", messages(30), **asked).metrics["updates"] == 2


def test_rare_settings_train_too():
    data = messages(30)
    assert (
        fit("classify", "gru", data, updates=2, width=8, pool="unit", embedding=6).metrics[
            "updates"
        ]
        == 2
    )
    assert (
        fit(
            "classify", "mean", data, updates=2, unit="subword", vocabulary=300, label_smoothing=0.1
        ).metrics["updates"]
        == 2
    )


def test_tags_that_break_the_rules_of_a_chain_are_told_before_fitting():
    rows = [["O", "I-PER", "O"], ["B-PER", "I-PER", "O"]] * 6
    data = tagged([["a", "b", "c"]] * 12, rows)
    with pytest.raises(DataError, match="I-PER after O"):
        fit("tag", "lstm", data, data, chain=True, updates=1, width=8)
    assert (
        fit("tag", "lstm", data, data, chain=True, constrained=False, updates=1, width=8).evaluate(
            data
        )["labels"]
        == 36
    )
    sound = tagged([["a", "b", "c"]] * 12, [["O", "O", "B-PER"], ["B-PER", "O", "O"]] * 6)
    assert (
        fit("tag", "lstm", sound, sound, chain=True, updates=1, width=8).evaluate(sound)["labels"]
        == 36
    )  # the end of one, the beginning of the next
