"""Word vectors against gensim: the same text, setting and number of threads, in one run.

    pip install -c constraints.txt -e '.[benchmark]'
    python benchmarks/words.py [wiki100.txt.xz]

Setting: skip-gram, 100 wide, window 5, 5 negatives, subsampling 1e-4, minimum count 5, 5 epochs. Words per second count all words
of the text, also those that are left out; reading and encoding the text is not counted for either.
"""

from __future__ import annotations

import lzma
import os
import sys
import tempfile
import time
from pathlib import Path

import torch
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.word2vec import LineSentence, Word2Vec
from record import write_row

from seriatim.data import read
from seriatim.tasks.words.metrics import evaluate
from seriatim.tasks.words.space import WordSpace
from seriatim.verbs import run

DATA = Path(
    os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
)
PACKAGES = ("numba", "gensim")
EPOCHS = 5


class Clock(CallbackAny2Vec):
    """When gensim's epochs begin and end."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_epoch_begin(self, model: Word2Vec) -> None:
        self.begin = time.perf_counter()

    def on_epoch_end(self, model: Word2Vec) -> None:
        self.seconds.append(time.perf_counter() - self.begin)
        print(f"gensim: epoch {len(self.seconds)}, {self.seconds[-1]:.0f} s", flush=True)


def ours(path: str, **settings) -> tuple[WordSpace, float, int]:
    """The vectors, seconds of training, and words of the text."""
    text = read(path, unit="word", by="line")
    events = run("fit", "words", text, model="skip-gram", epochs=EPOCHS, **settings)
    seconds = words = 0
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value.words, seconds, words
        if event["event"] == "data":
            words = event["symbols"]
        if event["event"] == "validation":
            print(f"ours: {event['seconds']:.0f} s, loss {event['valid']:.3f}", flush=True)
        if event["event"] == "end":
            seconds = event["seconds"]


def figures(words: WordSpace) -> tuple[dict, dict]:
    files = ("questions-words.txt", "wordsim353.csv")
    analogies, similarity = (evaluate(words, DATA / "words" / name) for name in files)
    return analogies, similarity


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "text" / "wiki100.txt.xz"
    threads = torch.get_num_threads()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "text.txt")
        with lzma.open(source) as file:
            Path(path).write_bytes(file.read())
        vectors, seconds, count = ours(path)
        speed = count * EPOCHS / seconds
        deterministic, slower, _ = ours(path, deterministic=True)
        clock = Clock()
        peer = Word2Vec(
            LineSentence(path),
            vector_size=100,
            window=5,
            negative=5,
            sample=1e-4,
            min_count=5,
            sg=1,
            workers=threads,
            epochs=EPOCHS,
            callbacks=[clock],
        )
        peers_speed = peer.corpus_total_words * EPOCHS / sum(clock.seconds)
    write_row(
        "words.py",
        f"skip-gram on {count / 1e6:.1f} M words, {threads} threads",
        f"{speed / 1e6:.2f} M words/s",
        f"gensim: {peers_speed / 1e6:.2f}",
        f"{speed / peers_speed:.2f} times as fast",
        PACKAGES,
    )
    write_row(
        "words.py",
        "the same, deterministic",
        f"{count * EPOCHS / slower / 1e6:.2f} M words/s",
        f"gensim, which is not: {peers_speed / 1e6:.2f}",
        f"{count * EPOCHS / slower / peers_speed:.2f} times as fast",
        PACKAGES,
    )
    (right, alike), (peers_right, peers_alike) = (
        figures(vectors),
        figures(WordSpace(peer.wv.index_to_key, peer.wv.vectors)),
    )
    exact_right, exact_alike = figures(deterministic)
    write_row(
        "words.py",
        "analogies among 30,000 words",
        f"{100 * right['accuracy']:.1f} % (deterministic {100 * exact_right['accuracy']:.1f} %)",
        f"gensim: {100 * peers_right['accuracy']:.1f} %",
        f"{100 * (right['accuracy'] - peers_right['accuracy']):+.1f} points",
        PACKAGES,
    )
    write_row(
        "words.py",
        "WordSim-353, Spearman",
        f"{alike['spearman']:.3f} (deterministic {exact_alike['spearman']:.3f})",
        f"gensim: {peers_alike['spearman']:.3f}",
        f"{alike['spearman'] - peers_alike['spearman']:+.3f}",
        PACKAGES,
    )
    begin = time.perf_counter()
    peer.wv.evaluate_word_analogies(
        str(DATA / "words" / "questions-words.txt"), restrict_vocab=30_000
    )
    theirs = time.perf_counter() - begin
    mine = min(figures(vectors)[0]["seconds"] for _ in range(3))
    write_row(
        "words.py",
        "19,544 analogies evaluated",
        f"{mine:.2f} s",
        f"gensim: {theirs:.2f} s",
        f"{theirs / mine:.1f} times as fast",
        PACKAGES,
    )


if __name__ == "__main__":
    main()
