"""The door of Python: the verbs as functions. Each is a line over `seriatim.verbs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seriatim.tracking import Hear, guarded
from seriatim.verbs import call, with_face

if TYPE_CHECKING:
    from seriatim.data.sequences import Sequences
    from seriatim.faces import Result
    from seriatim.models.base import Model
    from seriatim.models.ladder import Rung
    from seriatim.runs.predictor import Predictor, Source
    from seriatim.show.charts import Chart

Run = Any  # a run folder, an opened Predictor, or a list of them that answer together


def fit(
    task: str,
    model: str | type[Model] | Rung,
    train: Source,
    valid: Source | None = None,
    *,
    out: str | Path | None = None,
    progress: bool | None = None,
    on_event: Hear | None = None,
    **settings: Any,
) -> Predictor:
    """Fit a model by name, or a class of your own (see docs/extending.md), and give back a Predictor.

    `train` and `valid` are files, or what is in memory: texts, pairs, `(X, y)`, columns, arrays,
    frames (see docs/data.md); so are the data of every verb.

    `settings` are those of reading (`columns`, `by`, ...), of the codec (`unit`, ...), the model
    (`order`, `width`, ...), training (`minutes`, `seed`, ...) and of this task's fits (`calibrate`,
    ...): `seriatim fit TASK MODEL --help` shows them. With `out`, a run folder is kept and a killed
    fit can be resumed. `progress` is shown where it can be seen live, in terminals and notebooks;
    True and False decide otherwise. `on_event` is given every event, a dict: see docs/tracking.md.

    >>> model = fit("language", "markov", "markov:length=5000", order=2)
    >>> model
    Predictor(language, markov, 29 characters, 3,209 parameters)
    """
    kept = {} if out is None else {"out": str(out)}
    asked = kept | settings
    return shown("fit", task, train, progress, on_event, model=model, valid=valid, **asked)


def compare(
    task: str,
    data: Source,
    models: str | Sequence[str | type[Model] | Rung] | None = None,
    *,
    out: str | Path | None = None,
    progress: bool | None = None,
    on_event: Hear | None = None,
    **settings: Any,
) -> Result:
    """The leaderboard as a record; with `out`, also a folder with table, picture, report and every
    run. Among the names of models may be classes of your own. `progress` and `on_event` are those of
    `fit`.

    >>> record = compare("language", "markov:length=5000", "uniform,unigram,markov", order=2)
    >>> [row["model"] for row in record["rows"]]
    ['markov', 'unigram', 'uniform']
    """
    kept = {} if out is None else {"out": str(out)}
    return shown("compare", task, data, progress, on_event, models=models, **kept, **settings)


def split(
    task: str, data: Source, **settings: Any
) -> tuple[Sequences, Sequences | None, Sequences]:
    """Training, validation and test: the parts that `compare` makes of this data, so that figures
    agree. `settings` are those of reading (`columns`, `by`, ...) and `unit`. Where each model sets
    its own validation data aside (forecasts), that part is None.

    >>> train, valid, test = split("language", "markov:length=5000")
    >>> [len(part.main.flat) for part in (train, valid, test)]
    [4250, 250, 500]
    """
    from seriatim.settings import build
    from seriatim.tasks import task as card

    room, unit = card(task), settings.pop("unit", None)
    reading: Any = build(room.reading, settings, "reading")
    given = room.cut.sequences(data, reading, unit=unit)
    coding = {} if unit is None else {"unit": unit}
    valid, train, test = room.cut.divide(room.cut.prepare(given, coding))
    return train, valid, test


def evaluate(run: Run, data: Source, **options: Any) -> Result:
    """How well a run does on some data: figures, intervals and protocol."""
    return call("evaluate", run, data, **options)


def score(run: Run, data: Source, **options: Any) -> Result:
    """The natural-log probability of each sequence."""
    return call("score", run, data, **options)


def generate(run: Run, prompt: str | Mapping[str, Any] | None = None, **options: Any) -> Result:
    """What a run writes after a prompt; of several sources a dict of them."""
    return call("generate", run, prompt, **options)


def predict(run: Run, data: Source, **options: Any) -> Result:
    """What a run says about each sequence: what comes next, its label, its tags, its target."""
    return call("predict", run, data, **options)


def check(*data: Source, **options: Any) -> Result:
    """What is wrong with data, before a model is fitted to it: of one thing, or of several that are
    the parts of one data set."""
    return call("check", list(data), **options)


def conform(model: Any, data: Source | None = None) -> Result:
    """Whether a model of what comes next keeps to what all others rely on: a class of your own, an
    object of it, or what `fit` gave. Each check that fails says where, in a sentence."""
    from seriatim.conforming import conform as look

    return cast("Result", with_face(look(model, data)))


def plot(
    run: Run,
    data: Source | None = None,
    *,
    what: str = "",
    out: str | Path | None = None,
    **options: Any,
) -> Chart:
    """A picture of a run or of a comparison: a Chart, which a notebook shows and `save` writes; with
    `out` it is written at once. Records that verbs give have `plot()` themselves."""
    asked: dict[str, Any] = {} if out is None else {"out": str(out)}
    return call("plot", run, data, what=what, **asked, **options)


def load(
    folder: str | Path,
    verify: bool = True,
    int8: bool = False,
    device: str = "auto",
    mute: str = "",
) -> Predictor:
    """Open a finished run folder, or a file of others: n-grams as ARPA, the folder of a GPT-2, word
    vectors. See `seriatim.tasks.opening`."""
    from seriatim.tasks.opening import load as opened

    return with_face(opened(folder, verify, int8, device, mute))


def shown(
    verb: str, subject: Any, data: Any, progress: bool | None, on_event: Hear | None, **asked: Any
) -> Any:
    """A long verb, with bars where they can be seen, and whoever wants to hear of its events."""
    from seriatim.show.progress import watcher_of

    hearing = [] if on_event is None else [guarded(on_event, "on_event")]
    watcher = watcher_of(progress)

    def listen(event: dict[str, Any]) -> None:
        """Tell everybody."""
        for hear in hearing:
            hear(event)

    if watcher is None:
        return call(verb, subject, data, listen=listen, **asked)
    with watcher:
        hearing.append(watcher.see)
        return call(verb, subject, data, listen=listen, **asked)
