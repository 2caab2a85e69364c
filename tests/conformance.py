"""What it means to be a model: properties that every rung of every room has, or a written reason why not.

    python -m tests.conformance      writes docs/conformance.md

A property is a function of a `Specimen` (see tests/specimens.py): a small fitted model and batches of
its own room. `tests/test_conformance.py` runs each for each model; what is neither run nor listed in
EXCEPTIONS does not exist. An exception that is `checked` is run too, and must fail.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from seriatim import load
from seriatim.distributions.numbers import Density, Quantiles
from seriatim.models.base import detach, leaves, regrow, select
from seriatim.parallel import Workers
from seriatim.tasks import tasks
from seriatim.training.gradients import add_gradients
from tests.specimens import MANY, Specimen, alike, asking, specimens, values

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"


# What is said


def normalised(s: Specimen) -> None:
    batch = s.batch()
    if s.task == "forecast":
        return ordered(s)
    if s.task in ("sets", "marks"):
        every = torch.tensor(list(product([0.0, 1.0], repeat=batch.y.shape[-1])))
        with torch.no_grad():
            found = s.distribution(s.model, batch)
            total = sum(found.log_prob(each.expand_as(batch.y)).double().exp() for each in every)
        assert alike(total, torch.ones_like(total))
        return None
    if s.task == "regress":
        with torch.no_grad():
            return integrated(s.distribution(s.model, batch))
    p = s.said(s.model, batch)[s.real(batch)].exp()
    assert len(p) and (p >= 0).all() and alike(p.sum(-1), torch.ones(len(p)))


def ordered(s: Specimen) -> None:
    """Quantiles of a forecast rise, and where there is a density it holds what lies between them."""
    _, quantiles, _ = s.model.forecast(s.batch(), 20, 0)
    assert bool((quantiles.diff(dim=-1) >= -1e-5).all())
    if isinstance(s.model, nn.Module):
        with torch.no_grad():
            found = s.model.start(s.batch())[0] if s.by_steps else s.model.spread(s.batch())
            integrated(found)


def integrated(density: Density) -> None:
    """Between the quantiles of 5 % and 95 % lie 90 %; quantiles that are learned have no density."""
    inner = density
    while hasattr(inner, "inner"):
        inner = inner.inner
    if isinstance(inner, Quantiles):
        return
    low, high = density.quantile(torch.tensor([0.05, 0.95])).unbind(-1)
    if low.shape[-1] > 1:  # several numbers at once
        return
    many = 2000  # pieces: bins are steps, which a coarser sum would miss by more than a hundredth
    heights = torch.stack(
        [density.log_prob(low + (high - low) * u).exp() for u in torch.linspace(0, 1, many + 1)]
    )
    mass = torch.trapezoid(heights.double(), dx=1 / many, dim=0) * (high - low)[..., 0].double()
    assert alike(mass, torch.full_like(mass, 0.9), 0.01)


def cell(s: Specimen) -> None:
    batch, y = s.batch(), s.batch().y
    with torch.no_grad():
        found = s.distribution(s.model, batch)
        if s.task in ("sets", "marks"):
            sure = torch.nn.functional.logsigmoid(found.logits)
            whole = torch.where(y > 0, sure, sure - found.logits).sum(-1)
        else:
            whole = found.log_probs().gather(-1, y[..., None])[..., 0]
        real = s.real(batch)
        assert alike(found.log_prob(y)[real], whole[real])


def price(s: Specimen) -> None:
    batch = s.ragged()
    with torch.no_grad():
        mean, loss = s.worth(s.model, batch), asking(s.model).loss(batch)[0]
    assert alike(loss.double(), -mean)


def differ(s: Specimen) -> None:
    batch = s.batch()
    found = s.said(s.model, batch)
    if s.task == "regress":
        found = found[..., :1]  # the mean; what it says of the truth differs with the truth
    rows = found.reshape(len(found), -1) if found.shape[1] == 1 else found[s.real(batch)]
    assert rows[:, rows.isfinite().all(0)].std(0).max() > 1e-3


def samples(s: Specimen) -> None:
    drawn, p = s.drawn()
    assert float((drawn - p).abs().max()) < 5 * np.sqrt(0.25 / MANY)


def nothing(s: Specimen) -> None:
    assert s.nothing().isfinite().all()


def corpus(s: Specimen) -> None:
    together, alone = s.at_once()
    assert len(together) and alike(together, alone, 1e-4)


# What is heard


def padding(s: Specimen) -> None:
    batch = s.ragged()
    other = s.repadded(batch)
    real = s.real(batch)
    assert not torch.equal(other.x, batch.x) or not torch.equal(other.y, batch.y)
    kept = other if s.task in ("classify", "tag", "regress", "marks") else batch
    with torch.no_grad():
        pair = [values(s.distribution(s.model, each), kept.y)[real] for each in (batch, other)]
    assert alike(*pair)


def neighbours(s: Specimen) -> None:
    batch = s.batch()
    together, real = s.said(s.model, batch), s.real(batch)
    for row in range(s.rows):
        single = s.batch([row])
        alone = s.said(s.model, single)[0][s.real(single)[0]]
        assert alike(alone, together[row][real[row]])


def order(s: Specimen) -> None:
    batch, turned = s.batch(), s.batch(range(s.rows)[::-1])
    real, other = s.real(batch), s.real(turned)
    first, second = s.said(s.model, batch), s.said(s.model, turned)
    for row in range(s.rows):
        there = s.rows - 1 - row
        assert alike(first[row][real[row]], second[there][other[there]])


def future(s: Specimen) -> None:
    before, after = s.future()
    assert before.numel() and alike(before, after, 1e-4)


# Step by step


@torch.no_grad()
def stepping(s: Specimen) -> None:
    batch = s.batch()
    y, whole = s.outputs(batch), s.whole(s.model, batch)
    following, state = s.model.start(batch)
    for t in range(y.shape[1]):
        inside = real_at(s, batch, y, t)
        assert alike(values(following, y[:, t])[inside], whole[:, t][inside])
        following, state = s.model.step(y[:, t], state)


def real_at(s: Specimen, batch, y: Tensor, t: int) -> Tensor:
    """(R,) which rows have an output at this time."""
    if s.task == "forecast":
        return torch.ones(len(y), dtype=torch.bool)
    return batch.y_mask[:, t]


@torch.no_grad()
def twice(s: Specimen) -> None:
    batch = s.batch()
    y, whole = s.outputs(batch), s.whole(s.model, batch)
    _, state = s.model.start(batch)
    _, state = s.model.step(y[:, 0], state)
    one, first = s.model.step(y[:, 1], state)
    s.model.step(y[:, 1].flip(0), state)  # the same state, another way
    again, _ = s.model.step(y[:, 1], state)
    after, _ = s.model.step(y[:, 2], first)
    for t, each in ((2, one), (2, again), (3, after)):
        inside = real_at(s, batch, y, t)
        assert alike(values(each, y[:, t])[inside], whole[:, t][inside])


@torch.no_grad()
def chunks(s: Specimen) -> None:
    batch = s.batch()
    y, whole = s.outputs(batch), s.whole(s.model, batch)
    _, state = s.model.start(batch)
    ends = [0, 1, 3, y.shape[1] - 1]
    for begin, end in pairwise(ends):
        following, state = s.model.extend(y[:, begin:end], state)
        found = values(following, y[:, begin + 1 : end + 1])
        for t in range(begin + 1, end + 1):
            inside = real_at(s, batch, y, t)
            assert alike(found[:, t - begin - 1][inside], whole[:, t][inside])


@torch.no_grad()
def carried(s: Specimen) -> None:
    from seriatim.batches import pieces

    batch, state, columns = s.batch(), None, []
    for piece in pieces(batch, 4):
        following, state = s.model.unroll(piece, state)
        columns.append(values(following, piece.y))
    real = s.real(batch)
    assert alike(torch.cat(columns, 1)[real], s.said(s.model, batch)[real])


@torch.no_grad()
def selected(s: Specimen) -> None:
    batch = s.batch()
    y = s.outputs(batch)
    rows = torch.tensor([2, 2, 0, 1, 1, 1])
    _, state = s.model.start(batch)
    _, state = s.model.step(y[:, 0], state)
    whole = values(s.model.step(y[:, 1], state)[0], y[:, 2])
    found = values(s.model.step(y[rows, 1], select(state, rows))[0], y[rows, 2])
    assert alike(found, whole[rows])
    pair = torch.tensor([1, 2])
    grouped = select(select(state, pair), torch.tensor([0, 0, 1, 1]))
    rows = torch.tensor([1, 1, 2, 2])
    assert alike(values(s.model.step(y[rows, 1], grouped)[0], y[rows, 2]), whole[rows])


@torch.no_grad()
def kept(s: Specimen) -> None:
    batch = s.batch()
    y = s.outputs(batch)
    _, state = s.model.start(batch)
    _, state = s.model.step(y[:, 0], state)
    found = leaves(detach(state))
    assert all(len(leaf) == len(y) for leaf in found.values())
    expected = values(s.model.step(y[:, 1], state)[0], y[:, 2])
    assert alike(values(s.model.step(y[:, 1], regrow(found))[0], y[:, 2]), expected)


@torch.no_grad()
def prompted(s: Specimen) -> None:
    together, alone = s.prompted()
    y = s.outputs(s.batch())
    following, state = s.model.start(together)
    found = values(following, y[:, 0])
    after = values(s.model.step(y[:, 0], state)[0], y[:, 1])
    for row, batch in enumerate(alone):
        following, state = s.model.start(batch)
        assert alike(values(following, y[row : row + 1, 0])[0], found[row])
        expected = s.model.step(y[row : row + 1, 0], state)[0]
        assert alike(values(expected, y[row : row + 1, 1])[0], after[row])


# What is kept


def arrays(s: Specimen) -> None:
    batch, again = s.batch(), s.reborn()
    assert torch.equal(s.said(again, batch), s.said(s.model, batch))
    assert again.size() == s.model.size()


def misfit(s: Specimen) -> None:
    found = s.model.arrays()
    wrong = [{"nonsense": torch.zeros(3)}, {}]
    for key, array in found.items():
        wrong += [{name: each for name, each in found.items() if name != key}]
        wrong += [found | {key: array[None]}, found | {key: array.to(torch.complex64)}]
    other = s.made()
    for each in wrong if found else wrong[:1]:
        try:
            other.load_arrays(each)
        except ValueError:
            continue
        raise AssertionError(f"taken: {sorted(each)[:5]}")


def saved(s: Specimen) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = s.fit(Path(folder) / "run")
        again = load(Path(folder) / "run")
        assert again.codec.to_json() == model.codec.to_json()
        assert s.records(again) == s.records(model)


def int8(s: Specimen) -> None:
    batch, model = s.batch(), s.reborn()
    quantised = model.quantise()
    whole, less = s.said(s.model, batch), s.said(model, batch)
    real = s.real(batch)
    near = float((whole[real] - less[real]).abs().mean() / whole[real].abs().mean().clamp(min=0.1))
    assert near < 0.05 if quantised else torch.equal(whole, less)


# Learning


def by_heart(s: Specimen) -> None:
    torch.manual_seed(1)
    model, batch = s.made(**s.learning), s.lesson()
    optimiser, before = s.optimiser(model), None
    goal = s.goal
    for _ in range(s.rounds):
        optimiser.zero_grad()
        loss, _ = model.loss(batch)
        if before is None:
            before = loss.item()
            if s.task in ("regress", "forecast", "autoencode"):  # densities have no floor at nought
                goal = before - 0.3 * abs(before) - 0.1
            if s.task == "forecast" and model.options.density == "square":
                goal = max(goal, np.log(2 * np.pi) / 2 + 0.1)  # no error, a deviation of one
        if loss < goal:
            break
        loss.backward()
        optimiser.step()
    assert loss < goal
    if s.task in ("classify", "tag") and "chain" not in s.name:
        with torch.no_grad():
            found, real = asking(model).unroll(batch)[0].mode(), s.real(batch)
        assert torch.equal(found[real], batch.y[real])


def dense(gradient: Tensor | None) -> Tensor | None:
    """A gradient, written out; of tables that are looked up it is sparse."""
    return gradient if gradient is None else gradient.to_dense()


def gradients(s: Specimen) -> None:
    torch.manual_seed(1)
    model = s.made(weight_dropout=0.0)
    model.spent = 1.0
    model.loss(s.batch())[0].backward()
    found = {name: dense(each.grad) for name, each in model.named_parameters()}
    silent = [
        name
        for name, each in found.items()
        if each is None or not each.isfinite().all() or not each.any()
    ]
    assert not silent, silent


def seeded(s: Specimen) -> None:
    first, second, other = (s.trained(seed) for seed in (1, 1, 2))
    assert first.keys() == second.keys()
    assert all(bits(first[name]) == bits(second[name]) for name in first)
    if not s.counts:
        assert any(bits(first[name]) != bits(other[name]) for name in first)


def bits(array: Tensor) -> bytes:
    """The array as it lies in memory: what is not a number equals itself."""
    return array.detach().numpy().tobytes()


def divided(s: Specimen) -> None:
    torch.manual_seed(1)
    still = {"dropout": 0.0}
    if "source_ngrams" in s.settings:
        still["source_ngrams_dropout"] = 0.0
    model, batch = s.made(**still), s.batch()
    assert model.divisible
    parameters, found = list(model.parameters()), []
    whole = model.loss(batch)[0]
    expected = torch.autograd.grad(whole, parameters, allow_unused=True)
    with Workers(2) as workers:
        value = add_gradients(
            lambda rows: model.loss(rows)[0], batch, parameters, 2, workers, nullcontext
        )
    found = [dense(each.grad) for each in parameters]
    assert abs(value - whole.item()) < 1e-5
    assert all(alike(a, dense(b)) for a, b in zip(found, expected, strict=True) if b is not None)


PROPERTIES: dict[str, tuple[str, Callable[[Specimen], None]]] = {
    "normalised": (
        "Probabilities sum to one, also over all sets; a density holds what lies between its "
        "quantiles, and these rise.",
        normalised,
    ),
    "cell": ("The log-probability of what is given is the cell of the whole.", cell),
    "price": ("The loss of a padded batch is the mean price of what counts in it.", price),
    "differ": ("Answers differ, so that what is compared here is more than a constant.", differ),
    "samples": ("What is drawn follows the scores.", samples),
    "nothing": ("Nothing at all (an empty sequence, a single value) can be asked about.", nothing),
    "corpus": ("A corpus scored at once has the scores of its rows one by one.", corpus),
    "padding": ("What stands in the padding does not matter.", padding),
    "neighbours": ("A row has the same answer alone and among others.", neighbours),
    "order": ("The order of sequences does not matter.", order),
    "future": ("What comes later is not seen.", future),
    "stepping": ("Step by step equals all at once.", stepping),
    "twice": ("A state is a value: it can be gone on from in two ways.", twice),
    "chunks": ("Extending in pieces equals all at once.", chunks),
    "carried": ("A long batch in pieces, its state carried over, equals the whole.", carried),
    "selected": ("Rows of a state can be kept, repeated and reordered.", selected),
    "kept": (
        "A state has rows first in every leaf, and is the same detached, taken apart and regrown.",
        kept,
    ),
    "prompted": ("Prompts or sources of different lengths can stand in one batch.", prompted),
    "arrays": ("Saved arrays give the same bits.", arrays),
    "misfit": ("Arrays that are missing, of another shape or of another type are refused.", misfit),
    "saved": ("A run that is saved and loaded gives the same records.", saved),
    "int8": ("In eight bits the answers stay near; what has no linear maps stays as it is.", int8),
    "by-heart": ("A network learns a tiny batch by heart.", by_heart),
    "gradients": ("Gradients reach every parameter and are numbers.", gradients),
    "seeded": ("The same seed gives the same bits, another one others.", seeded),
    "divided": ("Gradients of parts side by side equal those of the whole.", divided),
}


@dataclass(frozen=True)
class Excepted:
    """Models (patterns of their names; "counted": those that count, "mixed": mixtures, "variant":
    what is not a rung by itself) that do not have some properties, and why. `checked`: that these
    fail is looked at in every run."""

    task: str
    models: str | tuple[str, ...]
    properties: tuple[str, ...]
    reason: str
    checked: bool = True

    def holds_for(self, s: Specimen) -> bool:
        """Whether this model is meant."""
        if s.task not in self.task.split():
            return False
        if self.models == "counted":
            return s.counts
        if self.models == "mixed":
            return "+" in s.spec
        if self.models == "variant":
            return s.variant
        patterns = (self.models,) if isinstance(self.models, str) else self.models
        return any(fnmatchcase(s.name, pattern) for pattern in patterns)


ROOMS = "language classify regress tag sets marks translate forecast autoencode words"
STATES = ("stepping", "twice", "chunks", "carried", "selected", "kept", "prompted")
BATCHES = ("cell", "price", "nothing", "corpus", "padding", "neighbours", "order", "future")
EXCEPTIONS: tuple[Excepted, ...] = (
    Excepted(ROOMS, "counted", ("by-heart", "gradients"), "It counts: there are no gradients."),
    Excepted(
        ROOMS, "mixed", ("by-heart", "gradients"), "Its parts learn, each in its own way.", False
    ),
    Excepted(
        "language classify regress tag sets marks forecast autoencode words",
        "*",
        ("divided",),
        "Its batches are not cut into parts that are computed side by side (`divisible`).",
    ),
    Excepted(
        "translate",
        ("lexicon", "joint", "*+*"),
        ("divided",),
        "Not divisible: only networks learn from batches.",
    ),
    Excepted(
        ROOMS,
        "variant",
        ("saved",),
        "A variant of a rung whose run is kept here; its own arrays come back (`arrays`).",
        False,
    ),
    # Language
    Excepted("language", "uniform", ("differ",), "The floor: it says the same everywhere."),
    Excepted(
        "language",
        "bigram",
        ("seeded",),
        "Its table begins at nought and nothing is dropped: every seed gives the same bits.",
    ),
    Excepted("language", "unigram", ("differ",), "It says the same whatever came before."),
    Excepted(
        "language",
        ("bigram", "attention, simple"),
        ("by-heart",),
        "Too simple to learn a random text by heart.",
    ),
    Excepted(
        "language",
        "unigram*",
        ("misfit",),
        "Discounts may be missing altogether, as in a model read from an ARPA file, and it has one; "
        "all else is refused.",
    ),
    # Labels, tags and values
    Excepted("classify", ("majority*",), ("differ",), "The floor: the most frequent label."),
    Excepted("tag", "most-frequent, numbers", ("differ",), "The floor: the commonest tag."),
    Excepted("regress", ("average*",), ("differ",), "The floor: the mean of all values."),
    Excepted(
        "classify tag regress marks",
        "*",
        STATES,
        "It reads a sequence as a whole and goes on with nothing: it has no state.",
        False,
    ),
    Excepted(
        "classify regress marks",
        "*",
        ("future",),
        "A label or a value is of the whole sequence: there is no later.",
        False,
    ),
    Excepted(
        "tag",
        (
            "hmm*",
            "window",
            "convolution",
            "rnn",
            "gru",
            "lstm",
            "transformer",
            "window, numbers",
            "convolution, numbers",
            "rnn, numbers",
            "gru, numbers",
            "lstm, numbers",
            "transformer, numbers",
            "*, both ways",
            "letters by recurrence",
            "no letters",
            "chain*",
            "near positions",
            "learned places",
            "dilated",
        ),
        ("future",),
        "It hears a sentence both ways, or judges its tags together: see tests/tasks/labels.",
    ),
    Excepted(
        "tag",
        ("hmm", "hmm, first order", "hmm, numbers", "chain*"),
        ("cell",),
        "Tags that are judged together: a row of them has a probability, not each cell.",
    ),
    Excepted(
        "tag",
        ("attention, one way", "attention, both ways"),
        ("by-heart",),
        "Attention without the residual ways and norms of `transformer` is slow to learn.",
    ),
    Excepted(
        "classify marks",
        "mean, numbers",
        ("by-heart",),
        "It sees the mean of linear maps: random labels cannot be told apart by that.",
    ),
    Excepted(
        "tag", "alone", ("by-heart",), "A tag depends on the word before, which it cannot hear."
    ),
    Excepted(
        "tag",
        "transformer, numbers",
        ("by-heart",),
        "Random tags of random numbers, of one layer without many heads, want more steps.",
    ),
    Excepted("regress", "*", ("cell",), "A density has no cells; it is integrated (`normalised`)."),
    # Sets
    Excepted("marks", "frequencies*", ("differ",), "The floor: each label by its own frequency."),
    Excepted("sets", "frequencies", ("differ",), "The floor: the same whatever came before."),
    # Pairs
    Excepted(
        "translate",
        "*",
        ("kept",),
        "What beams share of a source (`Shared`) is laid out by `leaves` and not joined again by "
        "`regrow`: a state of a translator can be selected, not stored; no one stores one.",
    ),
    Excepted(
        "translate",
        (
            "vector",
            "rnn*",
            "gru*",
            "lstm*",
            "coupled*",
            "convolution*",
            "transformer*",
            "*+*",
            "shared",
            "numbers",
        ),
        ("carried",),
        "A target is learned whole: `unroll` begins anew whatever the state. It is written step by "
        "step (`stepping`, `chunks`).",
    ),
    # Series
    Excepted(
        "forecast",
        "counted",
        ("price", "samples"),
        "A rule says a mean and quantiles, not a density: it has neither a loss nor samples.",
    ),
    Excepted(
        "forecast",
        "mixed",
        ("price", "samples", *STATES),
        "The mean of quantiles is no density, and the whole horizon is said at once.",
    ),
    Excepted("forecast", "*", ("cell",), "A density has no cells; it is integrated."),
    Excepted(
        "forecast",
        "*",
        ("padding", "prompted"),
        "Windows have one length; at the beginning of a series its first value is repeated.",
    ),
    Excepted("forecast", "*", ("carried",), "A window stands by itself: nothing is carried over."),
    Excepted(
        "forecast",
        "counted",
        STATES,
        "The whole horizon is said at once from a window, without a state.",
    ),
    Excepted(
        "forecast",
        ("linear", "convolution", "rnn", "gru", "lstm", "transformer"),
        STATES,
        "Forecast directly: the whole horizon is said at once from a window, without a state.",
        False,
    ),
    Excepted(
        "forecast",
        "linear",
        ("gradients",),
        "Without a mixer only the last value reaches the hidden layer, and in a window moved by its "
        "last value that is nought: the weights of the embedding learn nothing, the lags do.",
    ),
    Excepted(
        "forecast",
        "transformer",
        ("gradients",),
        "Here with bins, inside of which a density is flat: what moves it (the lags) has no slope.",
    ),
    Excepted(
        "forecast",
        "* by steps",
        ("corpus",),
        "Paths of one batch share their throws: forecasts from them differ as samples do.",
    ),
    # Sequences through one vector
    Excepted(
        "autoencode",
        (
            "rnn*",
            "gru*",
            "lstm",
            "lstm, labels",
            "lstm, without inputs",
            "transformer*",
            "convolution",
            "numbers",
            "numbers, transformer",
        ),
        ("price",),
        "A variational model pays for its vector too: see tests/tasks/autoencode.",
    ),
    Excepted(
        "autoencode",
        ("numbers*",),
        ("nothing",),
        "A sequence of numbers has a last row, in which the pen is lifted for good.",
    ),
    Excepted(
        "autoencode",
        "*",
        ("carried",),
        "A sequence is read as a whole before it is written: nothing is carried over.",
    ),
    Excepted(
        "autoencode",
        ("numbers*",),
        ("cell", "normalised", "samples"),
        "Strokes are several numbers and a state of the pen: see tests/distributions.",
    ),
    # Words
    Excepted(
        "words",
        "*",
        (*BATCHES, *STATES, "samples"),
        "Vectors are looked up word by word: there are no batches and no state.",
    ),
    Excepted(
        "words", "*", ("by-heart", "gradients"), "It learns in its own way, by compiled loops."
    ),
)


def excepted(s: Specimen, name: str) -> Excepted | None:
    """Why a model does not have a property, or None if it has it."""
    return next(
        (each for each in EXCEPTIONS if name in each.properties and each.holds_for(s)), None
    )


def every() -> list[Specimen]:
    """All models of all rooms."""
    return [each for task in tasks() for each in specimens(task.name)]


def rows_of(s: Specimen) -> list[str]:
    """The properties that this model is asked for."""
    return [name for name in PROPERTIES if excepted(s, name) is None]


def matrix() -> list[list[str]]:
    """A row for each property: of how many models of each room it is asked."""
    rooms = [task.name for task in tasks()]
    rows = [["property", *rooms], ["---", *["---:"] * len(rooms)]]
    for name in PROPERTIES:
        asked = [sum(excepted(each, name) is None for each in specimens(task)) for task in rooms]
        rows.append([f"`{name}`", *(str(many or "") for many in asked)])
    models = [str(len(specimens(task))) for task in rooms]
    return [*rows, ["models in all", *models]]


def named(each: Excepted) -> str:
    """The models that an exception is about, in words."""
    if each.models in ("counted", "mixed", "variant"):
        return {
            "counted": "all that count",
            "mixed": "all mixtures",
            "variant": "all variants of rungs",
        }[str(each.models)]
    if each.models == "*":
        return "all"
    several = (each.models,) if isinstance(each.models, str) else each.models
    return ", ".join(f"`{name}`" for name in several)


def page() -> str:
    """docs/conformance.md, from the tables."""
    tables = {
        "properties": [["property", "what it says"], ["---", "---"]]
        + [[f"`{name}`", words] for name, (words, _) in PROPERTIES.items()],
        "matrix": matrix(),
        "exceptions": [["task", "models", "properties", "reason", "seen to fail"], ["---"] * 5]
        + [
            [
                "every" if each.task == ROOMS else each.task.replace(" ", ", "),
                named(each),
                ", ".join(f"`{name}`" for name in each.properties),
                each.reason,
                "yes" if each.checked else "",
            ]
            for each in EXCEPTIONS
        ],
    }
    return PAGE_TEXT.format(
        **{key: "\n".join(f"| {' | '.join(row)} |" for row in rows) for key, rows in tables.items()}
    )


PAGE_TEXT = """# What every model must do

One suite for every rung of every task: `tests/test_conformance.py` asks a small fitted model of each for each of these
properties. A property that a model does not have is listed below with the reason; a model for which one is neither asked nor
listed makes a test fail. This page is written by `python -m tests.conformance`. A model of your own is asked by
[`st.conform`](extending.md#a-model-in-twenty-lines), in words.

## Properties

{properties}

## How many models are asked

Rungs, mixtures, and variants of rungs (`tests/specimens.py`).

{matrix}

## Exceptions

Of those seen to fail, a test looks that the property still does not hold: an exception that is no longer needed is an error.

{exceptions}
"""


if __name__ == "__main__":
    PAGE.write_text(page())
