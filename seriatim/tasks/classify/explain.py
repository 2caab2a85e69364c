"""Why this label? What each symbol contributed, with the check that all of it adds up.

    exact       models that add (naive Bayes, Markov-Bayes, linear): logit = before + sum of
                contributions, as they are (+ end, in Markov-Bayes: that the text ends where it does)
    occlusion   how much the logit falls when the symbol becomes unknown; these need not add up, and
                the gap is told
    gradient    integrated gradients: (x_t - u) . mean over a of d logit / d x_t at u + a (x - u),
                where u reads all symbols as unknown; their sum is logit(x) - logit(u) but for the
                error of the mean (Sundararajan et al. 2017)

Of several labels, the logit is counted from the mean of all of them. Shapes: B rows, P time, K
labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Sequences
from seriatim.distributions.symbols import Categorical
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.layers.devices import to
from seriatim.models.base import Model, asked, evaluating
from seriatim.records import Record
from seriatim.runs.predictor import one_text
from seriatim.tasks.classify.options import METHODS
from seriatim.tasks.labels.codec import of_examples
from seriatim.tasks.labels.models.bayes import Additive
from seriatim.tasks.labels.models.beside import BesideCounting
from seriatim.tasks.labels.models.network import SequenceLabeller

if TYPE_CHECKING:
    from seriatim.tasks.classify.predictor import Classifier


STEPS = 64  # points at which gradients are taken


def explain(predictor: Classifier, text: str, label: str, method: str) -> Record:
    """Symbols with their contributions to the logit of a label (of the one that is found, if none
    is named)."""
    model, names = predictor.model, predictor.codec.labels.names
    chosen, text = method_for(predictor, method), one_text(text, "what is explained")
    data = Sequences.of([text], unit=predictor.codec.options.unit)
    symbols = predictor.codec.pieces(data.main)[0]
    if not symbols:
        raise DataError(
            "there is nothing to explain", got=repr(text), do="Give a text with at least one word"
        )
    batch = of_examples(predictor.codec.encode(data, labelled=False), np.arange(1))
    logits = centred(logits_of(model, batch))[0]  # (K,)
    number = predictor.label_number(label) if label else int(logits.argmax())
    added, before = contributions(model, chosen, batch, number)  # (P,)
    end = ending(model, batch, number) if chosen == "exact" else None
    whole = float(logits[number])
    return predictor.record(
        "explanation",
        text=text,
        label=names[number],
        method=chosen,
        probability=float(torch.softmax(logits / predictor.temperature, 0)[number]),
        logit=whole,
        before=before,
        symbols=[
            {"symbol": symbol, "contribution": value}
            for symbol, value in zip(symbols, added.tolist(), strict=True)
        ],
        end=end,
        gap=whole - before - float(added.sum()) - (end or 0.0),
    )


def method_for(predictor: Classifier, method: str) -> str:
    """The method that is asked for, or the best that this model has."""
    if predictor.codec.channels:
        raise ConfigError(
            "only texts and symbols are explained",
            got=f"{predictor.spec}, which reads numbers",
            do="Explain a model of texts",
        )
    if any(part.pretrained for part in predictor.model.parts):
        raise ConfigError(
            "what a pretrained encoder read of each word is not told apart",
            got=predictor.spec,
            do="Explain `linear`, fitted to the same data",
        )
    if method not in METHODS:
        raise ConfigError(
            "there is no such explanation", got=method, do=nearest(method, METHODS[1:])
        )
    adds = isinstance(predictor.model, Additive)
    network = isinstance(predictor.model, SequenceLabeller)
    if not method:
        return "exact" if adds else "gradient" if network else "occlusion"
    if (method == "exact" and not adds) or (method == "gradient" and not network):
        raise ConfigError(
            f"{predictor.spec} is not explained this way",
            got=method,
            do="Leave out the method, or use occlusion",
        )
    return method


def contributions(model: Model, method: str, batch: Batch, label: int) -> tuple[Tensor, float]:
    """(P,) what each symbol adds to a label's logit, and the logit before any."""
    if method == "exact" and isinstance(model, Additive):
        return exact(model, batch, label)
    if method == "gradient" and isinstance(model, SequenceLabeller):
        return gradient(model, batch, label)
    return occlusion(model, batch, label)


def centred(values: Tensor) -> Tensor:
    """Logits mean something only against each other: counted from their mean."""
    return values - values.mean(-1, keepdim=True)


def logits_of(model: Model, batch: Batch) -> Tensor:
    """(B, K) in double precision."""
    with torch.inference_mode():
        return asked(model).unroll(batch)[0].log_probs()[:, 0].double()


def all_unknown(batch: Batch) -> Batch:
    """The same, with every symbol unknown."""
    words = None if batch.words is None else torch.zeros_like(batch.words)
    return replace(batch, x=torch.full_like(batch.x, UNKNOWN), words=words)


def exact(model: Additive, batch: Batch, label: int) -> tuple[Tensor, float]:
    """(P,) what each symbol adds to a label's logit in a model that adds, and the logit before
    any."""
    added, before = model.contributions(batch)
    return centred(added)[0, :, label], float(centred(before)[0, label])


def ending(model: Model, batch: Batch, label: int) -> float | None:
    """What the end of the text adds to a label's logit; None where a model does not count it."""
    added = model.ending(batch) if isinstance(model, Additive) else None
    return None if added is None else float(centred(added)[0, label])


def occlusion(model: Model, batch: Batch, label: int) -> tuple[Tensor, float]:
    """Each symbol is made unknown in turn."""
    many = batch.x.shape[1]
    rows = torch.eye(many, dtype=torch.bool)
    x = batch.x.expand(many, -1).masked_fill(rows, UNKNOWN)
    words = None if batch.words is None else batch.words.expand(many, -1).masked_fill(rows, 0)
    hidden = replace(
        batch,
        x=x,
        x_lengths=batch.x_lengths.expand(many),
        y=batch.y.expand(many, -1),
        y_mask=batch.y_mask.expand(many, -1),
        words=words,
    )
    both = (batch, all_unknown(batch))
    whole, before = (float(centred(logits_of(model, each))[0, label]) for each in both)
    return whole - centred(logits_of(model, hidden))[:, label], before


def gradient(model: SequenceLabeller, batch: Batch, label: int) -> tuple[Tensor, float]:
    """(P,) integrated gradients of each symbol, and the logit where all symbols are unknown."""
    given, batch = batch, to(batch, model.device)
    nothing = all_unknown(batch)
    with evaluating(model, gradients=True):
        with torch.no_grad():
            x, u = model.embedded(batch)[0], model.embedded(nothing)[0]  # (P, D)
        share = ((torch.arange(STEPS, device=model.device) + 0.5) / STEPS)[:, None, None]
        between = (u + share * (x - u)).requires_grad_()  # (STEPS, P, D)
        symbols = batch.x.expand(STEPS, *batch.x.shape[1:])  # a tree stays what it is
        found = model.answer(between, batch.x_lengths.expand(STEPS), symbols)
        assert isinstance(found, Categorical)
        (slope,) = torch.autograd.grad(centred(found.logits)[:, label].sum(), between)
        with torch.no_grad():
            least = model.answer(u[None], batch.x_lengths, batch.x)
    assert isinstance(least, Categorical)
    before = float(centred(least.logits)[0, label])
    added, more = counted_beside(model, given, label)
    return ((x - u) * slope.mean(0)).sum(-1).cpu().double() + added, before + more


def counted_beside(
    model: SequenceLabeller, batch: Batch, label: int
) -> tuple[Tensor | float, float]:
    """(P,) what each symbol adds by the model that counts beside a network, and that before any."""
    if not isinstance(model, BesideCounting) or model.counted is None or model.trust is None:
        return 0.0, 0.0
    trust, counting = float(model.trust.detach()), model.counted[1]
    assert isinstance(counting, Additive)
    added, before = exact(counting, batch, label)
    return trust * added, trust * before
