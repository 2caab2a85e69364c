"""Estimators for scikit-learn: models of sequences in pipelines, searches and cross-validation.

    SequenceClassifier(model="linear").fit(texts, labels).predict(more)

A door like the others: what is fitted is the Predictor that `seriatim.fit` gives, kept as
`predictor_`. A fitted estimator is pickled as the files of its run, and opened through the same
checks; to keep one without pickle, `estimator.predictor_.save(folder)`.
"""

from __future__ import annotations

from seriatim.sklearn.forecaster import Forecaster
from seriatim.sklearn.labels import SequenceClassifier, SequenceRegressor, SequenceTagger
from seriatim.sklearn.vectors import TextVectors

__all__ = ["Forecaster", "SequenceClassifier", "SequenceRegressor", "SequenceTagger", "TextVectors"]
