"""A label, a value or tags of sequences: what is said of X.

X are texts, lists of tokens, or arrays of numbers: (n, t) a number a step, (n, t, c) several. For a
model of feature vectors (`mlp`) each row of (n, c) is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d
from sklearn.utils.validation import validate_data as validated

from seriatim.errors import DataError
from seriatim.sklearn.base import KEPT, RunEstimator, Settings, is_symbols, symbols_in
from seriatim.tasks import task


class SequenceEstimator(RunEstimator):
    """What is said of sequences: a model by its name, and its settings."""

    def __init__(
        self,
        model: str = "linear",
        *,
        unit: str | None = None,
        width: int | None = None,
        layers: int | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        minutes: float | None = None,
        random_state: Any = None,
        settings: Settings | None = None,
    ):
        self.model, self.unit, self.width, self.layers = model, unit, width, layers
        self.updates, self.epochs, self.minutes = updates, epochs, minutes
        self.random_state, self.settings = random_state, settings

    def _given(self, X: Any, **more: Any) -> Any:
        """Texts and tokens as they are, numbers as an array that was looked at."""
        if is_symbols(X):
            return symbols_in(X)
        return self._steps(validated(self, X, dtype=np.float64, allow_nd=True, **more))

    def _steps(self, X: np.ndarray) -> np.ndarray:
        """(n, t) -> (n, t, 1): a number a step, unless rows are vectors."""
        rungs = [task(self._task).rung(part) for part in self.model.split("+")]
        return X[:, :, None] if X.ndim == 2 and not all(each.vectors for each in rungs) else X

    def _items(self, X: Any, **options: Any) -> list[dict[str, Any]]:
        """What the model says of each sequence."""
        check_is_fitted(self, KEPT)
        more = {} if is_symbols(X) else {"reset": False}
        return self.predictor_.predict(self._given(X, **more), **options)["items"]

    def __sklearn_tags__(self) -> Any:
        """Sequences of symbols, and arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


class SequenceClassifier(ClassifierMixin, SequenceEstimator):
    """A label for each sequence.

    >>> texts = ["free cash now", "win free cash", "tea at home", "home for tea"] * 5
    >>> texts = [f"{text} {number}" for number, text in enumerate(texts)]
    >>> found = SequenceClassifier("naive-bayes").fit(texts, [1, 1, 0, 0] * 5)
    >>> found.predict(["free tea cash", "at home"]).tolist(), found.classes_.tolist()
    ([1, 0], [0, 1])
    """

    _task = "classify"

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sequences and their labels."""
        given, y = labelled(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise DataError("there is only one class", got=y[0], do="Give labels of two classes")
        return self._learn((given, y.tolist()))

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, K) the probability of each label, in the order of `classes_`."""
        items = self._items(X, probabilities=True)
        place = {value: number for number, value in enumerate(self.classes_.tolist())}
        found = np.full((len(items), len(place)), 1 / len(place))  # what is blank says nothing
        for row, item in zip(found, items, strict=True):
            for each in item.get("probabilities") or ():
                row[place[each["label"]]] = each["probability"]
        return found / found.sum(1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """(n, K) their logarithms."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the likeliest label of each."""
        found = self.predict_proba(X)
        return self.classes_[found.argmax(1)]


class SequenceRegressor(RegressorMixin, SequenceEstimator):
    """A value for each sequence."""

    _task = "regress"

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sequences and their values."""
        given, y = labelled(self, X, y, numeric=True)
        return self._learn((given, np.asarray(y, np.float64).tolist()))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """(n,) the value of each, and with `return_std` how far it may be off."""
        items = self._items(X)
        mean, deviation = (np.array([each[k] for each in items]) for k in ("value", "deviation"))
        return (mean, deviation) if return_std else mean


class SequenceTagger(SequenceEstimator):
    """A tag for each element: X and y are lists of lists, as sklearn-crfsuite has them.

    >>> found = SequenceTagger("most-frequent").fit([["a", "b"], ["b"]] * 9, [["X", "Y"], ["Y"]] * 9)
    >>> found.predict([["b", "a"]])
    [['Y', 'X']]
    """

    _task = "tag"

    def __init__(
        self,
        model: str = "window",
        *,
        unit: str | None = None,
        width: int | None = None,
        layers: int | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        minutes: float | None = None,
        random_state: Any = None,
        settings: Settings | None = None,
    ):
        super().__init__(
            model,
            unit=unit,
            width=width,
            layers=layers,
            updates=updates,
            epochs=epochs,
            minutes=minutes,
            random_state=random_state,
            settings=settings,
        )

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> Self:
        """Learn from lists of tokens and lists of their tags."""
        X = check_tokens(X)
        check_consistent_length(X, y)
        self.classes_ = sorted({tag for tags in y for tag in tags})
        return self._learn(([list(each) for each in X], [list(each) for each in y]))

    def predict(self, X: Sequence[Sequence[str]]) -> list[list[Any]]:
        """The tags of each."""
        check_is_fitted(self, KEPT)
        return [each["tags"] for each in self._items(check_tokens(X))]

    def score(self, X: Any, y: Sequence[Sequence[Any]]) -> float:
        """The share of tags that are right."""
        right = [a == b for found, true in zip(self.predict(X), y) for a, b in zip(found, true)]
        return float(np.mean(right))


# -- what is given
def labelled(
    estimator: SequenceEstimator, X: Any, y: Any, numeric: bool = False
) -> tuple[Any, np.ndarray]:
    """Sequences, and one label or value for each."""
    if y is None:
        raise DataError(
            "this estimator requires y to be passed, but the target y is None", do="Give y"
        )
    if not is_symbols(X):
        given, y = validated(
            estimator, X, y, dtype=np.float64, allow_nd=True, y_numeric=numeric, multi_output=False
        )
        if len(given) < 2:
            raise DataError("one sample is too few", got="n_samples = 1", do="Give more of them")
        return estimator._steps(given), y
    check_consistent_length(X, y)
    return symbols_in(X), column_or_1d(y, warn=True)


def check_tokens(X: Any) -> list[Any]:
    """Lists of tokens; what is something else is refused."""
    X = symbols_in(X)
    first = next((each for each in X if len(each)), None)
    if first is not None and not all(isinstance(each, str) for each in first):
        raise DataError(
            "tokens are texts", got=first[0], do="Give lists of tokens: [['the', 'cat'], ['it']]"
        )
    return X
