"""Why this label? What each symbol contributed, with the check that all of it adds up.

    exact       models that add (naive Bayes, Markov-Bayes, linear): logit = before + sum of contributions, as they are
    occlusion   how much the logit falls when the symbol becomes unknown; these need not add up, and the gap is told
    gradient    integrated gradients: sum_t (x_t - u) . mean over a of d logit / d x_t at u + a (x - u), where u reads all symbols as
                unknown; they add up to logit(x) - logit(u) but for the error of the sum                   Sundararajan et al. 2017

Of several labels, the logit is counted from the mean of all of them. Shapes: B rows, P time, K labels.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seriatim.batches import Batch, of_examples
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.models.bayes import Additive
from seriatim.models.labeller import Labeller

if TYPE_CHECKING:
    from seriatim.label_predictor import Labeller as Predictor

METHODS = ("exact", "occlusion", "gradient")
STEPS = 64                                 # points at which gradients are taken


def explain(predictor: Predictor, text: str, label: str | None, method: str | None) -> dict[str, Any]:
    """A plain record: symbols with their contributions to the logit of a label (of the one that is found, if none is named)."""
    if predictor.tags:
        raise ConfigError("a tag for each element is explained by nothing yet", got=predictor.spec, do="Explain a model of classify")
    if predictor.codec.channels:
        raise ConfigError("only texts and symbols are explained", got=f"{predictor.spec}, which reads numbers", do="Explain a model of texts")
    model, names = predictor.model, predictor.codec.labels.names
    method = method or ("exact" if isinstance(model, Additive) else "gradient" if isinstance(model, Labeller) else "occlusion")
    if method not in METHODS:
        raise ConfigError("there is no such explanation", got=method, do=nearest(method, METHODS))
    if not isinstance(model, {"exact": Additive, "gradient": Labeller}.get(method, object)):
        raise ConfigError(f"{predictor.spec} is not explained this way", got=method, do="Leave out the method, or use occlusion")
    data = Sequences({"text": Field.of_text([text])}, unit=predictor.codec.options.unit)
    symbols = predictor.codec.pieces(data.main)[0]
    if not symbols:
        raise DataError("there is nothing to explain", got=repr(text), do="Give a text with at least one word")
    batch = of_examples(predictor.codec.encode(data, labelled=False), [0])
    logits = centred(logits_of(model, batch))[0]                                    # (K,)
    number = int(logits.argmax()) if label is None else predictor.label_number(label)
    added, before = {"exact": exact, "occlusion": occlusion, "gradient": gradient}[method](model, batch, number)
    whole = float(logits[number])
    return {"version": 1, "kind": "explanation", "model": predictor.spec, "text": text, "label": names[number], "method": method,
            "probability": float(torch.softmax(logits / predictor.temperature, 0)[number]), "logit": whole, "before": before,
            "symbols": [{"symbol": symbol, "contribution": value} for symbol, value in zip(symbols, added.tolist(), strict=True)],
            "gap": whole - before - float(added.sum())}


def centred(values: Tensor) -> Tensor:
    """Logits mean something only against each other: counted from their mean."""
    return values - values.mean(-1, keepdim=True)


def logits_of(model: Any, batch: Batch) -> Tensor:
    """(B, K) in double precision."""
    with torch.inference_mode():
        return model.unroll(batch)[0].log_probs()[:, 0].double()


def exact(model: Additive, batch: Batch, label: int) -> tuple[Tensor, float]:
    added, before = model.contributions(batch)
    return centred(added)[0, :, label], float(centred(before)[0, label])


def occlusion(model: Any, batch: Batch, label: int) -> tuple[Tensor, float]:
    """Each symbol is made unknown in turn."""
    many = batch.x.shape[1]
    rows = torch.eye(many, dtype=torch.bool)
    x = batch.x.expand(many, -1).masked_fill(rows, UNKNOWN)
    words = None if batch.words is None else batch.words.expand(many, -1).masked_fill(rows, 0)
    hidden = Batch(x, batch.x_lengths.expand(many), batch.y.expand(many, -1), batch.y_mask.expand(many, -1), None, words, batch.letters)
    nothing = Batch(torch.full_like(batch.x, UNKNOWN), batch.x_lengths, batch.y, batch.y_mask, None, None if words is None else torch.zeros_like(batch.words),
                    batch.letters)
    whole, before = (float(centred(logits_of(model, each))[0, label]) for each in (batch, nothing))
    return whole - centred(logits_of(model, hidden))[:, label], before


def gradient(model: Labeller, batch: Batch, label: int) -> tuple[Tensor, float]:
    nothing = Batch(torch.full_like(batch.x, UNKNOWN), batch.x_lengths, batch.y, batch.y_mask, None,
                    None if batch.words is None else torch.zeros_like(batch.words), batch.letters)
    model.eval()
    with torch.no_grad():
        x, u = model.embedded(batch)[0], model.embedded(nothing)[0]                 # (P, D)
    share = ((torch.arange(STEPS) + 0.5) / STEPS)[:, None, None]
    between = (u + share * (x - u)).requires_grad_()                                # (STEPS, P, D)
    logits = centred(model.answer(between, batch.x_lengths.expand(STEPS)).logits)
    slope, = torch.autograd.grad(logits[:, label].sum(), between)
    return ((x - u) * slope.mean(0)).sum(-1).double(), float(centred(logits_of(model, nothing))[0, label])
