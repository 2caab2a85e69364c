"""Precision, recall and F1."""

from __future__ import annotations


def quotients(right: int, found: int, true: int) -> dict[str, float]:
    """Of things of which so many were found, so many are true and so many of those found are right."""
    return {
        "precision": ratio(right, found),
        "recall": ratio(right, true),
        "f1": ratio(2 * right, found + true),
    }


def ratio(part: float, whole: float) -> float:
    """Part / whole; 0 of nothing."""
    return part / whole if whole else 0.0
