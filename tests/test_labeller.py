"""The same checks for every model of labels: what it means to answer about whole sequences. A new model adds a row, not a test."""
from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from seriatim.batches import Batch, of_examples
from seriatim.chains import Chain
from seriatim.codecs.labelled import Examples, Labelled
from seriatim.codecs.symbols import UNKNOWN
from seriatim.config import CodecOptions
from seriatim.errors import ConfigError, DataError
from seriatim.fitting import fit, fit_events
from seriatim.labelling import answers
from seriatim.models import MODELS, create, parse
from seriatim.models.base import Model
from seriatim.predictor import load
from tests.labels import COMMON, OWN, labelled, messages, pairs, sentences, tagged, tags_of

SMALL = {"width": 8, "layers": 2, "heads": 2, "context": 64, "kernel": 3, "dropout": 0.3, "word_dropout": 0.3, "embedding": 6, "letter_width": 4}
RUNGS = {f"{task} {name}": (task, name, {}) for task in ("classify", "tag") for name, rung in MODELS[task].items()
         if not rung.implementation.startswith("hmm:")}
HEARING = {f"{task} {mixer}, {'both ways' if both else 'one way'}": (task, "lstm", {"mixer": mixer, "both": both})
           for task in ("classify", "tag") for mixer in ("rnn", "gru", "lstm", "coupled", "convolution", "attention") for both in (False, True)}
POOLS = {f"{name}, {pool}": ("classify", name, {"pool": pool}) for name in ("gru", "transformer") for pool in ("last", "mean", "max", "attention", "unit")}
OTHERS = {
    "one way, unit": ("classify", "gru", {"both": False, "pool": "unit"}),
    "classify, letters by convolution": ("classify", "mean", {"letters": "convolution"}),
    "classify, letters by recurrence": ("classify", "gru", {"letters": "lstm"}),
    "tag, letters by recurrence": ("tag", "window", {"letters": "lstm"}),
    "tag, no letters": ("tag", "gru", {"letters": "no", "embedding": 0}),
    "tag, alone": ("tag", "gru", {"mixer": "none"}),
    "tag, chain": ("tag", "gru", {"chain": True}),
    "tag, chain, one way": ("tag", "window", {"chain": True, "both": False, "constrained": False}),
    "tag, near positions": ("tag", "transformer", {"context": 2, "score": "mlp", "positions": "none"}),
    "classify, near positions": ("classify", "transformer", {"context": 2, "positions": "sinusoidal", "norm_place": "after"}),
    "tag, learned places": ("tag", "transformer", {"positions": "learned", "norm": "rms", "feed": "gated"}),
    "tag, dilated": ("tag", "convolution", {"layers": 3, "kernel": 4}),
    "classify, sigmoid": ("classify", "rnn", {"activation": "sigmoid", "initial": "uniform", "weight_dropout": 0.3}),
}
EVERY = RUNGS | HEARING | POOLS | OTHERS
NETWORKS = [name for name, (task, rung, _) in EVERY.items() if not MODELS[task][rung].counts]
every_model = pytest.mark.parametrize("name", EVERY)
every_network = pytest.mark.parametrize("name", NETWORKS)

STRANGE = "Zebra " * 12 + "the dog"
TEXTS = labelled([*pairs(14), ("ham", ""), ("work", STRANGE), ("spam", "NOW")])
WORDS = [["the", "dog"], [], STRANGE.split(), *(row.split() for row in ("the run", "walk the dog quickly", "Mum sees old dog", "talk", "a walk", "a dog"))] + [
    ["run"] * n for n in range(1, 9)]
TOKENS = tagged(WORDS, [tags_of([word if word != "Zebra" else "Mum" for word in row]) for row in WORDS])


@cache
def data_of(task: str) -> tuple[Labelled, Examples]:
    """A codec, and seventeen sequences that it has not seen: one of them empty, one long and full of unknown words."""
    if task == "tag":
        codec = Labelled.fit(sentences(40), CodecOptions(unit="token"), "tags")
        return codec, codec.encode(TOKENS)
    codec = Labelled.fit(messages(40, seed=1), CodecOptions(unit="word"), "label")
    return codec, codec.encode(TEXTS)


def made(name: str, **settings) -> Model:
    task, rung, own = EVERY[name]
    known = vars(parse(rung, {}, task)[0].options)
    codec = data_of(task)[0]
    return create(parse(rung, {key: value for key, value in (SMALL | own | settings).items() if key in known}, task), codec.size, *codec.sizes)


@cache
def small_model(name: str) -> Model:
    """Counts are counted, weights are random but not small."""
    torch.manual_seed(0)
    model, (codec, _) = made(name), data_of(EVERY[name][0])
    if isinstance(model, torch.nn.Module):
        model.eval()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    else:
        list(model.counting(codec.encode(messages(40, seed=1))))
    return model


def batch_of(name: str, rows=range(17)) -> Batch:
    return of_examples(data_of(EVERY[name][0])[1], np.array(rows))


def asked(model: Model, batch: Batch) -> torch.Tensor:
    """(B, 1 or P, K) log-probabilities of labels or tags."""
    with torch.inference_mode():
        found = model.unroll(batch)[0]
        return (found.log_marginals() if isinstance(found, Chain) else found.log_probs()).double()


def real(name: str, batch: Batch) -> torch.Tensor:
    """(B, 1 or P) where there is an answer."""
    return torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None] if is_tag(name) else torch.ones(len(batch.x), 1, dtype=torch.bool)


def is_tag(name: str) -> bool:
    return EVERY[name][0] == "tag"


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b, atol=1e-5, rtol=0))


# What every model must do


@every_model
def test_probabilities_sum_to_one(name):
    batch = batch_of(name)
    p = asked(small_model(name), batch)[real(name, batch)].exp()
    assert close(p.sum(-1), torch.ones(len(p), dtype=torch.float64)) and p.shape[1] == data_of(EVERY[name][0])[0].labels.size and (p >= 0).all()


@every_model
def test_answers_differ_from_sequence_to_sequence(name):
    """So that all that is compared below is more than a constant."""
    batch = batch_of(name)
    p = asked(small_model(name), batch)[real(name, batch)]
    assert (p.std(0).max() > 1e-3) == (name != "classify majority")


@every_model
def test_padding_is_not_read(name):
    batch = batch_of(name)
    padding = torch.arange(batch.x.shape[1]) >= batch.x_lengths.clamp(min=1)[:, None]
    other = replace(batch, x=torch.where(padding, 5, batch.x), words=torch.where(padding, 2, batch.words))
    kept = real(name, batch)
    assert close(asked(small_model(name), other)[kept], asked(small_model(name), batch)[kept])


@every_model
def test_a_sequence_has_the_same_answer_alone_and_among_seventeen(name):
    model, batch = small_model(name), batch_of(name)
    together, kept = asked(model, batch), real(name, batch)
    for row in (0, 1, 2, 14, 15, 16):                                   # the empty and the long ones among them
        single = batch_of(name, [row])
        assert close(asked(model, single)[0][real(name, single)[0]], together[row][kept[row]])


@every_model
def test_the_order_of_sequences_does_not_matter(name):
    (codec, examples), data = data_of(EVERY[name][0]), TOKENS if is_tag(name) else TEXTS
    first, second = (answers(small_model(name), each, is_tag(name)) for each in (examples, codec.encode(data[np.arange(17)[::-1]])))
    ends, turned = first.offsets, second.offsets
    for row in range(17):
        assert np.allclose(second.log_probs[turned[16 - row]:turned[17 - row]], first.log_probs[ends[row]:ends[row + 1]], atol=1e-5, rtol=0)
    assert second.loss == pytest.approx(first.loss, abs=1e-5)


@every_model
def test_the_loss_of_a_batch_is_that_of_the_answers(name):
    model, (_, examples) = small_model(name), data_of(EVERY[name][0])
    found = answers(model, examples, is_tag(name))
    with torch.inference_mode():
        assert model.loss(batch_of(name))[0].item() == pytest.approx(found.loss, abs=1e-5)
    if "chain" not in name:
        assert found.loss == pytest.approx(-found.log_probs[np.arange(len(found.found)), examples.y.flat].mean(), abs=1e-5)
        assert np.array_equal(found.found, found.log_probs.argmax(1))


@every_model
def test_nothing_at_all_can_be_asked_about(name):
    codec, _ = data_of(EVERY[name][0])
    nothing = codec.encode(tagged([[], []], [[], []]) if is_tag(name) else labelled([("ham", ""), ("spam", " ")]))
    found = answers(small_model(name), nothing, is_tag(name))
    assert len(found.found) == (0 if is_tag(name) else 2) and np.isfinite(found.log_probs).all() and np.isfinite(found.loss)
    assert answers(small_model(name), codec.encode(TOKENS[:0] if is_tag(name) else TEXTS[:0]), is_tag(name)).loss == 0


@every_model
def test_saved_arrays_give_the_same_bits(name):
    again = made(name)
    again.load_arrays({key: array.clone() for key, array in small_model(name).arrays().items()})
    if isinstance(again, torch.nn.Module):
        again.constrain(data_of(EVERY[name][0])[0].labels.names)
        again.eval()
    assert torch.equal(asked(again, batch_of(name)), asked(small_model(name), batch_of(name)))


@every_model
def test_arrays_that_do_not_fit_are_refused(name):
    with pytest.raises(ValueError):
        made(name).load_arrays({"nonsense": torch.zeros(3)})


# What positions hear


TAGGERS = [name for name in NETWORKS if is_tag(name) and "chain" not in name]


@pytest.mark.parametrize("name", TAGGERS)
def test_one_way_a_tag_never_hears_what_comes_after_it_and_both_ways_it_does(name):
    model, batch = small_model(name), batch_of(name, [7, 16])
    row, end = 1, int(batch.x_lengths[1])
    for t in range(end - 1):
        x, words = batch.x.clone(), batch.words.clone()
        x[row, t + 1:end], words[row, t + 1:end] = 5, batch.words[0, 0]
        before, after = (asked(model, each)[row, :t + 1] for each in (batch, replace(batch, x=x, words=words)))
        if model.options.both and model.options.mixer != "none":
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


@pytest.mark.parametrize("name", [name for name in NETWORKS if small_model(name).letters is not None])
def test_letters_of_unknown_words_are_heard(name):
    codec, _ = data_of(EVERY[name][0])
    texts = ["dog blub", "dog glug"]
    one, other = (codec.encode(tagged([text.split()], [["NOUN"] * 2]) if is_tag(name) else labelled([("ham", text)])) for text in texts)
    assert one.x.flat.tolist() == other.x.flat.tolist() and one.x.flat[1] == UNKNOWN
    first, second = (asked(small_model(name), of_examples(each, np.arange(1)))[0, -1] for each in (one, other))
    assert (first - second).abs().max() > 1e-5


# Training


LEARNT = [*(name for name in RUNGS if name in NETWORKS), "transformer, unit", "tag, chain"]


@pytest.mark.parametrize("name", LEARNT)
def test_a_network_learns_eight_examples_by_heart(name):
    torch.manual_seed(0)
    model, rows = made(name, dropout=0.0, word_dropout=0.0, width=16, layers=1), [0, 3, 4, 5, 7, 8, 12, 13]
    batch, optimiser = batch_of(name, rows), torch.optim.Adam(model.parameters(), lr=0.04)
    for _ in range(30):
        optimiser.zero_grad()
        loss, _ = model.loss(batch)
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.1 and torch.equal(answered(model, batch)[real(name, batch)], batch.y[real(name, batch)])


@torch.no_grad()
def answered(model: Model, batch: Batch) -> torch.Tensor:
    model.eval()
    return model.unroll(batch)[0].mode()


@every_network
def test_gradients_reach_every_parameter_and_are_numbers(name):
    model = made(name, weight_dropout=0.0)
    model.loss(batch_of(name))[0].backward()
    gradients = {key: each.grad for key, each in model.named_parameters()}
    assert all(each is not None and each.isfinite().all() and each.abs().sum() > 0 for each in gradients.values()), gradients.keys()


@pytest.mark.parametrize("name", ["tag lstm", "tag, chain"])
def test_a_batch_in_which_nothing_counts_teaches_nothing(name):
    model = made(name)
    loss, _ = model.loss(batch_of(name, [1]))
    loss.backward()
    assert loss.item() == 0 and not any(each.grad is not None and each.grad.any() for each in model.parameters())


@pytest.mark.parametrize("name", ["classify mean", "tag lstm"])
def test_words_are_dropped_in_training_only(name):
    model, batch = made(name, dropout=0.0, word_dropout=0.5, letters="no", embedding=0), batch_of(name)
    once, again = (model.train().embedded(batch) for _ in range(2))
    plain, unknown = model.eval().embedded(batch), model.embedding.weight[UNKNOWN]
    dropped = (once != plain).any(-1)
    assert not torch.equal(once, again) and 0.2 < dropped[batch.x != UNKNOWN].float().mean() < 0.8 and (once[dropped] == unknown).all()
    assert torch.equal(model.embedded(batch), plain) and torch.equal(plain, model.embedding(batch.x))


def test_letters_need_words():
    with pytest.raises(ConfigError, match="--unit word"):
        create(parse("lstm", {"letters": "lstm"}, "classify"), 30, 3, 2)


def arrays_of(predictor) -> bytes:
    return b"".join(array.numpy().tobytes() for _, array in sorted(predictor.model.arrays().items()))


KILLED = [("classify", "transformer", {"width": 8, "heads": 2, "pool": "unit", "letters": "lstm", "letter_width": 4}),
          ("tag", "lstm", {"width": 8, "embedding": 6, "letter_width": 4, "chain": True}), ("classify", "naive-bayes+gru", {"width": 8})]


@pytest.mark.parametrize("task, model, settings", KILLED, ids=[f"{task} {model}" for task, model, _ in KILLED])
def test_a_killed_fit_resumes_to_the_same_bits(task, model, settings, tmp_path):
    data = messages(40) if task == "classify" else sentences(60)
    settings = settings | {"steps": 6, "rows": 4, "length": 16, "word_dropout": 0.3, "dropout": 0.3, "checkpoint_seconds": 0.0, "patience": 0}
    whole = fit(task, model, data, out=tmp_path / "whole", **settings)
    events = fit_events(task, model, data, out=tmp_path / "halves", settings=settings)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    torch.manual_seed(99)
    resumed = fit(task, model, data, out=tmp_path / "halves", resume=True, **settings)
    assert resumed.metrics["step"] == 6 and arrays_of(resumed) == arrays_of(whole) == arrays_of(load(tmp_path / "halves"))


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
    found = {frozen: fit("classify", "mean", messages(40), vectors=str(vectors), frozen=frozen, steps=6) for frozen in (True, False)}
    given = dict(zip((line.split()[0] for line in vectors.read_text().splitlines()[1:]), np.loadtxt(vectors, skiprows=1, usecols=range(1, 6)), strict=True))
    for frozen, predictor in found.items():
        numbers = predictor.codec.number
        assert numbers["Mum"] < predictor.codec.own <= numbers["zebra"]
        table = predictor.model.look(torch.arange(predictor.codec.size)).detach().numpy()
        ratio = {word: table[numbers[word]] / given[word.lower()] for word in ("tea", "zebra", "Mum", "the")}
        assert (np.stack(list(ratio.values())).std() < 1e-4) == frozen and ratio["zebra"].std() < 1e-4      # unseen in training: it stays
    assert found[True].model.inward.weight.shape == (100, 5)


# Mixtures


def test_a_mixture_of_label_models_is_at_least_as_good_as_its_parts():
    train, valid = messages(60), messages(30, seed=1)
    both = fit("classify", "naive-bayes+linear+mean", train, valid, steps=5)
    parts = [fit("classify", name, train, valid, **({"steps": 5} if name == "mean" else {})) for name in ("naive-bayes", "linear", "mean")]
    losses = [each.evaluate(valid)["nats_per_label"] for each in (both, *parts)]
    assert losses[0] < min(losses[1:]) + 1e-3                                      # the powers are found on these very messages
    assert both.metrics["weights"] == both.model.weights() and min(both.metrics["weights"]) > 0


def test_the_powers_of_a_pool_are_a_logistic_regression_of_what_its_parts_say():
    from sklearn.linear_model import LogisticRegression
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = np.stack([(2 * y - 1) * sure + 2 * sure * rng.normal(size=400) for sure in (0.5, 5.0)], 1)                  # (400, 2), one part far too sure
    said = np.stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)], 2)
    model = create(parse("majority+majority", {}, "classify"), 3, 2)
    model.weigh(torch.from_numpy(said), torch.from_numpy(y))
    theirs = LogisticRegression(C=1 / (1e-3 * len(y)), fit_intercept=False, tol=1e-10).fit(scores, y).coef_[0]
    assert np.allclose(model.weights(), theirs, rtol=1e-3) and model.weights()[0] > 5 * model.weights()[1]


@pytest.mark.parametrize("spec, settings", [("window+gru", {}), ("window+gru", {"chain": True})], ids=["tags", "chains"])
def test_a_pool_of_taggers_multiplies_what_its_parts_say_tag_by_tag(spec, settings, tmp_path):
    train, valid = sentences(60), sentences(20, seed=1)
    predictor = fit("tag", spec, train, valid, steps=4, width=8, embedding=6, letter_width=4, **settings)
    examples, weights = predictor.codec.encode(valid), predictor.model.weights()
    whole, *parts = (answers(model, examples, tags=True) for model in (predictor.model, *predictor.model.parts))
    together = sum(weight * np.maximum(part.log_probs, -60) for weight, part in zip(weights, parts, strict=True))
    assert np.allclose(np.exp(whole.log_probs), np.exp(together - np.logaddexp.reduce(together, 1, keepdims=True)), atol=1e-6)
    assert np.array_equal(whole.found, whole.log_probs.argmax(1)) and min(weights) > 0
    assert load(predictor.save(tmp_path / "run")).predict(valid) == predictor.predict(valid)


def test_label_smoothing_of_a_chain_is_refused():
    with pytest.raises(ConfigError, match="--label-smoothing or --chain"):
        parse("lstm", {"chain": True, "label_smoothing": 0.1}, "tag")


def test_rare_settings_train_too():
    data = messages(30)
    assert fit("classify", "gru", data, steps=2, width=8, pool="unit", embedding=6, precision="bfloat16").metrics["step"] == 2
    assert fit("classify", "mean", data, steps=2, unit="subword", vocabulary=300, label_smoothing=0.1).metrics["step"] == 2


def test_tags_that_break_the_rules_of_a_chain_are_told_before_fitting():
    rows = [["O", "I-PER", "O"], ["B-PER", "I-PER", "O"]] * 6
    data = tagged([["a", "b", "c"]] * 12, rows)
    with pytest.raises(DataError, match="I-PER after O"):
        fit("tag", "lstm", data, data, chain=True, steps=1, width=8)
    assert fit("tag", "lstm", data, data, chain=True, constrained=False, steps=1, width=8).evaluate(data)["count"] == 36
    sound = tagged([["a", "b", "c"]] * 12, [["O", "O", "B-PER"], ["B-PER", "O", "O"]] * 6)
    assert fit("tag", "lstm", sound, sound, chain=True, steps=1, width=8).evaluate(sound)["count"] == 36      # the end of one, the beginning of the next
