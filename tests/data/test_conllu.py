"""Tagged documents: written again they are the same to the byte, and a replaced column changes nothing else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.data import read
from seriatim.data.files import unpacked
from seriatim.data.formats.conllu import Document, body, parse_document, read_document
from seriatim.data.formats.tagged import CONLLU
from seriatim.errors import ConfigError, DataError

DONT = (
    "# sent_id = 1\r\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\r\n1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_  \n2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n3.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_\n \t\n\n\n# end\n1\ta b\t#\tSYM\tNFP\t_\t0\troot\t_\t_"
)
BIO = "Ada\t x \t B-PER \r\n  smiled \u3000 O\n\n# O"
cell = some.text(
    some.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1
)
token = cell.map(lambda text: "".join(text.split())).filter(bool)
blanks = some.text(" \u3000\u00a0", min_size=1)
ending = some.sampled_from(["\n", "\r\n"])


@some.composite
def conllu_line(draw) -> str:
    kind = draw(
        some.sampled_from(["word", "word", "word", "blank", "comment", "range", "empty node"])
    )
    if kind == "blank":
        return draw(some.sampled_from(["", "  "]))
    if kind == "comment":
        return "#" + draw(
            some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"))
        )
    return "\t".join(
        [
            {"word": "7", "range": "7-8", "empty node": "7.1"}[kind],
            *draw(some.lists(cell, min_size=9, max_size=9)),
        ]
    )


@some.composite
def columns_line(draw) -> str:
    kind = draw(some.sampled_from(["blanks", "tabs", "blank"]))
    if kind == "blank":
        return draw(some.sampled_from(["", " "]))
    if kind == "tabs":
        return "\t".join([draw(token), *draw(some.lists(cell, max_size=2)), draw(token)])
    return (
        draw(some.just("") | blanks)
        + draw(blanks).join(draw(some.lists(token, min_size=2, max_size=4)))
        + draw(some.just("") | blanks)
    )


def documents(line) -> some.SearchStrategy[str]:
    """Lines with any endings, the last with or without one, with or without a byte order mark."""
    lines = some.lists(some.tuples(line, ending).map("".join), min_size=1, max_size=8).map("".join)
    return some.tuples(some.sampled_from(["", "\ufeff"]), lines, some.booleans()).map(
        lambda all: all[0] + (all[1] if all[2] else all[1].removesuffix("\n"))
    )


def text_of(document: Document, folder: Path) -> str:
    document.write(folder / "written.conllu")
    return (folder / "written.conllu").read_bytes().decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("tagged")


@pytest.mark.parametrize("format, line", [("conllu", conllu_line()), ("columns", columns_line())])
@settings(max_examples=30, deadline=None)
@given(data=some.data())
def test_a_document_is_written_as_it_was_and_a_replaced_column_changes_nothing_else(
    folder, format, line, data
):
    text = data.draw(documents(line))
    document = parse_document(text, format)
    assert text_of(document, folder) == text
    name = data.draw(some.sampled_from(sorted(document.layout.place)))
    assert text_of(document.with_column(name, document.column(name)), folder) == text
    value = token.filter(lambda value: value != "\ufeff" and "\ufeff" not in value)
    rows = [[data.draw(value) for _ in sentence] for sentence in document.sentences]
    changed = parse_document(text_of(document.with_column(name, rows), folder), format)
    assert (
        changed.column(name) == rows
        and changed.sentences == document.sentences
        and changed.mark == document.mark
    )
    for other in set(document.layout.place) - {name}:
        assert changed.column(other) == document.column(other)
    assert text_of(changed.with_column(name, document.column(name)), folder) == text


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_public_treebanks_are_the_same_to_the_byte(public_data, folder, part):
    path = public_data / "tag" / f"en_ewt-ud-{part}.conllu.xz"
    read_document(path).write(folder / "whole.conllu")
    assert (folder / "whole.conllu").read_bytes() == unpacked(str(path))


def test_data_and_document_have_the_same_words_and_tags(public_data):
    path = public_data / "tag" / "en_ewt-ud-dev.conllu.xz"
    document, data = read_document(path), read(str(path))
    assert [row["tags"] for row in data] == document.column("upos") and [
        row["tokens"] for row in data
    ] == document.column("form")
    assert data.lines.tolist() == [sentence[0] + 1 for sentence in document.sentences]


def test_only_the_tags_of_words_are_replaced(folder):
    changed = text_of(parse_document(DONT).with_column("upos", [["A", "B", "C"], ["D"]]), folder)
    expected = (
        DONT.replace("AUX", "A")
        .replace("PART", "B")
        .replace("\tgo\tgo\tVERB", "\tgo\tgo\tC")
        .replace("SYM", "D")
    )
    assert changed == expected


def test_blanks_between_columns_stay(folder):
    document = parse_document(BIO, "columns")
    assert document.column("form") == [["Ada", "smiled"], ["#"]] and document.column("tag") == [
        ["B-PER", "O"],
        ["O"],
    ]
    assert (
        text_of(document.with_column("tag", [["X", "Y"], ["Z"]]), folder)
        == "Ada\t x \t X \r\n  smiled \u3000 Y\n\n# Z"
    )


def test_every_column_of_conllu_can_be_read_as_tokens_or_tags(tmp_path):
    (tmp_path / "a.conllu").write_text(DONT)
    document = read_document(tmp_path / "a.conllu")
    for name in CONLLU[1:]:
        data = read(str(tmp_path / "a.conllu"), columns=f"form, {name}")
        assert [row["tags"] for row in data] == document.column(name)
    assert read(str(tmp_path / "a.conllu"), columns=["lemma", "xpos"])[0] == {
        "tokens": ["do", "not", "go"],
        "tags": ["VB", "RB", "VB"],
    }
    for columns, words in (
        ("form,xops", "'xpos'"),
        ("form", "two columns"),
        ("form,upos,xops", "'xpos'"),
    ):
        with pytest.raises(ConfigError, match=words):
            read(str(tmp_path / "a.conllu"), columns=columns)


def test_packed_documents_are_packed_again(tmp_path):
    (tmp_path / "a.bio.gz").write_bytes(gzip.compress(BIO.encode()))
    read_document(tmp_path / "a.bio.gz").write(tmp_path / "b.bio.xz")
    assert (
        read_document(tmp_path / "b.bio.xz").column("tag") == [["B-PER", "O"], ["O"]]
        and unpacked(str(tmp_path / "b.bio.xz")) == BIO.encode()
    )


@pytest.mark.parametrize(
    "format, text, value",
    [
        *(("conllu", DONT, value) for value in ("", "a\tb", "a\n", "a\rb", "\ud800")),
        *(("columns", BIO, value) for value in ("", "a\tb", "a\n", " a", "\u3000")),
        ("columns", "a X", "a b"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused(format, text, value):
    document = parse_document(text, format)
    rows = [[value] * len(sentence) for sentence in document.sentences]
    with pytest.raises(DataError, match="cannot stand in a column") as caught:
        document.with_column("form", rows)
    assert caught.value.line == document.sentences[0][0] + 1


@pytest.mark.parametrize(
    "rows", [[], [["A", "B", "C"]], [["A", "B"], ["C"]], [["A", "B", "C"], ["D"], ["E"]]]
)
def test_each_word_needs_one_value(rows):
    with pytest.raises(DataError, match="one value"):
        parse_document(DONT).with_column("upos", rows)


def test_wrong_names_are_answered_with_the_nearest(tmp_path):
    with pytest.raises(ConfigError, match="'xpos'"):
        parse_document(DONT).with_column("xops", [])
    with pytest.raises(ConfigError, match="'columns'"):
        read_document(tmp_path / "a", "column")


def test_problems_are_collected_with_their_lines_and_the_rest_is_read():
    problems: list[DataError] = []
    document = parse_document(
        DONT + "\nx\tb\n\n1\ta\tb\tSYM\t_\t_\t_\t_\t_\t_\nx" + "\t_" * 9, problems=problems
    )
    assert [problem.line for problem in problems] == [12, 15] and "this one has 2" in problems[
        0
    ].what
    assert document.column("upos") == [["AUX", "PART", "VERB"], ["SYM"], ["SYM"]]
    with pytest.raises(DataError, match="this one has 1"):
        parse_document("x\n" * 2000, problems=[])


def test_an_empty_cell_is_an_error_only_where_it_is_asked_for():
    document = parse_document("1\ta\t\tX" + "\t_" * 6)
    assert document.column("upos") == [["X"]]
    with pytest.raises(DataError, match="'lemma' of this word is empty") as caught:
        document.column("lemma")
    assert caught.value.line == 1


def test_a_body_has_no_ending():
    assert [body(line) for line in ("a\r\n", "a\n", "a\r", "a", "\n")] == ["a", "a", "a", "a", ""]
