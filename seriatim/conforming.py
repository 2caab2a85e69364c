"""Does a model keep to what all others rely on? Each check that fails says in a sentence where.

    st.conform(Again);   st.conform(Again(7, Again.Options(q=0.7)));   st.conform(predictor, data)

It is asked of models of what comes next, which have `start` and `step`. The rows it is asked about
are of the data given, or random (and always the same). Shapes: B rows, T time, V symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from rich.table import Table
from rich.text import Text
from torch import Tensor, nn

from seriatim.batches import Batch, empty, pad, prompts
from seriatim.codecs.symbols import STOP, Codec
from seriatim.data.sequences import SYMBOLS, Field
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.errors import ConfigError, told_by
from seriatim.models.base import Model, State, asked, evaluating, leaves, select
from seriatim.models.own import own_rung
from seriatim.records import Record, record
from seriatim.runs.predictor import Predictor

ROWS, TIME = 4, 8  # that are looked at
SYMBOLS_OF_A_CLASS = 7  # how many a class is made with
COUNTED = 40  # random rows that a class which counts is shown
NOISE = 0.3  # added to the weights of a class, so that they are not nought
NEAR = 1e-4  # of log-probabilities: what lies nearer is rounding
SUM = 1e-3  # how far from one probabilities may sum
MANY = 4000  # samples
SIGMAS = 5  # how far their frequency may lie from the probability


@dataclass(frozen=True)
class Bench:
    """What is looked at: a model, rows of symbols, and what these are called."""

    model: Model
    y: Tensor  # (B, T)
    shown: Callable[[int], str]

    @cached_property
    def whole(self) -> Tensor:
        """(B, T, V) what is said all at once."""
        return self.said(self.y)

    def said(self, y: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B, T, V) log-probabilities all at once, of rows that may be shorter."""
        return self.model.predict(asking(y, lengths)).log_probs().double()

    def walked(self, y: Tensor) -> Tensor:
        """(B, T, V) the same step by step."""
        following, state = self.model.start(nothing(len(y)))
        columns = [following.log_probs()]
        for t in range(y.shape[1] - 1):
            following, state = self.model.step(y[:, t], state)
            columns.append(following.log_probs())
        return torch.stack(columns, 1).double()

    def stepped(self, times: int) -> State:
        """The state after so many steps."""
        _, state = self.model.start(nothing(len(self.y)))
        for t in range(times):
            _, state = self.model.step(self.y[:, t], state)
        return state

    def other(self, y: Tensor) -> Tensor:
        """The same with every symbol another one."""
        return (y + 1) % self.model.vocabulary

    def after(self, row: int, t: int) -> str:
        """What was seen before a place, as a sentence begins."""
        return self.behind(self.y[row, :t].tolist())

    def behind(self, symbols: list[int]) -> str:
        """After these; of many the last."""
        names = [self.shown(each) for each in symbols[-3:]]
        more = "..., " * (len(symbols) > 3)
        return f"after {more}{', '.join(names)}" if names else "at the start"

    def two(self, symbol: int, first: Tensor, second: Tensor) -> tuple[str, str]:
        """Two probabilities of a symbol, with so many digits that they differ."""
        p, q = float(first[symbol].exp()), float(second[symbol].exp())
        for digits in range(2, 9):
            words = f"{p:.{digits}g}", f"{q:.{digits}g}"
            if words[0] != words[1]:
                break
        return words


def asking(y: Tensor, lengths: Tensor | None = None) -> Batch:
    """A batch of rows from their beginning; behind its length a row is padding."""
    mask = torch.ones_like(y, dtype=torch.bool)
    if lengths is not None:
        mask = torch.arange(y.shape[1]) < lengths[:, None]
    return Batch(empty(len(y)), torch.zeros(len(y), dtype=torch.long), y, mask)


def nothing(rows: int) -> Batch:
    """Prompts of no symbols."""
    return prompts([np.zeros(0, np.int64)] * rows)


def apart(first: Tensor, second: Tensor) -> tuple[tuple[int, ...], int] | None:
    """(..., V), (..., V) -> the first place where they differ, and the symbol by which most."""
    near = torch.isclose(first, second, rtol=NEAR, atol=NEAR, equal_nan=True)
    places = (~near.all(-1)).nonzero().tolist()
    if not places:
        return None
    place = tuple(places[0])
    far = (first[place].exp() - second[place].exp()).abs().nan_to_num(1.0)
    return place, int(far.argmax())


# -- the checks: each gives a sentence about the first thing that is wrong, or none
def shape(b: Bench) -> str | None:
    """Log-probabilities of all V symbols, for every row and place."""
    rows, time, many = *b.y.shape, b.model.vocabulary
    if b.whole.shape != (rows, time, many):
        return (
            f"predict gave log-probabilities of shape {tuple(b.whole.shape)}: {rows} rows of {time} "
            f"positions and {many} symbols to choose from make ({rows}, {time}, {many})"
        )
    first = b.model.start(nothing(rows))[0].log_probs()
    if first.shape != (rows, many):
        return (
            f"start gave log-probabilities of shape {tuple(first.shape)}: {rows} rows and {many} "
            f"symbols to choose from make ({rows}, {many})"
        )
    return None


def summed(b: Bench) -> str | None:
    """Probabilities sum to one."""
    for said in (b.whole, b.walked(b.y)):
        total = said.exp().sum(-1)  # (B, T)
        wrong = (~((total - 1).abs() <= SUM)).nonzero().tolist()
        if wrong:
            row, t = wrong[0]
            value = float(total[row, t])
            return f"{b.after(row, t)} the probabilities sum to {value:.4g}"
    return None


def cell(b: Bench) -> str | None:
    """What `log_prob` says of a symbol stands in `log_probs`."""
    found = b.model.predict(asking(b.y)).log_prob(b.y).double()  # (B, T)
    wanted = b.whole.gather(-1, b.y[..., None])[..., 0]
    wrong = apart(found[..., None], wanted[..., None])
    if wrong is None:
        return None
    row, t = wrong[0]
    symbol = int(b.y[row, t])
    first, second = b.two(0, found[row, t, None], wanted[row, t, None])
    name = b.shown(symbol)
    return f"{b.after(row, t)} log_prob gives {name} {first}, and log_probs {second}"


def steps(b: Bench) -> str | None:
    """Step by step equals all at once."""
    walked = b.walked(b.y)
    wrong = apart(walked, b.whole)
    if wrong is None:
        return None
    (row, t), symbol = wrong
    first, second = b.two(symbol, walked[row, t], b.whole[row, t])
    return (
        f"{b.after(row, t)} step by step gives {b.shown(symbol)} {first}, and all at once {second}: "
        "text is written step by step and scored all at once, so that both must agree"
    )


def future(b: Bench) -> str | None:
    """What comes later is not seen."""
    for t in range(b.y.shape[1] - 1, -1, -1):
        y = b.y.clone()
        y[:, t] = b.other(y[:, t])
        wrong = apart(b.said(y)[:, : t + 1], b.whole[:, : t + 1])
        if wrong is not None:
            (_, place), _ = wrong
            seen = "you look into the future" if place < t else "you look at the answer itself"
            return f"position {place + 1} changed when symbol {t + 1} did: {seen}"
    return None


def neighbours(b: Bench) -> str | None:
    """Rows do not influence one another."""
    for say in (b.said, b.walked):
        whole = say(b.y)
        for row in range(len(b.y)):
            beside = (row + 1) % len(b.y)
            y = b.y.clone()
            y[beside] = b.other(y[beside])
            if apart(say(y)[row], whole[row]) is not None:
                return (
                    f"row {row + 1} changed when row {beside + 1} did: rows are sequences that "
                    "happen to be computed together, and do not know of each other"
                )
            wrong = apart(say(b.y[row : row + 1])[0], whole[row])
            if wrong is not None:
                (t,), symbol = wrong
                first, second = b.two(symbol, say(b.y[row : row + 1])[0, t], whole[row, t])
                return (
                    f"row {row + 1} alone gives {b.shown(symbol)} {first} {b.after(row, t)}, and "
                    f"among {len(b.y)} rows {second}: a row must not depend on the others"
                )
    return None


def padding(b: Bench) -> str | None:
    """What stands behind the end of a row does not matter."""
    lengths = torch.arange(len(b.y)) % (b.y.shape[1] - 1) + 2  # (B,) 2, 3, ...
    inside = torch.arange(b.y.shape[1]) < lengths[:, None]
    y = torch.where(inside, b.y, b.other(b.y))
    first, second = (b.said(each, lengths) for each in (b.y, y))
    wrong = apart(first.where(inside[..., None], 0.0), second.where(inside[..., None], 0.0))
    if wrong is not None:
        (row, t), _ = wrong
        return (
            f"row {row + 1} ends after {int(lengths[row])} symbols, and its position {t + 1} changed "
            "when what stands behind the end did: that is padding, where y_mask is False"
        )
    lines = [b.y[row, : int(length)].numpy() for row, length in enumerate(lengths)]
    x, mask = pad(lines)
    batches = [replace(prompts(lines), x=each) for each in (x, torch.where(mask, x, b.other(x)))]
    first, second = (b.model.start(each)[0].log_probs().double() for each in batches)
    wrong = apart(first, second)
    if wrong is None:
        return None
    (row,), _ = wrong
    return (
        f"row {row + 1} is a prompt of {int(lengths[row])} symbols, and what is expected changed when "
        "what stands behind it did: that is padding, and batch.x_lengths says where it begins"
    )


def prompted(b: Bench) -> str | None:
    """A prompt is the same as its symbols step by step, whatever its length."""
    lengths = [row % (b.y.shape[1] - 1) for row in range(len(b.y))]  # 0, 1, 2, ...
    lines = [b.y[row, :length].numpy() for row, length in enumerate(lengths)]
    following, state = b.model.start(prompts(lines))
    walked = b.walked(b.y)
    for later in (0, 1):
        wanted = torch.stack([walked[row, t + later] for row, t in enumerate(lengths)])
        wrong = apart(following.log_probs().double(), wanted)
        if wrong is not None:
            (row,), symbol = wrong
            said = following.log_probs().double()[row]
            first, second = b.two(symbol, said, wanted[row])
            prompt, taken = lengths[row], lengths[row] + later
            more = " and a step" if later else ""
            return (
                f"{b.after(row, taken)} a prompt of {several(prompt, 'symbol')}{more} gives "
                f"{b.shown(symbol)} {first}, and {several(taken, 'step')} {second}: start is to read "
                "batch.x as step reads y, each row as far as its x_lengths"
            )
        y = torch.stack([b.y[row, t] for row, t in enumerate(lengths)])
        following, state = b.model.step(y, state)
    return None


def several(many: int, what: str) -> str:
    """So many of them."""
    return f"{many} {what}{'s' * (many != 1)}"


def value(b: Bench) -> str | None:
    """A state is a value: going on from it leaves it as it is."""
    state, y = b.stepped(1), b.y[:, 1]
    first = b.model.step(y, state)[0].log_probs().double().clone()
    b.model.step(b.other(y), state)
    second = b.model.step(y, state)[0].log_probs().double()
    wrong = apart(first, second)
    if wrong is None:
        return None
    (row,), symbol = wrong
    words = b.two(symbol, first[row], second[row])
    return (
        f"{b.after(row, 1)}, the step {b.shown(int(y[row]))} from the same state gave "
        f"{b.shown(symbol)} {words[0]} the first time and {words[1]} later: a state is a value, so "
        "leave it as it is, give a new one back, and keep nothing of it on self"
    )


def rows(b: Bench) -> str | None:
    """Rows of a state can be kept, repeated and reordered."""
    state = b.stepped(1)
    for part in parts_of(state):
        if not isinstance(part, Tensor):
            kind = type(part).__name__
            return f"a part of the state is a {kind}: a state is a tensor, or a tuple of states"
    for name, part in leaves(state).items():
        if not part.ndim or len(part) != len(b.y):
            return (
                f"a part of the state ({name}) has the shape {tuple(part.shape)}, and there are "
                f"{len(b.y)} rows: rows come first in every part"
            )
    which = torch.tensor([2, 2, 0, 1])
    whole = b.model.step(b.y[:, 1], state)[0].log_probs().double()
    again = b.stepped(1)  # whatever the first step did to the state
    found = b.model.step(b.y[which, 1], select(again, which))[0].log_probs().double()
    wrong = apart(found, whole[which])
    if wrong is None:
        return None
    (place,), symbol = wrong
    row = int(which[place])
    first, second = b.two(symbol, found[place], whole[row])
    return (
        f"row {row + 1} of the state, taken to another place, gives {b.shown(symbol)} {first} instead "
        f"of {second}: all that a row has seen must stand in its row of the state"
    )


def parts_of(state: State) -> Iterator[Any]:
    """What lies in the nest."""
    if isinstance(state, tuple):
        for part in state:
            yield from parts_of(part)
    else:
        yield state


def samples(b: Bench) -> str | None:
    """What is written is as frequent as it is scored."""
    begin = b.y[0, :2]
    asked_ = DecodingOptions(length=1, count=MANY, seed=1)
    found = decode(b.model, prompts([begin.numpy()]), asked_)[0]
    drawn = np.bincount([each.symbols[0] for each in found], minlength=b.model.vocabulary) / MANY
    p = b.whole[0, 2].exp().numpy()  # (V,)
    far = np.abs(drawn - p) - SIGMAS * np.sqrt(np.maximum(p * (1 - p), 1 / MANY) / MANY)
    symbol = int(far.argmax())
    if far[symbol] <= 0:
        return None
    return (
        f"{b.behind(begin.tolist())}, {b.shown(symbol)} came in {drawn[symbol]:.3f} of {MANY:,} samples "
        f"and is scored {p[symbol]:.3f}: what is written must be what is scored"
    )


CHECKS: dict[str, Callable[[Bench], str | None]] = {
    "shape": shape,
    "sum": summed,
    "cell": cell,
    "steps": steps,
    "future": future,
    "neighbours": neighbours,
    "padding": padding,
    "prompts": prompted,
    "state": value,
    "rows": rows,
    "samples": samples,
}


# -- all of them
def conform(subject: Any, data: Any = None) -> Record:
    """Ask a model, a Predictor or a class of models all there is to be asked."""
    b = bench(subject, data)
    items: list[dict[str, Any]] = []
    with evaluating(b.model):
        for name, check in CHECKS.items():
            begun = bool(items) and not items[0]["passed"]
            words = None if begun else told(check, b)
            passed = None if begun else words is None
            what = (check.__doc__ or "").rstrip(".")
            items.append({"check": name, "what": what, "passed": passed, "words": words})
    whole = all(each["passed"] for each in items)
    name = type(subject).__name__ if isinstance(subject, Model) else called(subject)
    return record(
        "conformance", model=name, vocabulary=b.model.vocabulary, whole=whole, items=items
    )


def called(subject: Any) -> str:
    """The name of a class, or of what was fitted."""
    return subject.spec if isinstance(subject, Predictor) else subject.__name__


def told(check: Callable[[Bench], str | None], b: Bench) -> str | None:
    """What is wrong, if anything; also when the model raises an error."""
    try:
        return check(b)
    except Exception as error:
        return told_by(error)


def bench(subject: Any, data: Any) -> Bench:
    """The model, and rows to ask it about."""
    if isinstance(subject, Predictor):
        model, codec = asked(subject.model), subject.codec
        if not isinstance(codec, Codec):  # of pairs, of labels, of numbers
            raise others(subject.task.name)
        refuse_others(model)
        known = None if data is None else codec.encode(subject.data(data).main).flat
        names = list(codec.symbols)
        least = STOP + 1 if model.vocabulary > STOP + 2 else 0
        return Bench(model, of(model, known, least), lambda i: repr(codec.shown(names[i])))
    model = subject if isinstance(subject, Model) else made(subject)
    if data is not None:
        raise ConfigError(
            "a model knows numbers and no text",
            got="a model and data",
            do="Leave out the data, or give what `st.fit` gave",
        )
    refuse_others(model)
    return Bench(model, of(model, None, 0), str)


def refuse_others(model: Model) -> None:
    """Refuse what does not go on from symbols."""
    if type(model).start is Model.start:
        raise others(type(model).__name__)


def others(what: str) -> ConfigError:
    """What is said of a model that is none of what comes next."""
    return ConfigError(
        "only models of what comes next are looked at, which have start and step",
        got=what,
        do="Give it start and step, or see docs/conformance.md for what is asked of others",
    )


def of(model: Model, known: np.ndarray | None, least: int) -> Tensor:
    """(B, T) rows of symbols, evenly from what is known, or random."""
    time = min(TIME, (model.longest or TIME + 2) - 2)
    if known is None:
        found = np.random.default_rng(0).integers(least, model.vocabulary, (ROWS, time))
        return torch.from_numpy(found)
    if not len(known):
        raise ConfigError("there is nothing in these data", do="Give a text")
    begins = np.arange(ROWS) * len(known) // ROWS
    places = begins[:, None] + np.arange(time)
    return torch.from_numpy(known[places % len(known)].astype(np.int64))


def made(cls: Any) -> Model:
    """A model of a class, for a few symbols: counted on random rows, or with random weights."""
    rung = own_rung(cls, set())
    model: Model = rung.code(SYMBOLS_OF_A_CLASS, rung.options(**rung.settings))
    dice = np.random.default_rng(1)
    if rung.counts:
        lengths = dice.integers(1, 12, COUNTED)
        flat = dice.integers(0, SYMBOLS_OF_A_CLASS, int(lengths.sum()))
        model.count(Field(flat, np.concatenate([[0], lengths.cumsum()]), SYMBOLS), stop=True)
    elif isinstance(model, nn.Module):
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for each in model.parameters():
                each.add_(NOISE * torch.randn(each.shape, generator=generator))
    return model


# -- how it looks
def table(found: Record) -> Table:
    """A line for each check, and what is wrong."""
    wrong = sum(each["passed"] is False for each in found["items"])
    verdict = "conforms" if found["whole"] else f"{wrong} check{'s' * (wrong != 1)} failed"
    shown = Table(
        title=Text(f"{found['model']}: {verdict}"),
        title_justify="left",
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for name in ("", "check", "what must hold", "what is wrong"):
        shown.add_column(name, no_wrap=name in ("", "check"))
    for each in found["items"]:
        mark = {True: "✓", False: "✗", None: "·"}[each["passed"]]
        words = each["words"] or ("not asked" if each["passed"] is None else "")
        style = "bold red" if each["passed"] is False else None
        shown.add_row(mark, each["check"], Text(each["what"]), Text(words), style=style)
    return shown
