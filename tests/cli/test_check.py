"""`seriatim check`: what is printed, as a table and as JSON, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from seriatim.cli.main import main
from tests.terminal import Screen, call, good, prose, refused


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(here) -> list[str]:
    """A training file with a copy, and a test with a sentence of it and a label of its own."""
    lines = [
        f"{'dog' if i % 3 else 'cat'}\t{line}\n" for i, line in enumerate(prose(60, 1).splitlines())
    ]
    other = [f"cat\t{line}\n" for line in prose(200, 2).splitlines()]
    (here / "train.tsv").write_text("label\ttext\n" + "".join(lines) + lines[4])
    (here / "test.tsv").write_text(
        "label\ttext\n" + "".join(other) + lines[7] + "emu\tsomething else\n"
    )
    return ["train.tsv", "test.tsv"]


def test_figures_labels_copies_and_findings_are_shown(files):
    shown = good("check", *files).out
    assert (
        "61" in shown
        and "3 labels" in shown
        and "emu" in shown
        and "test and train" in shown
        and "▲ train:6, 62  copies of an earlier sequence: 1" in shown
    )
    assert (
        "labels that train does not have: 1" in shown
        and "'emu' 1" in shown
        and shown.rstrip().endswith("▲ 3 warnings")
    )


def test_json_is_the_record(files):
    record = good("check", *files, "--format", "json").json()
    assert [each["name"] for each in record["files"]] == ["train", "test"] and record["files"][0][
        "duplicates"
    ]["copies"] == 1
    assert record["across"][0]["copies"] >= 1 and {
        each["severity"] for each in record["findings"]
    } <= {"warning", "note"}


def test_errors_end_with_code_1_and_are_shown_like_the_rest(here, files):
    with open("train.tsv", "a") as file:
        file.write("cat\tone\ttoo many\nno tab\n")
    answer = call("check", *files, "nowhere.tsv")
    assert answer.code == 1 and "✗ 3 errors" in answer.out
    assert all(": read as tsv, " in line for line in answer.err.splitlines())
    assert (
        "✗ train:63  columns found: 3, expected: 2" in answer.out
        and "✗ nowhere.tsv  there is no such file" in answer.out
    )
    record = call("check", *files, "nowhere.tsv", "--format", "json")
    assert (
        record.code == 1
        and sum(each["severity"] == "error" for each in record.json()["findings"]) == 3
    )


def test_nothing_is_found_where_nothing_is_wrong(here):
    (here / "a.txt").write_text("one thing\nanother thing\n")
    shown = good("check", "a.txt").out
    assert (
        shown.rstrip().endswith("✓ nothing found")
        and "labels" not in shown
        and "in both" not in shown
    )


def test_a_file_that_cannot_be_read_leaves_only_its_finding():
    answer = call("check", "nowhere.txt")
    assert (
        answer.code == 1
        and answer.out.splitlines()[0].startswith("✗ nowhere.txt")
        and answer.out.rstrip().endswith("✗ 1 error")
    )


def test_a_table_without_a_header_and_a_field_of_labels(here):
    (here / "mail").write_text("spam\tWin now\nham\tSee you\n")
    assert (
        "spam"
        in good(
            "check",
            "mail",
            "--input-format",
            "tsv",
            "--columns",
            "kind,text",
            "--label",
            "kind",
            "--unit",
            "character",
        ).out
    )
    (here / "a.conllu").write_text(
        "1\tDogs\tdog\tNOUN\tNNS" + "\t_" * 5 + "\n2\tbark\tbark\tVERB\tVBP" + "\t_" * 5 + "\n"
    )
    assert (
        "NNS" in good("check", "a.conllu", "--columns", "form,xpos").out
        and "NOUN" in good("check", "a.conllu").out
    )


def test_where_more_lines_are_meant_than_are_listed_the_table_says_so(here):
    """126 copies had four lines, those of the sequence that comes most often, and no dots."""
    texts = ["a b", "c d", "a b", "e 1", "c d", "a b", "g h", "E 2", "i j", "I j", "e 3"]
    (here / "a.txt").write_text("\n".join(texts) + "\n")
    (here / "b.txt").write_text("a b\nc d\na b\n")
    record = good("check", "a.txt", "--format", "json").json()
    found = [
        (each["what"].split(":")[0], each["lines"], each["places"]) for each in record["findings"]
    ]
    near = "near copies, different in case or numbers only"
    assert found == [("copies of an earlier sequence", [1, 3, 6], 5), (near, [4, 8, 11], 5)]
    shown = good("check", "a.txt").out
    assert "a.txt:1, 3, 6 ...  copies of an earlier sequence: 3" in shown
    assert "a.txt:4, 8, 11 ...  near copies" in shown
    assert "b.txt:1, 3  copies of an earlier sequence: 1" in good("check", "b.txt").out


def test_a_narrow_screen_is_enough(files, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    shown = good("check", *files, out=Screen()).out
    assert (
        all(len(line) <= 80 for line in shown.splitlines())
        and "copies of an earlier" in shown
        and "longest" in shown
        and "…" not in shown
    )


def test_what_a_terminal_would_act_upon_is_not_sent_to_it(here):
    (here / "a.txt").write_text(
        "red \x1b[31m alert\none [bold]thing[/bold]\none [bold]thing[/bold]\n"
    )
    shown = good("check", "a.txt").out
    assert "\x1b" not in shown and "\\x1b[31m" in shown and "[bold]thing[/bold]" in shown


@pytest.mark.parametrize(
    "command, words",
    [
        ("check a.txt --unit wrod", "'word'"),
        ("check a.txt --unit subword", "subword"),
        ("check", "FILE"),
        ("check a.txt --columns a,b", "columns"),
        ("check a.txt --lable x", "--label"),
    ],
)
def test_wrong_settings_are_refused(here, command, words):
    (here / "a.txt").write_text("one\n")
    refused(*command.split(), code=2, words=words)


def test_the_overview_names_it(capsys):
    assert main(["--help"]) == 0 and "seriatim check" in capsys.readouterr().out
