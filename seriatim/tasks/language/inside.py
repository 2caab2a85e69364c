"""Looking inside a fitted model: how far back it hears, what it attends to, what surprises it.

    gradient_by_distance     |d loss_t / d x|, x: the embedded symbol d places before y_t         networks
                             |d loss_t / d h|, h: all outputs of a layer, and of the embedding
    influence_by_distance    KL(p_t || p_t with the symbol d places back replaced), in nats       every rung
    attention_maps           a_ts: how much position t attends to position s                      transformers
    gates_while_reading      how far the gates stand open once symbol t is read                cells that have gates
    units_while_reading      h_t: what hidden units say once symbol t is read                     networks
    position_vectors         p_t: what position t is told, or by which angles it is turned     transformers
    surprisal                -log2 p(y_t | past) of every symbol                                  every rung

Distance 1 is the symbol read last. Through a recurrence the gradient passes U^T diag(g') once a
step: it vanishes when the largest eigenvalue of U (its spectral radius) stays below 1, and may
explode above (Bengio et al. 1994, Pascanu et al. 2013). The cell of the lstm passes it on by the
forget gate alone. All give plain records. Shapes: B places, T time, D width, V symbols.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.batches import Batch, prompts
from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.layers.block import Block
from seriatim.layers.devices import to
from seriatim.layers.recurrent import Recurrent
from seriatim.models import contextual
from seriatim.models.attending import MOST_SHOWN, maps_of, refusal
from seriatim.models.base import Model, asked, evaluating, select
from seriatim.models.network import Network
from seriatim.models.units import told_units
from seriatim.records import finite, plain_array
from seriatim.runs.predictor import Source, one_text
from seriatim.show.texts import APART
from seriatim.tasks.base.options import UnitOptions
from seriatim.tasks.language.metrics import figures, layout_of, measure
from seriatim.tasks.language.predictor import LanguagePredictor as Predictor

Record = dict[str, Any]


CELLS = 1 << 24  # most values of distributions held at a time


TOGETHER = 8  # places whose gradients are computed at once


MOST_READ = 10_000  # symbols whose gates are told


CLOSED, OPEN = 0.1, 0.9  # below and above, a gate is nearly closed and nearly open


def gradient_by_distance(
    predictor: Predictor, text: Source, most: int = 64, places: int = 32
) -> Record:
    """How strongly the loss of a symbol pulls at each of the symbols before it: the mean of |d
    loss_t / d x| over some places t. `by_layer` is the mean norm of its gradient with respect to all
    that the embedding says, then to the outputs of each layer: does it vanish over depth?

    `factor` is by how much that changes a place further back (a straight line through its
    logarithm), `radii` are the largest absolute eigenvalues of the recurrent matrices.
    """
    data, ids = read_text(predictor, text)
    name, model = network_part(predictor)
    chosen = some_places(ids, predictor.by, most, places)
    total, times, depths = np.zeros(most), np.zeros(most, np.int64), []
    with evaluating(model, gradients=True):
        for begin in range(0, len(chosen), TOGETHER):
            contexts, following = zip(
                *(context_of(model, ids, s, t, most) for s, t in chosen[begin : begin + TOGETHER])
            )
            found, layers = gradients(model, contexts, following)
            depths.append(layers)
            for norms in found:  # (distances,)
                total[: len(norms[:most])] += norms[:most]
                times[: len(norms[:most])] += 1
    values = (total / np.maximum(times, 1))[times > 0]
    notes = of_part(predictor, name)
    notes += (
        ["votes (--direct) have no gradient: what the network hears is shown"]
        if hasattr(model, "votes")
        else []
    )
    return {
        "kind": "gradient",
        "model": name,
        "data": data.origin,
        "unit": predictor.codec.options.unit,
        "distances": list(range(1, len(values) + 1)),
        "values": [finite(value) for value in values.tolist()],
        "places": times[times > 0].tolist(),
        "factor": factor_of(values),
        "radii": radii(model),
        "by_layer": [finite(value) for value in np.concatenate(depths).mean(0).tolist()],
        "notes": notes + short_text(len(values), most),
    }


def gradients(
    model: Network, contexts: tuple[np.ndarray, ...], following: tuple[int, ...]
) -> tuple[list[np.ndarray], np.ndarray]:
    """For each context the norms of d -log p(following) / d x, from its last symbol back to its
    first; and (B, 1 + L) those with respect to all of x, and to all outputs of each layer."""
    batch = to(prompts(contexts), model.device)
    with torch.enable_grad(), heard(list(model.blocks)) as outputs:
        x = model.embedding(model.begin(batch)).detach().requires_grad_()  # (B, 1 + T, D)
        hidden, _ = model.through(
            x, model.resting(len(x))
        )  # causal: padding behind the end is not heard
        last = model.read(hidden[torch.arange(len(x), device=x.device), batch.x_lengths])
        slopes = torch.autograd.grad(
            -last.log_prob(torch.tensor(following, device=x.device)).sum(), [x, *outputs]
        )
    norms = slopes[0].norm(dim=-1).cpu().double().numpy()  # (B, 1 + T)
    distances = [
        row[1 : length + 1][::-1]  # START is not a symbol of the text
        for row, length in zip(norms, batch.x_lengths.tolist(), strict=True)
    ]
    layers = torch.stack([slope.flatten(1).norm(dim=-1) for slope in slopes], 1)  # (B, 1 + L)
    return distances, layers.cpu().double().numpy()


@contextmanager
def heard(blocks: list[nn.Module]) -> Iterator[list[Tensor]]:
    """The outputs of these blocks, (B, T, D) each, as they come; of this thread's questions."""
    found: list[Tensor] = []
    mine = get_ident()

    def hear(_: nn.Module, __: Any, said: tuple[Tensor, Any]) -> None:
        if get_ident() == mine:
            found.append(said[0])

    handles = [each.register_forward_hook(hear) for each in blocks]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def factor_of(values: np.ndarray) -> float | None:
    """The ratio of neighbours in the geometric series that is closest to these values."""
    seen = np.flatnonzero((values > 0) & np.isfinite(values))
    return finite(math.exp(np.polyfit(seen, np.log(values[seen]), 1)[0])) if len(seen) > 1 else None


def radii(model: Network) -> list[Record]:
    """The spectral radius of every recurrent matrix."""
    found = []
    for layer, block in enumerate(model.blocks):
        if isinstance(block, Block) and isinstance(block.mixer, Recurrent):
            found += [
                {"layer": layer, "matrix": name, "radius": radius(matrix.detach().cpu().double())}
                for name, matrix in block.mixer.recurrent_matrices().items()
            ]
    return found


def radius(matrix: torch.Tensor) -> float:
    """The greatest absolute eigenvalue; libraries end the process at what is no number."""
    if not torch.isfinite(matrix).all():
        raise RunError(
            "a recurrent matrix has values that are not numbers", do="Restore the run, or fit again"
        )
    return float(torch.linalg.eigvals(matrix).abs().max())


def influence_by_distance(
    predictor: Predictor, text: Source, most: int = 64, places: int = 32, seed: int = 0
) -> Record:
    """How much a symbol changes what is expected after it: mean KL divergence (nats) of the next
    symbol's distribution, before and after the symbol d places back is replaced by another one,
    drawn from the text. Works for every rung; a model that hears n symbols has exactly 0 beyond n.
    """
    model, (data, ids) = predictor.model, read_text(predictor, text)
    chosen, generator = some_places(ids, predictor.by, most, places), np.random.default_rng(seed)
    pool = ids.flat if len(np.unique(ids.flat)) > 1 else np.arange(predictor.codec.size)
    total, times = np.zeros(most), np.zeros(most, np.int64)
    with evaluating(model):
        for s, t in chosen:
            context, _ = context_of(model, ids, s, t, most)
            changes = divergences(model, context, min(most, len(context)), pool, generator)
            total[: len(changes)] += changes
            times[: len(changes)] += 1
    values = (total / np.maximum(times, 1))[times > 0].tolist()
    notes = short_text(len(values), most)
    if not all(map(math.isfinite, values)):
        notes.append(
            "where there is no figure, something that was possible becomes impossible: "
            "the divergence is infinite"
        )
    return {
        "kind": "influence",
        "model": predictor.spec,
        "data": data.origin,
        "unit": predictor.codec.options.unit,
        "distances": list(range(1, len(values) + 1)),
        "values": [finite(value) for value in values],
        "places": times[times > 0].tolist(),
        "seed": seed,
        "notes": notes,
    }


def divergences(
    model: Model, context: np.ndarray, reach: int, pool: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """(reach,) KL divergence for a replacement 1, 2, ..., reach places back. What lies before is
    read once."""
    model = asked(model)
    early, late = context[: len(context) - reach], context[len(context) - reach :]
    rows = np.tile(late, (reach + 1, 1)).astype(np.int64)  # the first row stays as it is
    for d in range(1, reach + 1):
        rows[d, -d] = another(late[-d], pool, generator)
    state, found = model.start(prompts([early]))[1], []
    step = max(1, CELLS // (model.vocabulary * reach))
    for begin in range(0, len(rows), step):
        some = torch.from_numpy(rows[begin : begin + step])
        following, _ = model.extend(some, select(state, torch.zeros(len(some), dtype=torch.long)))
        found.append(following[:, -1].log_probs().double())
    return divergence(*torch.cat(found).split([1, reach])).numpy()


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """(..., V) log-probabilities, twice -> (...) sum p (log p - log q), in nats."""
    return torch.where(torch.isneginf(p), 0.0, p.exp() * (p - q)).sum(-1).clamp(min=0)


def another(symbol: int, pool: np.ndarray, generator: np.random.Generator) -> int:
    """A symbol drawn from a pool that holds at least one other."""
    others = pool[pool != symbol]
    return int(others[generator.integers(len(others))])


def attention_maps(
    predictor: Predictor, text: Source, most: int = MOST_SHOWN, layer: int = 0, head: int = 0
) -> Record:
    """Who hears whom: for each layer and head (or of one of them, counted from 1) a matrix whose row
    t tells how what was read up to t is weighed, START first.

    `distance` is how far back a head looks in the mean, `entropy_bits` how widely.
    """
    data, ids = read_text(predictor, text)
    codec, (name, model) = predictor.codec, network_part(predictor, "attention")
    symbols, notes = ids.row(next(s for s in range(len(ids)) if len(ids.row(s)))), []
    most = min(most, (model.longest or most + 1) - 1)
    if len(symbols) > most or len(ids) > 1:
        notes.append(f"only the first {min(len(symbols), most)} symbols are shown")
    y = torch.from_numpy(symbols[:most].astype(np.int64))[None]  # (1, T)
    with evaluating(model):
        traced = asked(model).trace(Batch(y, torch.tensor([y.shape[1]]), y[:, :0], y[:, :0].bool()))
    stacked = [traced[f"attention.{place}"][0] for place in range(len(traced))]
    return {
        "kind": "attention",
        "model": name,
        "data": data.origin,
        "unit": predictor.codec.options.unit,
        "tokens": ["<s>", *(codec.shown(codec.symbols[i]) for i in symbols[:most])],
        "maps": maps_of(stacked, layer, head),
        "notes": notes,
    }


def position_vectors(predictor: Predictor, most: int = MOST_SHOWN) -> Record:
    """What the first so many positions are told: the vectors that are added to the embedded symbols
    or put beside them; of rotary positions the cosines, then the sines, by which queries and keys
    are turned."""
    name, model = network_part(predictor, "attention")
    if model.places is None or model.places.kind == "none":
        raise ConfigError(
            "this model does not tell positions apart",
            got="--positions none",
            do="Fit a transformer with --positions sinusoidal, learned, concatenated or rotary",
        )
    many = min(most, model.longest or most)
    notes = [f"only {many} positions are learned"] if many < most else []
    return {
        "kind": "positions",
        "model": name,
        "positions": model.places.kind,
        "vectors": plain_array(model.places.vectors(many).cpu()),
        "notes": notes,
    }


def gates_while_reading(predictor: Predictor, text: str, layer: int = 0) -> Record:
    """How far each gate of each recurrent layer stands open, symbol by symbol: the mean over its
    units, and the share of them that are nearly closed and nearly open (Karpathy et al. 2015 count
    the same for each unit over the text: the mean over all is the same). Layers from 1 on."""
    row, symbols, notes = one_text_of(predictor, text)
    name, model = part_with_gates(predictor)
    if len(row) > MOST_READ:
        notes.append(f"only the first {MOST_READ:,} of {len(row):,} symbols are read")
    check_layer(model, layer, predictor.spec)
    with evaluating(model):
        traced = asked(model).trace(prompts([row[:MOST_READ]]))
    items = [
        {"layer": place, "gate": gate, "units": opened.shape[-1], **openness(opened)}
        for place, cell in gated_cells(model)
        if layer in (0, place)
        for gate, opened in zip(  # (T, D) each, without START
            cell.gate_names, traced[f"gates.{place - 1}"][0, 1:].cpu().double().unbind(1)
        )
    ]
    if not items:
        raise no_gates(f"layer {layer} of {predictor.spec}")
    return {
        "kind": "gates",
        "model": name,
        "cell": model.options.mixer,
        "unit": predictor.codec.options.unit,
        "symbols": symbols[:MOST_READ],
        "items": items,
        "notes": of_part(predictor, name) + notes,
    }


def openness(opened: Tensor) -> Record:
    """(T, D) a gate -> of all, then symbol by symbol: the mean, and the share of units nearly closed
    and nearly open."""
    shares = {
        "mean": opened,
        "closed": (opened < CLOSED).double(),
        "open": (opened > OPEN).double(),
    }
    whole = {key: float(each.mean()) for key, each in shares.items()}
    return whole | {"by_symbol": {key: each.mean(1).tolist() for key, each in shares.items()}}


def gated_cells(model: Network) -> list[tuple[int, Recurrent]]:
    """The recurrences that have gates, each with the number of its layer, from 1 on."""
    mixers = [getattr(block, "mixer", None) for block in model.blocks]
    return [
        (place, each)
        for place, each in enumerate(mixers, 1)
        if isinstance(each, Recurrent) and each.gate_names
    ]


def part_with_gates(predictor: Predictor) -> tuple[str, Network]:
    """The name and the model of the first part that has gates."""
    for part, model in zip(predictor.parts, predictor.model.parts, strict=True):
        if isinstance(model, Network) and gated_cells(model):
            return part.name, model
    raise no_gates(predictor.spec)


def no_gates(what: str) -> ConfigError:
    """What is said of a model without gates."""
    return ConfigError(
        "this model has no gates", got=what, do="Fit a network that has: lstm or gru"
    )


def check_layer(model: Network, layer: int, spec: str) -> None:
    """Refuse a layer that there is not."""
    contextual.layer_of(model, layer, spec)


def units_while_reading(predictor: Predictor, text: str, options: UnitOptions) -> Record:
    """What hidden units say of a text, symbol by symbol: see `seriatim.models.units`."""
    row, symbols, notes = one_text_of(predictor, text)
    names = (part.name for part in predictor.parts)
    networks = [
        (name, one)
        for name, one in zip(names, predictor.model.parts, strict=True)
        if isinstance(one, Network) and len(one.blocks)
    ]
    if not networks:
        raise contextual.refusal(predictor.spec)
    name, model = networks[0]
    check_layer(model, options.layer, predictor.spec)
    layers = [
        (each, contextual.while_reading(model, row, each, predictor.spec))
        for each in range(1, len(model.blocks) + 1)
        if options.layer in (0, each)
    ]
    unit = predictor.codec.options.unit
    found = told_units(layers, symbols, unit in APART, options.marker, options.unit, options.count)
    return {
        "kind": "units",
        "model": name,
        "unit": unit,
        **found,
        "notes": of_part(predictor, name) + notes,
    }


def surprisal(predictor: Predictor, text: Source) -> Record:
    """The bits of every symbol, as `evaluate` counts them: -log2 p and, as `side_bits`, what the
    symbol does not tell (letters of an unknown one, blanks, capitals). Together they are
    `bits_per_character` times `characters`.

    >>> import seriatim as st
    >>> model = st.fit("language", "unigram", st.Sequences.of(["aab"], by="stream"), add=0)
    >>> [(row["symbol"], round(row["bits"], 2)) for row in surprisal(model, ["ab"])["tokens"]]
    [('a', 0.58), ('b', 1.58)]
    """
    data, ids = read_text(predictor, text)
    measured = measure(predictor, data)
    found, pieces = figures(measured), predictor.codec.pieces(data.main)
    scored = layout_of(measured)  # nats, sequence by sequence
    side = Field(measured["side"], scored.offsets, scored.kind)
    tokens, place = [], 0
    for s in range(len(scored)):
        # a stream has no end to score
        for i, nats, more in zip(
            [*ids.row(s).tolist(), STOP], scored.row(s).tolist(), side.row(s).tolist()
        ):
            ends = predictor.by == "line" and i == STOP
            tokens.append(
                {
                    "symbol": SPECIALS[STOP] if ends else predictor.codec.shown(pieces[place]),
                    "bits": finite((nats + more) / math.log(2)),
                    "side_bits": more / math.log(2),
                    "unknown": i == UNKNOWN,
                }
            )
            place += not ends
    bits = [row["bits"] for row in tokens]
    return {
        "kind": "surprisal",
        "model": predictor.spec,
        "data": data.origin,
        "unit": predictor.codec.options.unit,
        "by": predictor.by,
        "bits_per_character": found["bits_per_character"],
        "bits_per_token": found["bits_per_token"],
        "characters": found["characters"],
        "bits": None if None in bits else sum(bits),
        "side_bits": sum(row["side_bits"] for row in tokens),
        "impossible": found["impossible"],
        "tokens": tokens,
        "notes": [],
    }


def vectors_of(predictor: Predictor, data: Sequences, layer: int, each: str) -> list[Record]:
    """For each sequence its text, and the vectors of its symbols or their mean: see
    `seriatim.models.contextual`."""
    model = next((one for one in predictor.model.parts if isinstance(one, Network)), None)
    if model is None:
        raise contextual.refusal(predictor.spec)
    ids, tokens = predictor.codec.encode(data.main), predictor.codec.pieces(data.main)
    texts = predictor.codec.raw_texts(data.main)
    items, begin = [], 0
    for s, text in enumerate(texts):
        row = ids.row(s)
        found = contextual.while_reading(model, row, layer, predictor.spec)
        names = tokens[begin : begin + len(row)]
        items.append({"text": text, **contextual.told(found, names, each)})
        begin += len(row)
    return items


# What they share


def one_text_of(predictor: Predictor, text: str) -> tuple[np.ndarray, list[str], list[str]]:
    """(T,) the symbols of one text in numbers and as they are shown, and a note on unknown ones."""
    one_text(text, "a text")
    codec = predictor.codec
    row, symbols = codec.encode_text(text), [codec.shown(each) for each in codec.pieces_of(text)]
    if not symbols:
        raise DataError(
            f"there is no {codec.options.unit} in this text",
            got=repr(text),
            do="Give a longer text",
        )
    return row, symbols, predictor.unknown_in(text)


def of_part(predictor: Predictor, name: str) -> list[str]:
    """A note if only a part of a mixture is shown."""
    if name == predictor.spec:
        return []
    return [f"of the mixture {predictor.spec} only its part {name} is shown"]


def network_part(predictor: Predictor, mixer: str | None = None) -> tuple[str, Network]:
    """The name and the model of the first part that is a network (with this kind of mixer)."""
    for part, model in zip(predictor.parts, predictor.model.parts, strict=True):
        if isinstance(model, Network) and mixer in (None, model.options.mixer):
            return part.name, model
    if mixer is not None:
        raise refusal(predictor.spec)
    able = [name for name, rung in predictor.task.rungs.items() if not rung.counts]
    raise ConfigError(
        "a model that counts has no gradients",
        got=predictor.spec,
        do="Ask for its influence instead, which every model has, or for the gradient of a network: "
        + ", ".join(reversed(able)),
    )


def read_text(predictor: Predictor, text: Source) -> tuple[Sequences, Field]:
    """The text as data of the kind the model was fitted on, and its symbols; a Path is a file."""
    data = predictor.data(text)
    ids = predictor.codec.encode(data.main)
    if not len(ids.flat):
        raise DataError(
            f"there is no {predictor.codec.options.unit} in this text",
            file=None if data.origin == "memory" else data.origin,
            do="Give a longer text",
        )
    return data, ids


def some_places(ids: Field, by: str, most: int, places: int) -> list[tuple[int, int]]:
    """Sequences s and places t to ask at, evenly spread, with `most` symbols before them or at
    least half as many as there are."""
    if most < 1 or places < 1:
        raise ConfigError(
            "at least one distance is measured, at one place",
            got=f"most {most}, places {places}",
            do="Choose 1 or more",
        )
    lengths = ids.lengths + (by == "line")  # the end of a line is predicted, too
    least = max(1, min(most, int(lengths.max()) // 2))
    possible = np.maximum(0, lengths - least)  # (S,) places in each sequence
    if not possible.sum():
        raise DataError(
            "this text is too short to look back", got="1 symbol", do="Give a longer text"
        )
    ends = np.cumsum(possible)
    which = np.unique(
        np.linspace(0, ends[-1] - 1, min(places, int(ends[-1]))).round().astype(np.int64)
    )
    rows = np.searchsorted(ends, which, "right")
    return [(int(s), int(least + i - (ends[s] - possible[s]))) for s, i in zip(rows, which)]


def context_of(model: Model, ids: Field, s: int, t: int, most: int) -> tuple[np.ndarray, int]:
    """The symbols that a model needs to have read before place t of a sequence, and the symbol
    there."""
    row = ids.row(s)
    reach = min(most + model.warm, (model.longest or 10**12) - 1)
    return row[max(0, t - reach) : t], int(row[t]) if t < len(row) else STOP


def short_text(distances: int, most: int) -> list[str]:
    """A note if the text did not reach as far as was asked."""
    return (
        [f"the text is short: {distances} of {most} distances were measured"]
        if distances < most
        else []
    )
