"""How much of the data a figure is about was in the training data (finding 3): looked up."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError
from seriatim.fitting import Fit, sorted_out
from seriatim.measuring import fingerprint
from seriatim.measuring.fingerprint import Seen, caution, pieces_of
from seriatim.tasks import task
from tests.honesty import seriatim

WORDS = [
    a + b
    for a in ["ba", "ko", "du", "lin", "mer", "sta", "vor", "tel", "ig", "un"]
    for b in ["ra", "en", "is", "ot", "ul"]
]


def lines(many: int, seed: int) -> list[str]:
    """Lines of random words, some of them shorter than a passage."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 16))) for _ in range(many)]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], Path]:
    """A text, its lines, and a model that has counted it."""
    home = tmp_path_factory.mktemp("seen")
    training = lines(600, 0)
    (home / "book.txt").write_text("\n".join(training) + "\n")
    said = seriatim("fit", "language", "markov", home / "book.txt", "--out", home / "run")
    assert said.code == 0
    return home, training, home / "run"


def share(run: Path, file: Path, text: list[str]) -> float:
    """What `evaluate` says of a text."""
    file.write_text("\n".join(text) + "\n")
    return seriatim("evaluate", run, file, "--format", "json").record["protocol"][
        "seen_in_training"
    ]


def test_a_part_of_the_training_text_is_known_again(book):
    """Finding 3: the first lines of the training text were `seen in training False`."""
    home, training, run = book
    assert share(run, home / "part.txt", training[:400]) == 1
    middle = "\n".join(training)[1003:20017].split("\n")  # wherever it begins
    assert share(run, home / "middle.txt", middle) > 0.98


def test_a_text_that_was_learned_from_is_not_compressed_without_a_word(book):
    """`compress` said "25 times smaller" of the training text."""
    home, training, run = book
    (home / "old.txt").write_text("\n".join(training[:20]) + "\n")
    (home / "new.txt").write_text("\n".join(lines(20, 9)) + "\n")
    said = seriatim("compress", run, home / "old.txt", "--out", home / "old.srt")
    assert said.code == 0 and f"note: {caution(1.0)[0]}" in said.err
    assert st.load(run).compress(home / "new.txt", out=home / "new.srt")["notes"] == []


def test_one_line_changed_and_lines_reordered_are_known_again(book):
    """Finding 3: a file that was not byte for byte the same was new."""
    home, training, run = book
    changed = [*training[:200], lines(1, 5)[0], *training[201:]]
    assert 0.99 < share(run, home / "changed.txt", changed) < 1
    mixed = random.Random(1).sample(training, len(training))
    assert share(run, home / "mixed.txt", mixed) == 1


def test_new_text_is_not_known(book):
    """Half of new lines is half."""
    home, training, run = book
    assert share(run, home / "new.txt", lines(300, 1)) == 0
    half = [line for pair in zip(training[:200], lines(200, 2)) for line in pair]
    assert 0.4 < share(run, home / "half.txt", half) < 0.6


def test_figures_of_seen_data_carry_a_caution(book):
    """Finding 3: nothing was said below the table."""
    home, training, run = book
    (home / "again.txt").write_text("\n".join(training[:300]) + "\n")
    said = seriatim("evaluate", run, home / "again.txt")
    words = "100 % of this data was seen in training: the figures are not about new data"
    assert words in said.out and words in said.err
    (home / "other.txt").write_text("\n".join(lines(300, 3)) + "\n")
    said = seriatim("evaluate", run, home / "other.txt")
    assert "not about new data" not in said.out + said.err
    assert caution(0.01) == caution(None) == []
    assert caution(0.314)[0].startswith("31 % of this data")


def test_what_was_held_out_was_not_trained_on():
    """The validation part of the data is looked at, not learned from."""
    data, room = Sequences.of(list(dict.fromkeys(lines(400, 4)))), task("language")
    fit = Fit(room, "lstm", sorted_out(room, {}))
    fit.read(data, None)
    assert fit.valid is not None
    shares = [fit.trained_on.share(room.cut.pieces(each)) for each in (data, fit.train, fit.valid)]
    assert 0.9 < shares[0] < 1 and shares[1:] == [1, 0]


def test_labelled_texts_and_pairs_are_known_again():
    """Of labelled data the text counts, of pairs source and target together."""
    texts = lines(300, 6)
    labels = ["a" if "rot" in text else "b" for text in texts]
    train = Sequences({"label": Field.of_labels(labels), "text": Field.of_text(texts)})
    model = st.fit("classify", "naive-bayes", train)
    others = lines(100, 7) + texts[:100]
    test = Sequences({"label": Field.of_labels(["a"] * 199 + ["b"]), "text": Field.of_text(others)})
    record = model.evaluate(test)
    assert record["protocol"]["seen_in_training"] == 0.5
    assert record["notes"] == [
        "50 % of this data was seen in training: the figures are not about new data"
    ]
    seen = Seen.of(pieces_of(pairs(texts[:100], texts[100:200])))
    assert seen.share(pieces_of(pairs(texts[:100], texts[100:200]))) == 1
    assert seen.share(pieces_of(pairs(texts[:100], texts[101:201]))) == 0


def pairs(sources: list[str], targets: list[str]) -> Sequences:
    """Lines that belong together."""
    return Sequences({"source": Field.of_text(sources), "target": Field.of_text(targets)})


def test_it_is_kept_with_the_run_and_a_run_without_it_opens(book):
    """seen.safetensors is in the manifest; an older run says that it does not know."""
    home, training, run = book
    model = st.load(run)
    model.save(home / "copy")
    assert share(home / "copy", home / "part.txt", training[:50]) == 1
    manifest = (home / "copy" / "manifest.json").read_text()
    assert "seen.safetensors" in manifest
    both = st.evaluate([run, home / "copy"], home / "part.txt")
    assert both["protocol"]["seen_in_training"] == 1
    (home / "copy" / "seen.safetensors").write_bytes(b"damaged")
    with pytest.raises(RunError, match="not the file that was written"):
        st.load(home / "copy")
    model.trained_on = None
    model.folder = None
    assert model.evaluate(home / "part.txt")["protocol"]["seen_in_training"] is None


def test_samples_are_the_same_in_training_and_test(monkeypatch):
    """Of many pieces some are kept, and the same ones are looked for."""
    monkeypatch.setattr(fingerprint, "MOST", 100)
    training, test = lines(3000, 8), lines(3000, 9)
    seen = Seen.of(pieces_of(Sequences.of(training)))
    assert len(seen.hashes) == 100
    assert seen.share(pieces_of(Sequences.of(training))) == 1
    assert 0.3 < seen.share(pieces_of(Sequences.of(training[:1500] + test[:1500]))) < 0.7
    again = Seen.from_arrays(seen.arrays())
    assert again.most == seen.most and np.array_equal(again.hashes, seen.hashes)
    monkeypatch.setattr(fingerprint, "LONG", 1000)  # of a long stream an eighth
    stream = Seen.of(pieces_of(Sequences.of("\n".join(training), by="stream")))
    assert stream.share(pieces_of(Sequences.of("\n".join(training), by="stream"))) == 1
    assert stream.share(pieces_of(Sequences.of("\n".join(test), by="stream"))) == 0


def test_blocks_do_not_matter(monkeypatch):
    """Passages that lie across two blocks are found like the others; tokens and letters alike."""
    text = Sequences.of(["\n".join(lines(40, 1)).replace("ra", "rä")], by="stream")
    tokens = Sequences({"tokens": Field.of_symbols([" ".join(lines(40, 2)).split()])}, by="stream")
    whole = [np.sort(pieces_of(each)) for each in (text, tokens)]
    monkeypatch.setattr(fingerprint, "BLOCK", 200)
    for each, expected in zip((text, tokens), whole):
        assert len(expected) > 300
        assert np.array_equal(np.sort(pieces_of(each)), expected)


def test_numbers_and_nothing():
    """Rows of numbers are known again; of nothing, nothing is said."""
    rows = [np.arange(5.0) + i for i in range(20)]
    seen = Seen.of(pieces_of(Sequences.of(rows)))
    assert seen.share(pieces_of(Sequences.of(rows[:10]))) == 1
    assert seen.share(pieces_of(Sequences.of([row + 0.5 for row in rows]))) == 0
    assert seen.share(np.zeros(0, np.uint64)) is None
    assert Seen.of(np.zeros(0, np.uint64)).share(pieces_of(Sequences.of(rows))) is None
