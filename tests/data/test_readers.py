"""Readers: what a file says arrives, and whatever is wrong with it is a SeriatimError with file and line."""

import csv
import gzip
import io
import json
import lzma
import os
import random
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.data import files
from seriatim.data.formats import parquet, read_files
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT
from seriatim.errors import ConfigError, DataError, SeriatimError

PUBLIC = Path(os.environ.get("SERIATIM_DATA") or Path(__file__).parents[3] / "shared" / "data")
CONLLU = (
    "# text = Don't go\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\t_\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_\n\n# text = #\n1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_\n"
)
# lone surrogates cannot be written, NUL means binary, U+FEFF at the beginning is a byte order mark
CHARACTERS = some.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("read")


def raws(data, name):
    return [data[s][name] for s in range(len(data))]


def public(name: str) -> str:
    if not (PUBLIC / name).exists():
        pytest.skip(f"{name} is not in {PUBLIC}")
    return str(PUBLIC / name)


# Text and parallel files


def test_a_stream_keeps_the_text_but_for_its_byte_order_mark_and_line_endings(write):
    notes = []
    path = write("a.txt", b"\xef\xbb\xbf" + "é\r\n\n x\ry\u2028".encode())
    data = read_files(path, unit="character", notes=notes)
    found = (data[0], data.by, data.unit)
    assert found == ({"text": "é\n\n x\ry\u2028"}, "stream", "character")
    assert notes == [
        f"{path}: a byte order mark is left out",
        f"{path}: lines end with \\r\\n, read as \\n (1 times)",
    ]


def test_lines_lose_their_endings_and_blank_ones_are_skipped_but_counted(write):
    data = read_files(
        write("a.txt", "\n one\r\n \t\r\ntwo\x0bthree\u2028\r\r\n\n\nlast\r"), by="line"
    )
    assert raws(data, "text") == [" one", "two\x0bthree\u2028\r", "last\r"]
    assert (data.by, data.lines.tolist()) == ("line", [2, 4, 7])


@settings(deadline=None)
@given(
    some.lists(
        some.tuples(
            some.text(CHARACTERS.filter(lambda character: character not in "\r\n")),
            some.sampled_from(["\n", "\r\n"]),
        ),
        min_size=1,
    ),
    some.booleans(),
)
def test_text_by_line_round_trips(folder, lines, ended):
    content = "".join(line + ending for line, ending in lines)
    content = content if ended else content.rstrip("\r\n")
    (folder / "lines.txt").write_bytes(content.encode())
    expected = {i: line for i, (line, _) in enumerate(lines, 1) if line.encode().strip()}
    if expected:
        data = read_files(folder / "lines.txt", by="line")
        assert dict(zip(data.lines.tolist(), raws(data, "text"))) == expected
    else:
        with pytest.raises(DataError):
            read_files(folder / "lines.txt", by="line")


def test_parallel_files_keep_empty_lines_and_must_match(write):
    paths = (
        write("a.de", "eins\n\nzwei\n"),
        write("a.en", "one\n\r\ntwo"),
        write("a.fr", "un\nx\ndeux\n"),
    )
    data = read_files(*paths)
    assert raws(data, "source") == ["eins", "", "zwei"] and raws(data, "target") == [
        "one",
        "",
        "two",
    ]
    assert raws(data, "target2") == ["un", "x", "deux"] and data.origin == ", ".join(paths)
    with pytest.raises(DataError, match="Received: 3, 1"):
        read_files(paths[0], write("b.en", "one\n"))


# Tagged sentences


def test_conllu_takes_words_and_universal_tags_only(write):
    data = read_files(write("a.conllu", CONLLU))
    assert raws(data, "tokens") == [["Do", "n't", "go"], ["#"]] and data.lines.tolist() == [3, 9]
    assert raws(data, "tags") == [["AUX", "PART", "VERB"], ["SYM"]]


def test_columns_take_the_first_and_the_last(write):
    data = read_files(write("a.bio", "New York\tNNP\tB-LOC\n\n\n# x O\nb I"))
    assert raws(data, "tokens") == [["New York"], ["#", "b"]] and raws(data, "tags") == [
        ["B-LOC"],
        ["O", "I"],
    ]


# Tables


def test_columns_become_what_their_names_and_cells_call_for(write):
    data = read_files(
        write("a.csv", 'label,n,text,tokens,other\n1,2.5,7,a b,x\n\n0,-1e3,"8\n9",c,1_2\n')
    )
    assert raws(data, "label") == [["1"], ["0"]] and raws(data, "tokens") == [["a", "b"], ["c"]]
    assert raws(data, "text") == ["7", "8\n9"] and raws(data, "other") == ["x", "1_2"]
    assert data.fields["n"].values.tolist() == [2.5, -1000] and data.lines.tolist() == [2, 4]
    assert [data.fields[name].kind for name in ("label", "n", "text")] == [SYMBOLS, NUMBERS, TEXT]


def test_what_is_translated_is_read_as_it_is_written(write):
    assert read_files(write("a.csv", "source,target\n007,7\n12,XII\n"))[0] == {
        "source": "007",
        "target": "7",
    }
    assert read_files(write("a.csv", "date,target\n2024-01-01,7\n"))[0]["target"].tolist() == [7.0]


def test_tsv_knows_no_quotes_and_columns_replace_the_header(write):
    data = read_files(
        write("spam", 'ham\t"Ok\nspam\tFree"\n'), input_format="tsv", columns="label, text"
    )
    assert raws(data, "text") == ['"Ok', 'Free"'] and raws(data, "label") == [["ham"], ["spam"]]


@settings(deadline=None)
@given(
    some.lists(some.tuples(some.text(CHARACTERS, min_size=1), some.text(CHARACTERS)), min_size=1)
)
def test_csv_round_trips(folder, rows):
    with open(folder / "rows.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("label", "text"), *rows])
    data = read_files(folder / "rows.csv")
    assert list(zip(raws(data, "label"), raws(data, "text"))) == [
        ([label], text) for label, text in rows
    ]


OBJECTS = [
    {"text": "é", "n": 1, "label": 3, "ok": True, "tokens": ["a", "b"], "x": []},
    {"text": "", "n": 2.5, "label": 4, "ok": False, "tokens": [], "x": [1, 2.5]},
]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_values_become_what_their_types_call_for(write, tmp_path, ending):
    path = write("a.jsonl", "\n".join(map(json.dumps, OBJECTS)))
    if ending == "parquet":
        import polars

        polars.DataFrame(OBJECTS, strict=False).write_parquet(path := str(tmp_path / "a.parquet"))
    data = read_files(path)
    assert data[0].keys() == OBJECTS[0].keys() and raws(data, "text") == ["é", ""]
    assert raws(data, "label") == [["3"], ["4"]] and raws(data, "ok") == [["true"], ["false"]]
    assert raws(data, "tokens") == [["a", "b"], []] and data.fields["n"].values.tolist() == [1, 2.5]
    assert [row.tolist() for row in raws(data, "x")] == [[], [1, 2.5]]


def test_parquet_dates_are_text_and_decimals_are_numbers(tmp_path):
    import polars

    frame = polars.DataFrame({"date": ["2024-02-29"], "price": ["1.10"]})
    frame.with_columns(
        polars.col("date").str.to_date(), polars.col("price").cast(polars.Decimal(9, 2))
    ).write_parquet(tmp_path / "a.parquet")
    assert read_files(tmp_path / "a.parquet")[0] == {"date": "2024-02-29", "price": 1.1}


def test_a_parquet_decoder_that_breaks_down_does_not_take_us_along(write, monkeypatch):
    monkeypatch.setattr(parquet, "PARQUET_TO_JSON", "import os; os.abort()")
    with pytest.raises(DataError, match="signal"):
        read_files(write("a.parquet", b"PAR1"))


# What is wrong


WRONG = {  # name -> file, content, line or None, words of the message
    "damaged": ("a.txt", "one é\ntwo ".encode() + b"\xe9\n", 2, "byte 0xe9"),
    "binary": ("a.txt", b"PK\0\0", None, "binary"),
    "empty": ("a.txt", b"", None, "empty"),
    "only a byte order mark": ("a.csv", b"\xef\xbb\xbf", None, "empty"),
    "header only": ("a.csv", b"a,b\n", None, "no sequence"),
    "comments only": ("a.conllu", b"# text = x\n", None, "no sequence"),
    "ragged csv": ("a.csv", b'a,b\n"x\ny",1\n1,2,3\n', 4, "found: 3, expected: 2"),
    "ragged tsv": ("a.tsv", b"a\tb\nx\n", 2, "found: 1, expected: 2"),
    "quotes": ("a.csv", b'a,b\n"x"y,1\n', 2, "valid csv"),
    "open quote": ("a.csv", b'a,b\n1,2\n"x,1\n2,3\n', 3, "valid csv"),
    "same names": ("a.csv", b"a,a\n1,2\n", 1, "name of its own"),
    "no name": ("a.tsv", b"a\t\n1\t2\n", 1, "name of its own"),
    "hole in numbers": (
        "a.csv",
        b"a,n\n" + b"x,1\n" * 12 + b"x,\n",
        14,
        "missing value in column 'n'",
    ),
    "nan in numbers": ("a.csv", b"n\n" + b"1\n" * 12 + b"NaN\n", 14, "missing value in column 'n'"),
    "infinite": ("a.csv", b"n\n" + b"1\n" * 12 + b"-inf\n", 14, "infinite number in column 'n'"),
    "no label": ("a.csv", b"label,text\na,x\n,y\n", 3, "missing value in column 'label'"),
    "not JSON": ("a.jsonl", b'{"a": 1}\n\n{"a": \n', 3, "not JSON"),
    "not an object": ("a.jsonl", b"[1]\n", 1, "JSON object"),
    "other keys": ("a.jsonl", b'{"a": 1}\n{"b": 1}\n', 2, "keys differ"),
    "other kind": ("a.jsonl", b'{"a": 1}\n{"a": "1"}\n', 2, "Expected in every row: number"),
    "null": ("a.jsonl", b'{"a": 1}\n{"a": null}\n', 2, "missing value"),
    "NaN": (
        "a.jsonl",
        b'{"a": [1, 2]}\n{"a": [1, NaN]}\n',
        2,
        "list of NaN and number in column 'a'",
    ),
    "NaN alone": ("a.jsonl", b'{"a": 1}\n\n{"a": NaN}\n', 3, "NaN in column 'a'"),
    "infinity": ("a.jsonl", b'{"a": 1e999}\n', 1, "out of range"),
    "huge": ("a.jsonl", b'{"a": ' + b"9" * 400 + b"}", 1, "out of range"),
    "too many digits": ("a.jsonl", b'{"a": ' + b"9" * 5000 + b"}", 1, "not JSON"),
    "nested object": ("a.jsonl", b'{"a": {"b": 1}}\n', 1, "nested"),
    "deep list": ("a.jsonl", b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}", 1, "nested"),
    "too deep": ("a.jsonl", b'{"a": ' + b"[" * 100_000, 1, "not JSON"),
    "half a pair": ("a.jsonl", b'{"a": "\\ud800"}', 1, "not JSON"),
    "no parquet": ("a.parquet", b"PAR1 nothing PAR1", None, "parquet"),
    "nine columns": ("a.conllu", b"# x\n1\ta\ta\tX\t_\t_\t0\t_\t_\n", 2, "10 columns"),
    "no word number": ("a.conllu", b"x\ta\ta\tX\t_\t_\t0\t_\t_\t_\n", 1, "number of its word"),
    "token without tag": ("a.conll", b"a X\nb\n", 2, "single column"),
    "empty tag": ("a.conll", b"a\tX\nb\t\n", 2, "empty"),
    "gzip cut short": ("a.txt.gz", gzip.compress(b"some text" * 50)[:-9], None, "damaged"),
    "no gzip": ("a.txt.gz", b"some text", None, "damaged"),
    "gzip flipped": ("a.txt.gz", gzip.compress(b"some text")[:-8] + b"12345678", None, "damaged"),
    "xz cut short": ("a.csv.xz", lzma.compress(b"a,b\n1,2\n")[:-9], None, "damaged"),
    "no xz": ("a.csv.xz", b"a,b\n1,2\n", None, "damaged"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(write, case):
    name, content, line, words = WRONG[case]
    path = write(name, content)
    with pytest.raises(DataError, match=words) as caught:
        read_files(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_problems_of_single_lines_are_collected_and_the_rest_is_read(write):
    content = {
        "csv": 'label,text\nx,a\n,b\nx,c,d\ny,"e\nf"\n',
        "tsv": "label\ttext\nx\ta\n\tb\nx\tc\td\ny\te\n",
        "jsonl": '{"label": "x", "text": "a"}\n{"label": null, "text": "b"}\n{"text": "c"}\n{"label": "y", "text": "d"}\n',
    }
    for ending, text in content.items():
        problems: list[DataError] = []
        data = read_files(write("a." + ending, text), problems=problems)
        assert raws(data, "label") == [["x"], ["y"]] and sorted(
            problem.line for problem in problems
        ) == ([2, 3] if ending == "jsonl" else [3, 4])
        with pytest.raises(DataError):
            read_files(write("a." + ending, text))


@pytest.mark.parametrize("name, row", [("a.csv", "Label, TEXT\n"), ("a.tsv", "\nlabel\ttext\n")])
def test_a_header_is_no_row_where_the_columns_are_named_all_the_same(write, name, row):
    notes, between = [], "," if name == "a.csv" else "\t"
    data = read_files(write(name, row + f"ham{between}tea\n"), columns="label,text", notes=notes)
    blank = row.startswith("\n")  # which is said, too
    assert (
        data[0] == {"label": ["ham"], "text": "tea"}
        and len(data) == 1
        and len(notes) == 1 + blank
        and f"{name}:{data.lines[0] - 1} " in notes[-1]
    )
    assert (
        len(
            read_files(
                write(name, f"ham{between}text\nspam{between}label\n"),
                columns="label,text",
                notes=notes,
            )
        )
        == 2
        and len(notes) == 1 + blank
    )
    assert (
        len(
            read_files(
                write(name, f"Category{between}Message\nham{between}tea\n"),
                columns="label,text",
                notes=notes,
            )
        )
        == 1
        and len(notes) == 2 + blank
    )


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.csv", "label,text\n,tea\nham,cash\n"),
        ("a.tsv", "label\ttext\n\ttea\nham\tcash\n"),
        ("a.jsonl", '{"label": null, "text": "tea"}\n{"label": "ham", "text": "cash"}\n'),
    ],
)
def test_labels_may_be_missing_where_there_may_be_gaps(write, name, content):
    with pytest.raises(DataError, match="missing value in column 'label'"):
        read_files(write(name, content))
    assert raws(read_files(write(name, content), gaps=True), "label") == [[""], ["ham"]]


def test_standard_input_is_read_like_a_file_and_again(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("é\n\nx\n".encode())))
    assert raws(read_files("-", by="line"), "text") == ["é", "x"] and read_files(
        "-", by="line"
    ).lines.tolist() == [1, 3]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    assert read_files("-", input_format="csv")[0] == {"a": np.array([1.0]), "b": "x"}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="empty"):
        read_files("-")


def test_paths_that_lead_nowhere_come_with_a_hint(write, tmp_path):
    write("shakespeare.txt", "x")
    with pytest.raises(DataError, match=r"Did you mean .shakespeare\.txt."):
        read_files(tmp_path / "shakespear.txt")
    for path in (
        tmp_path,
        tmp_path / "no" / "where",
        tmp_path / "shakespeare.txt" / "x",
        "a\0b",
        "x" * 5000,
    ):
        with pytest.raises(DataError):
            read_files(path)


def test_a_small_archive_of_a_huge_file_is_refused(write, monkeypatch):
    path = write("a.txt.gz", gzip.compress(bytes(b"a" * 10**6)))
    assert len(read_files(path).main.flat) == 10**6
    monkeypatch.setenv("SERIATIM_MOST_BYTES", "100000")
    with pytest.raises(DataError, match="more than 100,000 bytes"):
        read_files(path)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"input_format": "cvs"}, "Did you mean 'csv'"),
        ({"by": "lines"}, "Did you mean 'line'"),
        ({"columns": "a,b"}, "csv, tsv and conllu"),
        ({"input_format": "parallel"}, "two or more"),
        ({"input_format": "jsonl", "by": "stream"}, "stream"),
        ({"input_format": "csv", "columns": "a,a"}, "name of its own"),
        ({"input_format": "tsv", "columns": []}, "name of its own"),
    ],
)
def test_settings_that_make_no_sense_are_refused(write, options, words):
    with pytest.raises(ConfigError, match=words):
        read_files(write("a.txt", "x\n"), **options)
    with pytest.raises(ConfigError, match="one file"):
        read_files("a.txt", "b.txt", input_format="text")
    with pytest.raises(ConfigError, match="no file"):
        read_files()


# Public files as published


@pytest.mark.parametrize(
    "paths, options, sequences, values",
    [
        (["text/tinyshakespeare.txt"], {}, 1, 1_115_394),
        (["tag/en_ewt-ud-dev.conllu.xz"], {}, 2_001, 25_147),
        (
            ["classify/SMSSpamCollection"],
            {"input_format": "tsv", "columns": "label,text"},
            5_574,
            None,
        ),
        (["classify/rt-polarity.tsv"], {"columns": "label,text"}, 10_662, None),
        (["translate/multi30k.val.de.gz", "translate/multi30k.val.en.gz"], {}, 1_014, None),
        (["series/ETTh1.csv"], {}, 17_420, None),
    ],
)
def test_public_files_have_their_published_sizes(paths, options, sequences, values):
    data = read_files(*map(public, paths), **options)
    assert len(data) == sequences and values in (None, len(data.main.flat))


# Damage at random: only a SeriatimError may come out


MUTATIONS, MANY_MUTATIONS = 300, 10_000
PROCESS = 20  # parquet starts a process each time: so many times fewer
CASES = {
    "text": ("a.txt", {}),
    "lines": ("a.txt", {"by": "line"}),
    "csv": ("a.csv", {}),
    "tsv": ("a.tsv", {}),
    "jsonl": ("a.jsonl", {}),
    "parquet": ("a.parquet", {}),
    "conllu": ("a.conllu", {}),
    "columns": ("a.bio", {}),
    "parallel": ("a.de", {}),
    "gzip": ("a.conllu.gz", {}),
    "xz": ("a.csv.xz", {}),
    "quickdraw": ("a.ndjson", {"input_format": "quickdraw"}),
    "strokes": ("a.npz", {}),
    "fasta": ("a.fa", {}),
    "pgn": ("a.pgn", {}),
    "moves": ("a.moves", {}),
    "wav": ("a.wav", {"own": {"frame": 32, "sample_rate": 4000}}),
    "png": ("a.png", {}),
    "svg": ("a.svg", {}),
    "midi": ("a.mid", {}),
}


def head(name: str, most: int = 2000) -> bytes:
    """The beginning of a public file, or nothing where there is none."""
    path = PUBLIC / name
    opener = files.OPENERS.get(path.suffix, open)
    if not path.exists():
        return b""
    with opener(path, "rb") as file:
        return file.read(most)


def sound(width: int, channels: int = 1) -> bytes:
    """A short sound, written by the standard library."""
    with wave.open(file := io.BytesIO(), "wb") as out:
        out.setparams((channels, width, 8000, 0, "NONE", ""))
        out.writeframes(bytes(range(96)) * width * channels)
    return file.getvalue()


def picture(colour: int) -> bytes:
    """A small picture of 4 x 3 pixels, grey or in colours, with a filter of each kind."""
    size = 3 if colour else 1
    rows = b"".join(bytes([kind, *range(4 * size)]) for kind in (1, 3, 4))
    head = bytes([0, 0, 0, 4, 0, 0, 0, 3, 8, colour, 0, 0, 0])
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    packed = (
        len(inside).to_bytes(4, "big")
        + name
        + inside
        + zlib.crc32(name + inside).to_bytes(4, "big")
        for name, inside in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def seeds(case: str) -> list[bytes]:
    text = "First Citizen:\r\nBefore we proceed, hear me — speak.\n\nAll:\nSpeak, speak. 日本語\n".encode()
    table = (
        b'label,n,text,tokens\nham,1,"say ""yes""",a b\nspam,2.5,"two\nlines",c\nham,-3e2,x,d e\n'
    )
    objects = "\n".join(json.dumps(row) for row in OBJECTS * 3).encode()
    known = {
        "text": [text, head("text/tinyshakespeare.txt")],
        "csv": [table, head("series/ETTh1.csv")],
        "tsv": [
            b'label\tn\ttext\nham\t1\tx y\nspam\t2\t\nham\t3\t"z\n',
            b"label\ttext\n" + head("classify/SMSSpamCollection"),
        ],
        "jsonl": [objects],
        "conllu": [CONLLU.encode(), head("tag/en_ewt-ud-dev.conllu.xz")],
        "columns": [b"EU NNP B-ORG\nrejects VBZ O\n\nPeter\tNNP\tB-PER\nBlackburn\tNNP\tI-PER\n"],
        "parallel": [text, head("translate/multi30k.val.de.gz")],
        "quickdraw": [
            b'{"word": "cat", "drawing": [[[0, 5.5, 9], [3, 4, 250]], [[7], [7]]]}\n{"word": "dog", "drawing": [[[1, 2], [3, 4], [0, 16]]]}\n'
        ],
        "fasta": [b"; c\n>chr1 x\nACGTNN\nac\n\n>x|2\r\nMK-V*\r\n>y\nL\n" * 2],
        "pgn": [
            b'[White "A"]\n[Result "1-0"]\n\n1. e4 {x} e5 (1... c5 $2) 2. 0-0! ; y\n1-0\n\n1. d4 *\n'
        ],
        "moves": [b"1. e4 e5 2.Nf3 1-0\ne2e4 e7e5 *\n"],
        "wav": [sound(1), sound(2), sound(3, 2), sound(4)],
        "png": [picture(0), picture(2)],
        "svg": [
            b'<svg><g transform="rotate(30 5,5)"><path d="M0 0l5-5C1 2 3 4 5 6S7 8 9 9q1 1 2 0T5 5A5 3 20 01 9 9z"/></g><circle r="4"/></svg>'
        ],
        "midi": [
            b"MThd\0\0\0\6\0\0\0\1\0\x60MTrk\0\0\0\x13\0\x90\x3c\x40\x60\x40\x40\x60\x80\x40\0\0\xf0\1\xf7\0\xff\x2f\0"
        ],
    }
    if case == "strokes":
        np.savez(
            file := io.BytesIO(),
            points=[[1.5, 2, 0], [3, 4, 1]] * 2,
            offsets=[0, 2, 4],
            labels=[1, 0],
            classes=["cat", "dog"],
        )
        return [file.getvalue()]
    if case == "parquet":
        import polars

        polars.DataFrame(OBJECTS * 3, strict=False).write_parquet(
            file := io.BytesIO(), compression="snappy"
        )
        return [file.getvalue()]
    if case in ("gzip", "xz"):
        pack, of = (gzip.compress, "conllu") if case == "gzip" else (lzma.compress, "csv")
        return [pack(seed) for seed in known[of] if seed]
    return [seed for seed in known["text" if case == "lines" else case] if seed]


def mutate(content: bytes, dice: random.Random) -> bytes:
    """The content after one to four accidents."""
    for _ in range(dice.randint(1, 4)):
        start, length = dice.randrange(len(content) + 1), dice.randint(1, 8)
        before, piece, after = (
            content[:start],
            content[start : start + length],
            content[start + length :],
        )
        accident = dice.choice(["flip", "delete", "duplicate", "truncate", "insert", "swap lines"])
        if accident == "flip":
            content = before + bytes(byte ^ 1 << dice.randrange(8) for byte in piece) + after
        elif accident == "delete":
            content = before + after
        elif accident == "duplicate":
            content = before + piece * dice.randint(2, 9) + after
        elif accident == "truncate":
            content = before
        elif accident == "insert":
            content = before + dice.randbytes(length) + piece + after
        else:
            lines = content.split(b"\n")
            i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            content = b"\n".join(lines)
    return content


def survive(case: str, folder: Path, mutations: int) -> None:
    name, options = CASES[case]
    path, sources, read = folder / name, seeds(case), 0
    (folder / "whole.en").write_bytes(sources[0])
    others = [folder / "whole.en"] if case == "parallel" else []
    for i in range(mutations):
        path.write_bytes(mutate(sources[i % len(sources)], random.Random(f"{case} {i}")))
        try:
            data = read_files(path, *others, **options)
        except SeriatimError as error:
            assert str(error) and json.dumps(error.record())
            continue
        except BaseException as error:
            raise AssertionError(f"mutation {i} of {case} raised {error!r}") from error
        read += 1
        assert (
            len(data)
            and data[0]
            and data[-1]
            and (data.lines is None or np.all(np.diff(data.lines) > 0))
        )
    assert 0 < read < mutations


@pytest.mark.parametrize("case", CASES)
def test_damaged_files_raise_nothing_but_our_errors(folder, case):
    survive(case, folder, MUTATIONS // (PROCESS if case == "parquet" else 1))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_many_damaged_files_raise_nothing_but_our_errors(folder, case):
    survive(case, folder, MANY_MUTATIONS // (PROCESS if case == "parquet" else 1))
