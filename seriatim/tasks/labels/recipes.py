"""How networks of labels and values are trained unless a rung says something else. What was tried
stands in docs/log.md."""

from __future__ import annotations

NEURAL = {
    "epochs": 20.0,
    "least_updates": 200,
    "rows": 16,
    "length": 32,
    "rate": 1e-3,
    "validations": 20,
    "patience": 6,
}  # labels: small data, read often, as long as that helps


NUMERIC = {
    "epochs": 20.0,
    "least_updates": 200,
    "rows": 8,
    "rate": 4e-3,
}  # numbers say less each than words, and need more updates
