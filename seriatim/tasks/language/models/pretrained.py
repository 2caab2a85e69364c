"""A causal language model of others, by the library that made it: read, never trained.

    log p(y_t | y_<t) = log softmax(f(y_{t-C+1} ... y_{t-1}))_{y_t}      f by transformers

Unlike a GPT-2, which becomes our own transformer, its network stays that of the library. A text
longer than its context C is read in windows that overlap by half, so that every symbol but the
first has at least C / 2 before it. What it was trained on is unknown. Shapes: B rows, T time, V
symbols, H history.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.subwords import Foreign
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Categorical
from seriatim.errors import RunError
from seriatim.models.base import Model, State
from seriatim.models.pretrained import opened
from seriatim.progress import passing
from seriatim.storage import read_json
from seriatim.tasks.language.models.gpt2 import CONFIG, IMPOSSIBLE, read_tokenizer

CAUSAL = ("ForCausalLM", "LMHeadModel")  # how the names of such classes end
MOST_CONTEXT = 1024  # pieces that are read at once


def is_causal(config: Any) -> bool:
    """Whether a configuration is that of a causal language model other than GPT-2."""
    if not isinstance(config, dict) or config.get("model_type") == "gpt2":
        return False
    names = config.get("architectures")
    return isinstance(names, list) and any(str(each).endswith(CAUSAL) for each in names)


class Causal(Model):
    """The network of a folder, with our numbers for its symbols."""

    def __init__(self, path: str, network: Any, codec: Foreign, start: int):
        self.network, self.codec, self.begin = network, codec, start
        self.pretrained, self.vocabulary = path, codec.size
        places = getattr(network.config, "max_position_embeddings", None) or MOST_CONTEXT
        self.context = min(MOST_CONTEXT, int(places))
        self.theirs = torch.from_numpy(codec.theirs.astype(np.int64))  # (V,)

    def logits(self, tokens: Tensor) -> Tensor:
        """(T,) their symbols -> (T, V) logits of ours after each."""
        found = self.network(input_ids=tokens[None], use_cache=False).logits[0].float()
        out = found[:, self.theirs.clamp(min=0)]
        out[:, self.theirs < 0] = IMPOSSIBLE
        return out

    def sweep(self, ids: Field, stop: bool) -> np.ndarray:
        """(N,) log-probability of every symbol, and with `stop` of each end."""
        end = [self.codec.end] if stop else []
        parts = [np.zeros(0)]
        for s in passing("scoring", range(len(ids))):
            tokens = [self.begin, *self.codec.theirs[ids.row(s)].tolist(), *end]
            parts.append(self.scored(torch.tensor(tokens)))
        return np.concatenate(parts)

    @torch.inference_mode()
    def scored(self, tokens: Tensor) -> np.ndarray:
        """(T + 1,) their symbols, the start first -> (T,) log-probabilities."""
        known, half = 1, max(1, self.context // 2)
        parts = [np.zeros(0)]
        while known < len(tokens):
            first = max(0, known - half) if known > 1 else 0
            some = tokens[first : first + self.context + 1]
            found = self.network(input_ids=some[None, :-1], use_cache=False).logits[0]
            said = found.float().log_softmax(-1)  # (T, V)
            worth = said.gather(1, some[1:, None])[:, 0]  # (T,)
            parts.append(worth[known - first - 1 :].double().numpy())
            known = first + len(some)
        return np.concatenate(parts)

    def start(self, batch: Batch) -> tuple[Categorical, State]:
        """What comes first after each prompt."""
        rows, lengths = batch.x.shape[0], batch.x_lengths + 1
        begin = torch.full((rows, 1), self.begin)
        history = torch.cat([begin, self.theirs[batch.x]], 1)  # (B, H)
        return self.following(history, lengths), (history, lengths)

    def step(self, y: Tensor, state: State) -> tuple[Categorical, State]:
        """(B,) symbols -> what follows; the state is all that was read."""
        history, lengths = state
        history = torch.cat([history, torch.zeros_like(history[:, :1])], 1)
        history[torch.arange(len(y)), lengths] = self.theirs[y]
        return self.following(history, lengths + 1), (history, lengths + 1)

    @torch.inference_mode()
    def following(self, history: Tensor, lengths: Tensor) -> Categorical:
        """(B, H) what was read -> (B,) distributions, row by row."""
        rows = [
            self.logits(row[:length][-self.context :])[-1]
            for row, length in zip(history, lengths.tolist(), strict=True)
        ]
        return Categorical(torch.stack(rows))

    def size(self) -> int:
        """Number of values of the network."""
        return sum(each.numel() for each in self.network.parameters())

    def arrays(self) -> dict[str, Tensor]:
        """Nothing was learned here."""
        return {}


def read_causal(folder: Path) -> tuple[Foreign, Causal]:
    """A folder -> codec and model."""
    config = read_json(folder / CONFIG)
    size = config.get("vocab_size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise RunError(f"{folder / CONFIG} has no vocab_size", got=size, do="Fetch it again")
    codec, start = read_tokenizer(folder, config, size)
    _, network = opened(str(folder), "AutoModelForCausalLM", tokenizer=False)
    return codec, Causal(str(folder), network, codec, start)
