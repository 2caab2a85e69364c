"""The command line refuses: whatever is wrong is one line and a code, without a traceback and with nothing half-written."""

import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest

from tests.terminal import call, furnish, good, refused


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = furnish(tmp_path_factory.mktemp("home"))
    good(
        "compare",
        "language",
        folder / "book.txt",
        "--models",
        "unigram,markov",
        "--out",
        folder / "compared",
    )
    return folder


# What is wrong with the command


WRONG = [
    ("fit langauge markov book.txt", "'language'"),
    ("fit language markvo book.txt", "'markov'"),
    ("fit language markov+lsmt book.txt", "'lstm'"),
    ("fit language markov book.txt --ordr 2", "--order"),
    ("fit language markov book.txt --unit wrod", "'word'"),
    ("fit language markov book.txt --by page", "page"),
    ("fit language lstm book.txt --rate nan", "rate"),
    ("fit language lstm book.txt --minutes nan", "minutes"),
    ("fit language lstm book.txt --width nan", "width"),
    ("fit language lstm book.txt --width -1", "width"),
    ("fit language lstm book.txt --dropout inf", "dropout"),
    ("fit language lstm book.txt --minutes -3", "minutes"),
    ("fit language lstm book.txt --stateful maybe", "stateful"),
    ("fit language markov book.txt --width 8", "width"),
    ("fit language lstm book.txt --resume", "--out"),
    ("fit language lstm book.txt --minimum-count 0", "minimum_count"),
    ("fit language transformer book.txt --width 7", "width 7"),
    ("fit language markov book.txt --input-format jsnol", "jsonl"),
    ("fit language markov book.txt --columns a,b", "columns"),
    ("fit language markov markov:lenght=3", "length"),
    ("fit language markov", "FILE"),
    ("fit", "--help"),
    ("compare language book.txt --models markov,lsmt", "'lstm'"),
    ("compare language book.txt --models ,", "no model was named"),
    ("compare language book.txt --minutes nan", "minutes"),
    ("compare language book.txt --rate nan", "rate"),
    ("compare language book.txt --models uniform --width 8", "width"),
    ("models lsmt", "'lstm'"),
    ("fti", "fit"),
    ("--vresion", "--version"),
    ("generate markov --temperature nan", "temperature"),
    ("generate markov --top-p 0", "top_p"),
    ("generate markov --lenght 3", "--length"),
    ("generate markov --count x", "count"),
    ("predict markov book.txt --top x", "top"),
    ("predict markov book.txt --top nan", "top"),
]


@pytest.fixture
def local(home, here) -> Path:
    """A text and a run in the folder where the command is given."""
    shutil.copy(home / "book.txt", here)
    shutil.copytree(home / "markov", here / "markov")
    return here


@pytest.mark.parametrize("command, words", WRONG, ids=[command for command, _ in WRONG])
def test_a_wrong_command_is_told_in_one_line_with_code_2(local, command, words):
    refused(*command.split(), code=2, words=words, json_too=command[0] != "-")


def test_a_wrong_verb_is_told_as_such():
    assert "argument :" not in refused("fti", code=2)


def test_an_unknown_stop_symbol_is_told_in_one_line(local):
    words = refused("generate", "markov", "--stop", "Ω", code=2, words="'Ω'")
    assert "</s>" not in words


@pytest.mark.parametrize(
    "command, words",
    [
        ("langauge book.txt", "'language'"),
        ("language book.txt --unit wrod", "'word'"),
        ("language book.txt --minimum-count 0", "minimum_count"),
    ],
)
def test_compare_refuses_what_is_wrong_for_every_rung(local, command, words):
    refused(
        "compare",
        *command.split(),
        "--models",
        "unigram,markov",
        "--out",
        "out",
        code=2,
        words=words,
    )


@pytest.mark.parametrize(
    "command",
    [
        "predict markov book.txt --top -1",
        "predict markov book.txt --top 0",
        "fit language convolution book.txt --kernel 1000000000000000",
        "fit language lstm book.txt --updates 1 --epochs 1e308",
        "fit language transformer book.txt --feed-forward 1e300",
        "fit language markov book.txt --threads 99999999999999999999",
        "fit language markov book.txt --unit subword --method unigram --vocabulary 100",
        "fit language markov book.txt --unit subword --vocabulary 100",
    ],
)
def test_numbers_out_of_all_proportion_are_refused(local, command):
    refused(*command.split(), code=2)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError,
        RuntimeError(
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 137438953472 bytes."
        ),
    ],
)
def test_a_lack_of_memory_is_told_as_such(local, monkeypatch, error):
    def create(*_, **__):
        raise error

    monkeypatch.setattr("seriatim.fitting.create", create)
    refused("fit", "language", "lstm", "book.txt", code=1, words="memory")


# What is wrong with the data


def write(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


BAD_FILES = {
    "empty": (b"", "empty"),
    "damaged": ("Käse\n".encode() * 50 + b"K\xe4se\n", "UTF-8"),
    "binary": (bytes(range(256)) * 20, "binary"),
    "missing": (None, "no such file"),
}


@pytest.mark.parametrize(
    "verb", ["fit lstm", "fit markov --by line", "compare", "evaluate", "score", "predict"]
)
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_cannot_be_read_is_told_by_name(home, verb, kind):
    content, words = BAD_FILES[kind]
    name = "bad.txt" if content is None else write("bad.txt", content)
    first, *rest = verb.split()
    arguments = {
        "fit": ["language", *rest[:1], name, *rest[1:]],
        "compare": ["language", name],
    }.get(first, [home / "markov", name])
    assert "bad.txt" in refused(first, *arguments, code=1, words=words)


def test_a_folder_or_a_file_of_blank_lines_is_no_data(home, here):
    (here / "folder").mkdir()
    assert "folder" in refused("fit", "language", "markov", "folder", code=1)
    assert "blank.txt" in refused(
        "fit", "language", "markov", write("blank.txt", b"\n \n"), "--by", "line", code=1
    )
    assert "blank.txt" in refused("evaluate", home / "lines", "blank.txt", code=1)
    refused("fit", "language", "markov", "blank.txt", "--unit", "word", code=1, words="no symbols")


@pytest.mark.parametrize(
    "content",
    [b"x", "é".encode(), b"one line only, and no more\n"],
    ids=["a character", "an umlaut", "a line"],
)
def test_hardly_any_text_is_fitted_and_scored_with_nothing_held_out(home, content):
    name = write("tiny.txt", content)
    good("fit", "language", "markov", name, "--out", "run")
    for each in ("run", home / "markov", home / "lstm", home / "lines"):
        assert good("evaluate", each, name, "--format", "json").json()["nats_per_token"] > 0
        good("score", each, name)
        good("predict", each, name)
    good("generate", "run", "--length", 5)
    small = ("--updates", 2, "--width", 4)
    for by in ("line", "stream"):
        fitted = good("fit", "language", "lstm", name, "--by", by, *small, "--out", f"lstm-{by}")
        assert (
            by == "stream" and len(content) > 5
        ) or "too short to hold anything out" in fitted.err
        good("generate", f"lstm-{by}", "--length", 5)
    refused("fit", "language", "markov+unigram", name, "--by", "line", code=1, words="too short")


def test_a_comparison_that_cannot_begin_leaves_no_folder(here):
    refused(
        "compare",
        "language",
        write("tiny.txt", b"x"),
        "--models",
        "markov",
        "--out",
        "out",
        code=1,
        words="too short",
    )


def test_data_of_another_kind_is_refused(home, here):
    write("a.csv", b"label,text\nx,one\ny,two\nx,three\n")
    refused("evaluate", home / "markov", "a.csv", code=1, words="line")
    refused("fit", "language", "markov", "a.csv", "--field", "txet", code=1, words="'text'")
    refused("evaluate", home / "lines", "a.csv", "--field", "nope", code=1, words="nope")
    write("n.csv", b"x,y\n1,2\n3,4\n")
    refused("fit", "language", "markov", "n.csv", code=1, words="text")
    refused("fit", "language", "markov", "n.csv", "--field", "x", code=1, words="text")
    refused("evaluate", home / "lines", "n.csv", code=1, words="text")
    refused(
        "fit",
        "language",
        "lstm",
        home / "book.txt",
        "--valid",
        "a.csv",
        code=1,
        words="differently",
    )


@pytest.mark.parametrize("unit", ["character", "byte", "word", "token", "subword"])
def test_a_field_of_numbers_is_refused_by_a_run_of_any_unit(home, here, unit):
    write("t.csv", b"text\none two three\nfour five six\nseven eight nine\n")
    write("n.csv", b"text,y\na,2\nb,4\n")
    good("fit", "language", "unigram", "t.csv", "--unit", unit, "--out", "run")
    refused("evaluate", "run", "n.csv", "--field", "y", code=1, words="numbers")


def test_a_line_of_ten_megabytes_is_read_and_never_printed(home, here):
    line = b"All work and no play. " * 450_000
    write("long.txt", line + b"\n")
    good("fit", "language", "uniform", "long.txt", "--unit", "byte", "--by", "line", "--out", "run")
    assert len(good("predict", "run", "long.txt", "--top", 3).out.split("\t")) == 3
    refused("fit", "language", "markov", write("long.jsonl", line), code=1, words="long.jsonl:1")


def test_a_line_too_long_for_a_network_is_refused_before_memory_runs_out(here):
    rows = b"".join(b"ham,some tea %d\nspam,free cash %d\n" % (row, row) for row in range(20))
    write("mail.csv", b"label,text\n" + rows)
    write("long.csv", b"label,text\nspam," + b"free " * 100_001 + b"\n" + rows)
    good("fit", "classify", "naive-bayes", "long.csv", "--out", "counts")
    assert len(good("predict", "counts", "long.csv").out.splitlines()) == 41
    good("fit", "classify", "mean", "mail.csv", "--updates", 1, "--out", "network")
    for arguments in (
        ("fit", "classify", "mean", "long.csv", "--updates", 1),
        ("predict", "network", "long.csv"),
        ("evaluate", "network", "long.csv"),
    ):
        refused(*arguments, code=1, words="100,001 symbols in sequence 1")
    good("fit", "tag", "hmm", write("few.bio", b"the DET\ndog NOUN\n\n" * 20), "--out", "hmm")
    refused(
        "predict",
        "hmm",
        write("long.bio", b"dog _\n" * 100_001),
        code=1,
        words="100,001 symbols in sequence 1",
    )
    for name, many in (("pairs.tsv", 3), ("longer.tsv", 10_001)):
        write(
            name,
            b"source\ttarget\n"
            + b"".join(
                b"w%d\t%s\n" % (row, b"a " * (many if row == 7 else 2)) for row in range(60)
            ),
        )
    good("fit", "translate", "lexicon", "pairs.tsv", "--unit", "token", "--out", "lexicon")
    asked = ("fit", "translate", "lexicon", "longer.tsv", "--unit", "token", "--out", "longer")
    assert "longer.tsv, line 9" in good(*asked).err  # the pair is left out, and named
    assert "longer.tsv, line 9" in good("evaluate", "lexicon", "longer.tsv").err
    write("source.txt", b"w7 " * 10_001)
    assert good("predict", "lexicon", "source.txt").out.strip() == ""


@pytest.mark.parametrize("unit", ["character", "byte", "word", "token", "subword"])
def test_a_prompt_that_is_not_utf8_is_no_disaster(home, unit):
    good("fit", "language", "unigram", home / "book.txt", "--unit", unit, "--out", "run")
    prompt = b"caf\xe9".decode("utf-8", "surrogateescape")  # as the shell hands it over
    assert call("generate", "run", "--prompt", prompt, "--length", 3).code in (0, 1, 2)


# What is wrong with the run


@pytest.fixture
def run(home, here) -> Path:
    shutil.copytree(home / "lstm", here / "run")
    return here / "run"


@pytest.mark.parametrize(
    "name", ["config.toml", "codec.json", "weights.safetensors", "metrics.json", "manifest.json"]
)
@pytest.mark.parametrize("harm", ["half", "empty", "garbage", "gone", "one byte", "a folder"])
def test_a_damaged_run_is_refused_by_name(home, run, name, harm):
    file = run / name
    content = bytearray(file.read_bytes())
    file.unlink()
    if harm == "a folder":
        file.mkdir()
    elif harm == "one byte":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif harm != "gone":
        file.write_bytes(
            {
                "half": content[: len(content) // 2],
                "empty": b"",
                "garbage": random.Random(0).randbytes(200),
            }[harm]
        )
    for arguments in (("evaluate", "run", home / "other.txt"), ("generate", "run")):
        words = refused(*arguments, code=1)
        assert "run" in words and (name in words or name == "manifest.json")


@pytest.mark.parametrize(
    "name, change",
    [
        ("config.toml", lambda text: text.replace("lstm", "markov")),
        ("config.toml", lambda text: text.replace("width = 8", "width = 9")),
        ("config.toml", lambda text: text.replace("width = 8", "width = 'x'")),
        ("config.toml", lambda text: text.replace("[run]", "[walk]")),
        ("config.toml", lambda text: text.replace("[model.0]", "[model.1]")),
        ("config.toml", lambda text: text.replace('model = "lstm"', "model = 3")),
        ("config.toml", lambda text: text.replace('by = "stream"', "")),
        ("config.toml", lambda text: text.replace("width = 8", "wdith = 8")),
        ("config.toml", lambda text: "run = 3"),
        ("config.toml", lambda text: ""),
        ("config.toml", lambda text: "\x00"),
        ("config.toml", lambda text: text.replace('mixer = "lstm"', 'mixer = "gru"')),
        ("config.toml", lambda text: text.replace("layers = 1", "layers = 2")),
        ("codec.json", lambda text: "[]"),
        ("codec.json", lambda text: "{}"),
        ("codec.json", lambda text: text.replace('"</s>"', '"<x>"')),
        ("codec.json", lambda text: text.replace('"options": {', '"options": [], "other": {')),
        ("codec.json", lambda text: text.replace('  "e",\n', "")),
        ("metrics.json", lambda text: "{"),
        ("weights.safetensors", lambda text: ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_run_that_was_changed_with_its_checksums_is_refused(home, run, name, change):
    file = run / name
    before = file.read_bytes().decode("utf-8", "replace")
    file.write_text(change(before))
    assert file.read_bytes().decode("utf-8", "replace") != before
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["files"][name]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (run / "manifest.json").write_text(json.dumps(manifest))
    refused("evaluate", "run", home / "other.txt", words="run")


@pytest.mark.parametrize("case", ["null", "outside", "files is a list", "entry is a number", "by"])
def test_a_manifest_that_leads_astray_is_refused(home, run, case):
    manifest = json.loads((run / "manifest.json").read_text())
    entry = manifest["files"]["config.toml"]
    if case == "by":
        (run / "config.toml").write_text(
            (run / "config.toml").read_text().replace('by = "stream"', 'by = "page"')
        )
        entry["sha256"] = hashlib.sha256((run / "config.toml").read_bytes()).hexdigest()
    elif case == "files is a list":
        manifest["files"] = list(manifest["files"])
    else:
        manifest["files"][
            {"null": "a\0b", "outside": "../other.txt", "entry is a number": "config.toml"}[case]
        ] = 3 if "entry" in case else entry
    (run / "manifest.json").write_text(json.dumps(manifest))
    refused("evaluate", "run", home / "other.txt", code=1, words="run")


def test_a_folder_that_is_no_run_is_refused(home, here):
    (here / "empty").mkdir()
    for name, words in (
        ("empty", "not a run folder"),
        ("nowhere", "no such folder"),
        (home / "book.txt", "not a run folder"),
    ):
        refused("evaluate", name, home / "other.txt", code=1, words=words)
        refused("generate", name, code=1, words=words)
        refused("plot", name, "--out", "x.png", code=1)


def test_a_name_that_is_too_long_is_refused(home):
    name = "x" * 300
    refused("generate", name, code=1)
    refused("fit", "language", "markov", home / "book.txt", "--out", name, code=1)
    refused("compare", "language", home / "book.txt", "--models", "markov", "--out", name, code=1)


def unfinished(home, out: str) -> None:
    """A fit that was killed after its first checkpoint."""
    from tests.ladder import fit_events

    settings = {"updates": 50, "width": 8, "length": 8, "rows": 2, "checkpoint_seconds": 0}
    events = fit_events("language", "lstm", str(home / "book.txt"), out=out, settings=settings)
    while not list(Path(out).glob("checkpoint-*")):
        next(events)
    events.close()


RESUME = (
    "--updates",
    "50",
    "--width",
    "8",
    "--length",
    "8",
    "--rows",
    "2",
    "--checkpoint-seconds",
    "0",
    "--out",
    "killed",
)


def test_an_unfinished_run_is_refused_until_it_is_resumed(home, here):
    unfinished(home, "killed")
    refused("evaluate", "killed", home / "other.txt", code=1, words="--resume")
    refused("generate", "killed", code=1, words="--resume")
    refused("fit", "language", "lstm", home / "book.txt", *RESUME, code=1, words="--resume")
    refused(
        "fit",
        "language",
        "lstm",
        home / "other.txt",
        *RESUME,
        "--resume",
        code=1,
        words="other settings or data",
    )
    refused(
        "fit",
        "language",
        "lstm",
        home / "book.txt",
        *RESUME,
        "--resume",
        "--seed",
        1,
        code=1,
        words="seed",
    )
    good("fit", "language", "lstm", home / "book.txt", *RESUME, "--resume")
    good("fit", "language", "lstm", home / "book.txt", *RESUME[:-1], "straight")
    assert (here / "killed/weights.safetensors").read_bytes() == (
        here / "straight/weights.safetensors"
    ).read_bytes()
    refused(
        "fit", "language", "lstm", home / "book.txt", *RESUME, "--resume", code=1, words="finished"
    )


def test_resuming_where_nothing_was_begun_says_so_and_begins(home, here):
    answer = call("fit", "language", "markov", home / "book.txt", "--out", "new", "--resume")
    assert (
        answer.code == 0
        and "no fit in new to go on with" in answer.err
        and (here / "new/manifest.json").exists()
    )


@pytest.mark.parametrize("harm", ["half", "garbage", "weights", "no record"])
def test_a_damaged_checkpoint_is_refused(home, here, harm):
    from seriatim.storage import read_arrays, write_arrays

    unfinished(home, "killed")
    [file] = Path("killed").glob("checkpoint-*")
    if harm == "half":
        file.write_bytes(file.read_bytes()[:-100])
    elif harm == "garbage":
        file.write_bytes(b"garbage" * 100)
    elif harm == "weights":
        write_arrays(file, {}, read_arrays(file)[1])
    else:
        write_arrays(file, read_arrays(file)[0])
    answer = call("fit", "language", "lstm", home / "book.txt", *RESUME, "--resume")
    assert answer.code == 1 and answer.out == "" and "checkpoint" in answer.err.splitlines()[-1]
    assert not (here / "killed/manifest.json").exists()


def test_a_flag_by_which_only_a_fit_is_kept_is_refused_with_those_that_are_there(home, here):
    compare = ("compare", "language", home / "book.txt", "--out", "table")
    refused(*compare, "--overwrite", code=2, words="belongs to fit; here there are --out, --resume")
    fit = ("fit", "language", "markov", home / "book.txt", "--folds", "3")
    refused(*fit, code=2, words="belongs to compare")


def test_nothing_that_exists_is_overwritten_unasked(home, here, run):
    (here / "full").mkdir()
    write("full/notes.txt", b"mine")
    write("file", b"mine")
    fit = ("fit", "language", "markov", home / "book.txt")
    refused(*fit, "--out", "run", code=1, words="--overwrite")
    refused(*fit, "--out", "full", code=1, words="not a run folder")
    refused(*fit, "--out", "full", "--overwrite", code=1, words="not a run folder")
    refused(*fit, "--out", "file", code=1, words="file")
    refused(*fit, "--out", "file/inside", code=1, words="file")
    refused(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        "markov",
        "--out",
        "full",
        code=1,
        words="not empty",
    )
    good(*fit, "--out", "run", "--overwrite")
    assert (
        good("evaluate", "run", home / "other.txt", "--format", "json").json()["model"] == "markov"
    )
    (here / "nothing").mkdir()
    good(*fit, "--out", "nothing")


def test_a_comparison_is_not_written_into_a_file(home):
    write("file", b"mine")
    refused(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        "markov",
        "--out",
        "file",
        code=1,
        words="file",
    )
    refused(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        "markov",
        "--out",
        "file/inside",
        code=1,
        words="file",
    )


def test_a_picture_that_cannot_be_drawn_or_written_is_refused(home, here):
    refused("plot", home / "markov", "--out", "x.png", code=1, words="no learning curve")
    refused("plot", home / "lstm", "--out", "x.jpeg", code=1, words="png, svg, pdf, html, json")
    refused("plot", home / "lstm", "--out", "nowhere/x.png", code=1, words="nowhere")


def test_a_picture_is_not_written_into_a_file(home):
    write("file", b"mine")
    refused("plot", home / "lstm", "--out", "file/x.png", code=1, words="file")


@pytest.mark.parametrize(
    "name, content",
    [
        (name, content)
        for name in ("table.json", "events.jsonl")
        for content in (
            "",
            "{",
            "[]",
            "{}",
            "3",
            '{"event": "validation"}',
            '{"rows": [{}]}',
            '{"rows": 3}',
            "[" * 100_000,
            "\xff",
        )
    ],
)
def test_a_damaged_table_or_log_is_no_picture(home, here, name, content):
    shutil.copytree(home / "compared" if name == "table.json" else home / "lstm", here / "harmed")
    write(f"harmed/{name}", content.encode("latin1"))
    refused("plot", "harmed", "--out", "x.png", code=1)


def test_a_log_cut_short_by_a_crash_is_still_drawn(home, here, run):
    log = (run / "events.jsonl").read_bytes()
    (run / "events.jsonl").write_bytes(log + log.splitlines()[-1][:20])
    good("plot", "run", "--out", "x.png")
