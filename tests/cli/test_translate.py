"""Translation from the command line."""

from __future__ import annotations

import json

import pytest

from seriatim.cli.main import main

SOURCES = ["a b c", "b a", "c c a", "a", "b c", "c b a"] * 8


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translate")
    (folder / "train.src").write_text(
        "\n".join(f"{text} {'a' * (1 + i % 5)}" for i, text in enumerate(SOURCES)) + "\n"
    )
    (folder / "train.tgt").write_text(
        "\n".join(f"{text} {'a' * (1 + i % 5)}".upper() for i, text in enumerate(SOURCES)) + "\n"
    )
    (folder / "test.tsv").write_text("".join(f"{text}\t{text.upper()}\n" for text in SOURCES[:6]))
    (folder / "new.txt").write_text("a b\n\nc b\n")
    assert (
        main(
            [
                "fit",
                "translate",
                "gru",
                str(folder / "train.src"),
                str(folder / "train.tgt"),
                "--unit",
                "token",
                "--width",
                "16",
                "--heads",
                "1",
                "--updates",
                "60",
                "--rate",
                "0.02",
                "--out",
                str(folder / "run"),
            ]
        )
        == 0
    )
    assert (
        main(
            [
                "fit",
                "translate",
                "lexicon",
                str(folder / "train.src"),
                str(folder / "train.tgt"),
                "--unit",
                "token",
                "--tune-search",
                "--out",
                str(folder / "counted"),
            ]
        )
        == 0
    )
    return folder


def run(capsys, *arguments) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([str(each) for each in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_a_line_for_each_line_blank_ones_too(home, capsys):
    code, out, _ = run(capsys, "predict", home / "run", home / "new.txt", "--beam", 2)
    assert code == 0 and len(out.splitlines()) == 3


def test_several_results_come_with_their_log_probabilities(home, capsys):
    code, out, _ = run(capsys, "predict", home / "run", home / "new.txt", "--beam", 3, "--count", 2)
    blocks = out.strip("\n").split("\n\n")
    assert (
        code == 0
        and len(blocks) == 2  # an empty source has no results
        and all(
            float(line.split("\t")[0]) <= 0
            for block in blocks
            for line in block.strip("\n").splitlines()
        )
    )
    records = json.loads(
        run(capsys, "predict", home / "run", home / "new.txt", "--count", 2, "--format", "json")[1]
    )["items"]
    assert [record["source"] for record in records] == ["a b", "", "c b"] and len(
        records[0]["results"]
    ) == 2


def test_an_evaluation_names_its_protocol_and_signatures(home, capsys):
    code, out, _ = run(
        capsys, "evaluate", home / "run", home / "test.tsv", "--columns", "source,target"
    )
    assert code == 0 and "chrF" in out and "BLEU" in out and "beam 4" in out and "version:" in out
    record = json.loads(
        run(
            capsys,
            "evaluate",
            home / "run",
            home / "test.tsv",
            "--columns",
            "source,target",
            "--against",
            home / "counted",
            "--format",
            "json",
        )[1]
    )
    assert {"model", "difference", "p", "test"} <= record["against"].keys() and record["protocol"][
        "search"
    ] == "beam 4, length penalty 1"


def test_two_files_score_line_by_line(home, capsys):
    code, out, _ = run(capsys, "score", home / "run", home / "train.src", home / "train.tgt")
    assert code == 0 and len(out.splitlines()) == len(SOURCES)


def test_runs_on_the_same_data_are_mixed(home, capsys):
    code, out, _ = run(
        capsys, "predict", home / "run", home / "new.txt", "--with", home / "counted"
    )
    assert code == 0 and len(out.splitlines()) == 3


@pytest.mark.parametrize("what", ["alignment", "tree"])
def test_what_happens_inside_is_drawn_and_told(home, capsys, what):
    code, out, _ = run(
        capsys,
        "plot",
        home / "run",
        "--what",
        what,
        "--text",
        "a b c",
        "--out",
        home / f"{what}.png",
        "--format",
        "json",
    )
    record = json.loads(out)
    assert code == 0 and (home / f"{what}.png").stat().st_size > 1000
    assert (record["kind"], record["what"]) == ("picture", what)


def test_a_tree_is_that_of_the_search_asked_for(home, capsys):
    records = [
        json.loads(run(capsys, "tree", home / "run", "a b c", "--format", "json", *flags)[1])
        for flags in ((), ("--beam", 2, "--length-penalty", 0, "--prefix", "B"))
    ]
    assert [record["beam"] for record in records] == [4, 2] and records[1]["length_penalty"] == 0
    assert all(each["target"].startswith("B") for each in records[1]["results"]) and len(
        records[1]["nodes"]
    ) < len(records[0]["nodes"])


def test_errors_over_length_are_drawn(home, capsys):
    code, _, _ = run(
        capsys,
        "plot",
        home / "run",
        home / "test.tsv",
        "--columns",
        "source,target",
        "--what",
        "lengths",
        "--out",
        home / "lengths.svg",
    )
    assert code == 0 and b"<svg" in (home / "lengths.svg").read_bytes()


def test_generate_translates_the_prompt(home, capsys):
    code, out, _ = run(capsys, "generate", home / "run", "--prompt", "a b")
    assert code == 0 and out == run(capsys, "generate", home / "run", "--prompt", "a b")[1]


def test_a_comparison_ranks_translators(home, capsys, tmp_path):
    code, out, _ = run(
        capsys,
        "compare",
        "translate",
        "copy:count=400,length=4,symbols=5",
        "--models",
        "lexicon,gru",
        "--updates",
        30,
        "--width",
        16,
        "--heads",
        1,
        "--out",
        tmp_path / "compared",
    )
    assert (
        code == 0
        and "chrF" in out
        and "lexicon" in out
        and (tmp_path / "compared" / "report.html").exists()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "language", "markov", "{home}/train.src", "{home}/train.tgt"], "one file"),
        (["fit", "translate", "gru", "{home}/new.txt"], "no pairs"),
        (["fit", "translate", "gru", "{home}/train.src", "{home}/new.txt"], "equally many lines"),
        (["evaluate", "{home}/run", "{home}/new.txt"], "no targets"),
        (["predict", "{home}/run", "{home}/new.txt", "--must", "ZZ"], "does not know"),
        (
            ["predict", "{home}/run", "{home}/new.txt", "--min-bayes-risk", "3", "--beam", "2"],
            "samples",
        ),
        (["predict", "{home}/run", "{home}/new.txt", "--exact"], "--exact is not a flag here"),
        (["predict", "{home}/run", "{home}/new.txt", "--top", "3"], "--top is not a flag here"),
        (
            ["plot", "{home}/run", "--what", "tree", "--text", "a", "--temperature", "1"],
            "temperature",
        ),
        (
            ["plot", "{home}/run", "--what", "tree", "--text", "a", "--beam", "0"],
            "beam search alone",
        ),
        (
            ["plot", "{home}/run", "--what", "alignment", "--text", "a", "--beam", "3"],
            "translate evaluate, translate predict",
        ),
        (["plot", "{home}/run", "--what", "tree", "--text", "a", "--must", "ZZ"], "does not know"),
        (["plot", "{home}/run", "--what", "tree"], "tree reads one text"),
        (
            [
                "fit",
                "translate",
                "gru",
                "{home}/train.src",
                "{home}/train.tgt",
                "--input-feeding",
                "--attends",
                "false",
                "--updates",
                "1",
            ],
            "fed",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    home, capsys, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *(each.format(home=home) for each in arguments))
    assert code in (1, 2) and words in err and "Traceback" not in err
