"""The options of word vectors."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.models.options import KEEP_ALL
from seriatim.settings import Numbers, option


@dataclass(frozen=True)
class VectorsOptions:
    """A vector for each word, found by guessing words from their neighbours."""

    width: int = option(100, "size of each vector", least=1, most=65536)
    window: int = option(5, "how many words to each side are its neighbours", least=1, most=1000)
    dynamic_window: bool = option(
        True,
        "the reach of each window is drawn between 1 and --window, so that near words count more",
    )
    output: str = option(
        "negative",
        "how a guess is judged: against all words, against a few drawn at random, "
        "or along a Huffman tree",
        choices=("softmax", "negative", "hierarchical"),
    )
    negatives: int = option(5, "negative: how many words are drawn", least=1, most=1000)
    power: float = option(
        0.75, "negative: words are drawn by their frequency to this power", least=0, most=2
    )
    subsample: float = option(
        1e-4,
        "words more frequent than this share of the text are often left out; 0 keeps all",
        least=0,
        most=1,
    )
    exact: bool = option(
        True,
        "cbow and subwords: the exact gradient; "
        "otherwise word2vec's own, the whole of it to each word",
    )
    subwords: Numbers = option(
        KEEP_ALL,
        "also a vector for each run of characters from and to these lengths, such as 3,6: "
        "unseen words have vectors, too",
        least=1,
        most=100,
    )
    buckets: int = option(100_000, "subwords: how many vectors they share", least=1, most=10**8)
    deterministic: bool = option(
        False,
        "the same seed and number of threads give the same bits; "
        "otherwise threads do not wait for each other",
    )
    watch: str = option(
        "", "a file of analogies or of similarities: looked at with every validation"
    )


@dataclass(frozen=True)
class GloveOptions:
    """A vector for each word, such that products of vectors are logarithms of how often words stand
    together."""

    width: int = option(100, "size of each vector", least=1, most=65536)
    window: int = option(10, "how many words to each side are its neighbours", least=1, most=1000)
    most: float = option(
        100.0, "glove: pairs that stand together this often or more count fully", above=0
    )
    fading: float = option(
        0.75,
        "glove: pairs that stand together less often count by their share of --most to this power",
        least=0,
        most=2,
    )
    deterministic: bool = option(
        False,
        "the same seed and number of threads give the same bits; "
        "otherwise threads do not wait for each other",
    )
    watch: str = option(
        "", "a file of analogies or of similarities: looked at with every validation"
    )


METHODS = ("add", "mul")
PREDICTION = "prediction"


@dataclass(frozen=True)
class QuestionOptions:
    """On which questions, and how."""

    most: int = option(30_000, "only the most frequent words are answers", least=1)
    method: str = option("add", "sum of cosines, or their product (3CosMul)", choices=METHODS)
    column: str = option("", "the column of the scores in a file of similarities (the third)")


@dataclass(frozen=True)
class NearestOptions:
    """How many of the nearest words."""

    top: int = option(10, "how many of the nearest words", least=1)


@dataclass(frozen=True)
class AnalogyOptions(NearestOptions):
    """The same, and how an analogy is answered."""

    method: str = option(
        "add",
        "sum of cosines, their product (3CosMul), or what the output layer predicts of the sum",
        choices=(*METHODS, PREDICTION),
    )


@dataclass(frozen=True)
class PairsOptions:
    """The pairs of a sentence."""

    window: int = option(2, "how many words to each side are neighbours", least=1, most=1000)
    start: bool = option(False, "<start> is a word before the first")
    punctuation: bool = option(True, "marks are words, too; false: they are left out")
    lower: bool = option(True, "lower-case the sentence first")


@dataclass(frozen=True)
class MapOptions:
    """Words in a plane."""

    plane: str = option("pca", "principal components, or t-SNE", choices=("pca", "tsne"))


@dataclass(frozen=True)
class ExportVectorsOptions:
    """Where to write."""

    out: str = option("", "the file: .txt, .bin, .vec, .glove, .safetensors; texts also .gz, .xz")
