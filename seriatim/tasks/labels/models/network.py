"""Networks that say something about a sequence: the stack of the language models, with another end.

    x_t = [E w_t ; letters of w_t]      of words w_t
    x_t = [... ; E' c_t ; E'' d_t]      beside further fields c, d: art, lemma, ...
    x_t = E v_t + e                     of C numbers v_t
    h = blocks(x)
    classify: softmax(W f(pool(h)) + b)    regress: normal(W f(pool(h)) + b)
    f: hidden layers, or nothing
    tag: softmax(W h_t + b), or a chain

Unlike `Network` it sees the whole sequence before it answers, so each position may see what comes
after it (`bidirectional`): recurrence runs both ways, convolutions are centred, attention is not
masked.
Shapes: B rows, P time, C channels, D width, K labels, U different words.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Field
from seriatim.distributions.chains import ChainHead, bio_constraints
from seriatim.distributions.heads import NormalHead
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.errors import ConfigError
from seriatim.layers.dropout import Dropout
from seriatim.layers.hidden import Hidden
from seriatim.layers.int8 import quantised
from seriatim.layers.letters import Letters
from seriatim.layers.pool import Pool
from seriatim.layers.randomness import uniform
from seriatim.models.attending import attended, attending
from seriatim.models.base import NeuralModel, State
from seriatim.models.options import refuse_foreign
from seriatim.models.reader import Reader
from seriatim.models.stack import Whole
from seriatim.tasks.labels.codec import FIRST_LETTER
from seriatim.tasks.labels.options import LabellerOptions


def check_reading(options: LabellerOptions, letters: int, channels: int) -> None:
    """Refuse what is asked for of words where there are none, and two things in one place."""
    if options.letters != "no" and letters <= FIRST_LETTER:
        raise ConfigError(
            "there are no words to be read letter by letter",
            got=f"letters {options.letters}",
            do="Choose --unit word or token, or --letters no",
        )
    if options.encoder and (channels or options.word_vectors):
        raise ConfigError(
            "an encoder reads symbols, in the place of word vectors",
            got="numbers" if channels else "word vectors, too",
            do="Leave out --encoder" if channels else "Choose one of both",
        )


def check_trees(options: LabellerOptions, channels: int) -> None:
    """Refuse to read trees of what has no brackets, or by a position that is in none."""
    if options.mixer == "tree" and channels:
        raise ConfigError(
            "a tree is read from brackets among symbols",
            got="--mixer tree, numbers",
            do="Choose another --mixer",
        )
    if options.mixer == "tree" and getattr(options, "pool", "") == "unit":
        raise ConfigError(
            "an extra position is in no tree, and hears none",
            got="--mixer tree --pool unit",
            do="Use --pool last (the root), mean, max or attention",
        )


READER = "encoder.settings"  # the array that says how the encoder is laid out


class SequenceLabeller(NeuralModel):
    """One stack for every mixer and both label tasks."""

    embedding: nn.Embedding | nn.Linear | nn.Identity
    more: Tensor  # (V - own, E) vectors of words that are known besides
    head: nn.Module

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
        super().__init__()
        self.options, self.vocabulary, self.labels, self.channels, width = (
            options,
            vocabulary,
            labels,
            channels,
            options.width,
        )
        check_reading(options, letters, channels)
        check_trees(options, channels)
        own, wide = own or vocabulary, options.embedding or width
        pool, layers = getattr(options, "pool", None), getattr(options, "hidden", 0)
        # numbers that are only averaged are read by the first hidden layer as they are
        plain = bool(channels and layers) and options.mixer == "none" and pool == "mean"
        if plain:
            wide = channels
        self.embedding = nn.Linear(channels, wide) if channels else nn.Embedding(own, wide)
        if plain or options.encoder:  # which is told by `read_by`
            self.embedding = nn.Identity()
        self.reader: Reader | None = None  # a language model in the place of the embedding
        if isinstance(self.embedding, nn.Embedding):
            nn.init.normal_(
                self.embedding.weight, std=0.1
            )  # a rare word says little until it has learned to
        for each in self.embedding.parameters() if options.frozen else ():
            each.requires_grad_(False)
        self.register_buffer("more", torch.zeros(vocabulary - own, wide))
        self.letters = (
            None
            if options.letters == "no"
            else Letters(options.letters, letters, options.letter_width)
        )
        names = [name for name in options.also.split(",") if name.strip()]
        if len(names) != len(also):
            raise ConfigError(
                "a network reads the further fields that it was told of",
                got=f"{len(also)} fields, --also {options.also}",
                do="Name each with --also",
            )
        self.beside_words = nn.ModuleList(nn.Embedding(many, options.also_width) for many in also)
        given = wide + self.more_width
        self.inward = nn.Identity() if given == width or plain else nn.Linear(given, width)
        self.dropout = Dropout(options.dropout)
        refuse_foreign(options)
        self.stack = Whole(options)
        chain = getattr(options, "chain", False)
        self.unit = nn.Parameter(torch.randn(width)) if pool == "unit" else None
        both = options.bidirectional and options.mixer not in (
            "none",
            "attention",
            "convolution",
            "tree",
        )
        self.pool = None if pool is None else Pool(pool, width, both)
        self.hidden = (
            Hidden(wide if plain else width, width, layers, options.activation, options.dropout)
            if layers
            else nn.Identity()
        )
        self.head = ChainHead(width, labels) if chain else nn.Linear(width, labels)

    def begin_with(self, numbers: list[int], vectors: Tensor) -> None:
        """Put (N, D) vectors in the place of these symbols, a little larger than the others. Those
        that training has not seen keep theirs."""
        assert not isinstance(self.embedding, nn.Identity)
        with torch.no_grad():
            table = torch.cat([self.embedding.weight, self.more])
            table[numbers] = 0.3 * vectors / vectors.pow(2).mean().sqrt().clamp(min=1e-12)
            self.embedding.weight.copy_(table[: len(self.embedding.weight)])
            self.more.copy_(table[len(self.embedding.weight) :])

    def read_by(self, reader: Reader) -> None:
        """Let a language model read first; what it says is brought to the width of the stack."""
        self.reader, self.pretrained = reader, self.options.encoder
        given, width = reader.width + self.more_width, self.options.width
        self.inward = nn.Identity() if given == width else nn.Linear(given, width)

    @property
    def more_width(self) -> int:
        """How wide the vectors are that stand beside that of a word: letters, further fields."""
        letters = self.options.letter_width if self.letters is not None else 0
        return letters + len(self.beside_words) * self.options.also_width

    def look(self, x: Tensor) -> Tensor:
        """(B, P) symbols -> (B, P, E): those of the training data, which learn, and those known
        besides, which do not; or (B, P, C) numbers."""
        if not isinstance(self.embedding, nn.Embedding) or not len(self.more):
            return self.embedding(x)
        own = self.embedding.num_embeddings
        if not (x >= own).any():
            return self.embedding(x)
        return torch.where(
            (x < own)[..., None],
            self.embedding(x.clamp(max=own - 1)),
            self.more[(x - own).clamp(min=0)],
        )

    def embedded(self, batch: Batch) -> Tensor:
        """(B, P, D) what is known of each symbol by itself."""
        x = batch.x if self.channels else self.dropped(batch.x)
        x = self.look(x) if self.reader is None else self.reader(x, batch.x_lengths)
        if self.letters is not None:
            x = torch.cat([x, self.letters(batch.letters)[batch.words]], -1)
        if len(self.beside_words):
            assert batch.further is not None
            tables = zip(self.beside_words, batch.further.unbind(-1), strict=True)
            x = torch.cat([x, *(table(self.dropped(ids)) for table, ids in tables)], -1)
        return self.inward(self.dropout(x))

    def dropped(self, symbols: Tensor) -> Tensor:
        """The same symbols, in training some of them unknown."""
        share = self.options.word_dropout
        if not self.training or not share:
            return symbols
        return symbols.masked_fill(uniform(symbols.shape, symbols.device) < share, UNKNOWN)

    def answer(self, x: Tensor, lengths: Tensor, symbols: Tensor | None = None) -> Distribution:
        """(B, P, D) embedded symbols, for trees the (B, P) symbols themselves -> (B,) distributions
        of the label, (B, P) of the tags, or (B,) of all tags together."""
        if self.unit is not None:
            x = torch.cat([x, torch.zeros_like(x[:, :1])], 1)
            x[torch.arange(len(x), device=x.device), lengths] = self.unit.to(x.dtype)
            lengths = lengths + 1
        some = lengths.clamp(min=1)  # nothing at all is read like a single unknown word
        x = self.stack(x, some, symbols)
        if self.pool is not None:
            return self.said(self.dropout(self.hidden(self.pool(x, some))))
        return self.head(x, lengths) if isinstance(self.head, ChainHead) else self.said(x)

    def said(self, hidden: Tensor) -> Distribution:
        """(..., D) -> (...) distributions."""
        return Categorical(self.head(hidden).float())

    def predict(self, batch: Batch) -> Distribution:
        """The distribution of the label of each sequence, or of its tags."""
        return self.answer(self.embedded(batch), batch.x_lengths, batch.x)

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """The same, a label as a sequence of one output."""
        found = self.predict(batch)
        return (
            found[:, None] if self.pool is not None else found
        ), ()  # y has a column for the label

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """attention.L (B, H, P, P): who attends to whom in each layer that attends; an extra
        position (`--pool unit`) stands behind the last symbol."""
        found = attended(attending(self.stack), lambda: self.predict(batch))
        return {f"attention.{layer}": weights for layer, weights in enumerate(found)}

    # -- what is kept
    def arrays(self) -> dict[str, Tensor]:
        """The weights, and of a language model that reads first what it is laid out by."""
        return super().arrays() | ({} if self.reader is None else {READER: self.reader.to_bytes()})

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        known = arrays.get(READER)
        if (known is None) != (not self.options.encoder):
            raise ValueError("an encoder is there where one was asked for, and nowhere else")
        if known is not None and self.reader is None:
            # laid out as the rest of the model is: perhaps without memory
            with self.head_device():
                self.read_by(Reader.from_bytes(known, self.options.encoder_frozen))
        if known is not None and not same(known, self.reader):
            raise ValueError("the weights are those of another encoder")
        super().load_arrays({name: each for name, each in arrays.items() if name != READER})

    def head_device(self) -> torch.device:
        """Where the rest of the model lies."""
        return next(self.head.parameters()).device

    def size(self) -> int:
        """Number of learned values."""
        return sum(each.numel() for each in self.state_dict().values())

    def constrain(self, names: list[str]) -> None:
        """Of B-I-O tags allow only what makes sense; what is allowed follows from the names and is
        not stored."""
        if isinstance(self.head, ChainHead):
            like = ChainHead(
                self.options.width,
                self.labels,
                bio_constraints(names) if self.options.constrained else None,
            )
            for name, forbidden in like.named_buffers():
                setattr(self.head, name, forbidden.to(self.device))

    def broken_rule(self, y: Field) -> tuple[int, int] | None:
        """The first two neighbouring tags that the rules of the chain forbid, if the training data
        has any."""
        if not isinstance(self.head, ChainHead) or not self.head.no_pair.any() or len(y.flat) < 2:
            return None
        inside = np.ones(len(y.flat) - 1, bool)
        inside[y.offsets[1:-1][(y.offsets[1:-1] > 0) & (y.offsets[1:-1] < len(y.flat))] - 1] = (
            False  # not from one sequence to the next
        )
        wrong = np.flatnonzero(inside & self.head.no_pair.cpu().numpy()[y.flat[:-1], y.flat[1:]])
        return (int(y.flat[wrong[0]]), int(y.flat[wrong[0] + 1])) if len(wrong) else None

    def quantise(self) -> bool:
        """Weights of linear maps in 8 bits, for inference."""
        quantised(self)
        return True


def same(known: Tensor, reader: Reader | None) -> bool:
    """Whether an encoder is the one that this describes."""
    if reader is None or known.dtype != torch.uint8:
        return False
    return torch.equal(known, reader.to_bytes())


class SequenceRegressor(SequenceLabeller):
    """The same stack, whose answer is a number."""

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
        self.head = NormalHead(options.width, labels)

    def said(self, hidden: Tensor) -> Distribution:
        """(B, D) what was read of each sequence -> the distribution of its value."""
        return self.head(hidden)
