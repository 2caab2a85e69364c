"""Pickles of any program are refused by every reader, with the lines that convert them."""

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.errors import SeriatimError


class Bomb:
    """What would leave a file if it were read."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


KINDS = {  # the ending of a file, how it is written, a line that converts it
    "pkl": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "pandas.read_pickle"),
    "old.pkl": (lambda path, bomb: path.write_bytes(pickle.dumps([bomb], 0)), "read_pickle"),
    "older.pkl": (lambda path, bomb: path.write_bytes(pickle.dumps({1: bomb}, 1)), "read_pickle"),
    "npy": (lambda path, bomb: np.save(path, np.array([bomb], object)), "numpy.load"),
    "pt": (lambda path, bomb: torch.save(bomb, path), "safetensors.torch.save_file"),
    "bin": (
        lambda path, bomb: torch.save(bomb, path, _use_new_zipfile_serialization=False),
        "safetensors.torch.save_file",
    ),
    "kv": (
        lambda path, bomb: path.write_bytes(b"\x80\x04cgensim.models.keyedvectors\n" + b"x" * 99),
        "save_word2vec_format",
    ),
    "model": (
        lambda path, bomb: path.write_bytes(b"\x80\x04cgensim.models.word2vec\n" + b"x" * 99),
        "Word2Vec.load",
    ),
    "mid": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "png": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "wav": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "npz": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "parquet": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "csv": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
    "vec": (lambda path, bomb: path.write_bytes(pickle.dumps(bomb)), "read_pickle"),
}


@pytest.fixture(scope="module")
def language():
    """A small run."""
    return st.fit("language", "markov", "the cat sat on the mat. " * 30, order=2)


@pytest.mark.parametrize("ending", KINDS)
def test_a_pickle_is_refused_by_every_reader_with_the_lines_that_convert_it(
    tmp_path, ending, language
):
    write, line = KINDS[ending]
    path, left = tmp_path / f"a.{ending}", tmp_path / "left"
    write(path, Bomb(left))
    texts = (["the cat", "a dog"] * 30, ["a", "b"] * 30)
    readers = [
        lambda: st.fit("language", "markov", path),
        lambda: st.fit("classify", "naive-bayes", path),
        lambda: st.fit("autoencode", "gru", path),
        lambda: language.evaluate(path),
        lambda: language.compress(path, out=str(tmp_path / "a.srt")),
        lambda: language.restore(path, out=str(tmp_path / "a.txt")),
        lambda: st.fit("language", "markov", "the cat", tokenizer=path),
        lambda: st.load(path),
        lambda: st.fit("classify", "mean", texts, unit="word", word_vectors=str(path)),
    ]
    for read in readers:
        with pytest.raises(SeriatimError, match="to read it could run anything") as found:
            read()
        assert line in str(found.value)
    found = st.check(path)["findings"]
    assert line in found[0]["do"] and not left.exists()


def test_an_archive_of_objects_is_refused(tmp_path):
    left = tmp_path / "left"
    np.savez(tmp_path / "a.npz", train=np.array([Bomb(left)], object))
    with pytest.raises(SeriatimError, match="to read it could run anything"):
        st.fit("autoencode", "gru", tmp_path / "a.npz")
    assert zipfile.is_zipfile(tmp_path / "a.npz") and not left.exists()
