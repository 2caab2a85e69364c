"""Who hears of events: bars where they are seen, functions of the user's, TensorBoard, a logger."""

from __future__ import annotations

import logging
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import pytest

import seriatim as st
from seriatim import tracking
from seriatim.errors import ConfigError
from seriatim.show import progress as display
from seriatim.show.progress import Notebook, Watcher, in_notebook, watcher_of

TINY = {"updates": 3, "width": 8, "rows": 2, "context": 8, "compile": "no"}
TEXT = "markov:length=2000"


# -- bars
@pytest.fixture
def shown(monkeypatch) -> list[dict[str, str]]:
    """A kernel of Jupyter, and what it was given to show."""
    pages: list[dict[str, str]] = []

    class ZMQInteractiveShell:
        pass

    def display_it(page, raw, display_id):
        pages.append(page)
        return SimpleNamespace(update=lambda page, raw: pages.append(page))

    shell, drawing = ModuleType("IPython"), ModuleType("IPython.display")
    shell.get_ipython, drawing.display = ZMQInteractiveShell, display_it
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", drawing)
    monkeypatch.setattr(display, "REDRAWN_SECONDS", -1.0)
    return pages


def test_progress_is_shown_where_it_can_be_seen(monkeypatch, capsys):
    assert not in_notebook() and watcher_of(None) is None and watcher_of(False) is None
    st.fit("language", "markov", TEXT)
    assert capsys.readouterr().err == ""
    with watcher_of(True) as watcher:
        assert type(watcher) is Watcher
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with watcher_of(None) as watcher:
        assert type(watcher) is Watcher
    assert watcher_of(False) is None


@pytest.mark.parametrize("wrong", [print, 1, "yes", 0])
def test_progress_is_yes_or_no(wrong):
    with pytest.raises(ConfigError, match=r"progress is shown or not.*on_event"):
        st.fit("language", "markov", TEXT, progress=wrong)


def test_a_notebook_has_one_output_that_is_drawn_anew(shown, capsys):
    assert isinstance(watcher_of(None), Notebook) and watcher_of(False) is None
    st.compare("language", TEXT, "unigram,markov")
    assert len(shown) > 2 and capsys.readouterr().err == ""
    last = shown[-1]
    assert last["text/html"].count("<progress") == 2 and "script" not in last["text/html"]
    assert "bits per character" in last["text/plain"]


def test_names_in_a_notebook_are_escaped(shown):
    with Notebook() as watcher:
        watcher.bar("<b>", 0.5, "<i>")
        watcher.say("<u>")
    assert not {"<b>", "<i>", "<u>"} & {shown[-1]["text/html"][i : i + 3] for i in range(999)}


# -- functions of the user's
def test_every_event_is_told():
    heard: list[dict] = []
    st.fit("language", "rnn", TEXT, on_event=heard.append, **TINY)
    kinds = [event["event"] for event in heard]
    assert kinds[0] == "data" and kinds[-1] == "done" and "validation" in kinds
    heard.clear()
    st.compare("language", TEXT, "unigram,markov", on_event=heard.append)
    assert [e["model"] for e in heard if e["event"] == "rung"] == ["unigram", "markov"]


def test_who_fails_is_warned_about_once_and_stops_nothing(caplog):
    asked: list[str] = []

    def failing(event: dict) -> None:
        asked.append(event["event"])
        raise OSError("the server is away")

    with pytest.warns(RuntimeWarning, match="on_event failed.*the server is away") as said:
        model = st.fit("language", "unigram", TEXT, on_event=failing)
    assert len(said) == len(asked) == 1 and model.spec == "unigram"
    assert [each.levelname for each in caplog.records if each.name == "seriatim"] == ["WARNING"]


def test_a_fit_goes_on_where_warnings_are_errors(recwarn):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert st.fit("language", "unigram", TEXT, on_event=lambda event: 1 / 0)


def test_events_are_copies():
    st.fit("language", "unigram", TEXT, on_event=lambda event: event.clear())


def test_only_functions_hear():
    with pytest.raises(ConfigError, match="on_event is a function"):
        st.fit("language", "unigram", TEXT, on_event="wandb")


# -- the logger
def test_notes_and_warnings_reach_the_logger(tmp_path, caplog):
    assert any(isinstance(each, logging.NullHandler) for each in tracking.LOGGER.handlers)
    file = tmp_path / "train.tsv"
    rows = [f"{'win' if i % 2 else 'tea'} {i}\t{i % 2}\n" for i in range(30)]
    file.write_text("text\tlabel\n" + "".join(rows) + rows[0] * 3)
    with caplog.at_level(logging.INFO, "seriatim"):
        st.fit("classify", "naive-bayes", file)
    assert any(each.name == "seriatim" for each in caplog.records)


# -- TensorBoard
@pytest.fixture
def written(monkeypatch) -> dict[str, list[tuple]]:
    """What a writer of TensorBoard would have been given, by its folder."""
    kept: dict[str, list[tuple]] = {}

    class SummaryWriter:
        def __init__(self, folder: str):
            self.rows = kept.setdefault(folder, [])

        def add_scalar(self, *values):
            self.rows.append(values)

        def close(self):
            self.rows.append(("closed",))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr("seriatim.errors.find_spec", lambda name: name)
    return kept


def test_curves_of_a_fit_are_written_beside_it(written, tmp_path):
    st.fit("language", "rnn", TEXT, out=tmp_path / "run", track="tensorboard", **TINY)
    ((folder, rows),) = written.items()
    assert folder.endswith("run/tensorboard") and rows[-1] == ("closed",)
    assert ("validation/valid", 3) in {(row[0], row[-1]) for row in rows}


def test_curves_of_a_comparison_are_a_folder_for_each_network(written, tmp_path, monkeypatch):
    def run(comparison, *data):
        for model in ("rnn", "bigram"):
            yield {"event": "validation", "model": model, "step": 1, "valid": 0.5}
        return {"kind": "comparison"}

    monkeypatch.setattr("seriatim.comparison.running.Comparison.run", run)
    st.compare("language", TEXT, "rnn,bigram", out=tmp_path / "all", track="tensorboard")
    assert [name.rsplit("/", 2)[1:] for name in written] == [
        ["tensorboard", "rnn"],
        ["tensorboard", "bigram"],
    ]


def test_a_writer_that_fails_stops_nothing(written, tmp_path, monkeypatch):
    writer = sys.modules["torch.utils.tensorboard"].SummaryWriter
    monkeypatch.setattr(writer, "add_scalar", lambda *values: 1 / 0)
    with pytest.warns(RuntimeWarning, match="tensorboard failed"):
        st.fit("language", "rnn", TEXT, out=tmp_path / "run", track="tensorboard", **TINY)
    assert st.load(tmp_path / "run").spec == "rnn"


def test_what_tracking_needs_is_said(monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match=r"the folder that is kept.*out="):
        st.fit("language", "unigram", TEXT, track="tensorboard")
    with pytest.raises(ConfigError, match="tensorboard"):
        st.fit("language", "unigram", TEXT, track="tensorbord", out=tmp_path / "a")
    monkeypatch.setattr("seriatim.errors.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'seriatim\[tracking\]'"):
        st.fit("language", "unigram", TEXT, track="tensorboard", out=tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.skipif(not find_spec("tensorboard"), reason="tensorboard is not installed")
def test_tensorboard_itself_reads_the_curves(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = tmp_path / "run"
    for _ in range(2):
        st.fit("language", "rnn", TEXT, out=run, track="tensorboard", overwrite=True, **TINY)
    found = EventAccumulator(str(run / "tensorboard")).Reload()
    assert "validation/valid" in found.Tags()["scalars"]
    assert len(list((run / "tensorboard").iterdir())) == 1
