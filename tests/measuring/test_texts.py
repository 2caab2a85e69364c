"""Figures for texts: by hand, against sacrebleu, nltk, rouge_score and jiwer, and against slow twins."""

from __future__ import annotations

import gc
import json
import logging
import math
from functools import cache

import jiwer
import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as some
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from seriatim.errors import ConfigError, DataError
from seriatim.measuring.resampling import MOST_GROUPS, resample, wilson
from seriatim.measuring.texts import (
    ROUGES,
    Plain,
    bleu_counts,
    bleu_score,
    chrf_counts,
    chrf_score,
    drawn,
    paired,
    rate,
    sentence_chrf,
    text_report,
    token_errors,
    whole,
)

FOUND = [
    "Die Katze saß auf der Matte .",
    "Ich habe keine Zeit, leider",
    "今天天气很好",
    "ذهب الولد إلى المدرسة",
    "It is Not raining at all today",
    "",
]
TRUE = [
    ["Die Katze sitzt auf der Matte."],
    ["Ich habe leider keine Zeit", "Leider habe ich keine Zeit", "Mir fehlt die Zeit"],
    ["今天天气很好。", "今日天气甚好"],
    ["ذهب الولد إلى المدرسة", "الولد ذهب"],
    ["it is not raining today", ""],
    ["Nichts gefunden"],
]
OTHER = [
    "Die Katze war da .",
    "Ich habe leider keine Zeit",
    "天气",
    "الولد إلى المدرسة",
    "Not raining",
    "Nichts",
]
SINGLE = [right[:1] for right in TRUE]

TEXT = some.lists(
    some.sampled_from(
        ["the", "The", "cat", "sat", "Käse", "北京", "天", "كتاب", "on.", " ", "a\tb"]
    ),
    max_size=7,
).map(" ".join)
CORPUS = some.lists(
    some.tuples(TEXT, some.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5
).map(lambda rows: tuple(map(list, zip(*rows))))
TOKENS = some.lists(some.sampled_from("abc"), max_size=6)


def streams(references) -> list[list[str]]:
    """As sacrebleu wants them, the first repeated where there are fewer."""
    return [
        [right[place] if place < len(right) else right[0] for right in references]
        for place in range(max(map(len, references)))
    ]


# Against sacrebleu


@settings(max_examples=50, deadline=None)
@given(CORPUS)
def test_bleu_and_chrf_are_those_of_sacrebleu(corpus):
    found, references = corpus
    record, right = text_report(found, references), streams(references)
    assert record["bleu"] == pytest.approx(sacrebleu.corpus_bleu(found, right).score)
    assert record["bleu_lower"] == pytest.approx(
        sacrebleu.corpus_bleu(found, right, lowercase=True).score
    )
    assert record["chrf"] == pytest.approx(sacrebleu.corpus_chrf(found, right).score)


@settings(max_examples=50, deadline=None)
@given(CORPUS)
@example(
    (["", "cat 天 كتاب"], [["the"], ["Käse Käse 北京 天 天 a\tb", "北京 北京 a\tb"]])
)  # the last bit decides which reference is best
def test_counts_of_sentences_add_up_to_the_scores_of_a_corpus(corpus):
    found, references = corpus
    right = streams(references)
    assert whole(bleu_counts(found, references), bleu_score) == pytest.approx(
        sacrebleu.corpus_bleu(found, right).score
    )
    assert whole(chrf_counts(found, references), chrf_score) == pytest.approx(
        sacrebleu.corpus_chrf(found, right).score
    )


@given(TEXT | some.text(max_size=12), TEXT | some.text(max_size=12))
def test_chrf_of_a_sentence_is_that_of_sacrebleu(found, reference):
    assert sentence_chrf(found, reference) == pytest.approx(
        sacrebleu.sentence_chrf(found, [reference]).score
    )


def test_signatures_say_how_it_was_done():
    record = text_report(FOUND, TRUE)
    assert (
        record["signatures"]["bleu"]
        == f"nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )
    assert (
        "case:lc" in record["signatures"]["bleu_lower"]
        and "nc:6|nw:0" in record["signatures"]["chrf"]
    )
    assert record["signatures"]["meteor"].startswith(
        "nrefs:var|case:lc|tok:letters|stem:no|synonyms:no"
    )
    alone = text_report(FOUND, SINGLE)
    assert all(
        alone["signatures"][name].startswith("nrefs:1|")
        for name in ("bleu", "chrf", "meteor", "rouge")
    )


# Words


@pytest.mark.parametrize(
    "text, words",
    [
        ("", []),
        (" ... ", []),
        ("Schöne GRÜSSE, Welt!", ["schöne", "grüsse", "welt"]),
        ("im Jahr 2024", ["im", "jahr", "2024"]),
        ("Scho\u0308n", ["scho\u0308n"]),  # a mark of its own is part of the word
        ("我爱Berlin。", ["我", "爱", "berlin"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("ذَهَبَ الولد؟", ["ذَهَبَ", "الولد"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("한국어 책", ["한국어", "책"]),
    ],
)
def test_words_of_any_script(text, words):
    assert Plain().tokenize(text) == words


def test_meteor_by_hand():
    score = text_report(["The cat sat"], [["the cat sat down", "a dog"]])[
        "meteor"
    ]  # all found, in one chunk; 3 of 4 words
    assert score == pytest.approx(0.75 / (0.9 + 0.1 * 0.75) * (1 - 0.5 * (1 / 3) ** 3))
    assert text_report(["猫坐"], [["坐猫"]])["meteor"] == pytest.approx(
        1 - 0.5
    )  # as many chunks as matches
    assert text_report(["cats", "a"], [["cat"], ["a"]])["meteor"] == pytest.approx(
        0.25
    )  # neither stems nor synonyms


def test_meteor_is_that_of_nltk_where_words_have_no_stems_and_no_synonyms():
    found, references = (
        ["it is on a mat but not on it"],
        [["on it is a mat", "it is not on the mat"]],
    )
    best = max(
        single_meteor_score(right.split(), found[0].split(), wordnet=Plain())
        for right in references[0]
    )
    assert text_report(found, references)["meteor"] == pytest.approx(best)


def test_rouge_is_that_of_rouge_score_on_plain_english():
    found, references = (
        ["The cat, the cat sat.", "no one"],
        [["the cat sat on the mat", "The cat! The cat."], ["not one"]],
    )
    oracle, record = RougeScorer(ROUGES), text_report(found, references)
    for name in ROUGES:
        best = [
            max(oracle.score(right, text)[name].fmeasure for right in some_right)
            for text, some_right in zip(found, references)
        ]
        assert record[name] == pytest.approx(sum(best) / 2)


def test_rouge_by_hand_where_words_are_not_parted():
    record = text_report(["今天很好"], [["天今很好", "明天"]])
    # 今 天 很 好 against 天 今 很 好: 很好 is the only pair in both
    assert (record["rouge1"], record["rouge2"], record["rougeL"]) == pytest.approx(
        (1, 1 / 3, 3 / 4)
    )


# Errors


@pytest.mark.parametrize(
    "found, references, expected",
    [
        ("k ae t", ["k ae t"], [0, 3]),
        ("k ae t", ["k aa t s"], [2, 4]),  # one substituted, one deleted
        ("k ae t", ["t", "k ae", "k ae t s", "ae t"], [1, 4]),  # of three at one edit the longest
        ("k ae t", ["k ae t s t", "d ae g"], [2, 5]),
        ("", ["k ae t", "a"], [3, 3]),
        ("k ae t", ["q", "k aa t d"], [2, 4]),  # the fewest a token
        ("k ae t", [""], [3, 0]),
        ("", ["", "k"], [0, 0]),
    ],
)  # against nothing all that is found is inserted
def test_token_errors_by_hand(found, references, expected):
    assert token_errors([found.split()], [[right.split() for right in references]]).tolist() == [
        expected
    ]


def slow_edits(found: tuple, right: tuple) -> int:
    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (found[i - 1] != right[j - 1]),
        )

    return distance(len(found), len(right))


@settings(deadline=None)
@given(
    some.lists(
        some.tuples(TOKENS, some.lists(TOKENS, min_size=1, max_size=3)), min_size=1, max_size=4
    )
)
def test_token_errors_are_the_fewest_a_token(rows):
    found, references = (list(column) for column in zip(*rows))
    for (edits, length), tokens, right in zip(
        token_errors(found, references).tolist(), found, references
    ):
        costs = [
            (slow_edits(tuple(tokens), tuple(each)) / max(1, len(each)), -len(each))
            for each in right
        ]
        assert (edits / max(1, length), -length) == min(costs)


def test_a_token_may_hold_blanks():
    assert token_errors(
        [["new york", "is"]], [[["new", "york", "is"], ["new york", "was"]]]
    ).tolist() == [[1, 2]]


@settings(max_examples=50, deadline=None)
@given(CORPUS)
def test_error_rates_are_those_of_jiwer(corpus):
    found, references = corpus
    first = [right[0] for right in references]
    record = text_report(found, [[right] for right in first])
    assert record["wer"] == pytest.approx(jiwer.wer(first, found)) and record[
        "cer"
    ] == pytest.approx(jiwer.cer(first, found))


def test_error_rates_take_the_reference_with_fewest_errors():
    record = text_report(["a b c", "x y"], [["a c b", "a b d c"], ["", "x y z w"]])
    assert (record["wer"], record["cer"]) == pytest.approx(((1 + 2) / (4 + 4), (2 + 4) / (7 + 7)))


def test_exact_is_the_share_that_equals_a_reference():
    assert text_report(["a", "b", "c", "d "], [["a"], ["x", "b"], ["C"], ["d"]])["exact"] == 0.5


# Any texts


def numbers(record) -> list[float]:
    if isinstance(record, dict):
        return [each for value in record.values() for each in numbers(value)]
    return (
        [each for value in record for each in numbers(value)]
        if isinstance(record, list)
        else []
        if isinstance(record, str)
        else [record]
    )


@settings(max_examples=40, deadline=None)
@given(CORPUS)
def test_a_record_is_plain_and_finite(corpus):
    record = text_report(*corpus)
    assert (
        json.loads(json.dumps(record)) == record
        and all(map(math.isfinite, numbers(record)))
        and record["sequences"] == len(corpus[0])
    )


@pytest.mark.parametrize(
    "found, references",
    [([""], [[""]]), (["", "a b"], [[""], [""]]), ([""], [["a b"]]), (["a"], [["", "a"]])],
)
def test_nothing_found_and_nothing_right_are_finite(found, references):
    record = text_report(found, references)
    assert all(map(math.isfinite, numbers(record)))
    assert record["wer"] == (2 if len(found) == 2 else found[0] not in references[0])


@pytest.mark.parametrize(
    "text", ["Die Katze sitzt auf der Matte.", "今天 天气 很 好 。", "ذهب الولد إلى المدرسة اليوم"]
)
def test_a_perfect_text_cannot_be_better(text):
    record = text_report([text, text], [[text], ["?", text]])
    assert (record["bleu"], record["bleu_lower"], record["chrf"]) == pytest.approx((100, 100, 100))
    assert [record[name] for name in ROUGES] == pytest.approx([1, 1, 1])
    assert (record["exact"], record["wer"], record["cer"]) == (1, 0, 0)
    assert record["interval"] == {
        "chrf": pytest.approx([100, 100]),
        "exact": pytest.approx(wilson(2, 2)),  # two right ones prove little
        "wer": [0, 0],
    }
    assert record["interval"]["exact"][0] < 0.5


def test_order_matters_neither_among_sentences_nor_among_references():
    first = text_report(FOUND, TRUE)
    for second in (
        text_report(FOUND[::-1], TRUE[::-1]),
        text_report(FOUND, [right[::-1] for right in TRUE]),
    ):
        for record in (first, second):
            record.pop("interval", None)  # which sentences are drawn depends on where they stand
        assert numbers(second) == pytest.approx(numbers(first))


def test_a_reference_given_twice_changes_nothing():
    once, twice = text_report(FOUND, SINGLE), text_report(FOUND, [right * 2 for right in SINGLE])
    assert numbers(twice) == numbers(once)


def test_texts_that_look_cut_already_are_scored_in_silence(caplog):
    with caplog.at_level(logging.DEBUG):
        text_report(["so it is ."] * 200, [["so it is."]] * 200)
    assert not caplog.records


# Other sentences


def sentences(texts, counts) -> list:
    return [text for text, count in zip(texts, counts) for _ in range(count)]


def test_intervals_are_those_of_a_slow_twin():
    found, references = FOUND[:3], SINGLE[:3]
    draws = [
        (sentences(found, counts), sentences(references, counts)) for counts in resample(3).tolist()
    ]
    scores = {
        "chrf": [sacrebleu.corpus_chrf(texts, streams(right)).score for texts, right in draws],
        "wer": [jiwer.wer([each[0] for each in right], texts) for texts, right in draws],
    }
    record = text_report(found, references)["interval"]
    for name, values in scores.items():
        assert record[name] == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist()), name


@pytest.mark.parametrize(
    "metric, score", [("chrf", sacrebleu.corpus_chrf), ("bleu", sacrebleu.corpus_bleu)]
)
def test_paired_differences_are_those_of_a_slow_twin(metric, score):
    def difference(counts) -> float:
        right = streams(sentences(TRUE, counts))
        return (
            score(sentences(FOUND, counts), right).score
            - score(sentences(OTHER, counts), right).score
        )

    draws = np.array(
        [difference(counts) for counts in resample(len(TRUE), seed=3, samples=99).tolist()]
    )
    low, high = np.quantile(draws, [0.025, 0.975])
    p = min(1.0, 2 * (min((draws <= 0).sum(), (draws >= 0).sum()) + 1) / 100)
    record = paired(FOUND, OTHER, TRUE, metric, samples=99, seed=3)
    assert record == pytest.approx(
        {"difference": difference([1] * len(TRUE)), "low": low, "high": high, "p": p}
    )
    assert low < record["difference"] < high


def test_paired_tells_better_from_equal():
    better = [right[0] for right in TRUE]
    steady = paired(better, OTHER, TRUE)
    assert (
        steady["low"] > 0
        and steady["p"] == 2 / 1001
        and steady["difference"]
        == pytest.approx(100 - sacrebleu.corpus_chrf(OTHER, streams(TRUE)).score)
    )
    assert paired(OTHER, better, TRUE) == pytest.approx(
        {
            "difference": -steady["difference"],
            "low": -steady["high"],
            "high": -steady["low"],
            "p": steady["p"],
        }
    )
    assert paired(FOUND, FOUND, TRUE, "bleu") == {"difference": 0, "low": 0, "high": 0, "p": 1}


def test_one_source_is_enough_for_all_figures():
    assert text_report(FOUND[:1], TRUE[:1])["interval"]["exact"] == pytest.approx(wilson(0, 1))
    record = paired(FOUND[:1], OTHER[:1], TRUE[:1], samples=10)
    assert (
        record["low"]
        == record["high"]
        == pytest.approx(sentence_chrf(FOUND[0], TRUE[0][0]) - sentence_chrf(OTHER[0], TRUE[0][0]))
    )


def test_draws_follow_the_seed():
    first, again, other = (paired(FOUND, OTHER, TRUE, samples=50, seed=seed) for seed in (1, 1, 2))
    assert first == again and first["low"] != other["low"]


def test_very_many_sentences_are_joined_and_none_is_lost():
    counts = np.ones((2 * MOST_GROUPS, 2), int)
    assert drawn(counts, lambda sums: sums[0], samples=5).tolist() == [2 * MOST_GROUPS] * 5
    assert drawn(counts, rate, samples=5).tolist() == [1] * 5


# Refusals


def test_texts_that_do_not_belong_together_are_refused():
    for found, references in (([], []), (["a"], []), (["a"], [["a"], ["b"]])):
        for call in (text_report, token_errors, lambda *columns: paired(columns[0], *columns)):
            with pytest.raises(DataError, match="one source at least"):
                call(found, references)
    for right in ("b", []):
        with pytest.raises(DataError, match="source 2 has no list"):
            text_report(["a", "b"], [["a"], right])


def test_unknown_metrics_and_no_samples_are_refused():
    with pytest.raises(ConfigError, match="Did you mean 'chrf'"):
        paired(FOUND, OTHER, TRUE, "chr")
    with pytest.raises(ConfigError, match="one resample"):
        paired(FOUND, OTHER, TRUE, samples=0)


def test_nothing_is_kept_for_every_call():
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    for _ in range(2):
        text_report(["the cat sat"], [["the cat sits"]])
        bleu_counts(["the cat sat"], [["the cat sits"]])
    gc.collect()
    kept = [each for each in gc.get_objects() if type(each) is Tokenizer13a]
    before = len(kept)
    text_report(["the cat sat"], [["the cat sits"]])
    gc.collect()
    assert sum(type(each) is Tokenizer13a for each in gc.get_objects()) == before
