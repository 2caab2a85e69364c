"""What the records of a run folder may look like: held against them before anything is built.

A run folder may come from a stranger who has signed it anew, so that checksums say nothing of what
stands in it. The settings of models, of training and of reading are option records and checked by
`seriatim.settings.build`; codecs check themselves; here are the manifest, the tables of config.toml,
and metrics.json.
"""

from __future__ import annotations

from seriatim.shapes import (
    among,
    listed,
    mapping,
    optional,
    plain,
    real,
    scalar,
    table,
    text,
    whole,
    yes_or_no,
)

FILE_NAME = text("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MANIFEST = table(
    {
        "files": mapping(
            table({"sha256": text("[0-9a-f]{64}"), "bytes": whole()}, others=scalar), FILE_NAME, 100
        )
    },
    {"format": whole(0, 1000), "seriatim": text(most=100)},
    others=scalar,
)
NUMBERED = mapping(mapping(plain, text(most=100), 1000), text("[0-9]{1,3}"), 100)
CONFIG = table(
    {
        "run": table(
            {"task": text(most=100), "model": text(most=1000), "by": among("stream", "line")},
            others=scalar,
        ),
        "model": NUMBERED,
        "training": NUMBERED,
    },
    others=mapping(plain),
)

# what reports ask of the metrics of any run; what verbs ask, its room says: `Predictor.kept`
METRICS = table(
    {},
    {
        "seconds": real(0),
        "parameters": whole(),
        "updates": optional(whole()),
        "epochs": optional(real(0)),
        "symbols_seen": optional(whole()),
        "valid": optional(real()),
        "per": text(most=1000),
        "said": optional(text(most=1000)),
        "device": text(most=100),
        "ending": optional(text(most=10_000)),
        "stopped": optional(text(most=1000)),
        "higher": yes_or_no,
        "judged_on": optional(whole()),
        "interrupted": yes_or_no,
        "unfinished": optional(yes_or_no),
        "improving": optional(yes_or_no),
        "weights": listed(real(), 0, 1000),
    },
    others=plain,
)
