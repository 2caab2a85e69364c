"""The built-in corpora by name."""

from __future__ import annotations

from collections.abc import Callable

from seriatim.data.corpora.drawings import drawings
from seriatim.data.corpora.grammar import sentences
from seriatim.data.corpora.pairs import generate_pairs
from seriatim.data.corpora.python import python_code, python_docs, python_lines, python_tokens
from seriatim.data.corpora.signals import generate_signal
from seriatim.data.corpora.sources import generate
from seriatim.data.corpora.tunes import tunes
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, nearest

CORPORA: dict[str, tuple[Callable[..., Sequences], str]] = {
    "python-docs": (python_docs, "docstrings of the Python standard library: English prose"),
    "python-code": (python_code, "source of the Python standard library: code"),
    "python-lines": (python_lines, "lines of its source, labelled with their module"),
    "python-tokens": (
        python_tokens,
        "tokens of its source, tagged with their kinds: keyword, name, string, ...",
    ),
    "independent": (generate, "generated: symbols that do not depend on each other"),
    "markov": (generate, "generated: a symbol depends on the few before it"),
    "hidden-markov": (generate, "generated: a symbol depends on a state that is never seen"),
    "brackets": (generate, "generated: nested brackets, which need a stack"),
    "remember": (generate, "generated: lines that end with the symbol they began with"),
    "piano": (generate, "generated: chords, the notes of a step written 48+60+67"),
    "copy": (generate_pairs, "generated: letters, and the same letters"),
    "reverse": (generate_pairs, "generated: letters, and the same from the end"),
    "sort": (generate_pairs, "generated: letters, and the same in order"),
    "dates": (generate_pairs, "generated: dates in ten languages, and as 2024-03-07"),
    "roman": (generate_pairs, "generated: Roman numerals, and their numbers"),
    "sentences": (sentences, "generated: sentences of a small grammar"),
    "drawings": (
        drawings,
        "generated: a dozen shapes drawn by an unsteady hand, labelled with their names",
    ),
    "tunes": (tunes, "generated: melodies in a key, of phrases that come again"),
    "seasonal": (generate_signal, "generated: numbers that come again each day, and noise"),
    "autoregressive": (
        generate_signal,
        "generated: a number is a weighted sum of the last ones, and noise",
    ),
    "random-walk": (
        generate_signal,
        "generated: a number is the last one, and noise: nothing to win",
    ),
    "oscillator": (generate_signal, "generated: two numbers that turn into each other, and noise"),
}


def is_corpus(name: str) -> bool:
    """Whether a name, with or without parameters behind a colon, is that of a built-in corpus."""
    return name.partition(":")[0] in CORPORA


def open_corpus(name: str) -> Sequences:
    """A built-in corpus: "python-docs", or with settings "python-lines:lines=5000" or
    "markov:order=3,seed=1"."""
    kind, colon, _ = name.partition(":")
    if kind not in CORPORA:
        raise ConfigError(
            f"there is no built-in corpus called {kind!r}", got=name, do=nearest(kind, CORPORA)
        )
    function, _ = CORPORA[kind]
    if function not in (python_docs, python_code):
        return function(name)
    if colon:
        raise ConfigError(f"{kind} takes no parameters", got=name, do=f"Write {kind}")
    return function()
