"""Seriatim: sequence models from counting to attention, behind one interface, measured by one yardstick.

>>> import seriatim as st
>>> train, valid, test = st.split("language", "markov:length=20000")
>>> model = st.fit("language", "markov", train, order=2)
>>> model.evaluate(test)["tokens"]
2000
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {  # name -> module: loaded when first used, so that importing costs nothing
    "read": "data.reading",
    "Sequences": "data.sequences",
    "SeriatimError": "errors",
    "load": "api",
    "Predictor": "runs.predictor",
    "fit": "api",
    "compare": "api",
    "split": "api",
    "evaluate": "api",
    "score": "api",
    "generate": "api",
    "predict": "api",
    "check": "api",
    "conform": "api",
    "plot": "api",
    "call": "verbs",
    "run": "verbs",
}
__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from seriatim.data.reading import read as read
    from seriatim.data.sequences import Sequences as Sequences
    from seriatim.errors import SeriatimError as SeriatimError
    from seriatim.runs.predictor import Predictor as Predictor
    from seriatim.typed import check as check
    from seriatim.typed import compare as compare
    from seriatim.typed import conform as conform
    from seriatim.typed import evaluate as evaluate
    from seriatim.typed import fit as fit
    from seriatim.typed import generate as generate
    from seriatim.typed import load as load
    from seriatim.typed import plot as plot
    from seriatim.typed import predict as predict
    from seriatim.typed import score as score
    from seriatim.typed import split as split
    from seriatim.verbs import call as call
    from seriatim.verbs import run as run


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
