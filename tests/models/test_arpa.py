"""ARPA files: what we write comes back and loads in KenLM, what KenLM and SRILM write is read, and whatever is wrong is named with its line."""

from __future__ import annotations

import errno
import gzip
import json
import math
import os
import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import seriatim
from seriatim import storage
from seriatim.cli.main import main
from seriatim.codecs.options import CodecOptions
from seriatim.data.files import unpacked
from seriatim.errors import ConfigError, DataError, RunError, SeriatimError
from seriatim.models.ngrams import arpa
from seriatim.models.ngrams.arpa import read_arpa, write_arpa, written_names
from seriatim.models.ngrams.pruning import quantise
from seriatim.models.ngrams.tables import Tables

patient = settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
LINES = [
    f"{a} {b} {c}"
    for a in ("the cat", "a dog", "the old man")
    for b in ("saw", "and then saw")
    for c in ("the dog", "a cat", "nobody", "the sea .")
]
SOUND = """\
\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1.0\t<unk>\t0
0\t<s>\t-0.3
-0.7\t</s>
-0.5\ta\t-0.2
-0.6\tb\t-0.1

\\2-grams:
-0.2\t<s> a\t-0.25
-0.3\ta b
-0.4\tb </s>

\\3-grams:
-0.1\t<s> a b

\\end\\
"""


def tokens(lines, unit: str = "token") -> seriatim.Sequences:
    return seriatim.Sequences.of(lines, unit=unit)


def fitted(lines=LINES, order: int = 3, unit: str = "token", **more):
    return seriatim.fit("language", "kneser-ney", tokens(lines, unit), order=order, **more)


def scores(predictor, lines, unit: str = "token") -> np.ndarray:
    return np.array([each["log_prob"] for each in predictor.score(tokens(lines, unit))["items"]])


def written(tmp_path, text: str, name: str = "model.arpa"):
    (tmp_path / name).write_bytes(text.encode())
    return tmp_path / name


def check_well_formed(tables: Tables) -> None:
    Tables.of_arrays(tables.base, len(tables.keys), tables.arrays())


def slow(text: str):
    """The rule of back-off with dictionaries: a function from context and word to log10 p."""
    p, g = {}, {}
    for line in text.splitlines():
        columns = line.split("\t")
        if len(columns) > 1:
            gram = tuple(columns[1].split(" "))
            p[gram], g[gram] = float(columns[0]), float(columns[2]) if len(columns) > 2 else 0.0

    def score(context: tuple[str, ...], word: str) -> float:
        if (*context, word) in p:
            return p[(*context, word)]
        return g.get(context, 0.0) + score(context[1:], word) if context else p[("<unk>",)]

    return score


def slow_scores(text: str, order: int, lines) -> np.ndarray:
    score, known, found = (
        slow(text),
        {line.split("\t")[1] for line in text.splitlines() if "\t" in line},
        [],
    )
    for line in lines:
        words = ["<s>", *(word if word in known else "<unk>" for word in line.split()), "</s>"]
        found.append(
            math.log(10)
            * sum(
                score(tuple(words[max(0, t - order + 1) : t]), words[t])
                for t in range(1, len(words))
            )
        )
    return np.array(found)


# There and back


@pytest.mark.parametrize("ending", arpa.ENDINGS)
@pytest.mark.parametrize("smoothing", ["modified-kneser-ney", "witten-bell", "good-turing"])
def test_all_that_was_written_comes_back(tmp_path, ending, smoothing):
    model = fitted(smoothing=smoothing)
    write_arpa(tmp_path / f"model{ending}", model.model.tables, model.codec.symbols)
    symbols, tables = read_arpa(str(tmp_path / f"model{ending}"))
    assert symbols == model.codec.symbols and tables.base == model.model.tables.base
    for n in (1, 2, 3):
        assert np.array_equal(tables.keys[n - 1], model.model.tables.keys[n - 1])
        assert np.allclose(tables.log_p[n - 1], model.model.tables.log_p[n - 1], atol=1e-6, rtol=0)
        assert len(tables.counts[n - 1]) == len(tables.amounts[n - 1]) == 0
    for n in (1, 2):
        assert np.allclose(tables.log_g[n], model.model.tables.log_g[n], atol=1e-6, rtol=0)
    check_well_formed(tables)
    assert unpacked(str(tmp_path / f"model{ending}")).startswith(b"\\data\\\nngram 1=")


def test_blocks_of_any_size_make_the_same_file_and_the_same_tables(tmp_path, monkeypatch):
    model = fitted()
    model.export(out=tmp_path / "whole.arpa")
    whole = read_arpa(str(tmp_path / "whole.arpa"))
    for rows, size in ((1, 1), (7, 40), (64, 300)):
        monkeypatch.setattr(arpa, "ROWS", rows)
        monkeypatch.setattr(arpa, "BLOCK", size)
        model.export(out=tmp_path / "parts.arpa")
        assert (tmp_path / "parts.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()
        symbols, tables = read_arpa(str(tmp_path / "whole.arpa"))
        assert symbols == whole[0] and all(
            np.array_equal(*pair)
            for pair in zip(
                tables.keys + tables.log_p + tables.log_g,
                whole[1].keys + whole[1].log_p + whole[1].log_g,
                strict=True,
            )
        )


def test_a_model_in_eight_bits_is_written_too(tmp_path):
    model = fitted()
    quantise(model.model.tables)
    model.export(out=tmp_path / "small.arpa")
    assert np.allclose(
        scores(seriatim.load(tmp_path / "small.arpa"), LINES), scores(model, LINES), atol=1e-5
    )


@patient
@given(
    some.lists(
        some.lists(
            some.sampled_from(["a", "b", "c", "é", "<s>", "<UNK>", "1", "-2.5"]), max_size=6
        ).map(" ".join),
        min_size=1,
        max_size=6,
    ).filter(lambda lines: any(lines)),
    some.integers(1, 4),
)
def test_any_small_corpus_comes_back_and_still_sums_to_one(tmp_path, lines, order):
    model = fitted(lines, order)
    model.export(out=tmp_path / "model.arpa")
    again = seriatim.load(tmp_path / "model.arpa")
    column = tokens(lines).main
    ours, theirs = (each.model.sweep(model.codec.encode(column), True) for each in (model, again))
    assert np.allclose(ours, theirs, atol=1e-5)
    state = again.model.start(
        seriatim.batches.prompts([np.zeros(0, np.int32), model.codec.encode(column).row(0)])
    )[0]
    assert np.allclose(state.log_probs().exp().sum(-1), 1, atol=1e-5)


def test_names_that_cannot_stand_in_a_file_are_spelled_and_stay_different():
    given = [
        "<unk>",
        "</s>",
        " ",
        "a",
        "<s>",
        "<UNK>",
        "<U+0020>",
        "a\tb",
        "a<U+0009>b",
        "",
        "\ud800",
        "\u3000",
        "<U+003C>U+0020>",
        "😀",
    ]
    names = written_names(given)
    assert len(set(names)) == len(names) and all(
        name and not re.search(r"\s", name) and name.encode() for name in names
    )
    assert names[:6] == [
        "<unk>",
        "</s>",
        "<U+003C>U+003C>U+0020>",
        "a",
        "<U+003C>s>",
        "<U+003C>UNK>",
    ]
    assert names[6:] == [
        "<U+0020>",
        "<U+0061><U+0009>b",
        "a<U+0009>b",
        "<U+>",
        "<U+D800>",
        "<U+3000>",
        "<U+003C>U+0020>",
        "😀",
    ]
    assert written_names(["<unk>", "</s>", " ", "\n", "x"])[2:] == ["<U+0020>", "<U+000A>", "x"]


def test_a_model_of_characters_is_read_as_one_of_tokens(tmp_path):
    model = fitted(unit="character")
    model.export(out=tmp_path / "letters.arpa")
    spaced = [" ".join(line.replace(" ", "_")).replace("_", "<U+0020>") for line in LINES]
    assert np.allclose(
        scores(seriatim.load(tmp_path / "letters.arpa"), spaced),
        scores(model, LINES, "character"),
        atol=1e-5,
    )


# What others write


def test_the_file_of_lmplz_gives_the_scores_of_kenlm(public_data):
    model = seriatim.load(public_data / "oracle/kenlm_ewt4.arpa.xz")
    rows = [
        line.split("\t")
        for line in (public_data / "oracle/kenlm_ewt4_dev_scores.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    found = model.score(tokens(row[2] for row in rows))["items"]
    assert (
        max(
            abs(each["log_prob"] / math.log(10) - float(row[0]))
            for each, row in zip(found, rows, strict=True)
        )
        < 1e-3
    )
    assert [each["unknown"] for each in found] == [int(row[1]) for row in rows]
    assert [len(keys) for keys in model.model.tables.keys] == [19677, 105507, 167020, 179135]
    assert model.text("I", length=5, seed=1).startswith("I ") and "<" not in model.text(
        "", length=30, seed=2
    )


DIALECTS = {
    "blanks for tabs": SOUND.replace("\t", " "),
    "many blanks": SOUND.replace("\t", " \t  ").replace("a b", "a   b"),
    "line ends of Windows": SOUND.replace("\n", "\r\n"),
    "a header before the header": "# made by hand\n\nngram 7=1\n\\note\\\n" + SOUND,
    "SRILM": SOUND.replace("0\t<s>", "-99\t<s>")
    .replace("</s>\n", "</s>\t\n", 1)
    .replace("\\data\\", "\n\\data\\"),
    "other special names": SOUND.replace("<unk>", "<UNK>"),
    "zero for the longest": SOUND.replace("<s> a b", "<s> a b\t0"),
    "plus signs and powers of ten": SOUND.replace("-0.2\t<s>", "-2e-1\t<s>")
    .replace("\t0\n", "\t+0.0E0\n")
    .replace("-1.0", "-1.")
    .replace("-0.5\ta", "-.5\ta"),
    "blank lines between": SOUND.replace("\n-", "\n\n-").replace("\\end\\\n", "\\end\\\n\n \n"),
    "no end of line": SOUND[:-1],
    "another order": SOUND.replace(
        "-0.2\t<s> a\t-0.25\n-0.3\ta b\n", "-0.3\ta b\n-0.2\t<s> a\t-0.25\n"
    ),
    "a byte order mark": "\ufeff" + SOUND,
    "rounded up": SOUND.replace("0\t<s>", "1e-9\t<s>"),
}


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_says_the_same(tmp_path, text):
    lines = ["a b", "b a b", "a c", ""]
    model = seriatim.load(written(tmp_path, text))
    assert np.allclose(scores(model, lines), slow_scores(SOUND, 3, lines), atol=1e-5)
    assert model.codec.symbols == ["<unk>", "</s>", "a", "b"]


def test_what_is_not_listed_is_impossible(tmp_path):
    text = (
        SOUND.replace("ngram 1=5", "ngram 1=3")
        .replace("-1.0\t<unk>\t0\n", "")
        .replace("-0.7\t</s>\n", "")
        .replace("ngram 2=3", "ngram 2=2")
    )
    symbols, tables = read_arpa(str(written(tmp_path, text.replace("-0.4\tb </s>\n", ""))))
    assert (
        symbols == ["<unk>", "</s>", "a", "b"]
        and np.isneginf(tables.log_p[0][[0, 1, 4]]).all()
        and np.isfinite(tables.log_p[0][[2, 3]]).all()
    )


def test_minus_ninety_nine_and_minus_infinity_are_the_logarithm_of_zero(tmp_path):
    for zero in ("-99", "-inf", "-99.0000", "-120", "-Infinity", "-1e300"):
        _, tables = read_arpa(
            str(
                written(
                    tmp_path, SOUND.replace("-0.4\tb", f"{zero}\tb").replace("-0.1\n", f"{zero}\n")
                )
            )
        )
        assert np.isneginf(tables.log_p[1]).sum() == 1 and np.isneginf(tables.log_g[1]).sum() == 1


def test_an_empty_section_and_a_word_with_an_unusual_blank_are_read(tmp_path):
    text = (
        SOUND.replace("ngram 3=1", "ngram 3=0")
        .replace("-0.1\t<s> a b\n", "")
        .replace("\tb", "\tb\u00a0\x0b")
        .replace("a b", "a b\u00a0\x0b")
    )
    symbols, tables = read_arpa(str(written(tmp_path, text)))
    assert symbols[3] == "b\u00a0\x0b" and [len(keys) for keys in tables.keys] == [5, 3, 0]
    check_well_formed(tables)


def without(text: str, gone) -> str:
    """An ARPA file without the lines of some n-grams, with its header put right."""
    kept = [
        line
        for line in text.splitlines()
        if "\t" not in line or not gone(line.split("\t")[1].split(" "))
    ]
    many = {
        n: sum("\t" in line and len(line.split("\t")[1].split(" ")) == n for line in kept)
        for n in range(1, 9)
    }
    return (
        "\n".join(
            re.sub(r"^ngram (\d)=.*", lambda found: f"ngram {found[1]}={many[int(found[1])]}", line)
            for line in kept
        )
        + "\n"
    )


@patient
@given(some.randoms(use_true_random=False), some.sampled_from([0.1, 0.5, 0.9]), some.integers(2, 5))
def test_contexts_that_are_missing_change_nothing(tmp_path, dice, share, order):
    """N-grams are left out at random, whether longer ones begin with them or not; the rule of back-off still holds."""
    model = fitted(order=order)
    model.export(out=tmp_path / "whole.arpa")
    text = without(
        (tmp_path / "whole.arpa").read_text(),
        lambda words: len(words) > 1 and dice.random() < share,
    )
    again = seriatim.load(written(tmp_path, text))
    check_well_formed(again.model.tables)
    assert np.allclose(scores(again, LINES), slow_scores(text, order, LINES), atol=1e-4)
    lines = ["dog dog saw", "the sea saw the unheard cat", ""]
    assert np.allclose(scores(again, lines), slow_scores(text, order, lines), atol=1e-4)


# KenLM itself


def kenlm_scores(path, lines) -> np.ndarray:
    model = pytest.importorskip("kenlm").Model(str(path))
    return math.log(10) * np.array([model.score(line, bos=True, eos=True) for line in lines])


def test_kenlm_loads_what_we_write_and_scores_the_same(tmp_path, public_data):
    train = seriatim.read(str(public_data / "oracle/ewt.train.txt.gz"), by="line", unit="token")[
        :3000
    ]
    dev = [
        line.split("\t")[2]
        for line in (public_data / "oracle/kenlm_ewt4_dev_scores.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    ][:500]
    model = seriatim.fit("language", "kneser-ney", train, order=3)
    model.export(out=tmp_path / "model.arpa")
    assert (
        np.abs(kenlm_scores(tmp_path / "model.arpa", dev) - scores(model, dev)).max() / math.log(10)
        < 1e-4
    )
    dice = random.Random(1)
    text = (tmp_path / "model.arpa").read_text(encoding="utf-8")
    contexts = {
        line.split("\t")[1].rpartition(" ")[0]
        for line in text.splitlines()
        if line.count("\t") == 1
    }
    text = without(
        text,
        lambda words: len(words) > 1 and " ".join(words) not in contexts and dice.random() < 0.2,
    )
    pruned = written(tmp_path, text, "pruned.arpa")
    assert (
        np.abs(kenlm_scores(pruned, dev) - scores(seriatim.load(pruned), dev)).max() / math.log(10)
        < 1e-4
    )


def test_kenlm_loads_models_of_characters_and_bytes_and_impossible_symbols(tmp_path):
    texts = [*LINES, "a\u3000wide\u00a0blank\x85", "<s> </s> <unk>"]
    for unit in ("character", "byte"):
        model = fitted(texts, unit=unit)
        model.export(out=tmp_path / "letters.arpa")
        names = written_names(model.codec.symbols)
        lines = [" ".join(names[i] for i in model.codec.encode_text(text)) for text in texts]
        assert (
            np.abs(
                kenlm_scores(tmp_path / "letters.arpa", lines) - scores(model, texts, unit)
            ).max()
            / math.log(10)
            < 1e-4
        )
    closed = fitted(closed=True)
    closed.export(out=tmp_path / "closed.arpa")
    assert np.allclose(
        kenlm_scores(tmp_path / "closed.arpa", LINES), scores(closed, LINES), atol=1e-4
    )


# Whatever is wrong has a file and a line


WRONG = {
    "no data": ("\\data\\", "data", 1),
    "no header": ("ngram 1=5\nngram 2=3\nngram 3=1\n", "", 1),
    "no header line": ("ngram 2=3", "ngrams 2=3", 3),
    "a gap in the header": ("ngram 2=3", "ngram 3=3", 3),
    "a length twice": ("ngram 2=3", "ngram 1=5", 3),
    "a negative count": ("2=3", "2=-3", 3),
    "an absurd count": ("2=3", "2=999999999999999999", 13),
    "a count beyond any number": ("2=3", "2=" + "9" * 5000, 3),
    "too many in a section": ("ngram 2=3", "ngram 2=2", 13),
    "too few": ("-0.3\ta b\n", "", 13),
    "an empty section": ("-0.1\t<s> a b\n", "", 18),
    "no end": ("\\end\\\n", "", 19),
    "cut short": ("a b\n\n\\end\\\n", "", 19),
    "something after the end": ("\\end\\\n", "\\end\\\n\nmore\n", 23),
    "a section too many": ("\\end\\", "\\4-grams:\n-1\ta b a b\n\n\\end\\", 21),
    "a section missing": ("\\2-grams:", "", 18),
    "out of order": ("\\2-", "\\3-", 13),
    "an unknown section": ("\\2-grams:", "\\two-grams:", 13),
    "an early end": ("\\3-grams:", "\\end\\", 18),
    "a word for a number": ("-0.3\ta b", "x\ta b", 15),
    "a bad back-off": ("a\t-0.2", "a\t-0.2.1", 10),
    "two signs": ("-0.3\ta b", "--0.3\ta b", 15),
    "an underscore": ("-0.3\ta b", "-0_3\ta b", 15),
    "a comma": ("-0.3\ta b", "-0,3\ta b", 15),
    "a number too long": ("-0.3\ta b", f"-0.{'3' * 50}\ta b", 15),
    "not a number": ("-0.3\ta b", "nan\ta b", 15),
    "a back-off that is not a number": ("a\t-0.2", "a\tNaN", 10),
    "an infinite back-off": ("a\t-0.2", "a\tinf", 10),
    "a probability above one": ("-0.3\ta b", "0.3\ta b", 15),
    "infinitely probable": ("-0.3\ta b", "inf\ta b", 15),
    "an absurd back-off": ("a\t-0.2", "a\t1e30", 10),
    "a word too few": ("-0.3\ta b", "-0.3\ta", 15),
    "a word too many": ("-0.3\ta b", "-0.3\ta b a 0.1", 15),
    "no word": ("-0.5\ta\t-0.2", "-0.5", 10),
    "a back-off for the longest": ("<s> a b", "<s> a b\t-0.1", 19),
    "an unknown word": ("-0.3\ta b", "-0.3\ta c", 15),
    "a word twice": ("\tb\t", "\ta\t", 11),
    "a special word twice": ("\tb\t", "\t<UNK>\t", 11),
    "an n-gram twice": ("-0.4\tb </s>", "-0.4\t<s> a", 16),
}


@pytest.mark.parametrize("old, new, line", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_line(tmp_path, monkeypatch, old, new, line):
    assert old in SOUND
    path = written(tmp_path, SOUND.replace(old, new, 1))
    for size in (arpa.BLOCK, 8):
        monkeypatch.setattr(arpa, "BLOCK", size)
        with pytest.raises(DataError) as error:
            seriatim.load(path)
        assert (
            error.value.line == line
            and error.value.file == str(path)
            and len(str(error.value)) < 600 + len(str(path))
        )


def test_an_order_beyond_ours_is_refused(tmp_path):
    header = "".join(f"ngram {n}={5 if n == 1 else 0}\n" for n in range(1, 26))
    sections = SOUND[SOUND.index("\\1-") : SOUND.index("\\2-")] + "".join(
        f"\\{n}-grams:\n\n" for n in range(2, 26)
    )
    text = "\\data\\\n" + header + "\n" + sections + "\\end\\\n"
    with pytest.raises(DataError, match="up to 24") as error:
        seriatim.load(written(tmp_path, text))
    assert error.value.line == 26
    assert (
        len(
            seriatim.load(
                written(tmp_path, text.replace("ngram 25=0\n", "").replace("\\25-grams:\n\n", ""))
            ).model.tables.keys
        )
        == 24
    )


def test_files_that_are_no_text_are_refused_like_any_other_data(tmp_path):
    (tmp_path / "latin.arpa").write_bytes(SOUND.replace("\tb", "\té").encode("latin1"))
    (tmp_path / "cut.arpa.gz").write_bytes(gzip.compress(SOUND.encode())[:60])
    (tmp_path / "binary.arpa").write_bytes(b"mmap lm http\0\0")
    (tmp_path / "empty.arpa").write_bytes(b"")
    for name, words in (
        ("latin.arpa", "not UTF-8"),
        ("cut.arpa.gz", "damaged"),
        ("binary.arpa", "binary"),
        ("empty.arpa", "empty"),
    ):
        with pytest.raises(DataError, match=words) as error:
            seriatim.load(tmp_path / name)
        assert error.value.file == str(tmp_path / name)
    with pytest.raises(RunError, match="no such folder"):
        seriatim.load(tmp_path / "missing.arpa")
    with pytest.raises(DataError, match="no such file"):
        read_arpa(str(tmp_path / "missing.arpa"))


def damaged(text: str, dice: random.Random) -> str:
    """A file with a character or a line changed, lost or doubled."""
    place, rows = dice.randrange(len(text)), text.split("\n")
    line = dice.randrange(len(rows))
    return (
        dice.choice(
            [
                *[
                    text[:place]
                    + dice.choice("0123456789-.eE\t \n\rab<>/=:\\nginfx\0\x0bé")
                    + text[place + dice.randrange(2) :]
                ]
                * 6,
                text[:place],
                text[:place] + text[place + dice.randrange(1, 20) :],
                text + text[place:],
                "\n".join(rows[:line] + rows[line + 1 :]),
                "\n".join([*rows[:line], dice.choice(rows), *rows[line:]]),
            ]
        )
        or "x"
    )


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_or_read_and_nothing_else(tmp_path, seed):
    dice, fates = random.Random(seed), []
    for _ in range(100):
        text = damaged(SOUND, dice)
        for _ in range(dice.choice((0, 0, 1, 4))):
            text = damaged(text, dice)
        try:
            model = seriatim.load(written(tmp_path, text))
            check_well_formed(model.model.tables)
            model.score(tokens(["a b", "b"]))
            model.generate("a", length=3)
            fates.append(True)
        except SeriatimError:
            fates.append(False)
    assert 5 < sum(fates) < 95


# As part of the whole


def test_a_model_from_a_file_is_kept_in_a_run_folder_like_any_other(tmp_path):
    model = fitted()
    model.export(out=tmp_path / "model.arpa.xz")
    read = seriatim.load(tmp_path / "model.arpa.xz")
    assert (read.spec, read.by, read.codec.options, read.metrics) == (
        "kneser-ney",
        "line",
        CodecOptions(unit="token"),
        {},
    )
    again = seriatim.load(read.save(tmp_path / "run"))
    assert (
        again.score(tokens(LINES)) == read.score(tokens(LINES))
        and again.settings() == read.settings()
    )
    assert again.evaluate(tokens(LINES))["perplexity"] == pytest.approx(
        model.evaluate(tokens(LINES))["perplexity"], rel=1e-6
    )
    assert again.predict(tokens(["the old"]), top=2) == read.predict(tokens(["the old"]), top=2)
    assert (
        read.model.trace(seriatim.batches.of_lines(read.codec.encode(tokens(LINES).main), [0]))[
            "order"
        ].max()
        == 3
    )
    again.export(out=tmp_path / "again.arpa")
    model.export(out=tmp_path / "model.arpa")
    assert (tmp_path / "again.arpa").read_bytes() == (tmp_path / "model.arpa").read_bytes()


@pytest.mark.parametrize("name", ["uniform", "unigram", "markov", "lstm", "unigram+kneser-ney"])
def test_models_that_do_not_lean_are_not_exported(tmp_path, name):
    model = seriatim.fit(
        "language",
        name,
        tokens(LINES),
        tokens(LINES),
        **{"lstm": {"updates": 1, "width": 4}, "markov": {"add": 0.1}}.get(name, {}),
    )
    with pytest.raises(ConfigError, match="kneser-ney, witten-bell") as error:
        model.export(out=tmp_path / "model.arpa")
    assert name in str(error.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["model.bin", "model", "model.arpa.bz2", "model.gz", "arpa"])
def test_a_name_that_does_not_say_what_to_write_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match=r"\.arpa, \.arpa\.gz or \.arpa\.xz"):
        fitted().export(out=tmp_path / name)


def test_the_command_line_exports_and_uses_a_file_in_place_of_a_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.txt").write_text("\n".join(LINES) + "\n")
    model = fitted()
    model.save("run")
    assert main(["export", "run", "--out", "model.arpa.gz", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["kind"], record["out"]) == ("exported", "model.arpa.gz")
    assert record["ngrams"] == [len(keys) for keys in model.model.tables.keys]
    assert main(["score", "model.arpa.gz", "lines.txt"]) == 0
    assert [
        float(line.split("\t")[0]) for line in capsys.readouterr().out.splitlines()
    ] == pytest.approx(scores(model, LINES).tolist(), abs=1e-5)
    for verb in (
        ["evaluate", "model.arpa.gz", "lines.txt"],
        ["predict", "model.arpa.gz", "lines.txt"],
        ["generate", "model.arpa.gz", "--length", "5"],
        ["export", "model.arpa.gz", "--out", "other.arpa"],
    ):
        assert main(verb) == 0
    assert "n-grams up to length 3" in capsys.readouterr().out
    assert (
        main(["export", "run", "--out", "model.txt"]) == 2
        and main(["export", "nowhere", "--out", "model.arpa"]) == 1
    )
    assert (
        main(["score", "lines.txt", "lines.txt"]) == 1
        and "not a run folder" in capsys.readouterr().err
    )


# A disk that is full


@pytest.mark.parametrize("ending", arpa.ENDINGS)
@pytest.mark.parametrize(
    "what", ["nothing written", "written", "synced", "fsync", "replace", "open", "interrupted"]
)
def test_whatever_stops_the_writing_leaves_the_earlier_file_and_nothing_else(
    tmp_path, monkeypatch, ending, what
):
    path, model = tmp_path / f"model{ending}", fitted()
    path.write_bytes(b"earlier")

    def stop(*arguments, **more):
        raise (
            KeyboardInterrupt
            if what == "interrupted"
            else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        )

    if what in storage.POINTS:
        monkeypatch.setattr(storage, "reached", lambda point: stop() if point == what else None)
    else:
        where, name = {"open": (storage, "open"), "interrupted": (arpa, "lines")}.get(
            what, (os, what)
        )
        monkeypatch.setattr(where, name, stop, raising=False)
    with pytest.raises(KeyboardInterrupt if what == "interrupted" else RunError):
        model.export(out=path)
    monkeypatch.undo()
    assert path.read_bytes() == b"earlier" and [each.name for each in tmp_path.iterdir()] == [
        path.name
    ]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("ending", arpa.ENDINGS)
def test_a_device_that_is_really_full_is_our_error(tmp_path, monkeypatch, ending):
    real = open
    monkeypatch.setattr(
        storage, "open", lambda name, mode: real("/dev/full", mode, buffering=0), raising=False
    )
    with pytest.raises(RunError, match="No space left"):
        fitted().export(out=tmp_path / f"model{ending}")


def test_a_place_that_cannot_be_written_is_our_error(tmp_path):
    for name in ("missing/model.arpa", "x" * 300 + ".arpa"):
        with pytest.raises(RunError, match="cannot write"):
            fitted().export(out=tmp_path / name)
    assert not list(tmp_path.iterdir())
