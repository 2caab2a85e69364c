"""What data was: known again when it is scored, or resumed on."""

from __future__ import annotations

import hashlib

import numpy as np

from seriatim.data.sequences import Field


def fingerprint(*columns: Field | None) -> str:
    """What the data was: a fit is not resumed on other data, and a text is known again when it is
    scored."""
    digest = hashlib.sha256()
    for column in columns:
        if column is not None:
            digest.update(np.ascontiguousarray(column.flat).tobytes())
            digest.update(np.ascontiguousarray(column.offsets - column.offsets[0]).tobytes())
    return digest.hexdigest()
