"""How far found texts agree with true ones, by the field's own libraries, and how sure that is:
texts in, plain records out.

    BLEU      min(1, exp(1 - true / found length)) (p_1 p_2 p_3 p_4)^(1/4)      Papineni et al. 2002
              p_n share of the found n-grams of words that are right
    chrF      5 P R / (4 P + R)                                                 Popović 2015
              P and R precision and recall of n-grams of characters, means over n = 1 .. 6
    METEOR    P R / (0.9 P + 0.1 R) (1 - (chunks / matches)³ / 2)               Lavie, Agarwal 2007
              P and R of words, chunks of them in the same order
    ROUGE     F1 of words, of pairs of words, of the longest common subsequence          Lin 2004
    WER, CER  (substituted + deleted + inserted) / length of the reference, in words, characters

BLEU and chrF run from 0 to 100; METEOR, ROUGE and `exact` from 0 to 1; error rates from 0 up. A
source may have several right texts: BLEU takes n-grams from all of them, every other figure the one
that serves it best. METEOR and ROUGE are means over sources, the others figures of the whole. BLEU
and WER cut at blanks: where a script has none, read chrF and CER.

Shapes: S sources, C counts of a sentence that add up to those of a corpus, G groups of sentences, R
resamples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import chain, zip_longest
from statistics import fmean
from typing import Any

import numpy as np

from seriatim.errors import ConfigError, DataError, extras, nearest
from seriatim.measuring.resampling import MOST_GROUPS, RESAMPLES, resample, two_sided, wilson

References = list[list[str]]  # for each of S sources one or more right texts


Score = Callable[[list[int]], float]  # (C,) counts -> the figure of a corpus


# scripts that do not part words
BLANKLESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"


TOKEN = rf"(?V1)[\w&&{BLANKLESS}]\p{{M}}*|[\w--{BLANKLESS}]+"


ROUGES = ["rouge1", "rouge2", "rougeL"]


ORDERS = range(1, 7)  # of chrF


KEPT = 512  # texts whose n-grams are kept, of about 600 bytes a character


@extras
def text_report(found: list[str], references: References) -> dict[str, Any]:
    """Every figure of (S,) found texts, with signatures and 95 % intervals.

    >>> right = ["the cat sat on a mat", "a cat was on the mat"]
    >>> figures = text_report(["the cat sat on the mat"], [right])
    >>> round(figures["chrf"], 1), figures["wer"]
    (72.1, 0.16666666666666666)
    >>> figures["signatures"]["bleu"].split("|")[0]
    'nrefs:2'
    """
    check(found, references)
    from jiwer import cer_default, wer_default
    from sacrebleu.metrics import CHRF

    words, characters = (
        token_errors(cut(found), [cut(right) for right in references])
        for cut in (wer_default, cer_default)
    )  # (S, 2) each
    exact = np.array([[text in right, 1] for text, right in zip(found, references)])  # (S, 2)
    metrics = {"bleu": bleu(), "bleu_lower": bleu(lowercase=True), "chrf": CHRF()}
    scores = {name: corpus_score(each, found, references) for name, each in metrics.items()}
    signatures = {name: str(each.get_signature()) for name, each in metrics.items()}
    return {
        **scores,
        "meteor": meteor(found, references),
        **rouge(found, references),
        "signatures": signatures | word_signatures(references),
        "exact": whole(exact, rate),
        "wer": whole(words, rate),
        "cer": whole(characters, rate),
        "interval": {
            "chrf": bounds(drawn(chrf_counts(found, references), chrf_score)),
            "exact": list(wilson(int(exact[:, 0].sum()), len(exact))),  # all right is not certain
            "wer": bounds(drawn(words, rate)),
        },
        "sequences": len(found),
    }


def corpus_score(metric: Any, found: list[str], references: References) -> float:
    """The score of one of sacrebleu's metrics; where a source has fewer references than others,
    None takes their place."""
    return metric.corpus_score(found, list(zip_longest(*references))).score


def word_signatures(references: References) -> dict[str, str]:
    """How METEOR and ROUGE were found."""
    weights = "alpha:0.9|beta:3.0|gamma:0.5"
    cut = cut_by(references)
    return {
        "meteor": f"{cut}|stem:no|synonyms:no|{weights}|nltk:{version('nltk')}",
        "rouge": f"{cut}|stem:no|rouge-score:{version('rouge-score')}",
    }


# Words


class Plain:
    """What rouge_score and nltk ask about words, answered for any script: words are runs of
    letters, without stems and synonyms."""

    def tokenize(self, text: str) -> list[str]:
        """Lower-cased words; in scripts that do not part them, characters.

        >>> Plain().tokenize("Schöne Grüße nach 北京!")
        ['schöne', 'grüße', 'nach', '北', '京']
        """
        import regex  # type: ignore[import-untyped]  # has no stubs

        return regex.findall(TOKEN, text.lower())

    def stem(self, word: str) -> str:
        """The word itself."""
        return word

    def synsets(self, word: str) -> tuple:
        """No word has a synonym."""
        return ()


@extras
def meteor(found: list[str], references: References) -> float:
    """The mean of nltk's METEOR, which has wordnet and a stemmer for English alone: here it does
    without."""
    from nltk.translate.meteor_score import meteor_score  # type: ignore[import-untyped]  # has no stubs

    plain = Plain()
    scores = [
        meteor_score(
            list(map(plain.tokenize, right)), plain.tokenize(text), stemmer=plain, wordnet=plain
        )
        for text, right in zip(found, references)
    ]
    return fmean(scores)


@extras
def rouge(found: list[str], references: References) -> dict[str, float]:
    """The means of rouge_score's F1, for each figure with the reference that serves it best."""
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # no stubs

    scorer = RougeScorer(ROUGES, tokenizer=Plain())
    scores = [scorer.score_multi(right, text) for text, right in zip(found, references)]
    return {name: fmean(each[name].fmeasure for each in scores) for name in ROUGES}


def cut_by(references: References) -> str:
    """How many references there are and how texts were cut into words, as sacrebleu would sign
    it."""
    many = {len(right) for right in references}
    return f"nrefs:{many.pop() if len(many) == 1 else 'var'}|case:lc|tok:letters"


# Errors


@extras
def token_errors(found: list[list[str]], references: list[list[list[str]]]) -> np.ndarray:
    """(S, 2) edits, and tokens, of the reference with fewest edits a token (of several the
    longest). An error rate is sum of edits / sum of tokens.

    >>> token_errors([["k", "ae", "t"]], [[["k", "aa", "t", "s"], ["k", "aa", "t"]]]).tolist()
    [[1, 3]]
    """
    check(found, references)
    from jiwer import process_words

    each = [tokens for tokens, right in zip(found, references) for _ in right]
    every = [tokens for right in references for tokens in right]
    # they are cut already, which jiwer takes, though its types know of texts alone
    aligned = iter(process_words(every, each, list, list).alignments)  # type: ignore[arg-type]
    return np.array(
        [
            min(
                ((edits(next(aligned)), len(tokens)) for tokens in right),
                key=lambda pair: (rate(pair), -pair[1]),
            )
            for right in references
        ]
    )


def edits(chunks: Iterable[Any]) -> int:
    """What is substituted, deleted and inserted in an alignment."""
    return sum(
        max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
        for chunk in chunks
        if chunk.type != "equal"
    )


def rate(counts: Sequence[int]) -> float:
    """Part / whole; of nothing, the part: what was found where nothing is right counts, as with
    jiwer."""
    part, total = counts
    return part / max(1, total)


# Counts that add up


@lru_cache(KEPT)
def character_ngrams(text: str) -> tuple[frozenset, ...]:
    """For each order the n-grams of a text without its blanks, numbered where they occur again, so
    that what texts share is an intersection."""
    text = "".join(text.split())
    return tuple(
        numbered(Counter([text[place : place + order] for place in range(len(text) - order + 1)]))
        for order in ORDERS
    )


def numbered(counter: Counter[str]) -> frozenset:
    """Each n-gram, and those that occur again with a number."""
    return frozenset(
        chain(
            counter,
            (
                (ngram, number)
                for ngram, count in counter.items()
                if count > 1
                for number in range(1, count)
            ),
        )
    )


def shared(found: str, reference: str) -> list[int]:
    """For each order how many n-grams were found, are right, and are both; those found do not count
    where a reference is too short for any."""
    pairs = zip(character_ngrams(found), character_ngrams(reference))
    return [
        count
        for mine, right in pairs
        for count in (len(mine) if right else 0, len(right), len(mine & right))
    ]


def chrf_score(counts: list[int]) -> float:
    """chrF from (18,) counts, with means over the orders of which there are any n-grams."""
    orders = [
        (both / mine, both / right)
        for mine, right, both in zip(counts[::3], counts[1::3], counts[2::3])
        if mine and right
    ]
    if not any(counts[2::3]):
        return 0.0
    precision, recall = (sum(column) / len(orders) for column in zip(*orders))
    # in sacrebleu's order, to the last bit: it decides which reference is best
    return 100 * (5 * precision * recall / (4 * precision + recall))


def sentence_chrf(found: str, reference: str) -> float:
    """chrF of one text against another: fast where the same texts come again and again.

    >>> sentence_chrf("the cat", "the cat"), round(sentence_chrf("the cat", "a cat"), 1)
    (100.0, 42.3)
    """
    return chrf_score(shared(found, reference))


def chrf_counts(found: list[str], references: References) -> np.ndarray:
    """(S, 18) the counts of each text against the reference with which it scores best."""
    return np.array(
        [
            max((shared(text, reference) for reference in right), key=chrf_score)
            for text, right in zip(found, references)
        ]
    )


def bleu(lowercase: bool = False) -> Any:
    """sacrebleu's metric, with the one tokenizer: it keeps what each tokenizer was given, so that a
    new one for every call would let the memory grow."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(force=True, lowercase=lowercase)
    metric.tokenizer = tokenizer()
    return metric


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    """That of BLEU, 13a."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


@extras
def bleu_counts(found: list[str], references: References) -> np.ndarray:
    """(S, 10) found and true length, and for n = 1 .. 4 the n-grams that are right, then those that
    were found."""
    metric = bleu()
    scores = [
        metric.corpus_score([text], [[reference] for reference in right])
        for text, right in zip(found, references)
    ]
    return np.array([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in scores])


@extras
def bleu_score(counts: list[int]) -> float:
    """BLEU from (10,) counts, by sacrebleu."""
    from sacrebleu.metrics import BLEU

    return BLEU.compute_bleu(
        counts[2:6], counts[6:], counts[0], counts[1], smooth_method="exp"
    ).score


PAIRED = {"bleu": (bleu_counts, bleu_score), "chrf": (chrf_counts, chrf_score)}


# Other sentences might have been drawn


def paired(
    first: list[str],
    second: list[str],
    references: References,
    metric: str = "chrf",
    samples: int = RESAMPLES,
    seed: int = 0,
    others: References | None = None,
) -> dict[str, float]:
    """The score of `first` minus that of `second` on the same sources, its 95 % interval and
    two-sided p (Koehn 2004). The references of the second may be written in another way."""
    if metric not in PAIRED:
        raise ConfigError(
            "two systems are compared by bleu or chrf", got=metric, do=nearest(metric, PAIRED)
        )
    if samples < 1:
        raise ConfigError("at least one resample is needed", got=samples)
    check(first, references)
    check(second, others or references)
    check(second, references)
    count, score = PAIRED[metric]
    counts = [count(first, references), count(second, others or references)]  # (S, C) each
    draws = np.subtract(*(drawn(each, score, samples, seed) for each in counts))  # (R,)
    low, high = bounds(draws)
    return {
        "difference": whole(counts[0], score) - whole(counts[1], score),
        "low": low,
        "high": high,
        "p": two_sided(draws),
    }


def whole(counts: np.ndarray, score: Score) -> float:
    """The figure of all sentences together."""
    return score(counts.sum(0).tolist())


def drawn(counts: np.ndarray, score: Score, samples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """(S, C) -> (R,) scores, if other sentences had been drawn: the same for every system.
    Neighbours join where there are over MOST_GROUPS."""
    # (G, C)
    groups = np.add.reduceat(counts, np.arange(0, len(counts), max(1, len(counts) // MOST_GROUPS)))
    return np.array(
        [score(sums) for sums in (resample(len(groups), seed, samples) @ groups).tolist()]
    )


def bounds(draws: np.ndarray) -> list[float]:
    """The 95 % interval of (R,) drawn figures."""
    return np.quantile(draws, [0.025, 0.975]).tolist()


def check(found: Sequence, references: Sequence) -> None:
    """As many found texts as sources, not none, and for each source a list of right ones."""
    if len(found) != len(references) or not len(found):
        raise DataError(
            "every source needs one found text and its right ones, "
            "and there is one source at least",
            got=f"{len(found)} found, right ones for {len(references)}",
        )
    for row, right in enumerate(references):
        if isinstance(right, str) or not right:
            raise DataError(
                f"source {row + 1} has no list of right texts",
                got=repr(right),
                do="Give one text at least, in a list; it may be empty",
            )
