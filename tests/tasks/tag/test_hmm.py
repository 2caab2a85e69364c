"""Taggers that count, against dictionaries and on English; hidden states, against hmmlearn and on a source whose entropy is known."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

import seriatim
from seriatim.batches import Batch, buckets, empty, pad
from seriatim.codecs.symbols import SPECIALS
from seriatim.data.corpora.sources import parse_source
from seriatim.data.sequences import SYMBOLS, Field, Sequences
from seriatim.distributions.chains import Chain
from seriatim.measuring.likelihood import score
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.language.models.hidden_markov import HiddenMarkovModel
from seriatim.tasks.language.options import HiddenOptions
from seriatim.tasks.tag.models.hmm import HmmTagger, MostFrequent, tag_grams
from seriatim.tasks.tag.options import HmmOptions, MostFrequentOptions
from tests.conftest import symbols


class Codec:
    """Words, tags and letters of tagged training sentences in numbers; an unknown word is looked for in lower case."""

    def __init__(self, data: Sequences):
        tokens, tags = data.field("tokens"), data.field("tags")
        self.words = {name: i for i, name in enumerate((*SPECIALS, *tokens.names))}
        self.tags = {name: i for i, name in enumerate(sorted(tags.names))}
        self.letters = {letter: i for i, letter in enumerate(sorted(set("".join(tokens.names))), 2)}

    def examples(self, data: Sequences, spelled: bool = True) -> Examples:
        tokens, tags = data.field("tokens"), data.field("tags")
        x = np.array(
            [self.words.get(name) or self.words.get(name.lower(), 0) for name in tokens.names],
            np.int32,
        )[tokens.flat]
        y = np.array([self.tags[name] for name in tags.names], np.int32)[tags.flat]
        letters, _ = pad(
            [
                np.array([self.letters.get(letter, 1) for letter in name[:32]])
                for name in tokens.names
            ]
        )
        return Examples(
            Field(x, tokens.offsets, SYMBOLS),
            Field(y, tags.offsets, SYMBOLS),
            *((tokens.flat, letters.numpy()) if spelled else ()),
        )


def batches(examples: Examples):
    offsets = examples.x.offsets
    for rows in buckets(examples.x.lengths, 4096):
        (x, mask), (y, _) = (pad([each.row(s) for s in rows]) for each in (examples.x, examples.y))
        words = (
            None
            if examples.words is None
            else pad([examples.words[offsets[s] : offsets[s + 1]] for s in rows])[0]
        )
        yield Batch(
            x,
            mask.sum(1),
            y,
            mask,
            None,
            words,
            None if words is None else torch.from_numpy(examples.letters),
        )


def tagged(*sentences: str) -> Sequences:
    """'the/D dog/N', 'it/P barks/V' as data."""
    pairs = [[token.rsplit("/", 1) for token in sentence.split()] for sentence in sentences]
    words, tags = (Field.of_symbols([[pair[i] for pair in row] for row in pairs]) for i in (0, 1))
    return Sequences({"tokens": words, "tags": tags})


def learned(
    kind: type, options, data: Sequences, spelled: bool = True
) -> tuple[Codec, MostFrequent]:
    codec = Codec(data)
    model = kind(len(codec.words), options, len(codec.tags))
    records = list(model.counting(codec.examples(data, spelled)))
    assert records and all(
        isinstance(record["words"], str) and 0 <= record["share"] <= 1 for record in records
    )
    return codec, model


def says(codec: Codec, model: MostFrequent, word: str, spelled: bool = True) -> np.ndarray:
    """p(tag | word) of one word."""
    tag = next(iter(codec.tags))
    batch = next(batches(codec.examples(tagged(f"{word}/{tag}"), spelled)))
    return MostFrequent.predict(model, batch).log_probs()[0, 0].exp().numpy()


ENGLISH = tagged(
    "the/D dog/N barks/V",
    "The/D dogs/N bark/V loudly/A",
    "a/D walking/V dog/N walks/V",
    "Mary/P saw/V 12/M dogs/N",
    "Rome/P is/V 7/M hills/N",
    "nearly/A everybody/N talks/V",
    "the/D talk/N ended/V quickly/A",
    "she/P talked/V",
)


def slow(data: Sequences, word: str, options: MostFrequentOptions, spelled: bool) -> list[float]:
    """The equations with dictionaries and strings."""
    pairs = [
        (token, tag)
        for s in range(len(data))
        for token, tag in zip(data[s]["tokens"], data[s]["tags"], strict=True)
    ]
    names, times = sorted({tag for _, tag in pairs}), Counter(token for token, _ in pairs)

    def lean(found: list[str], shorter: list[float], trust: float) -> list[float]:
        return [
            (found.count(tag) + trust * p) / (len(found) + trust)
            for tag, p in zip(names, shorter, strict=True)
        ]

    every = lean([tag for _, tag in pairs], [1 / len(names)] * len(names), 1)
    guess = unseen = lean([tag for token, tag in pairs if times[token] == 1], every, 1)
    if spelled:
        first = defaultdict(Counter)
        for token, tag in pairs:
            first[token[0]][tag] += times[token] <= options.rare
        kinds = defaultdict(lambda: names[int(np.argmax(unseen))]) | {
            letter: max(names, key=lambda tag: (counts[tag], unseen[names.index(tag)]))
            for letter, counts in first.items()
        }
        for length in range(min(options.suffix, len(word)) + 1):
            alike = [
                tag
                for token, tag in pairs
                if times[token] <= options.rare
                and kinds[token[0]] == kinds[word[0]]
                and token.endswith(word[len(word) - length :])
            ]
            guess = lean(alike, guess, options.ending_trust) if alike else guess
        rest = [tag for token, tag in pairs if token[1:] == word[1:]]
        if len(word) >= 4 and rest:
            guess = [
                (p + rest.count(tag) / len(rest)) / 2 for tag, p in zip(names, guess, strict=True)
            ]
    known = word if word in times else word.lower()
    return lean([tag for token, tag in pairs if token == known], guess, options.word_trust)


@pytest.mark.parametrize("spelled", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        MostFrequentOptions(),
        MostFrequentOptions(suffix=2, rare=1, ending_trust=0.5, word_trust=3.0),
    ],
)
def test_the_tags_of_a_word_are_those_of_the_equations(options, spelled):
    codec, model = learned(MostFrequent, options, ENGLISH, spelled)
    for word in [
        "dog",
        "the",
        "barked",
        "Marking",
        "17",
        "7",
        "x",
        "ß",
        "Dogs",
        "Walks",
        "hog",
        "nothing-at-all-that-is-known",
        "THE",
    ]:
        assert says(codec, model, word, spelled).tolist() == pytest.approx(
            slow(ENGLISH, word, options, spelled), abs=1e-12
        ), word


@settings(max_examples=60, deadline=None)
@given(
    some.lists(some.lists(some.integers(0, 2), max_size=4), min_size=1, max_size=5),
    some.integers(1, 3),
)
def test_runs_of_tags_are_counted_with_what_stands_around_a_row(rows, length):
    wanted = Counter()
    for row in rows:
        seen = [3] * (length - 1) + row + [3]
        wanted.update(tuple(seen[t : t + length]) for t in range(len(seen) - length + 1))
    found = tag_grams(symbols(rows), 3, length)
    assert found.shape == (4,) * length and found.sum() == sum(wanted.values())
    assert all(found[gram] == count for gram, count in wanted.items())


@pytest.mark.parametrize("order", [1, 2])
def test_a_row_of_tags_is_scored_by_its_steps_and_its_words(order):
    """log p(x, y) by hand, up to what does not depend on y."""
    codec, model = learned(HmmTagger, HmmOptions(order=order, tag_trust=1.5), ENGLISH)
    rows = [
        codec.examples(tagged(text))
        for text in ("the/D dog/N talks/V", "the/N dog/D talks/A", "the/P dog/P talks/P")
    ]
    found, by_hand = [], []
    for examples in rows:
        batch, y = next(batches(examples)), examples.y.flat.tolist()
        found.append(model.predict(batch).log_prob(batch.y).item())
        alone, tags, steps, end = (
            model.alone(batch)[0].tolist(),
            model.tags.tolist(),
            model.steps,
            len(codec.tags),
        )
        seen = [end] * order + y + [end]
        by_hand.append(
            sum(math.log(steps[tuple(seen[t : t + order + 1])]) for t in range(len(y) + 1))
            + sum(math.log(alone[t][tag] / tags[tag]) for t, tag in enumerate(y))
        )
    assert np.diff(found) == pytest.approx(np.diff(by_hand), abs=1e-9)


def test_an_unknown_word_without_letters_is_like_those_seen_once():
    codec, model = learned(
        MostFrequent,
        MostFrequentOptions(),
        tagged("a/D dog/N", "a/D cat/N", "a/D a/D runs/V"),
        spelled=False,
    )
    assert says(codec, model, "unicorn", spelled=False).argmax() == codec.tags["N"]


def test_words_that_are_listed_but_not_read_teach_nothing():
    """As in a part of the data, whose table of words is that of the whole."""
    more = tagged(
        *(
            " ".join(f"{word}/{tag}" for word, tag in zip(row["tokens"], row["tags"], strict=True))
            for row in map(ENGLISH.__getitem__, range(8))
        ),
        "Zanzibar/P zoologically/A",
    )
    (codec, whole), (other, part) = (
        learned(MostFrequent, MostFrequentOptions(), ENGLISH),
        learned(MostFrequent, MostFrequentOptions(), more[:8]),
    )
    assert all(
        np.allclose(says(codec, whole, word), says(other, part, word))
        for word in ("dog", "zebra", "Zoologically", "ending")
    )


def test_a_vocabulary_that_leaves_words_out_learns_from_them():
    """Words below a minimum count are UNKNOWN in training already: their tags are what unknown words are."""
    y = symbols([[0, 1, 1], [0, 1, 2]])
    model = MostFrequent(3, MostFrequentOptions(), 3)
    for _ in model.counting(Examples(symbols([[2, 0, 0], [2, 0, 0]]), y)):
        pass
    found = model.predict(
        Batch(torch.tensor([[0, 2]]), torch.tensor([2]), empty(1), empty(1).bool())
    )
    assert found.mode().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (MostFrequent, MostFrequentOptions()),
        (HmmTagger, HmmOptions(order=2)),
        (HmmTagger, HmmOptions(order=1)),
    ],
)
@pytest.mark.parametrize("spelled", [True, False])
def test_saved_taggers_say_the_same_and_others_are_refused(kind, options, spelled):
    codec, model = learned(kind, options, ENGLISH, spelled)
    again = kind(len(codec.words), options, len(codec.tags))
    arrays = model.arrays()
    again.load_arrays({name: array.clone() for name, array in arrays.items()})
    for batch in batches(codec.examples(ENGLISH, spelled)):
        assert torch.equal(again.predict(batch).mode(), model.predict(batch).mode())
        assert torch.equal(
            again.predict(batch).log_prob(batch.y), model.predict(batch).log_prob(batch.y)
        )
    assert model.size() > 0
    for name, array in arrays.items():
        for wrong in (array.to(torch.float16), array[None], array[..., :0]):
            with pytest.raises(ValueError):
                again.load_arrays(arrays | {name: wrong})
    with pytest.raises(ValueError, match="another model"):
        again.load_arrays(arrays | {"nonsense": array})
    if spelled:
        with pytest.raises(ValueError, match="order"):
            again.load_arrays(arrays | {"endings.keys": arrays["endings.keys"].flip(0)})


@pytest.mark.parametrize(
    ("kind", "options", "least"),
    [
        (MostFrequent, MostFrequentOptions(), 0.895),
        (HmmTagger, HmmOptions(), 0.927),
        pytest.param(HmmTagger, HmmOptions(order=2), 0.933, marks=pytest.mark.slow),
    ],
)
def test_english_tags(public_data, kind, options, least):
    """Universal tags of the English Web Treebank, gold tokens: 89.7 % word by word, 92.8 by pairs of tags, 93.4 by triples."""
    train, test = (
        seriatim.read(str(public_data / f"tag/en_ewt-ud-{part}.conllu.xz"))
        for part in ("train", "test")
    )
    codec = Codec(train)
    model = kind(len(codec.words), options, len(codec.tags))
    for _ in model.counting(codec.examples(train)):
        pass
    right = torch.cat(
        [
            (model.predict(batch).mode() == batch.y)[batch.y_mask]
            for batch in batches(codec.examples(test))
        ]
    )
    assert right.double().mean() > least


# -- states that nobody tagged
def cells(rows) -> list[tuple[torch.Tensor, torch.Tensor]]:
    x, mask = pad([np.array(row) for row in rows])
    return [(x, mask.sum(1))]


@settings(max_examples=30, deadline=None)
@given(
    some.lists(some.lists(some.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6),
    some.integers(1, 3),
    some.integers(0, 99),
)
def test_a_sweep_never_makes_the_data_less_probable(rows, states, seed):
    model, figures = HiddenMarkovModel(4, HiddenOptions(states=states, seed=seed)), []
    for _ in range(8):
        log_prob, counts = model.expect(cells(rows))
        model.maximise(*counts)
        figures.append(log_prob)
        assert all(
            torch.allclose(table.sum(-1), torch.ones((), dtype=torch.float64))
            for table in model.arrays().values()
        )
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(figures))


def test_a_sweep_is_that_of_hmmlearn():
    library = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 5, length) for length in (9, 1, 14, 30)]
    model = HiddenMarkovModel(5, HiddenOptions(states=3))
    other = library.CategoricalHMM(3, n_iter=1, init_params="", n_features=5)
    other.startprob_, other.transmat_, other.emissionprob_ = (
        table.numpy().copy() for table in model.arrays().values()
    )
    log_prob, counts = model.expect(cells(rows))
    assert log_prob == pytest.approx(
        other.score(np.concatenate(rows)[:, None], [*map(len, rows)]), abs=1e-9
    )
    model.maximise(*counts)
    other.fit(np.concatenate(rows)[:, None], [*map(len, rows)])
    for ours, theirs in (
        (model.begin, other.startprob_),
        (model.transition, other.transmat_),
        (model.emission, other.emissionprob_),
    ):
        assert np.abs(ours.numpy() - theirs).max() < 1e-6


@settings(max_examples=30, deadline=None)
@given(
    some.lists(some.lists(some.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6),
    some.integers(1, 3),
)
def test_expected_counts_are_the_gradient_of_the_log_probability(rows, states):
    """With respect to the logarithms of the probabilities (Eisner 2016), by the messages of a chain."""
    model, [(x, lengths)] = HiddenMarkovModel(4, HiddenOptions(states=states)), cells(rows)
    logs = [table.log().requires_grad_() for table in model.arrays().values()]
    log_prob = (
        Chain(logs[2].t()[x], logs[1], logs[0], torch.zeros(states), lengths).log_partition().sum()
    )
    found, counts = model.expect([(x, lengths)])
    assert found == pytest.approx(log_prob.item(), abs=1e-9)
    for ours, gradient in zip(
        counts, torch.autograd.grad(log_prob, logs, materialize_grads=True), strict=True
    ):
        assert torch.allclose(ours, gradient, atol=1e-9)


def test_a_source_of_hidden_states_is_learned_to_its_entropy():
    """Three states are found from what they say, within a thousandth of a nat of the truth."""
    source = parse_source("hidden-markov:seed=2,length=20000")
    train, test = (
        source.as_symbols(
            seriatim.read(f"hidden-markov:seed=2,length=20000,draw={draw}")[0]["text"]
        )
        for draw in (1, 2)
    )
    model = HiddenMarkovModel(source.symbols, HiddenOptions(states=source.states, starts=4))
    records = list(model.counting(symbols([train]), stop=False))
    nats = [
        float(record["words"].split()[2])
        for record in records
        if record["words"].startswith("sweep")
    ]
    assert nats == sorted(nats, reverse=True) and len(nats) > 2
    truth = source.log_prob("".join(source.alphabet[i] for i in test))
    assert truth.mean() - score(model, symbols([test]), "stream").values.mean() < 1e-3


def test_symbols_that_starts_were_not_tried_on_are_learned():
    """A text of thirty thousand symbols, each of them once: whichever are tried, the others come later."""
    model = HiddenMarkovModel(30_000, HiddenOptions(states=2, starts=1, sweeps=2, add=0.0))
    model.count(symbols([np.arange(30_000)]), stop=False)
    assert torch.allclose(
        model.emission.sum(0).log(), torch.tensor(-math.log(15_000), dtype=torch.float64), atol=1.0
    )


def test_the_belief_is_what_bayes_says():
    """By enumeration of all states that may have led to the place."""
    torch.manual_seed(0)
    model, y = HiddenMarkovModel(4, HiddenOptions(states=2)), torch.tensor([[2, 0, 3, 1]])
    batch = Batch(
        empty(1), torch.zeros(1, dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool)
    )
    found, begin, transition, emission = (
        model.trace(batch)["belief"][0],
        *(table.numpy() for table in model.arrays().values()),
    )
    for t in range(4):
        share = np.zeros(2)
        for path in np.ndindex(*[2] * (t + 1)):
            p = begin[path[0]]
            for i in range(t):
                p *= emission[path[i], y[0, i]] * transition[path[i], path[i + 1]]
            share[path[-1]] += p
        assert found[t].tolist() == pytest.approx((share / share.sum()).tolist())


def test_unseen_symbols_keep_a_little_probability_and_nothing_is_learned_from_nothing():
    model = HiddenMarkovModel(5, HiddenOptions(states=2, add=0.1))
    before = model.emission.clone()
    model.count(Field(np.zeros(0, np.int32), np.zeros(2, np.int64), SYMBOLS), stop=False)
    assert torch.equal(model.emission, before)
    model.count(symbols([[2, 3, 2, 3], [2, 3]]), stop=True)
    assert 0 < model.emission[:, 4].max() < 0.2
    model = HiddenMarkovModel(5, HiddenOptions(states=2, add=0.0))
    model.count(symbols([[2, 3, 2, 3], [2, 3]]), stop=True)
    following, state = model.start(
        Batch(empty(1), torch.zeros(1, dtype=torch.long), empty(1), empty(1).bool())
    )
    following, _ = model.step(torch.tensor([4]), state)  # impossible, and yet it goes on
    assert following.log_probs().exp().sum().item() == pytest.approx(1)


@pytest.mark.parametrize(
    "kind, options", [(MostFrequent, MostFrequentOptions()), (HmmTagger, HmmOptions())]
)
def test_no_ending_is_taken_for_the_rest_of_another_word(kind, options):
    """Many small sets of short words over few letters: what is kept is always in order and says the same again."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        words = ["".join(rng.choice(list("abcAB"), rng.integers(1, 7))) for _ in range(60)]
        data = seriatim.Sequences(
            {
                "tokens": Field.of_symbols([words]),
                "tags": Field.of_symbols([[str(i) for i in rng.integers(0, 4, 60)]]),
            },
            unit="token",
        )
        codec = Codec(data)
        model = kind(len(codec.words), options, len(codec.tags))
        for _ in model.counting(codec.examples(data)):
            pass
        again = kind(len(codec.words), options, len(codec.tags))
        again.load_arrays(model.arrays())
        assert (np.diff(model.arrays()["endings.keys"].numpy()) > 0).all()
