"""The command line: every verb, results on stdout and all else on stderr, the same figures as in Python."""

import contextlib
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import seriatim
from seriatim.cli.commands import STARTS, all_verbs, of_run, parse
from seriatim.cli.flags import plain
from seriatim.cli.main import main
from seriatim.errors import ConfigError
from seriatim.fitting_options import FitOptions
from seriatim.models.options import NetworkOptions
from seriatim.models.recipe import TrainingOptions
from seriatim.tasks import TASKS, tasks
from seriatim.tasks.language.options import LanguageOptions
from tests.ladder import MODELS
from tests.terminal import SMALL, furnish, good

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return furnish(tmp_path_factory.mktemp("home"))


RUNS = pytest.mark.parametrize("run", ["markov", "lstm", "lines"])


# fit, evaluate, score


@pytest.mark.parametrize(
    "model, settings",
    [
        ("markov", ()),
        ("uniform", ()),
        ("lstm", SMALL),
        ("transformer", SMALL),
        ("markov+lstm", (*SMALL, "--order", "2")),
    ],
)
def test_fit_keeps_a_run_and_tells_its_figures(home, here, model, settings):
    record = good("fit", "language", model, home / "book.txt", *settings, "--format", "json").json()
    assert (
        record["out"] == f"runs/{model}" and record["model"] == model and record["parameters"] >= 0
    )
    assert {path.name for path in (here / "runs" / model).iterdir()} == {
        "card.md",
        ".seriatim",
        "config.toml",
        "codec.json",
        "weights.safetensors",
        "events.jsonl",
        "metrics.json",
        "seen.safetensors",
        "manifest.json",
    }
    assert (
        good("fit", "language", model, home / "book.txt", *settings, "--format", "json").json()[
            "out"
        ]
        == f"runs/{model}-2"
    )


def test_fit_by_steps_is_repeatable_to_the_bit(home, here):
    for name in ("one", "two"):
        good("fit", "language", "lstm", home / "book.txt", *SMALL, "--seed", 3, "--out", name)
    assert (here / "one/weights.safetensors").read_bytes() == (
        here / "two/weights.safetensors"
    ).read_bytes()
    assert (here / "one/weights.safetensors").read_bytes() != (
        home / "lstm/weights.safetensors"
    ).read_bytes()


def test_fit_takes_validation_data_of_its_own(home):
    record = good(
        "fit",
        "language",
        "lstm",
        home / "book.txt",
        "--valid",
        home / "other.txt",
        *SMALL,
        "--format",
        "json",
    ).json()
    assert record["valid"] > 0


@RUNS
def test_evaluate_gives_the_figures_of_python(home, run):
    record = good("evaluate", home / run, home / "other.txt", "--format", "json").json()
    assert {
        "nats_per_token",
        "bits_per_character",
        "perplexity",
        "tokens",
        "protocol",
    } <= record.keys()
    expected = seriatim.evaluate(home / run, str(home / "other.txt"))
    times = {"seconds", "symbols_per_second"}
    assert times <= record.keys() and record["kind"] == "evaluation"
    assert {key: value for key, value in record.items() if key not in times} == json.loads(
        json.dumps({k: v for k, v in expected.items() if k not in times})
    )
    assert (
        record["perplexity"] == pytest.approx(math.exp(record["nats_per_token"]))
        and record["unknown"] > 0
    )
    low, high = record["interval"]["nats_per_token"]
    assert low <= record["nats_per_token"] <= high


@RUNS
def test_evaluate_as_a_table_shows_the_same_figures(home, run):
    record, table = (
        good("evaluate", home / run, home / "other.txt", "--format", "json").json(),
        good("evaluate", home / run, home / "other.txt").out,
    )
    assert all(
        f"{record[name]:.4f}" in table
        for name in ("bits_per_character", "nats_per_token", "perplexity")
    )


@RUNS
def test_score_prints_a_line_a_sequence_that_sums_to_the_evaluation(home, run):
    evaluated = good("evaluate", home / run, home / "other.txt", "--format", "json").json()
    rows = [
        line.split("\t") for line in good("score", home / run, home / "other.txt").out.splitlines()
    ]
    assert len(rows) == (21 if run == "lines" else 1) == evaluated["sequences"] and all(
        len(row) == 3 for row in rows
    )
    assert sum(float(row[0]) for row in rows) == pytest.approx(
        -evaluated["nats_per_token"] * evaluated["tokens"], abs=1e-6 * (len(rows) + 1), rel=1e-9
    )
    assert (
        sum(int(row[1]) for row in rows) == evaluated["tokens"]
        and sum(int(row[2]) for row in rows) == evaluated["unknown"]
    )
    records = good("score", home / run, home / "other.txt", "--format", "json").json()["items"]
    assert [
        [f"{row['log_prob']:.6f}", str(row["tokens"]), str(row["unknown"])] for row in records
    ] == rows


def test_an_impossible_text_is_told_as_such(home):
    good("fit", "language", "markov", home / "book.txt", "--add", 0, "--order", 3, "--out", "exact")
    record = good("evaluate", "exact", home / "other.txt", "--format", "json").json()
    assert (
        record["impossible"] > 0
        and record["nats_per_token"] is None
        and record["perplexity"] is None
    )
    assert "infinite" in good("evaluate", "exact", home / "other.txt").out
    assert good("score", "exact", home / "other.txt").out.startswith("-inf\t")
    assert (
        good("score", "exact", home / "other.txt", "--format", "json").json()["items"][0][
            "log_prob"
        ]
        is None
    )


# generate, predict


@RUNS
def test_the_same_seed_writes_the_same_text_and_another_one_another(home, run):
    words = {
        seed: [
            good("generate", home / run, "--prompt", "The cat", "--length", 30, "--seed", seed).out
            for _ in range(2)
        ]
        for seed in (1, 2)
    }
    assert words[1][0] == words[1][1] != words[2][0] and words[1][0].startswith("The cat")


@RUNS
def test_count_writes_that_many_each_with_the_next_seed(home, run):
    several = good(
        "generate", home / run, "--length", 12, "--seed", 5, "--count", 3, "--format", "json"
    ).json()["items"]
    single = [
        good("generate", home / run, "--length", 12, "--seed", 5 + i, "--format", "json").json()[
            "items"
        ][0]
        for i in range(3)
    ]
    assert [each["text"] for each in several] == [each["text"] for each in single] and [
        each["seed"] for each in several
    ] == [5, 6, 7]
    assert [each["log_prob"] for each in several] == pytest.approx(
        [each["log_prob"] for each in single]
    )
    printed = good("generate", home / run, "--length", 12, "--seed", 5, "--count", 3).out
    assert printed.count("--- ") == 3 and all(each["text"] in printed for each in several)


def test_beam_search_gives_the_likeliest_first_and_beats_the_greedy_one(home):
    best = good(
        "generate",
        home / "markov",
        "--prompt",
        "The",
        "--length",
        12,
        "--beam",
        8,
        "--count",
        4,
        "--format",
        "json",
    ).json()["items"]
    greedy = good(
        "generate",
        home / "markov",
        "--prompt",
        "The",
        "--length",
        12,
        "--temperature",
        0,
        "--format",
        "json",
    ).json()["items"][0]
    scores = [each["log_prob"] for each in best]
    assert (
        len(best) == 4
        and scores == sorted(scores, reverse=True)
        and len({each["text"] for each in best}) == 4
        and scores[0] >= greedy["log_prob"]
    )
    assert (
        good("generate", home / "markov", "--prompt", "The", "--length", 12, "--beam", 8).out
        == best[0]["text"] + "\n"
    )


@RUNS
@pytest.mark.parametrize(
    "choice", [("--top-k", 1), ("--temperature", 0), ("--beam", 3)], ids=lambda choice: choice[0]
)
def test_without_a_choice_the_seed_does_not_matter(home, run, choice):
    assert (
        len(
            {
                good(
                    "generate",
                    home / run,
                    "--prompt",
                    "The",
                    "--length",
                    15,
                    *choice,
                    "--seed",
                    seed,
                ).out
                for seed in range(3)
            }
        )
        == 1
    )


def test_generation_ends_at_the_stop_symbol_and_at_the_length(home):
    [result] = good(
        "generate", home / "markov", "--length", 500, "--stop", ".", "--format", "json"
    ).json()["items"]
    assert result["ended"] and "." not in result["text"]
    assert len(good("generate", home / "markov", "--length", 7).out) == 8
    assert good("generate", home / "markov", "--length", 0, "--prompt", "The").out == "The\n"


def test_a_prompt_with_unknown_symbols_is_noted_beside_the_result(home):
    answer = good("generate", home / "markov", "--prompt", "Ünd", "--length", 3)
    assert "'Ü'" in answer.err and answer.out.startswith("Ünd")


def test_beam_search_with_nowhere_to_go_still_gives_a_result(here):
    (here / "a.txt").write_text("".join(f"ab{i}" for i in "0123456789"))
    good(
        "fit",
        "language",
        "markov",
        "a.txt",
        "--order",
        1,
        "--add",
        0,
        "--minimum-count",
        2,
        "--out",
        "run",
    )
    assert good("generate", "run", "--prompt", "a", "--length", 5).out == "ab\n"
    assert good("generate", "run", "--prompt", "a", "--length", 5, "--beam", 2).out == "ab\n"


def test_predict_prints_the_likeliest_next_symbols_for_each_sequence(home, here):
    (here / "beginnings.txt").write_text("The\nA cat\n\nIt ran\n")
    records = good(
        "predict", home / "lines", "beginnings.txt", "--top", 4, "--format", "json"
    ).json()["items"]
    assert len(records) == 4  # a blank line is a beginning, too
    for record in records:
        chances = [each["probability"] for each in record["next"]]
        assert (
            len(chances) == 4
            and chances == sorted(chances, reverse=True)
            and 0 < sum(chances) <= 1 + 1e-6
        )
    lines = good("predict", home / "lines", "beginnings.txt", "--top", 4).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        f"{record['next'][0]['symbol']!r} {record['next'][0]['probability']:.3f}"
        for record in records
    ]


@RUNS
def test_predict_and_score_agree(home, here, run):
    (here / "a.txt").write_text("The cat")
    best = good("predict", home / run, "a.txt", "--top", 1000, "--format", "json").json()["items"][
        0
    ]["next"]
    assert sum(each["probability"] for each in best) == pytest.approx(1, abs=1e-5)
    (here / "b.txt").write_text("The cat" + (" home" if run == "lines" else "s"))
    before, after = (
        good("score", home / run, name, "--format", "json").json()["items"][0]["log_prob"]
        for name in ("a.txt", "b.txt")
    )
    if run != "lines":  # lines: their end is scored too
        assert after - before == pytest.approx(
            math.log(next(each["probability"] for each in best if each["symbol"] == "s")), abs=1e-4
        )
    assert after < 0 and before < 0


# plot, models, help


@pytest.mark.parametrize(
    "ending, begins", [("png", PNG), ("svg", b"<svg"), ("pdf", b"%PDF"), ("html", b"<!doctype")]
)
def test_plot_draws_a_learning_curve_in_the_format_of_its_ending(home, here, ending, begins):
    answer = good("plot", home / "lstm", "--out", f"curve.{ending}")
    assert (here / f"curve.{ending}").read_bytes().startswith(
        begins
    ) and answer.out.strip() == f"curve.{ending}"


def test_plot_prints_the_path_it_wrote_even_with_brackets(home, here):
    assert (
        good("plot", home / "lstm", "--out", "curve[b].png").out.strip() == "curve[b].png"
        and (here / "curve[b].png").exists()
    )


def test_plot_prints_a_long_path_on_one_line(home, here):
    path = here / "a folder with a long name" / ("x" * 120) / "curve.png"
    path.parent.mkdir(parents=True)
    assert good("plot", home / "lstm", "--out", path).out == f"{path}\n"


def test_models_lists_every_rung_and_every_setting_of_one(home):
    assert {
        task: list(rungs)
        for task, rungs in good("models", "--format", "json").json()["tasks"].items()
    } == {task: list(rungs) for task, rungs in MODELS.items()}
    shown = good("models").out
    assert all(
        name in shown and each.summary in shown
        for rungs in MODELS.values()
        for name, each in rungs.items()
    )
    table = good("models", "lstm").out
    record = good("models", "lstm", "--format", "json").json()["models"]
    for each in (*fields(LanguageOptions), *fields(TrainingOptions)):
        assert (
            f"--{each.name.replace('_', '-')} " in table
            and each.metadata["help"] in " ".join(table.split())
            and each.name in record["lstm"]
        )
    assert record["lstm"]["width"]["default"] == MODELS["language"]["lstm"].settings.get(
        "width", NetworkOptions().width
    )
    assert "--order" not in table and "--updates" not in good("models", "markov").out


@pytest.mark.parametrize(
    "verb", ["check", "compare", "fit", "leaderboard", "plot", "models", *all_verbs()]
)
def test_every_verb_has_help_with_an_example_that_parses(verb):
    words = good(verb, "--help").out
    assert "example:" in words and f"seriatim {verb}" in words
    assert verb in good("--help").out == good().out
    for line in words.split("example:")[1].splitlines():
        if line.strip():
            parsed(shlex.split(line)[1:])


def parsed(arguments: list[str]) -> None:
    """Parse an example, in which the run need not be there: of some room, every flag is known."""
    verb, *rest = arguments
    if verb in STARTS:
        assert parse(arguments).verb == verb
        return
    problems = []
    for room in all_verbs()[verb]:
        command = of_room(verb, room, rest)
        problems += [command] if isinstance(command, ConfigError) else []
    assert len(problems) < len(all_verbs()[verb]), problems


def of_room(verb, room, rest):
    """The command, read as one to a run of some room; or what is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seriatim.runs.task.task_of", lambda folder: room.name)
        try:
            return of_run(verb, all_verbs()[verb], rest, wants_help=False)
        except ConfigError as error:
            return error


def test_the_version_is_told():
    assert good("--version").out == f"seriatim {seriatim.__version__}\n"


# stdout and stderr


def test_results_go_to_stdout_and_all_else_to_stderr(home, here):
    fit = good("fit", "language", "lstm", home / "book.txt", *SMALL, "--out", "run")
    assert (
        "book.txt" in fit.err
        and "book.txt" not in fit.out
        and fit.out.startswith("run: lstm")
        and fit.out.count("\n") == 1
    )
    comparison = good(
        "compare", "language", home / "book.txt", "--models", "unigram,markov", "--out", "out"
    )
    assert (
        "Written: out/report.html" in comparison.err
        and "Written" not in comparison.out
        and "book.txt" in comparison.out
        and "1  markov" in comparison.out
    )
    for arguments in (
        ("evaluate", home / "markov", home / "other.txt"),
        ("score", home / "markov", home / "other.txt"),
        ("models",),
        ("predict", home / "markov", home / "other.txt"),
        ("generate", home / "markov", "--length", "5"),
        ("plot", "run"),
    ):
        assert all(line.startswith("note: ") for line in good(*arguments).err.splitlines())
        assert (
            isinstance(good(*arguments, "--format=json").json(), (dict, list))
            and good(*arguments, "--format=json").err == ""
        )


def test_a_terminal_that_cannot_show_a_letter_is_no_reason_to_stop(home, here):
    (here / "a.txt").write_text("Müßig 猫 älter übt. " * 12)
    good("fit", "language", "markov", "a.txt", "--out", "run")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with contextlib.redirect_stdout(out):
        assert main(["generate", "run", "--length", "200"]) == 0
    assert len(out.buffer.getvalue()) > 200


# What is imported


def in_a_new_process(code: str) -> subprocess.CompletedProcess:
    where = {"PYTHONPATH": str(Path(seriatim.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | where,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["fit", "--help"],
        ["models"],
        ["fit", "language", "lsmt", "x.txt"],
        ["--version"],
    ],
)
def test_help_and_wrong_commands_do_not_import_torch(arguments):
    done = in_a_new_process(f"""
import sys
from seriatim.cli.main import main
try:
    main({arguments!r})
except SystemExit:
    pass
heavy = {{"torch", "altair", "polars", "tokenizers", "safetensors"}} & set(sys.modules)
assert not heavy, heavy
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout or "lstm" in done.stderr


def test_importing_the_package_is_silent_and_light():
    done = in_a_new_process(
        "import seriatim, sys; assert not {'torch', 'numpy', 'altair', 'rich'} & set(sys.modules)"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


HELP = """
import contextlib, io, sys
from seriatim.cli.main import main
from seriatim.cli.commands import STARTS, all_verbs
from seriatim.tasks import tasks

wanted = [["--help"], *([verb, "--help"] for verb in (*STARTS, *all_verbs()))]
for room in tasks():
    wanted += [["fit", room.name, "--help"], ["compare", room.name, "--help"]]
    wanted += [["fit", room.name, model, "--help"] for model in room.rungs]
    wanted += [[verb, RUN[room.name], "--help"] for verb in room.verbs]
    wanted += [["plot", RUN[room.name], "--help"]]
for arguments in wanted:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(arguments) == 0, arguments
    assert len(out.getvalue()) > 200 and "--format" in out.getvalue() or arguments == ["--help"]
    heavy = {"torch", "numpy", "altair", "polars"} & set(sys.modules)
    assert not heavy, (arguments, heavy)
print(len(wanted))
"""


def test_help_of_every_verb_task_model_and_run_is_light(here):
    folders = {}
    for name in TASKS:
        folder = here / name
        folder.mkdir()
        (folder / "config.toml").write_text(f'[run]\ntask = "{name}"\n')
        folders[name] = str(folder)
    done = in_a_new_process(f"RUN = {folders!r}\n{HELP}")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_every_setting_of_every_model_is_a_flag():
    for room in tasks():
        shared = (room.reading, room.coding, room.fitting, FitOptions)
        for name, rung in room.rungs.items():
            shown = flags_of(good("fit", room.name, name, "--help").out)
            own = (rung.options, *shared, *(() if rung.counts else (TrainingOptions,)))
            wanted = {f"--{f.name.replace('_', '-')}" for cls in own for f in fields(cls)}
            assert wanted <= shown, (room.name, name, wanted - shown)


def test_every_option_of_every_verb_is_a_flag(here):
    for room in tasks():
        (here / "config.toml").write_text(f'[run]\ntask = "{room.name}"\n')
        for verb, card in room.verbs.items():
            shown = flags_of(good(verb, here, "--help").out)
            own = (card.options, *((room.reading,) if card.reads == "data" else ()))
            wanted = {f"--{f.name.replace('_', '-')}" for cls in own for f in fields(cls)}
            wanted |= {"--with", "--int8"} if card.runs else set()
            assert wanted <= shown, (room.name, verb, wanted - shown)


def flags_of(words: str) -> set[str]:
    """The flags that a help shows."""
    return set(re.findall(r"^  (--[a-z0-9-]+)", words, re.MULTILINE))


def test_help_shows_the_defaults_that_the_model_really_has():
    for room in tasks():
        for name, rung in room.rungs.items():
            words = good("fit", room.name, name, "--help").out
            found = re.split(r"^  (--[a-z0-9-]+)", words, flags=re.MULTILINE)[1:]
            about = dict(zip(found[::2], found[1::2], strict=True))
            [part] = room.parts(name, {})
            for record in [part.options] if rung.counts else [part.options, part.training]:
                for each in fields(record):
                    value = getattr(record, each.name)
                    shown = " ".join(about[f"--{each.name.replace('_', '-')}"].split())
                    if value not in (None, "", (), False):
                        assert f"(default {plain(value)})" in shown, (room.name, name, each.name)
