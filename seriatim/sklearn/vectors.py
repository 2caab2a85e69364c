"""A vector for each text, from the vectors of its words."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from seriatim.errors import DataError
from seriatim.sklearn.base import KEPT, RunEstimator, Settings, is_symbols, symbols_in


class TextVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RunEstimator):
    """(n, width) a vector for each text: the mean of its words' vectors, learned from the texts alone.

    A text without a known word is zeros. With `random_state` a fit is repeatable to the bit.

    >>> texts = [f"the king has throne {n}" for n in range(100)]
    >>> TextVectors(width=4, random_state=0).fit_transform(texts).shape
    (100, 4)
    """

    _task = "words"
    _own = ("unit", "width", "window", "minimum_count", "updates", "epochs", "minutes")

    def __init__(
        self,
        model: str = "skip-gram",
        *,
        unit: str | None = None,
        width: int | None = None,
        window: int | None = None,
        minimum_count: int | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        minutes: float | None = None,
        random_state: Any = None,
        settings: Settings | None = None,
    ):
        self.model, self.unit, self.width, self.window = model, unit, width, window
        self.minimum_count, self.updates = minimum_count, updates
        self.epochs, self.minutes = epochs, minutes
        self.random_state, self.settings = random_state, settings

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn word vectors from texts or lists of tokens; y is not looked at."""
        texts = texts_in(X)
        repeatable = {"deterministic": True} if self.random_state is not None else {}
        own = {name: each for name, each in repeatable.items() if name not in (self.settings or {})}
        self._learn(
            texts, valid=texts, **own
        )  # all are learned from: the loss decides nothing here
        self._n_features_out = self.predictor_.words.vectors.shape[1]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n, width) the mean of each text's word vectors."""
        check_is_fitted(self, KEPT)
        return self.predictor_.mean_vectors(texts_in(X, some=False))

    def __sklearn_tags__(self) -> Any:
        """Texts and token lists, no arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def texts_in(X: Any, some: bool = True) -> list[Any]:
    """Texts or token lists, `some` of them; an error for anything else."""
    if not is_symbols(X) and (some or len(X)):
        raise DataError(
            "texts are wanted, or lists of tokens", got=type(X).__name__, do="Give a list of texts"
        )
    return symbols_in(X)
