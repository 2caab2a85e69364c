"""A pretrained encoder, frozen, under the linear models: v(x) instead of n-grams.

    classify   logits = b + v(x) . w_c      softmax regression, its strength by nats held out
    regress    y ~ normal(b + v(x) . w, s)  ridge regression, likewise

Unlike `linear` it knows what words mean that training has not seen, from texts that nobody knows.
Shapes: B rows, S sequences, D width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.errors import ConfigError
from seriatim.models.pretrained import Encoder, checksum_of, folder_of, unchanged
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.features import Featured
from seriatim.tasks.labels.models.linear import LinearClassifier, Plan, Trials
from seriatim.tasks.labels.models.ridge import Ridge
from seriatim.tasks.labels.options import EncoderOptions, LinearOptions, RidgeOptions

STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # that are tried
CHECKSUM = "checksum"  # of what is kept: that of the encoder's files


class OverEncoder(Featured):
    """A linear model whose features are the vectors of an encoder."""

    def read_by(self, options: EncoderOptions, channels: int) -> None:
        """Look at the folder; the encoder itself is opened when it is first asked."""
        if not options.pretrained:
            raise ConfigError(
                "a pretrained encoder is read from a folder",
                do="Add --pretrained FOLDER, a local one in Hugging Face's layout",
            )
        if channels:
            raise ConfigError(
                "a pretrained encoder reads text", got="numbers", do="Choose another model"
            )
        self.pretrained = options.pretrained
        self.channels = 1  # features are numbers, as those of numbers are
        self.checksum: Tensor | None = None

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, opened once."""
        return Encoder(self.pretrained)

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Encode all sequences once, then find the weights."""
        self.checksum = checksum_of(folder_of(self.pretrained))
        assert examples.given is not None
        found = self.encoder.pooled([examples.given.raw(s) for s in range(len(examples))])
        deviation = found.std(0)
        scale = np.stack([found.mean(0), np.where(deviation > 1e-9, deviation, 1.0)])
        self.scale = torch.from_numpy(scale)  # (2, D)
        yield {"words": "weights", "share": 0.8}
        yield from self.solve((found - scale[0]) / scale[1], examples)
        yield {"words": "weights", "share": 1.0}

    def traits_of(self, batch: Batch) -> Tensor:
        """(B, D) the vectors of what was given, on the scale of the training data."""
        if batch.given is None:
            raise TypeError("a batch for an encoder has the texts that it was made of")
        column, rows = batch.given
        found = self.encoder.pooled([column.raw(s) for s in rows])
        return (torch.from_numpy(found) - self.scale[0]) / self.scale[1]

    def size(self) -> int:
        """Number of learned values, those of the encoder too."""
        return self.encoder.size + sum(each.numel() for each in super().arrays().values())

    def arrays(self) -> dict[str, Tensor]:
        """What was learned over the encoder, and its checksum."""
        checksum = torch.zeros(0, dtype=torch.uint8) if self.checksum is None else self.checksum
        return {**super().arrays(), CHECKSUM: checksum}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave, if the encoder is still the same; raises ValueError if it
        does not fit."""
        scale = arrays.get("scale")
        if scale is None or scale.ndim != 2:
            raise ValueError("scale is missing or does not fit")
        unchanged(self.pretrained, arrays.get(CHECKSUM))
        self.checksum, self.scale = arrays[CHECKSUM], torch.ones(scale.shape, dtype=torch.float64)
        super().load_arrays({name: each for name, each in arrays.items() if name != CHECKSUM})


class TrialsOfVectors(Trials):
    """Hundreds of features that all say something want smaller weights than n-grams do, and a few
    held-out labels do not show it: every strength is tried, and nats decide."""

    def stronger(self, best: Plan) -> Plan:
        """The least strength whose nats a label are not told from the least."""
        plans = [replace(best, strength=each) for each in STRENGTHS]
        most = min(map(self.nats, plans)) + self.told_apart
        return next(each for each in plans if self.nats(each) <= most)


class PretrainedClassifier(OverEncoder, LinearClassifier):
    """A softmax regression over the encoder."""

    def __init__(
        self,
        vocabulary: int,
        options: EncoderOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        plain = LinearOptions(strength=options.strength, spelling="no")
        super().__init__(vocabulary, plain, labels, 0, own, 0)
        self.read_by(options, channels)

    def trials(self, x: Any, letters: Any, examples: Examples) -> Trials:
        """What trials are made on, as of n-grams."""
        found = super().trials(x, letters, examples)
        return TrialsOfVectors(found.x, found.y, found.labels, None, found.folds)


class PretrainedRidge(OverEncoder, Ridge):
    """A ridge regression over the encoder."""

    def __init__(
        self,
        vocabulary: int,
        options: EncoderOptions,
        labels: int = 1,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, RidgeOptions(strength=options.strength), labels, 0, own, 0)
        self.read_by(options, channels)
