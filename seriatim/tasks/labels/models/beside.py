"""A network with a model that counts beside it.

    p(y | x) = softmax(network(x) + a log q(y | x))       a learned, 1 at first

q is what counting says: of sequences the rung `linear`, of elements a tagger. Unlike the network
alone it begins where counting ends, and learns what is left. What q says of a sequence that it was
fitted to is too sure of itself, and a network that believed it would learn nothing: while learning
it hears of each sequence what a q says that was fitted without it (out of fold, as in Wolpert
1992). Shapes: B rows, P time, S sequences, N labels or tags, K different ones.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.data.sequences import NUMBERS, Field, offsets_of
from seriatim.distributions.chains import Chain, ChainHead
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.layers.devices import home, to
from seriatim.models.base import Model, evaluating
from seriatim.tasks.labels.answers import answers, of_each, questions
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.metrics import cooled, temperature
from seriatim.tasks.labels.models.linear import FOLDS, LinearClassifier, folds_of
from seriatim.tasks.labels.models.network import SequenceLabeller
from seriatim.tasks.labels.options import LabellerOptions

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of what a network says
IMPOSSIBLE = -60.0  # a log-probability below this counts as this
PREFIX = "beside."  # of what is kept of the model that counts, before its name


class BesideCounting(SequenceLabeller):
    """The network of labels or tags; which models may stand beside it is all that a room adds."""

    least = -30.0  # a log-probability below this counts as this

    def __init__(
        self,
        vocabulary: int,
        options: LabellerOptions,
        labels: int,
        letters: int,
        own: int = 0,
        channels: int = 0,
        *also: int,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels, *also)
        self.sizes = vocabulary, labels, letters, own, channels
        self.counted: tuple[str, Model] | None = None  # by its name, once it has learned
        self.trust: nn.Parameter | None = None  # likewise: how far it is believed

    @abstractmethod
    def candidates(self) -> tuple[str, ...]:
        """The names of models that may stand beside it; the best on held-out data does."""

    def tried(self) -> tuple[str, ...]:
        """Those of them that are tried."""
        return self.candidates()

    @abstractmethod
    def made(self, name: str) -> Model:
        """A model to stand beside it, untrained."""

    # -- learning
    def learn_beside(
        self, examples: Examples, held: Examples, tags: bool
    ) -> tuple[Examples, Examples]:
        """Fit what stands beside it, if anything does; the training data with what one like it says
        of each label or tag without having learned from it, and the held-out data with what it says
        of those: it is asked once, not at every look."""
        tried = []
        for name in self.tried():
            model = counted(self.made(name), examples)
            said = out_of_fold(model, self, name, examples, tags)
            true = said[np.arange(len(said)), examples.y.flat] if len(said) else np.zeros(1)
            tried.append((-float(true.mean()), name, model, said))
        if not tried:
            return examples, held
        _, name, model, said = min(tried, key=lambda each: each[0])
        self.counted, self.trust = (name, model), nn.Parameter(torch.ones(1, device=self.device))
        self.knows = True
        head = self.head.unary if isinstance(self.head, ChainHead) else self.head
        for each in head.parameters():  # at first the network adds nothing
            nn.init.zeros_(each)
        heard = answers(model, held, tags).log_probs.clip(min=self.least).astype(np.float32)
        return told(examples, said), told(held, heard)

    def settle(self, held: Examples, tags: bool) -> bool:
        """Keep as much of what the network says as it has shown to be worth on (N,) held-out
        labels: the least share whose nats, each at its best temperature, are within one standard
        error of the best share's (Breiman et al. 1984). Whether that is less than all."""
        if not self.says or not len(held.y.flat):
            return False
        nats = np.stack([nats_of(said, held) for said in self.at_shares(held, tags)])  # (G, S)
        behind = nats - nats[nats.sum(1).argmin()]
        within = behind.sum(1) <= behind.std(1) * len(held) ** 0.5
        share = SHARES[int(within.argmax())]
        with torch.no_grad():
            for each in self.head.parameters():
                each.mul_(share)
        return share < 1

    def at_shares(self, held: Examples, tags: bool) -> np.ndarray:
        """(G, N, K) log-probabilities of held-out labels, with each share of what the network
        says."""
        found = np.zeros((len(SHARES), len(held.y.flat), self.labels))
        with evaluating(self):
            for batch, real, places in questions(held, tags):
                alone, said = super().predict(to(batch, self.device)), self.heard(batch)
                for each, share in zip(found, SHARES, strict=True):
                    both = of_each(self.together(weakened(alone, share), said).home())
                    each[places] = (both if tags else both[:, None])[real].numpy()
        return found

    @property
    def says(self) -> bool:
        """Whether the network says anything at all."""
        return any(bool(each.any()) for each in self.head.parameters())

    # -- answering
    def heard(self, batch: Batch) -> Tensor | None:
        """(B, K) or (B, P, K) what counting says: as the batch has it, or asked for now."""
        if self.counted is None:
            return None
        if batch.beside is not None:
            return batch.beside if self.pool is None else batch.beside[:, 0]
        with torch.no_grad():
            # which counts, and is asked at home
            said = bounded(self.counted[1].predict(home(batch)), self.least)
            return said.to(self.device)

    def predict(self, batch: Batch) -> Distribution:
        """The distribution of the label of each sequence, or of its tags."""
        return self.together(super().predict(batch), self.heard(batch))

    def together(self, found: Distribution, said: Tensor | None) -> Distribution:
        """What the network says, with what counting says."""
        if said is None or self.trust is None:
            return found
        added = self.trust * said.to(self.trust.device)
        if isinstance(found, Chain):
            unary = found.unary + added
            return Chain(unary, found.pair, found.begin, found.end, found.lengths)
        assert isinstance(found, Categorical)
        return Categorical(found.logits + added)

    # -- what is kept
    def arrays(self) -> dict[str, Tensor]:
        """Those of the network, and of what stands beside it behind its name."""
        if self.counted is None:
            return super().arrays()
        name, model = self.counted
        inner = {f"{PREFIX}{name}.{each}": array for each, array in model.arrays().items()}
        return super().arrays() | inner

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        inner = {name: array for name, array in arrays.items() if name.startswith(PREFIX)}
        if "trust" not in arrays:
            self.trust = None
        elif self.trust is None:  # else it stays the one that is being learned
            self.trust = nn.Parameter(torch.ones(1, device=self.device))
        if bool(inner) != ("trust" in arrays):
            raise ValueError("a model beside it, and how far it is believed, are kept together")
        super().load_arrays({name: arrays[name] for name in arrays if name not in inner})
        if not inner:
            self.counted = None
            return
        name = next(iter(inner)).removeprefix(PREFIX).partition(".")[0]
        if name not in self.candidates():
            raise ValueError(f"{name!r} does not stand beside it")
        start, model = f"{PREFIX}{name}.", self.made(name)
        if not all(each.startswith(start) for each in inner):
            raise ValueError("more than one model beside it")
        model.load_arrays({each.removeprefix(start): array for each, array in inner.items()})
        self.counted = name, model

    def size(self) -> int:
        """Number of learned values, of both."""
        beside = 0 if self.counted is None else self.counted[1].size()
        return beside + super().size()


def counted(model: Model, examples: Examples) -> Model:
    """The same, when it has read these."""
    for _ in model.counting(examples):
        pass
    return model


def weakened(found: Distribution, share: float) -> Distribution:
    """What a network says, at this share of its strength; what it forbids stays forbidden."""
    if isinstance(found, Chain):
        pair, begin, end = (
            torch.where(each.isneginf(), each, share * each)
            for each in (found.pair, found.begin, found.end)
        )
        return Chain(share * found.unary, pair, begin, end, found.lengths)
    assert isinstance(found, Categorical)
    return Categorical(share * found.logits)


def nats_of(said: np.ndarray, held: Examples) -> np.ndarray:
    """(N, K) log-probabilities of held-out labels -> (S,) nats of each sequence, at the temperature
    that suits them best: how sure a model is may differ, and is found apart."""
    truth = held.y.flat
    cool = cooled(said, temperature(said, truth)).clip(min=IMPOSSIBLE)
    number = np.repeat(np.arange(len(held)), held.y.lengths)
    return np.bincount(number, -cool[np.arange(len(truth)), truth], len(held))


def told(examples: Examples, said: np.ndarray) -> Examples:
    """The same, with (N, K) what another model says of each label."""
    return replace(examples, beside=Field(said, offsets_of(examples.y.lengths), NUMBERS))


def bounded(found: Distribution, least: float) -> Tensor:
    """The log-probabilities of every label or tag, none too far below the others."""
    said = found.log_marginals() if isinstance(found, Chain) else found.log_probs()
    return said.float().clamp(min=least)


def out_of_fold(
    model: Model, network: BesideCounting, name: str, examples: Examples, tags: bool
) -> np.ndarray:
    """(N, K) log-probabilities of the labels of each sequence, by a model that has not read it."""
    if isinstance(model, LinearClassifier):
        said = torch.from_numpy(model.out_of_fold(examples)).log_softmax(1)
        return said.clamp(min=network.least).float().numpy()
    fold = folds_of(examples.x, np.zeros(len(examples), np.int64))
    found = np.zeros((len(examples.y.flat), network.labels), np.float32)
    for held in (fold == each for each in range(FOLDS)):
        if held.any():
            other = counted(network.made(name), examples.some(~held))
            own = np.repeat(held, examples.y.lengths)
            found[own] = answers(other, examples.some(held), tags).log_probs
    return found.clip(min=network.least)
