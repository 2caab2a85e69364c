"""FASTA: records arrive letter by letter without their headers, and whatever is wrong is said."""

import gzip
import random

import pytest

import seriatim as st
from seriatim.data.formats import read_files
from seriatim.errors import DataError

SEVERAL = b"\n;old comment\n>chr1 the first\nACGT\nNNac\n\n>x|2\r\n MK-V*\nL.\n>\nA"


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write_file


@pytest.mark.parametrize("name", ["a.fasta", "a.fa", "a.fna", "a.faa", "a.fa.gz"])
def test_records_are_sequences_and_headers_are_not(write, name):
    content = gzip.compress(SEVERAL) if name.endswith("gz") else SEVERAL
    data = read_files(write(name, content))
    assert [data[s] for s in range(len(data))] == [
        {"text": "ACGTNNac", "id": "chr1"},
        {"text": "MK-V*L.", "id": "x|2"},
        {"text": "A", "id": ""},
    ]
    assert (data.by, data.lines.tolist()) == ("line", [3, 7, 10])


def test_one_record_is_a_stream_and_several_are_one_a_line_if_asked_for(write):
    one = write("one.fa", b">chr\nACG\nT\n")
    assert (read_files(one).by, read_files(one)[0]["text"]) == ("stream", "ACGT")
    assert (read_files(one, by="line").by, len(read_files(one, by="line"))) == ("line", 1)
    whole = read_files(write("a.fa", SEVERAL), by="stream")
    assert (whole.by, whole[0]) == ("stream", {"text": "ACGTNNac\nMK-V*L.\nA"})


def test_it_is_said_that_few_records_can_be_one_text(write):
    notes = []
    read_files(write("a.fa", SEVERAL), notes=notes)
    assert "3 records, a sequence each; --by stream reads them as one text" in notes[-1]


@pytest.mark.parametrize(
    "content, line, words",
    [
        (b"@read1\nACGT\n+\nIIII\n", 1, "this is FASTQ"),
        (b"\nACGT\n>a\nACGT\n", 2, "begins with >"),
        (b"; only comments\n\n", 1, "begins with >"),
        (b">a\nACGT\n>b\n>c\nA\n", 3, "no sequence"),
        (b">a\nACGT\nAC7T\n", 3, "letters"),
        (b"", None, "empty"),
        (b">a\n\0\n", None, "binary"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(write, content, line, words):
    path = write("a.fq", content)
    with pytest.raises(DataError, match=words) as caught:
        read_files(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_records_without_a_sequence_may_be_left_out(write):
    problems = []
    data = read_files(write("a.fa", b">a\nAC\n>b\n\n>c\nG\n"), problems=problems)
    assert [data[s]["id"] for s in range(2)] == ["a", "c"] and problems[0].line == 3


def test_a_genome_is_fitted_and_compared_by_character(write, tmp_path):
    dice = random.Random(1)
    bases = "".join(dice.choice("ACGT" if i % 3 else "AC") for i in range(6000))
    lines = "\n".join(bases[i : i + 60] for i in range(0, 6000, 60))
    path = write("genome.fa", f">chr1 made up\n{lines}\n".encode())
    record = st.compare("language", path, models="unigram,markov", out=tmp_path / "table")
    rows = {row["model"]: row["bits_per_character"] for row in record["rows"]}
    assert 1.7 < rows["unigram"] < 2.05 and record["protocol"]["unit"] == "character"
    model = st.fit("language", "markov", path)
    assert sorted(model.codec.symbols[2:]) == ["A", "C", "G", "T"]
    several = write("two.fa", b">a\nACGT\n>b\nCCA\n")
    assert model.evaluate(several)["characters"] == 8  # a line break lies between them
