"""Seriatim: sequence models from counting to attention, behind one interface, measured by one yardstick.

>>> import seriatim as st
>>> data = st.read("markov:length=20000")
>>> train, valid, test = data.split(0.8, 0.1, 0.1)
>>> model = st.fit("language", "markov", train, order=2)
>>> model.evaluate(test)["tokens"]
2000
"""
import os
from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"
os.environ.setdefault("GOMP_SPINCOUNT", "2000")    # torch's threads, when they wait, soon give way to other programs: see docs/log.md

_HOMES = {                                # name -> module: loaded when first used, so that importing costs nothing
    "read": "data", "Sequences": "data.sequences", "SeriatimError": "errors", "MODELS": "models",
    "fit": "fitting", "fit_events": "fitting", "load": "predictor", "Predictor": "predictor",
    "evaluate": "verbs", "score": "verbs", "generate": "verbs", "predict": "verbs", "ngrams": "verbs",
    "compare": "comparison", "plot": "figures",
}
__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from seriatim.comparison import compare as compare
    from seriatim.data import read as read
    from seriatim.data.sequences import Sequences as Sequences
    from seriatim.errors import SeriatimError as SeriatimError
    from seriatim.figures import plot as plot
    from seriatim.fitting import fit as fit
    from seriatim.fitting import fit_events as fit_events
    from seriatim.models import MODELS as MODELS
    from seriatim.predictor import Predictor as Predictor
    from seriatim.predictor import load as load
    from seriatim.verbs import evaluate as evaluate
    from seriatim.verbs import generate as generate
    from seriatim.verbs import ngrams as ngrams
    from seriatim.verbs import predict as predict
    from seriatim.verbs import score as score


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
