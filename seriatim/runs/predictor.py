"""A Predictor is what you keep: codec, model and settings, in a run folder, plain and pickle-free.

    .seriatim            the mark, written first: by it a folder is known as ours
    config.toml          every setting, complete: of the run, of reading, codec, models, training
    codec.json           the vocabulary
    weights.safetensors  all that was learned, counts too
    events.jsonl         what happened while fitting, one record a line
    metrics.json         how it ended
    seen.safetensors     by what the training data is known again
    card.md              the model card, for people: see `seriatim.runs.card`
    manifest.json        checksums, written last: a folder that has it is finished
    checkpoint-*.safetensors   only while a fit is under way; of word vectors also the text, ids.npy

What a Predictor can do, its verbs, stands in the rooms: see `seriatim.tasks`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from inspect import isfunction, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from seriatim import __version__
from seriatim.data.files import STANDARD_INPUT
from seriatim.data.formats import FORMATS, format_of
from seriatim.data.looks import fits
from seriatim.data.objects import at_hand, files_in, has_rows, holds_columns
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, RunError, TrainingError, nearest
from seriatim.layers.attention import Attention
from seriatim.measuring.fingerprint import ALL, Seen, caution
from seriatim.measuring.measured import Measured, Test, disagreements, merged
from seriatim.measuring.resampling import middle_of
from seriatim.models.attending import attending, mute
from seriatim.models.base import Model, check_finite
from seriatim.models.ladder import Part
from seriatim.models.renumbered import matched
from seriatim.records import Record, record
from seriatim.runs.against import difference, in_words, told_apart
from seriatim.runs.card import card_of
from seriatim.runs.folder import CARD, FORMAT, SEEN, seal, start_folder
from seriatim.settings import build, named
from seriatim.shapes import Shape, plain
from seriatim.storage import read_arrays, write_arrays, write_bytes, write_json

if TYPE_CHECKING:
    from seriatim.tasks.base import Figure, Task

# whatever `seriatim.data.objects` understands: frames, arrays and mappings are iterable, too
Source = Sequences | str | Path | Iterable[Any]
SETTINGS = (str, int, float)  # what an option is that is not data
EXAMPLES, LONGEST = 6, 200  # where two models disagree, and letters of each


class Predictor:
    """A fitted model of some task: what all rooms have in common."""

    def __init__(
        self,
        task: Task,
        spec: str,
        parts: list[Part],
        codec: Any,
        model: Model,
        by: str = "line",
        reading: Any = None,
        metrics: dict[str, Any] | None = None,
    ):
        self.task, self.spec, self.parts = task, spec, parts
        self.codec, self.model, self.by = codec, model, by
        self.reading = build(task.reading, {}) if reading is None else reading
        self.metrics: dict[str, Any] = metrics or {}
        self.fitted_as: str = self.reading.input_format  # which may be told otherwise later
        self.int8 = False  # its linear maps compute in 8 bits
        self.folder: Path | None = None  # where it was opened
        self.muted: list[str] = []  # heads of attention that are switched off, layer.head
        self.verified = True  # whether what was opened was held against its checksums
        self.trained_on: Seen | None = None  # the pieces of its training data; see `remembered`
        self.in_comparison = False  # fitted beside others, whose figures stand beside its own
        self.beside: list[Predictor] = []  # others that answer together with it
        self.face: Callable[..., Record] | None = None  # what Python's door makes of a record

    def __init_subclass__(cls, **more: Any) -> None:
        """What a method of a room has no option for is refused with the nearest name; what it says
        of data is told whose it is."""
        super().__init_subclass__(**more)
        for name, method in list(vars(cls).items()):
            if isfunction(method) and not name.startswith("_"):
                setattr(cls, name, told_of(with_known_options(method)))

    def __repr__(self) -> str:
        size = f"{self.codec.size} {self.unit}s, {self.model.size():,} parameters"
        return f"Predictor({self.task.name}, {self.spec}, {size})"

    @property
    def unit(self) -> str:
        """What counts as one symbol."""
        return self.codec.options.unit

    # -- data in, records out
    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Data to apply this predictor to, read as its training data were."""
        source = at_hand(source)
        reading = self.reading_of(source)
        if self.by == "line" and "by" in vars(reading) and not reading.by:
            reading = replace(reading, by="line")
        return self.task.cut.sequences(source, reading, unit=self.unit, gaps=gaps)

    def reading_of(self, source: Any) -> Any:
        """How to read this: as in training, but a plain text has no columns that could be named, and
        an ending that can stand for one format only is believed. What is in memory has no format."""
        paths = None if isinstance(source, Sequences) else files_in(source)
        if paths is None:
            return self.reading_in_memory(source)
        reading, path = self.reading, paths[0]
        if len(paths) > 1 or "field" not in vars(reading):
            return reading
        format, ending = reading.input_format or format_of(path), format_of(path)
        remembered = bool(reading.input_format) and reading.input_format == self.fitted_as
        if remembered and path != STANDARD_INPUT and Path(path).is_file():
            tables = {"csv", "tsv"}
            other = not {format, ending} <= tables if ending != "text" else not fits(path, format)
            if other and ending != format:
                format, reading = ending, replace(reading, input_format="", columns="")
        plain = format in FORMATS and FORMATS[format].streams
        by = reading.by or self.by  # of a format that can be read either way
        return replace(reading, columns="", field="", by=by) if plain else reading

    def reading_in_memory(self, source: Any) -> Any:
        """How to read what is in memory, after a fit to a file perhaps."""
        of_files = {"input_format": "", "encoding": "", "decimal": ""}
        of_files |= {} if has_rows(source) else {"columns": ""}
        if "field" in vars(self.reading) and not holds_columns(source):
            of_files |= {"field": ""}
        cut = {"by": self.reading.by or self.by} if "by" in vars(self.reading) else {}
        return replace(self.reading, **of_files, **cut)

    def record(self, kind: str, **values: Any) -> Record:
        """A record of this kind, which says whose it is, and so if its files were not checked or
        heads were switched off; with a face, where a door gave one."""
        if self.muted:
            off = f"heads switched off (layer.head, from 0): {', '.join(self.muted)}"
            values["notes"] = [*values.get("notes", ()), off]
        unchecked = {} if self.verified else {"verified": False}
        whose = {"task": self.task.name, "model": self.spec}
        found = record(kind, **{**whose, **values, **unchecked})
        return found if self.face is None else self.face(found)

    # -- heads that are switched off
    def attends(self) -> list[Attention]:
        """The layers of attention whose heads may be switched off: of the first part that has
        some."""
        networks = [each for each in self.model.parts if isinstance(each, torch.nn.Module)]
        return next((found for each in networks if (found := attending(each))), [])

    def mute(self, heads: str) -> None:
        """Switch off heads, "layer.head" with commas between: they alone give zeros from now on."""
        layers = self.attends()
        if not layers:
            raise ConfigError(
                "only a model with self-attention has heads to switch off",
                got=f"{self.spec}, --mute {heads}",
                do="Leave it out, or open a transformer",
            )
        self.muted = mute(layers, heads)
        for part in self.model.parts:  # whether single steps are compiled is found anew
            vars(part).pop("quick", None)

    # -- what was learned from
    def seen(self, data: Sequences) -> float | None:
        """The share of these data that it was trained on, 0 to 1; None if that is not known. What
        was held out for validation was not trained on."""
        known = self.remembered()
        shares = [each.seen(data) for each in self.beside]
        shares += [None if known is None else known.share(self.task.cut.pieces(data))]
        return max((share for share in shares if share is not None), default=None)

    def remembered(self) -> Seen | None:
        """The pieces of its training data; a run's are read when they are needed."""
        if self.trained_on is None and self.folder is not None and (self.folder / SEEN).is_file():
            arrays, _ = read_arrays(self.folder / SEEN)
            try:
                kept = {name: array.numpy() for name, array in arrays.items()}
                self.trained_on = Seen.from_arrays(kept)
            except (KeyError, TypeError, ValueError) as error:
                raise RunError(
                    f"{self.folder / SEEN} is damaged", got=error, do="Restore it or fit again"
                ) from None
        return self.trained_on

    def kept(self) -> Shape:
        """What its verbs ask of the metrics of a run, which may come from a stranger."""
        return plain

    # -- what every room says in its own way
    def measure(self, data: Source, **options: Any) -> Measured:
        """What it says about data, item by item; the data's truth beside it."""
        raise NotImplementedError

    def summarise(self, measured: Measured) -> Record:
        """The figures of what was measured, with intervals and protocol."""
        raise NotImplementedError

    def evaluate(
        self, data: Source, *, against: Predictor | str | None = None, **options: Any
    ) -> Record:
        """How well it does on data: figures, intervals and protocol; `against` another Predictor,
        whether the two differ."""
        named = {key: "data" for key, each in options.items() if not isinstance(each, SETTINGS)}
        named |= {"against": str(against)} if against else {}
        build(self.task.verbs["evaluate"].options, {**options, **named}, "evaluate")
        if against and not isinstance(against, Predictor):
            raise ConfigError(
                "it is compared with another Predictor",
                got=against,
                do="Open it with `st.load`, or call `st.evaluate`, which opens runs itself",
            )
        measured = self.measure(data, **options)
        found = self.summarise(measured)
        if against:
            if not isinstance(against, Predictor):
                raise ConfigError(
                    "two opened runs are compared", got=against, do="Open the other one: load(...)"
                )
            other = against.measure(data, **options)
            found["against"] = {"model": against.spec, **self.compared(measured, other)}
        protocol = found.get("protocol") or {}
        seen = caution(protocol.get("seen_in_training"), protocol.get("seen_of", ALL))
        found["notes"] = [*found.get("notes", ()), *seen]
        if any(part.pretrained for part in self.model.parts):
            found["notes"].append("pretraining data unknown: these data may be among it")
        return found

    def merged(self, measured: list[Measured]) -> Measured:
        """What several folds measured, as one: their items one after another. A room whose arrays
        are not one value an item says itself how they go together."""
        return merged(measured)

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison: the figures of the card by their keys, `interval`, `parameters`,
        `symbols_per_second` and `protocol`."""
        raise NotImplementedError

    def sample(self, test: Sequences) -> str | None:
        """Something in the model's own voice, for a comparison; None where it does not write."""
        return None

    def examples(
        self, test: Sequences, first: Measured, second: Measured, most: int = EXAMPLES
    ) -> list[dict[str, str]]:
        """Where two models of this task differ most on the same test, in words: what was given,
        what was true where there is more than a probability, what each said."""
        found: list[dict[str, str]] = []
        for each in disagreements(first, second, 20 * most):
            item = each["item"]
            given, truth, one = self.told(test, first, item)
            same = "answers" in first and np.array_equal(
                first["answers"][item], second["answers"][item]
            )
            if same or len(found) == most or any(given == before["given"] for before in found):
                continue
            other = self.told(test, second, item)[2]
            known = {} if truth is None else {"truth": truth}
            found.append({"given": given, **known, "first": one, "second": other})
        return found

    def told(self, test: Sequences, measured: Measured, item: int) -> tuple[str, str | None, str]:
        """An item of a test in words: what was given, what was true, what the model said; how much
        that cost, where it only gives probabilities."""
        alone = len(measured.loss) == len(test)
        given = shortened(test.main.raw(item)) if alone else f"item {item + 1:,}"
        truth, answer = (
            shortened(measured[name][item]) if name in measured else None
            for name in ("truth", "answers")
        )
        cost = f"{measured.loss[item]:.3g} nats"
        return given, truth, f"{answer} ({cost})" if answer is not None else cost

    def conclude(self, lesson: Any, valid: Sequences | None, asked: Any) -> Iterator[str]:
        """What is still to be done when training is over, as asked for; yields what is to be said."""
        return iter(())

    def word_vectors(self) -> Any:
        """The words and their vectors, which networks may begin with."""
        raise ConfigError(
            "the vectors are to be word vectors",
            got=f"a model of {self.task.name}",
            do="Fit some with `seriatim fit words`",
        )

    def reader(self) -> Any:
        """The network that reads for another one: a language model's."""
        raise ConfigError(
            "an encoder is a run of `fit language`",
            got=f"a model of {self.task.name}",
            do="Fit one: `seriatim fit language gru FILE`",
        )

    def compared(self, measured: Measured, other: Measured) -> dict[str, Any]:
        """By how much two models differ on the same data, and whether that could be chance: by the
        figure that ranks them, and its test."""
        figure = self.judged_by()
        test: Test = named(figure.test)
        p = test(measured, other)
        apart = difference(self.value(measured, figure), self.value(other, figure), figure)
        bounds = (apart, apart)
        if math.isfinite(apart):
            first, second = named(figure.draws)([measured, other])
            bounds = middle_of(first - second)
        return told_apart(
            figure,
            apart,
            bounds,
            p,
            len(measured.loss),
            self.by_ties(measured, other, figure, apart),
        )

    def by_ties(self, measured: Measured, other: Measured, figure: Figure, apart: float) -> str:
        """Of models with the same figure the difference of the one that breaks ties, in words."""
        if apart or not figure.ties:
            return ""
        ties = self.task.figure(figure.ties)
        apart = difference(self.value(measured, ties), self.value(other, ties), ties)
        if not math.isfinite(apart):
            return ""
        first, second = named(ties.draws)([measured, other])
        return f"; {in_words(ties, apart, *middle_of(first - second))}"

    def judged_by(self) -> Figure:
        """The figure by which models of this task are told apart."""
        return self.task.figures[0]

    def value(self, measured: Measured, figure: Figure) -> float | None:
        """A figure of what was measured."""
        found: float | None = self.row(measured)[figure.key]
        return found

    def joined(self, others: list[Predictor]) -> Predictor:
        """This one and others as one: their models answer together, each with an equal weight."""
        if self.task.mixture is None:
            raise ConfigError(
                f"models of {self.task.name} are not mixed", got=self.spec, do="Give one run"
            )
        models = [self.model, *(self.matching(other) for other in others)]
        several = [self, *others]
        spec = "+".join(each.spec for each in several)
        parts = [part for each in several for part in each.parts]
        mixed = named(self.task.mixture)(models)
        together = type(self)(
            self.task, spec, parts, self.codec, mixed, self.by, self.reading, dict(self.metrics)
        )
        together.int8 = any(each.int8 for each in several)
        together.muted = [head for each in several for head in each.muted]
        together.verified = all(each.verified for each in several)
        together.beside, together.face = several, self.face
        return together

    def matching(self, other: Predictor) -> Model:
        """The model of another run of this task, if it knows the same symbols, by our numbers."""
        if other.task.name != self.task.name:
            raise ConfigError(
                "models of one task are mixed",
                got=f"{self.task.name} and {other.task.name}",
                do="Give runs of the same task",
            )
        model = matched(other.model, other.codec.symbols, self.codec.symbols)
        if model is None:
            raise ConfigError(
                "models are mixed that know the same symbols",
                got=f"{self.spec} and {other.spec}",
                do="Fit both on the same data with the same --unit and --valid",
            )
        return model

    # -- the run folder
    def settings(self) -> dict[str, Any]:
        """Everything that config.toml says; of a class of the caller's own it can say nothing."""
        own = [part.name for part in self.parts if part.rung.own]
        if own:
            raise ConfigError(
                "a run folder holds no code, so a model of your own class is not kept in one",
                got=", ".join(own),
                do="Keep it in memory, or make it a row of a ladder: docs/extending.md",
            )
        run = {"format": FORMAT, "seriatim": __version__, "task": self.task.name}
        tables: dict[str, Any] = {
            "run": run | {"model": self.spec, "by": self.by},
            "reading": self.reading,
            "codec": self.codec.options,
        }
        for i, part in enumerate(self.parts):
            tables |= {f"model.{i}": part.options, f"training.{i}": part.training}
        return tables

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write a finished run folder."""
        if self.int8:
            raise ConfigError(
                "weights in 8 bits are for inference and cannot be saved",
                do="Save or copy the run they were loaded from",
            )
        self.remembered()
        place = start_folder(
            self.settings(), self.codec.to_json(), Path(folder), resume=False, overwrite=overwrite
        )
        try:
            self.finish(place.folder)
            place.settle()
        except BaseException:
            place.abandon()
            raise
        finally:
            place.lock.release()
        return Path(folder)

    def finish(self, folder: Path) -> None:
        """Weights, metrics, the card, and last of all the manifest; then the checkpoints have served, unless
        the fit was interrupted and may be gone on with."""
        arrays = self.model.arrays()
        try:
            check_finite(arrays)
        except ValueError as error:
            raise TrainingError(
                "what was learned cannot be kept", got=error, do="Look at the data, or lower --rate"
            ) from None
        weights = write_arrays(folder / "weights.safetensors", arrays)
        write_json(folder / "metrics.json", self.metrics)
        known = self.remembered()
        if known is not None:
            seen = {name: torch.from_numpy(each) for name, each in known.arrays().items()}
            write_arrays(folder / SEEN, seen)
        write_bytes(folder / CARD, card_of(self, folder).encode())
        seal(folder, {"weights.safetensors": weights}, bool(self.metrics.get("interrupted")))


def with_known_options(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, which refuses options that it does not have as verbs do."""
    several = signature(method).parameters.values()
    options = [each.name for each in several if each.kind == each.KEYWORD_ONLY]
    if not options or any(each.kind == each.VAR_KEYWORD for each in several):
        return method  # without options, or they are checked against a record
    known = {each.name for each in several}

    @wraps(method)
    def checked(self: Predictor, *given: Any, **asked: Any) -> Any:
        """Ask it what it can be asked."""
        for name in asked:
            if name not in known:
                raise ConfigError(
                    f"{method.__name__} of models of {self.task.name} has no option {name!r}",
                    do=nearest(name, options),
                )
        return method(self, *given, **asked)

    return checked


def told_of(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, whose record, where a door gave it a face, knows the data it is about."""
    if list(signature(method).parameters)[1:2] != ["data"]:
        return method

    @wraps(method)
    def telling(self: Predictor, *given: Any, **asked: Any) -> Any:
        """Ask it, and say of what."""
        found = method(self, *given, **asked)
        data = given[0] if given else asked.get("data")
        apart = isinstance(data, (str, Path, Sequences))
        return (
            found if self.face is None or apart or not is_record(found) else self.face(found, data)
        )

    return telling


def is_record(found: Any) -> bool:
    """Whether a method gave a record."""
    return isinstance(found, dict) and "kind" in found


def one_text(given: Any, what: str) -> str:
    """What a verb reads that is asked of a single text."""
    if isinstance(given, str):
        return given
    several = isinstance(given, (list, tuple))
    do = "Call it for each of them" if several else "Give a text: 'so much depends'"
    raise ConfigError(f"{what} is one text", got=repr(given), do=do)


def shortened(value: Any) -> str:
    """What was given or said, as words that fit into a table."""
    several = isinstance(value, (list, tuple)) or hasattr(value, "tolist")
    rows = value.tolist() if hasattr(value, "tolist") else value
    words = " ".join(map(str, rows)) if several and isinstance(rows, (list, tuple)) else str(rows)
    words = " ".join(words.split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
