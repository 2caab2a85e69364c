"""fastText's own models: the vectors of its program, sizes that are checked; pickles are refused."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.data.pickles import PickleError
from seriatim.errors import DataError
from seriatim.tasks.words.files import read_vectors

WORDS = ["</s>", "the", "naïve", "日本語", "a"]
BUCKETS, WIDTH = 50, 4
MATRIX = np.random.default_rng(3).normal(size=(len(WORDS) + BUCKETS, WIDTH)).astype("<f4")


def hashed(piece: bytes) -> int:
    """FNV-1a, each byte with its sign."""
    value = 2166136261
    for byte in piece:
        value ^= (byte - 256 if byte > 127 else byte) & 0xFFFFFFFF
        value = value * 16777619 & 0xFFFFFFFF
    return value


def slow_vector(number: int, least: int, longest: int) -> np.ndarray:
    """The mean of a word's row and those of its n-grams, letter by letter."""
    rows, word = [number], f"<{WORDS[number]}>"
    for begin in range(len(word) if WORDS[number] != "</s>" else 0):
        for n in range(max(1, least), min(longest, len(word) - begin) + 1):
            if n == 1 and (begin == 0 or begin + n == len(word)):
                continue
            rows.append(len(WORDS) + hashed(word[begin : begin + n].encode()) % BUCKETS)
    return MATRIX[rows].mean(0)


def model(
    least=3, longest=6, version=12, kind=2, quantised=False, labels=(), kept=-1, words=WORDS
) -> bytes:
    """A file as fastText writes it."""
    content = struct.pack("<2i", 793712314, version)
    settings = (WIDTH, 5, 5, 5, 5, 1, 1, kind, BUCKETS, least, longest, 100)
    content += struct.pack("<12id", *settings, 1e-4)
    content += struct.pack("<iiiqq", len(words) + len(labels), len(words), len(labels), 1000, kept)
    for place, word in enumerate([*words, *labels]):
        content += word.encode() + b"\0" + struct.pack("<qb", 10, place >= len(words))
    content += struct.pack("<?qq", quantised, *MATRIX.shape) + MATRIX.tobytes()
    return content + struct.pack("<?qq", False, len(words), WIDTH) + bytes(16 * len(words))


def stored(folder: Path, content: bytes, name: str = "model.bin") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize(("least", "longest"), [(3, 6), (1, 2), (2, 3), (0, 0)])
@pytest.mark.parametrize("name", ["model.bin", "model", "model.bin.gz"])
def test_vectors_are_those_of_the_words_and_their_n_grams(tmp_path, least, longest, name):
    path = stored(tmp_path, model(least, longest, labels=("__label__x",)), name)
    words, vectors = read_vectors(path)
    assert words == WORDS and vectors.dtype == np.float32
    expected = np.stack([slow_vector(number, least, longest) for number in range(len(WORDS))])
    np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
    few, some = read_vectors(path, most=2)
    assert few == WORDS[:2] and np.array_equal(some, vectors[:2])


def test_an_old_model_of_labels_has_no_n_grams(tmp_path):
    _, vectors = read_vectors(stored(tmp_path, model(version=11, kind=3)))
    assert np.array_equal(vectors, MATRIX[: len(WORDS)])
    _, others = read_vectors(stored(tmp_path, model(version=11, kind=1)))
    assert not np.array_equal(others, vectors)


def test_it_stands_where_a_run_may(tmp_path):
    found = st.load(stored(tmp_path, model()))
    np.testing.assert_allclose(found.vector("naïve"), slow_vector(2, 3, 6), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (model(quantised=True), "quantised"),
        (model(kept=3), "quantised"),
        (model(version=13), "version"),
        (model(words=WORDS[:-1]), "size"),
        (model()[:400], "larger than"),
        (model()[:70], "too early"),
        (model()[:110], "cannot hold"),
        (model().replace("日".encode(), b"\xff\xff\xff"), "UTF-8"),
        (model()[:64] + struct.pack("<iii", 2**31 - 1, 2**31 - 1, 0) + model()[76:], "cannot hold"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, content, words):
    path = stored(tmp_path, content)
    with pytest.raises(DataError, match=words) as caught:
        read_vectors(path)
    assert caught.value.file == str(path) and caught.value.do


def test_a_file_cut_anywhere_is_an_error_or_whole(tmp_path):
    whole = model()
    matrix_ends = len(whole) - 17 - 16 * len(WORDS)
    for end in range(4, matrix_ends):
        with pytest.raises(DataError):
            read_vectors(stored(tmp_path, whole[:end]))


def test_pickles_are_refused_with_what_converts_them(tmp_path):
    torch.save({"weight": torch.zeros(2, 2)}, tmp_path / "a.pt")
    np.save(tmp_path / "b.npy", np.array(["x", [1]], object))
    (tmp_path / "c.pkl").write_bytes(pickle.dumps({"x": [1]}))
    (tmp_path / "d.kv").write_bytes(
        b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x06gensim.models.keyedvectors"
    )
    for name, words in {
        "a.pt": "torch.load",
        "b.npy": "numpy.load",
        "c.pkl": "read_pickle",
        "d.kv": "KeyedVectors.load",
    }.items():
        for reading in (read_vectors, st.load, st.read):
            with pytest.raises(PickleError) as caught:
                reading(str(tmp_path / name))
            assert words in caught.value.do and caught.value.do.count("\n") == 3


def test_it_is_read_as_the_library_reads_its_own(tmp_path):
    gensim = pytest.importorskip("gensim.models.fasttext")
    lines = [["the", "naïve", "cat", "sat"], ["日本語", "the", "cats", "sit"]] * 20
    made = gensim.FastText(
        lines, vector_size=6, min_count=1, epochs=2, bucket=97, seed=1, workers=1
    )
    path = str(tmp_path / "made.bin")
    gensim.save_facebook_model(made, path)
    words, vectors = read_vectors(path)
    assert sorted(words) == sorted(made.wv.index_to_key)
    for word, vector in zip(words, vectors):
        np.testing.assert_allclose(vector, made.wv[word], rtol=1e-4, atol=1e-6)
    made.wv.save(str(tmp_path / "made.kv"))
    with pytest.raises(PickleError) as caught:
        st.load(str(tmp_path / "made.kv"))
    assert "KeyedVectors.load" in caught.value.do
