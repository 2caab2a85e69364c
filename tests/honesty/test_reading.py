"""Files as strangers have them (findings 2, 7 and 12): read as they are meant, and said how."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import seriatim as st
from seriatim.cli import commands
from seriatim.data.files import utf8
from seriatim.data.formats import read_files
from seriatim.data.headers import guessed_names, why_no_header
from seriatim.errors import ConfigError, DataError
from seriatim.fitting import sorted_out
from seriatim.settings import build
from seriatim.tasks import tasks
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


LINES = [each for each in tasks() if each.cut.by == "line"]


@pytest.mark.parametrize("room", LINES, ids=lambda room: room.name)
def test_a_stream_is_refused_where_sequences_are_read(here, room):
    """A text read as one stream was one sequence, or had "no labels", in rooms that read lines."""
    (here / "a.txt").write_text("\n".join(VERSE * 5))
    (here / "b.txt").write_text("\n".join(VERSE * 5))
    words = rf"is one stream, and {room.name} reads a sequence a line.*by stream.*by=.line"
    with pytest.raises(DataError, match=words):
        st.fit(room.name, list(room.rungs)[-1], st.read("a.txt"))
    with pytest.raises(DataError, match=words):
        st.fit(room.name, list(room.rungs)[-1], here / "a.txt", by="stream")
    assert room.cut.sequences(st.read("a.txt", by="line")).by == "line"
    assert room.cut.sequences(here / "a.txt", gaps=True).by == "line"


# -- options of reading


def test_how_data_are_read_has_one_name_at_every_door():
    """`st.read(format=)` was `--input-format`; `distinct`, `time`, ... were not there."""
    python = inspect.signature(st.read).parameters
    inside = {"paths", "unit", "problems", "notes", "gaps", "wants"}  # of no file, or for callers
    options = {each.name: each for room in tasks() for each in fields(room.reading)}
    of_pairs = {"also"}  # which columns are sources, once they are read
    assert options.keys() - of_pairs == python.keys() - inside
    for room in tasks():
        asked = {each.name: each.default for each in fields(room.reading)} | {"by": "line"}
        asked |= {"fill": "keep", "distinct": True} if "fill" in asked else {"distinct": True}
        asked = {
            name: value for name, value in asked.items() if name in vars(build(room.reading, {}))
        }
        kept = sorted_out(room, asked)
        assert not kept.model and vars(kept.reading).keys() == asked.keys()
        for words in (("fit", room.name, next(iter(room.rungs))), ("compare", room.name)):
            flags = commands.parse([*words, "--help"]).help
            for name in asked if room.figures or words[0] == "fit" else ():
                assert f"--{name.replace('_', '-')} " in flags + " "


def test_a_table_is_read_as_series_by_the_same_names(here):
    rows = "".join(f"{name},2024-01-{d:02},{d},{d % 2}\n" for name in "ab" for d in range(1, 10))
    (here / "a.csv").write_text("who,when,load,off\n" + rows.replace(",5,1", ",,1"))
    named = {"time": "when", "series": "who", "channels": "load", "known": "off"}
    data = st.read("a.csv", **named, fill="linear")
    assert data.is_series and len(data) == 2 and data.field("values").names == ("load",)
    assert data[0]["values"][4] == 5 and data.field("known").names == ("off",)
    assert len(st.read("a.csv", series="who", channels=["off"], fill="keep")) == 2
    (here / "twice.txt").write_text("one\ntwo\none\n")
    assert len(st.read("twice.txt", by="line", distinct=True)) == 2
    assert st.read("a.csv", input_format="text")[0]["text"].startswith("who,when")


# -- marks in numbers


def numbers_of(here: Path, cells: list[str], mark: str = ";", **asked: str):
    """A column as it is read, and what is noted besides what parts the columns."""
    rows = "".join(f"2024-01-{d + 1:02}{mark}{cells[d % len(cells)]}\n" for d in range(20))
    (here / "a.csv").write_text(f"ds{mark}y\n{rows}")
    notes: list[str] = []
    data = st.read("a.csv", notes=notes, **asked)
    column = data.fields["y"]
    found = column.flat[: len(cells)].tolist() if column.kind == "numbers" else data[0]["y"]
    return found, [words for words in notes if "columns lie between" not in words]


@pytest.mark.parametrize(
    ("cells", "mark", "expected", "said"),
    [
        (["1.005,3", "998,1"], ";", [1005.3, 998.1], "1.005,3 is 1005.3"),
        (["1.005", "12,5"], ";", [1005, 12.5], "1.005 is 1005"),
        (["1.005.300", "17"], "\t", [1005300, 17], "1.005.300 is 1005300"),
        (['"1,005.3"', "12.5"], ",", [1005.3, 12.5], "1,005.3 is 1005.3"),
        (["1.005", "2.310"], ";", [1.005, 2.31], "1.005 is 1.005; if .* say --decimal comma"),
        (["1,005", "2,310"], ";", [1.005, 2.31], "1,005 is 1.005; if .* say --decimal point"),
        (["1.05", "2.310"], ";", [1.05, 2.31], ""),
        (["12,5", "0,25"], ";", [12.5, 0.25], ""),
        (["1.005", "2.310"], ",", [1.005, 2.31], ""),
        (["0.125", "2.310"], ";", [0.125, 2.31], ""),
        (["01.02.2024", "05.02.2024"], ";", "01.02.2024", ""),
        (["1.005", "2,310"], ",", "1.005", ""),
    ],
)
def test_marks_between_thousands_are_read_or_said(here, cells, mark, expected, said):
    """1.005 was always 1.005, and a column with 1.005,3 was text."""
    cells = [
        f'"{cell}"' if mark == "," and "," in cell and '"' not in cell else cell for cell in cells
    ]
    found, notes = numbers_of(here, cells, mark)
    assert found == expected
    assert re.search(said, notes[0]) if said else not notes


def test_the_mark_before_decimals_can_be_told_and_is_kept(here):
    assert numbers_of(here, ["1.005", "2.310"], decimal="comma") == ([1005, 2310], [])
    assert numbers_of(here, ["1,005", "2,310"], decimal="point") == ([1005, 2310], [])
    found, notes = numbers_of(here, ["0.25", "2.310"], decimal="comma")
    assert found == [0.25, 2.31] and "without a decimal comma" in notes[0]
    with pytest.raises(ConfigError, match=r"decimal mark.*comma"):
        st.read("a.csv", decimal="coma")
    rows = "".join(f"2024-01-{d:02};{1000 + d * d % 7:,}\n".replace(",", ".") for d in range(1, 29))
    (here / "a.csv").write_text("ds;y\n" + rows)
    assert "say --decimal comma" in fitted("forecast", "persistence", "a.csv", horizon="2")
    assert "say --decimal comma" in seriatim("check", "a.csv").out
    fitted("forecast", "persistence", "a.csv", horizon="2", decimal="comma")
    assert st.load("run").reading.decimal == "comma"
    (here / "a.csv").write_text("ds;y\n" + rows + "2024-01-29;1.003,5\n")
    fitted("forecast", "persistence", "a.csv", horizon="2")
    assert st.load("run").reading.decimal == "comma"  # found, and kept for files that do not tell
    (here / "b.csv").write_text("ds;y\n" + rows)
    said = seriatim("predict", "run", "b.csv", "--format", "json")
    assert said.code == 0 and re.search(r"\b10\d\d\.0", said.out)


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


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_row_that_does_not_fit_does_not_hide_the_separator(here, mark):
    """Of a few rows one had a semicolon too many: all lines were texts, their labels among them."""
    rows = ["Label;Text", "klage;I want a refund", "unknown;the phone; it was good", "", "gut;fine"]
    (here / "few.csv").write_text("\n".join(rows).replace(";", mark) + "\n")
    with pytest.raises(DataError, match=r"few\.csv:3: columns found: 3, expected: 2"):
        read_files("few.csv")
    record = seriatim("check", "few.csv", "--format", "json").record
    assert record["files"][0]["classes"] == {"klage": 1, "gut": 1}
    assert [each["lines"] for each in record["findings"] if each["severity"] == "error"] == [[3]]
    commas = "text,label\nyes; no,ham\nno; yes,spam\nI came, I saw,ham\n"
    (here / "commas.csv").write_text(commas)
    with pytest.raises(DataError, match=r"commas\.csv:4: columns found: 3, expected: 2"):
        read_files("commas.csv")


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


@pytest.mark.parametrize("name, mark", [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_blank_lines_of_a_table_are_left_out_and_said(here, name, mark):
    """They were in a text, not in a table."""
    (here / name).write_text("\nlabel,text\nx,one\n\ny,two\n\n\n".replace(",", mark))
    assert len(read_files(name)) == 2 and f"{name}: 4 blank lines are left out" in notes_on(name)
    found = seriatim("check", name, "--format", "json").record["findings"]
    assert "4 blank lines are left out" in [each["what"] for each in found]
    (here / name).write_text("label,text\nx,one\n\ny,two".replace(",", mark))
    assert f"{name}: 1 blank line is left out" in notes_on(name)
    (here / "in.csv").write_text('label,text\nx,"one\n\ntwo"\ny,three\n')
    assert not any("blank" in words for words in notes_on("in.csv"))


def test_sentences_are_not_taken_for_columns(here):
    """A tagger fitted on columns read two sentences of five words as one column of two words."""
    rows = "Ada B-PER\nsleeps O\n\nBob B-PER\nsings O\n\n" * 20
    (here / "ner.txt").write_text(rows)
    (here / "new.txt").write_text("Ada sings in Rome .\nBob sleeps in Oslo .\n")
    fitted("tag", "most-frequent", "ner.txt")
    items = seriatim("predict", "run", "new.txt", "--format", "json").record["items"]
    assert [len(item["tokens"]) for item in items] == [5, 5]
