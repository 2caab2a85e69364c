"""Files as strangers have them (findings 2, 7 and 12): read as they are meant, and said how."""

from __future__ import annotations

from pathlib import Path

import pytest

import seriatim as st
from seriatim.data.files import utf8
from seriatim.data.formats import read_files
from seriatim.data.headers import guessed_names, why_no_header
from seriatim.errors import ConfigError, DataError
from tests.honesty import seriatim

VERSE = ["the cat sat on the mat", "the dog ran after the cat", "a bird sang in the tree"]
MAIL = [("ham", "see you at tea time"), ("spam", "win free cash now"), ("ham", "tea with the dog")]
ROWS = [(label, f"{text} {i}") for i in range(12) for label, text in MAIL]
TAGGED = "".join(f"Ada\tB\nsmiled{i}\tO\nat\tO\nBob\tB\n\n" for i in range(10))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fitted(task: str, model: str, *files: str, **more: str) -> str:
    """Fit a model; what was said meanwhile."""
    flags = [
        word for name, value in more.items() for word in (f"--{name}".replace("_", "-"), value)
    ]
    said = seriatim("fit", task, model, *files, *flags, "--out", "run", "--overwrite")
    assert said.code == 0, said.err
    return said.err


def notes_on(path: str, **asked: str) -> list[str]:
    """What reading a file notes."""
    notes: list[str] = []
    read_files(path, notes=notes, **asked)
    return notes


# -- the text as it is


def test_line_endings_and_a_mark_do_not_change_the_bits(here):
    """Finding 2: 2.501 bits with \\n, 3.157 with \\r\\n; `check` found nothing."""
    text = "\n".join(VERSE * 20) + "\n"
    (here / "lf.txt").write_bytes(text.encode())
    (here / "crlf.txt").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (here / "cr.txt").write_bytes(text.replace("\n", "\r").encode())
    fitted("language", "markov", "lf.txt")
    names = ("lf", "crlf", "cr")
    said = {name: seriatim("evaluate", "run", f"{name}.txt", "--format", "json") for name in names}
    bits = [said[name].record["bits_per_character"] for name in names]
    assert bits[0] == bits[1] == bits[2]
    assert ["read as \\n" in said[name].err for name in names] == [False, True, True]
    found = seriatim("check", "crlf.txt").out
    assert "lines end with \\r\\n" in found and "byte order mark" in found


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.conll", "a.conllu", "a.txt"])
def test_every_format_of_text_is_the_same_with_other_line_endings(here, name):
    """Finding 2, in every format."""
    contents = {
        "a.csv": 'label,text\nx,"one\ntwo"\ny,three\n',
        "a.tsv": "label\ttext\nx\tone\ny\ttwo\n",
        "a.jsonl": '{"text": "one"}\n{"text": "two"}\n',
        "a.conll": "Ada B\nsmiled O\n\nBob B\n",
        "a.conllu": "1\tAda\t_\tB\t_\t_\t_\t_\t_\t_\n\n",
        "a.txt": "one\ntwo\n",
    }
    (here / name).write_bytes(contents[name].encode())
    (here / f"b{name}").write_bytes(contents[name].replace("\n", "\r\n").encode())
    plain, other = read_files(name), read_files(f"b{name}")
    assert [plain[s] for s in range(len(plain))] == [other[s] for s in range(len(other))]
    assert any("lines end with" in words for words in notes_on(f"b{name}"))


def test_an_encoding_is_guessed_and_said_or_told(here):
    """Finding 2: text that is not UTF-8 was refused."""
    text = "\n".join(["plain"] * 6 + ["Käse – schön"] * 3) + "\n"
    (here / "western.txt").write_bytes(text.encode("windows-1252"))
    (here / "wide.txt").write_bytes(text.encode("utf-16"))
    (here / "russian.txt").write_bytes("привет\n".encode("koi8-r"))
    (note,) = notes_on("western.txt", by="line")
    words = "read as windows-1252: not UTF-8 at line 7; say --encoding to be sure"
    assert note == f"western.txt: {words}"
    for name in ("western.txt", "wide.txt"):
        assert read_files(name)[0]["text"] == text
    assert read_files("russian.txt", encoding="koi8-r")[0]["text"] == "привет\n"
    assert words in fitted("language", "unigram", "western.txt")
    fitted("language", "unigram", "russian.txt", encoding="koi8-r")
    assert st.load("run").reading.encoding == "koi8-r"
    assert seriatim("evaluate", "run", "russian.txt", "--format", "json").record["unknown"] == 0
    with pytest.raises(ConfigError, match="no such encoding"):
        read_files("western.txt", encoding="klingon")
    with pytest.raises(DataError, match="not utf-16"):
        read_files("western.txt", encoding="utf-16-le")


def test_damaged_utf8_is_not_guessed_at(here):
    """A file of UTF-8 with one wrong byte is no western text."""
    (here / "a.txt").write_bytes("é\n".encode() * 9 + b"\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_files("a.txt")
    with pytest.raises(DataError, match="not UTF-8"):
        utf8("a.txt")


# -- tables


@pytest.mark.parametrize("name", ["mail.tsv", "mail.csv", "mail.txt", "mail"])
def test_a_first_row_that_is_data_is_no_header(here, name):
    """Finding 12: it was taken for names, and `check` reported 100 % copies."""
    mark = "," if name.endswith("csv") else "\t"
    (here / name).write_text("".join(f"{label}{mark}{text}\n" for label, text in ROWS))
    said = fitted("classify", "naive-bayes", name)
    assert "first row is data and no header ('ham' comes again below)" in said
    assert f"{len(ROWS)} sequences" in said and "label, text" in said
    assert st.load("run").reading.columns == "label,text"
    shown = seriatim("evaluate", "run", name, "--format", "json")
    assert shown.record["sequences"] == len(ROWS)


def test_what_names_columns_is_a_header():
    """Numbers, labels and texts cannot; names can, over whatever they stand."""
    assert "number" in why_no_header(["1.5", "good"], [["2.5", "3"], ["bad", "fine"]])
    assert not why_no_header(["when", "load"], [["2020-01-01", "2020-01-02"], ["1", "2"]])
    assert not why_no_header(["country", "2001", "2002"], [["x", "y"], ["1", "2"], ["3", "4"]])
    assert "text" in why_no_header(["Go away from here.", "Geh weg."], [["a", "b"], ["c", "d"]])
    assert not why_no_header(["Label", "Text"], [["Label", "x", "x"], ["Text", "y", "z"]])
    assert guessed_names([["a long text", "another one"], ["1", "2"]], "value") == ["text", "value"]
    assert guessed_names([["1", "2"], ["3", "4"]]) == ["column1", "column2"]


def test_semicolons_other_cases_and_other_names(here):
    """Tables as spreadsheets and collections have them."""
    rows = "".join(f'{label};"{text}; really";{i},5\n' for i, (label, text) in enumerate(ROWS))
    (here / "semi.csv").write_text("Label;Text;Size\n" + rows)
    data = read_files("semi.csv")
    assert data[0] == {"label": ["ham"], "text": "see you at tea time 0; really", "Size": [0.5]}
    (here / "named.csv").write_text(
        "Review,Sentiment\n" + "".join(f"{text},{label}\n" for label, text in ROWS)
    )
    said = fitted("classify", "naive-bayes", "named.csv")
    assert "'Sentiment' is taken for the label" in said and "'Review' is taken for the text" in said
    record = seriatim("evaluate", "run", "named.csv", "--format", "json").record
    assert record["sequences"] == len(ROWS) and len(record["classes"]) == 2


def test_files_of_one_class_each(here):
    """pos.txt neg.txt, a folder of them, or a folder for each."""
    for label in ("ham", "spam"):
        (here / "mail" / label).mkdir(parents=True)
        texts = [text for each, text in ROWS if each == label]
        (here / f"{label}.txt").write_text("\n".join(texts) + "\n")
        for i, text in enumerate(texts):
            (here / "mail" / label / f"{i}.txt").write_text(text)
    for files in (["ham.txt", "spam.txt"], ["mail"]):
        said = fitted("classify", "naive-bayes", *files)
        assert "files of one class each, 36 sequences: ham 24, spam 12" in said
    said = seriatim("fit", "language", "unigram", "ham.txt", "spam.txt", "--out", "other")
    assert said.code == 2 and "one file is read" in said.err


def test_lines_that_begin_with_a_label(here):
    """TREC's questions: only if all lines do, and labels come again."""
    kinds = ("DESC:manner How is it done", "ENTY:animal What is a newt")
    lines = [f"{text} {i} ?" for i in range(8) for text in kinds]
    (here / "trec.label").write_text("\n".join(lines) + "\n")
    said = fitted("classify", "naive-bayes", "trec.label")
    assert "lines that begin with their label, 16 sequences" in said
    (here / "new.txt").write_text("What is a toad ?\n")
    answer = seriatim("predict", "run", "new.txt", "--format", "json").record
    assert answer["items"][0]["label"] == "ENTY:animal"
    (here / "mixed.label").write_text("\n".join([*lines, "no label here"]) + "\n")
    assert seriatim("fit", "classify", "majority", "mixed.label", "--out", "other").code == 1


# -- runs read as they were fitted


@pytest.mark.parametrize("name, flags", [("train.txt", ("columns",)), ("train.annotated", ())])
def test_a_run_reads_columns_as_it_was_fitted(here, name, flags):
    """Finding 12: `predict RUN test.txt` tagged every column as a token."""
    (here / name).write_text("-DOCSTART- -X- O O\n\n" + TAGGED.replace("\n\n", "\n\t\n"))
    said = fitted("tag", "most-frequent", name, **{"input_format": "columns"} if flags else {})
    (here / "test.txt").write_text("Ada\tO\nsmiled3\tO\n\nBob\tO\n")
    tagged = seriatim("predict", "run", "test.txt").out.splitlines()
    assert [line.split("\t")[0] for line in tagged] == ["Ada", "smiled3", "", "Bob", ""]
    items = seriatim("predict", "run", "test.txt", "--format", "json").record["items"]
    assert [each["tokens"] for each in items] == [["Ada", "smiled3"], ["Bob"]]
    (here / "plain.txt").write_text("Ada smiled3 at Bob\n")  # and plain text as text
    items = seriatim("predict", "run", "plain.txt", "--format", "json").record["items"]
    assert [each["tags"] for each in items] == [["B", "O", "O", "B"]]
    assert "read as columns, 10 sequences" in said and "1 lines -DOCSTART- are left out" in said


def test_a_table_that_is_not_wanted_is_told(here):
    """Finding 12: columns were read as text without a word."""
    (here / "tagged.txt").write_text(TAGGED)
    said = fitted("language", "unigram", "tagged.txt")
    assert "a table of words and their tags, read as text; say --input-format columns" in said


def test_how_a_file_was_read_is_said_in_a_line(here):
    """Nothing was said of what was assumed."""
    (here / "mail.tsv").write_text("label\ttext\n" + "".join("\t".join(r) + "\n" for r in ROWS))
    how = "mail.tsv: read as tsv, 36 sequences below a header; fields label, text\n"
    assert how in fitted("classify", "naive-bayes", "mail.tsv")
    for verb in (["evaluate", "run"], ["predict", "run"], ["check"]):
        assert f"note: {how}" in seriatim(*verb, "mail.tsv").err
    assert seriatim("evaluate", "run", "mail.tsv", "--format", "json").err == ""


# -- a result for every line


def test_there_is_a_result_for_every_line(here):
    """Finding 7: `score` printed 2 lines for a file of 4 with 2 blank ones, `predict` 4."""
    (here / "book.txt").write_text("\n".join(VERSE * 10) + "\n")
    (here / "four.txt").write_text("the cat\n\na dog\n\n")
    fitted("language", "markov", "book.txt", by="line")
    for verb in ("predict", "score"):
        assert len(seriatim(verb, "run", "four.txt").out.splitlines()) == 4
    for verb in ("predict", "score"):
        record = seriatim(verb, "run", "four.txt", "--format", "json").record
        assert len(record["items"]) == 4
    scores = seriatim("score", "run", "four.txt", "--format", "json").record["items"]
    assert scores[1]["tokens"] == 1 and scores[1] == scores[3]  # a sequence that ends at once
    said = seriatim("evaluate", "run", "four.txt")
    assert "2 blank lines are left out" in said.err


def test_sentences_are_not_taken_for_columns(here):
    """A tagger fitted on columns read two sentences of five words as one column of two words."""
    rows = "Ada B-PER\nsleeps O\n\nBob B-PER\nsings O\n\n" * 20
    (here / "ner.txt").write_text(rows)
    (here / "new.txt").write_text("Ada sings in Rome .\nBob sleeps in Oslo .\n")
    fitted("tag", "most-frequent", "ner.txt")
    items = seriatim("predict", "run", "new.txt", "--format", "json").record["items"]
    assert [len(item["tokens"]) for item in items] == [5, 5]
