"""What is a transformer worth beyond the length it was trained on? One for each kind of positions.

    python benchmarks/extrapolation.py [updates, default 500]

Small transformers are fitted by the same number of updates to pieces of 64 symbols of tiny
Shakespeare, each read from its start with a window of 64. Then pieces of 256 symbols of held-out
text are read from their start, in three ways:

    on       the window stays 64: nothing is further away than in training, places go on to 255
    wide     the window is 256: everything that was read is heard
    afresh   after every 31 symbols the last 32 are read again from place 0, so that no place and no
             distance is new; what `evaluate` does for learned positions, whose table ends

`on` and `wide` are not possible for learned positions. Figures are nats per symbol, by how far from
the start of its piece a symbol stands; differences are of the same symbols, with 95 % intervals. Data: tinyshakespeare.txt in SERIATIM_DATA or ../shared/data.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from record import write_row

import seriatim as st
from seriatim.batches import Batch, empty
from seriatim.data.sequences import SYMBOLS, Field
from seriatim.errors import ConfigError
from seriatim.measuring.likelihood import score
from seriatim.models.base import evaluating
from seriatim.models.network import Network
from seriatim.models.options import NetworkOptions
from seriatim.show.charts import Chart, Row, values
from seriatim.tasks.language.pictures import HEIGHT, by_name, named_ends, with_names

DATA = Path(os.environ.get("SERIATIM_DATA") or Path(__file__).parents[2] / "shared/data")
PICTURE = Path(__file__).parent.parent / "docs/pictures/extrapolation.svg"
UPDATES = int(sys.argv[1]) if len(sys.argv) > 1 else 500
TRAINED, LONG, PIECES = 64, 256, 192  # symbols of a piece in training, then; pieces that are read
BUCKETS = ((1, 16), (17, 32), (33, 64), (65, 128), (129, 256))
EACH = 8  # places of a point in the picture
KINDS = NetworkOptions.__dataclass_fields__["positions"].metadata["choices"]
SMALL = {"width": 128, "layers": 2, "heads": 4, "rows": 16, "threads": 1, "seed": 1}


def fitted(kind: str, train: st.Sequences, valid: st.Sequences) -> st.Predictor:
    """A small transformer with this kind of positions."""
    settings = SMALL | {"context": TRAINED, "length": TRAINED, "updates": UPDATES}
    return st.fit("language", "transformer", train, valid, positions=kind, **settings)


def pieces(stream: np.ndarray) -> np.ndarray:
    """(N, T) pieces of a text, evenly spread over it."""
    begins = np.linspace(0, len(stream) - LONG, PIECES).astype(np.int64)
    return stream[begins[:, None] + np.arange(LONG)]


def at_once(model: Network, rows: np.ndarray, window: int) -> np.ndarray:
    """(N, T) nats of each symbol, all of a piece read at once through a window."""
    assert model.places is not None
    y = torch.from_numpy(rows.astype(np.int64))
    nothing = torch.zeros(len(y), dtype=torch.long)
    kept, model.places.context = model.places.context, window
    try:
        with evaluating(model):
            batch = Batch(empty(len(y)), nothing, y, torch.ones_like(y, dtype=torch.bool))
            return -model.predict(batch).log_prob(y).numpy()
    finally:
        model.places.context = kept


def afresh(model: Network, rows: np.ndarray) -> np.ndarray:
    """(N, T) the same, each stretch of symbols after those just before it, read anew."""
    kept = model.longest, model.warm
    model.longest, model.warm = TRAINED, TRAINED // 2
    try:
        offsets = np.array([0, LONG])
        return -np.stack(
            [score(model, Field(row, offsets, SYMBOLS), "stream").flat for row in rows]
        )
    finally:
        model.longest, model.warm = kept


WAYS: dict[str, Callable[[Network, np.ndarray], np.ndarray]] = {
    "on": partial(at_once, window=TRAINED),
    "wide": partial(at_once, window=LONG),
    "afresh": afresh,
}


def points(kind: str, nats: np.ndarray) -> list[Row]:
    """A row for each few places."""
    means = nats.mean(0).reshape(-1, EACH).mean(1)
    places = [EACH * place + EACH / 2 + 0.5 for place in range(len(means))]
    return [{"name": kind, "x": x, "value": float(y)} for x, y in zip(places, means)]


def picture(rows: list[Row]) -> Chart:
    """Nats by place, a line for each kind, all of a piece heard."""
    import altair as alt

    low, high = min(row["value"] for row in rows) - 0.1, max(row["value"] for row in rows) + 0.1
    scale = (high - low) / HEIGHT
    names = list(dict.fromkeys(row["name"] for row in rows))
    lasts = [dict([row for row in rows if row["name"] == name][-1]) for name in names]
    back: Callable[[float], float] = lambda place: low + (HEIGHT - place) * scale
    ends = named_ends(lasts, lambda value: HEIGHT - (value - low) / scale, HEIGHT, back)
    x = alt.X("x:Q", title="place in its piece", scale=alt.Scale(domain=[1, LONG], nice=False))
    y = alt.Y("value:Q", title="nats per symbol", scale=alt.Scale(domain=[low, high], nice=False))
    lines = alt.Chart(values(rows)).mark_line().encode(x, y, color=by_name(), detail="name:N")
    edge = alt.Chart(values([{"x": TRAINED, "words": f"trained up to {TRAINED}"}])).encode(x=x)
    rule = edge.mark_rule(style="soft-line", strokeDash=[3, 3])
    words = edge.mark_text(style="soft-text", align="left", dx=5, baseline="top")
    told = words.encode(text="words:N", y=alt.value(2))
    view = alt.layer(lines, rule, told, *with_names(ends), height=HEIGHT)
    says = (
        "How many nats a symbol costs by its place in the piece that is read; lower is better. "
        f"All transformers were trained on pieces of {TRAINED}, and hear everything back to the start."
    )
    return Chart(view, "Positions beyond the trained length", says, rows)


def read_all_ways(model: Network, rows: np.ndarray) -> dict[str, np.ndarray]:
    """(N, T) nats of each symbol, by the way of reading; those that are possible."""
    found = {}
    for way, read in WAYS.items():
        try:
            found[way] = read(model, rows)
        except ConfigError as error:  # a table of learned positions ends
            print(f"{way}: {error}")
    return found


def by_bucket(nats: np.ndarray) -> str:
    """The mean of each bucket of places."""
    means = ((low, high, nats[:, low - 1 : high].mean()) for low, high in BUCKETS)
    return ", ".join(f"{low}-{high}: {mean:.3f}" for low, high, mean in means)


def main() -> None:
    """Fit, read, write."""
    train, valid, _ = st.split("language", str(DATA / "text/tinyshakespeare.txt"))
    drawn: list[Row] = []
    for kind in KINDS:
        predictor = fitted(kind, train, valid)
        rows = pieces(predictor.codec.encode(valid.main).flat)
        found = read_all_ways(predictor.model, rows)
        way = "wide" if "wide" in found else "afresh"
        drawn += points(kind if way == "wide" else f"{kind}, {way}", found[way])
        usual = found["afresh"]
        for way, nats in found.items():
            apart = (nats - usual)[:, TRAINED:].mean(1)  # (N,) of the same symbols
            more = 1.96 * apart.std() / len(apart) ** 0.5
            write_row(
                "extrapolation.py",
                f"tiny Shakespeare, trained on pieces of {TRAINED}: --positions {kind}, read {way}",
                f"nats at places {by_bucket(nats)}",
                "-"
                if way == "afresh"
                else f"{usual[:, TRAINED:].mean():.3f} beyond {TRAINED}, afresh",
                f"{apart.mean():+.3f} ± {more:.3f} nats; " * (way != "afresh")
                + f"{UPDATES} updates, {predictor.metrics['seconds']:.0f} s",
            )
    picture(drawn).save(PICTURE)


if __name__ == "__main__":
    main()
