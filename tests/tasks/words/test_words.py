"""Words as points: every query against a slow twin with plain loops, evaluation on small files, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import seriatim.tasks.words.space
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.measuring.measured import Measured
from seriatim.tasks.words.metrics import (
    evaluate,
    measure,
    measure_analogies,
    measure_similarity,
    ranks,
    spearman,
    summarise,
)
from seriatim.tasks.words.space import (
    METHODS,
    WordSpace,
    blocks,
    parse_analogy,
    parse_direction,
    unit,
)

seeds = st.integers(0, 10_000)
quick = settings(
    max_examples=15, deadline=None, derandomize=True
)  # float32 against float64: the same seeds, so that no near tie turns up one day


def evaluate_analogies(words: WordSpace, path, **options) -> dict:
    return summarise(measure_analogies(words, path, **options))


def evaluate_similarity(words: WordSpace, path, **options) -> dict:
    return summarise(measure_similarity(words, path, **options))


def some_words(seed: int, number: int = 12, width: int = 5) -> WordSpace:
    return WordSpace(
        [f"w{row}" for row in range(number)],
        np.random.default_rng(seed).normal(size=(number, width)),
    )


# The slow twins


def cosine(x, y) -> float:
    lengths = math.sqrt(sum(float(a) ** 2 for a in x)) * math.sqrt(sum(float(b) ** 2 for b in y))
    return sum(float(a) * float(b) for a, b in zip(x, y)) / lengths if lengths else 0.0


def slow_unit(x) -> list[float]:
    length = math.sqrt(sum(float(a) ** 2 for a in x))
    return [float(a) / length for a in x]


def slow_sum(*parts: tuple[float, list[float]]) -> list[float]:
    return [sum(weight * vector[d] for weight, vector in parts) for d in range(len(parts[0][1]))]


def slow_ranking(words: WordSpace, score, left_out, top: int) -> list[tuple[str, float]]:
    scores = [
        (word, score(words.vectors[row]))
        for row, word in enumerate(words.words)
        if word not in left_out
    ]
    return sorted(scores, key=lambda pair: -pair[1])[:top]


def slow_analogy(words: WordSpace, plus, minus, top: int, method: str):
    def multiplied(d):
        upper = math.prod((1 + cosine(d, words.vector(word))) / 2 for word in plus)
        return upper / math.prod((1 + cosine(d, words.vector(word))) / 2 + 0.001 for word in minus)

    target = slow_sum(
        *[(1, slow_unit(words.vector(word))) for word in plus],
        *[(-1, slow_unit(words.vector(word))) for word in minus],
    )
    return slow_ranking(
        words,
        (lambda d: cosine(d, target)) if method == "add" else multiplied,
        {*plus, *minus},
        top,
    )


def same(found, expected) -> None:
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], rel=1e-4, abs=1e-5
    )
    assert [word for word, _ in found] == [word for word, _ in expected]


# Queries


@quick
@given(seeds, st.integers(1, 15))
def test_neighbours_are_the_words_with_the_largest_cosine(seed, top):
    words = some_words(seed)
    same(
        words.neighbours("w3", top),
        slow_ranking(words, lambda d: cosine(d, words.vectors[3]), {"w3"}, top),
    )
    same(
        words.neighbours("w3", top, without=["w5", "nowhere", "w0"]),
        slow_ranking(words, lambda d: cosine(d, words.vectors[3]), {"w3", "w5", "w0"}, top),
    )
    point = np.random.default_rng(seed + 1).normal(size=5)
    same(words.neighbours(point, top), slow_ranking(words, lambda d: cosine(d, point), set(), top))
    same(
        words.neighbours(point, top, without="w1"),
        slow_ranking(words, lambda d: cosine(d, point), {"w1"}, top),
    )


@pytest.mark.parametrize("method", METHODS)
@quick
@given(seeds, st.lists(st.integers(0, 11), max_size=3), st.lists(st.integers(0, 11), max_size=3))
def test_an_analogy_of_any_number_of_words(method, seed, plus, minus):
    assume(plus or minus)
    assume(sorted(plus) != sorted(minus))
    words = some_words(seed)
    plus, minus = ([f"w{row}" for row in side] for side in (plus, minus))
    same(words.analogy(plus, minus, 6, method), slow_analogy(words, plus, minus, 6, method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cells", [1, 30, seriatim.tasks.words.space.CELLS])
def test_many_sums_of_any_length_have_the_answers_of_each(method, cells, monkeypatch):
    monkeypatch.setattr(seriatim.tasks.words.space, "CELLS", cells)
    words, dice = some_words(4), np.random.default_rng(0)
    sums = [
        (
            [f"w{row}" for row in dice.integers(0, 12, size)],
            [f"w{row}" for row in dice.integers(0, 12, 3 - size)],
        )
        for size in dice.integers(1, 4, 20)
    ]
    for (plus, minus), found in zip(sums, words.answers(sums, 4, method), strict=True):
        same(found, slow_analogy(words, plus, minus, 4, method))
    assert words.answers([]) == []


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [None, 2, 4, 9])
@quick
@given(seeds)
def test_many_analogies_are_the_same_as_one_at_a_time(method, most, seed):
    words = some_words(seed)
    questions = np.random.default_rng(seed).integers(0, 12, (20, 3))
    questions[5:10, :2] = questions[4, :2]  # the same pair in a row, as in the files
    expected = []
    for a, b, c in questions.tolist():
        ranking = (
            slow_analogy(words, [f"w{b}", f"w{c}"], [f"w{a}"], 12, method)
            if not a == b == c
            else slow_analogy(words, [f"w{a}"], [], 12, method)
        )
        among = [int(word[1:]) for word, _ in ranking if most is None or int(word[1:]) < most]
        expected.append(among[0] if among else -1)
    assert words.analogies(questions, method, most).tolist() == expected


@pytest.mark.parametrize("method", METHODS)
def test_answers_do_not_depend_on_the_size_of_blocks(method, monkeypatch):
    words, questions = some_words(1, 60, 8), np.random.default_rng(2).integers(0, 60, (300, 3))
    expected = words.analogies(questions, method, 50)
    for rows in (1, 3, 7, 20):
        monkeypatch.setattr(seriatim.tasks.words.space, "CELLS", 50 * rows)
        monkeypatch.setattr(seriatim.tasks.words.space, "FEWEST", 1)
        assert len(list(blocks(questions, rows))) > 1
        assert (words.analogies(questions, method, 50) == expected).all()
    assert words.analogies(questions[:0], method).shape == (0,) and words.analogies(
        [], method
    ).shape == (0,)


@quick
@given(seeds, st.integers(1, 12))
def test_blocks_follow_one_another_and_hold_few_words(seed, most_words):
    questions = np.random.default_rng(seed).integers(0, 9, (30, 3))
    cut = list(blocks(questions, most_words))
    assert [question for block in cut for question in range(30)[block]] == list(range(30))
    for block, following in zip(cut, [*cut[1:], None]):
        assert len(np.unique(questions[block])) <= most_words or block.stop - block.start == 1
        if following:  # none is smaller than it has to be
            assert len(np.unique(questions[block.start : block.stop + 1])) > most_words


@quick
@given(seeds, st.lists(st.integers(0, 11), min_size=3, max_size=6, unique=True))
def test_the_odd_one_is_least_like_the_mean_of_the_others(seed, rows):
    words = some_words(seed)
    expected = []
    for row in rows:
        mean = slow_sum(
            *[
                (1 / (len(rows) - 1), slow_unit(words.vectors[other]))
                for other in rows
                if other != row
            ]
        )
        expected.append((f"w{row}", cosine(words.vectors[row], mean)))
    odd, ranking = words.odd_one_out([f"w{row}" for row in rows])
    same(ranking, sorted(expected, key=lambda pair: pair[1]))
    assert odd == ranking[0][0]


@quick
@given(seeds, st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=4))
def test_a_direction_is_the_mean_way_of_its_pairs(seed, pairs):
    words = some_words(seed)
    named = [(f"w{first}", f"w{second}") for first, second in pairs]
    steps = [
        part
        for first, second in named
        for part in (
            (1 / len(pairs), slow_unit(words.vector(second))),
            (-1 / len(pairs), slow_unit(words.vector(first))),
        )
    ]
    target = slow_sum((1, slow_unit(words.vectors[7])), *steps)
    same(
        words.direction(named, "w7", 4),
        slow_ranking(words, lambda d: cosine(d, target), {"w7", *sum(named, ())}, 4),
    )
    same(words.direction(named[:1], "w7", 4), words.analogy([named[0][1], "w7"], [named[0][0]], 4))


@pytest.mark.parametrize("scale", [1e-30, 0.01, 300.0, 1e30])
def test_the_length_of_vectors_changes_nothing(scale):
    words = some_words(3)
    lengths = np.random.default_rng(0).uniform(0.5, 2, (12, 1))
    scaled = WordSpace(words.words, words.vectors * np.float32(scale) * lengths.astype(np.float32))
    assert scaled.unit == pytest.approx(words.unit, abs=1e-6)
    same(scaled.neighbours("w2"), words.neighbours("w2"))
    same(scaled.direction([("w0", "w1")], "w2"), words.direction([("w0", "w1")], "w2"))
    same(scaled.odd_one_out(["w0", "w1", "w2"])[1], words.odd_one_out(["w0", "w1", "w2"])[1])
    questions = np.random.default_rng(1).integers(0, 12, (50, 3))
    for method in METHODS:
        same(
            scaled.analogy(["w0", "w1"], ["w2"], method=method),
            words.analogy(["w0", "w1"], ["w2"], method=method),
        )
        assert (scaled.analogies(questions, method) == words.analogies(questions, method)).all()


def test_a_vector_of_zeros_is_like_nothing_and_equal_words_keep_their_order():
    words = WordSpace(["zero", "b", "a", "c"], [[0, 0], [1, 0], [2, 0], [0, 1]])
    assert words.neighbours("zero", 2) == [("b", 0.0), ("a", 0.0)] and words.neighbours("c", 1) == [
        ("zero", 0.0)
    ]
    assert words.neighbours(np.array([1.0, 0.0]), 2) == [("b", 1.0), ("a", 1.0)]
    assert unit(np.zeros(3, np.float32)).tolist() == [0, 0, 0]


def test_what_is_kept_and_how_words_are_found():
    words = WordSpace(["the", "Paris", "paris", "oslo"], np.arange(8).reshape(4, 2))
    assert (
        words.words[1] == "Paris"
        and words.number["paris"] == 2
        and words.vectors.dtype == words.unit.dtype == np.float32
    )
    assert (
        words.vector("Paris").tolist() == [2, 3]
        and words.vector("PARIS").tolist() == [4, 5]
        and words.vector("Oslo").tolist() == [6, 7]
    )
    assert (
        words.find("Paris", 1),
        words.find("PARIS", 2),
        words.find("Paris", 2),
        words.find("rome"),
    ) == (None, None, 1, None)
    assert words.neighbours("Oslo", 10)[-1][0] != "oslo" and len(words.neighbours("Oslo", 10)) == 3


# Maps


def test_a_map_by_principal_components_is_that_of_scikit_learn():
    words = some_words(3, 30, 8)
    record = words.map([["w0", "w1"], ["w2", "w3"], ["w4"], ["w5", "w6", "w7"], ["w0", "w3"]])
    assert [each["word"] for each in record["points"]] == [
        f"w{row}" for row in range(8)
    ] and record["arrows"] == [[0, 1], [2, 3], [0, 3]]
    found = np.array([[each["x"], each["y"]] for each in record["points"]])
    peer = pytest.importorskip("sklearn.decomposition").PCA(2).fit(words.unit[:8])
    assert np.abs(found) == pytest.approx(np.abs(peer.transform(words.unit[:8])), abs=1e-5)
    assert record["shares"] == pytest.approx(peer.explained_variance_ratio_.tolist(), abs=1e-5)
    assert (
        sum(found[end] - found[begin] for begin, end in record["arrows"]) >= 0
    ).all() and json.dumps(record)


def test_without_words_the_most_frequent_are_on_the_map():
    assert [each["word"] for each in some_words(3, 30, 8).map(most=7)["points"]] == [
        f"w{row}" for row in range(7)
    ]
    assert len(some_words(3, 300, 4).map()["points"]) == 200
    assert {each["y"] for each in some_words(3, 30, 1).map()["points"]} == {
        0.0
    }  # vectors of one number lie on a line


def test_near_words_stay_near_by_tsne():
    pytest.importorskip("sklearn")
    centres = np.repeat(np.eye(3, 6) * 5, 8, axis=0)  # three heaps of eight words
    words = WordSpace(
        [f"w{row}" for row in range(24)],
        centres + np.random.default_rng(0).normal(size=(24, 6)) / 10,
    )
    record = words.map(plane="tsne")
    where = np.array([[each["x"], each["y"]] for each in record["points"]])
    apart = np.hypot(*(where[:, None] - where[None]).transpose(2, 0, 1))
    alike = np.arange(24)[:, None] // 8 == np.arange(24) // 8
    apart[np.arange(24), np.arange(24)] = np.inf
    nearest = apart.argmin(1)
    assert (
        alike[np.arange(24), nearest].mean() > 0.8
        and record["shares"] is None
        and record["arrows"] == []
    )


def test_a_map_that_cannot_be_made_is_refused():
    words = some_words(0)
    refused(ConfigError, lambda: words.map([["w0", "w1"], ["w1", "w2"]]), "four words or more")
    refused(ConfigError, lambda: words.map(plane="pac"), "unknown way", "Did you mean 'pca'?")
    refused(DataError, lambda: words.map([["w0", "w1"], ["w2", "zebra"]]), "no vector")


# Sums and signs


@pytest.mark.parametrize(
    "text, plus, minus",
    [
        ("paris - france + japan", ["paris", "japan"], ["france"]),
        ("paris", ["paris"], []),
        ("  king  -  man\t+ woman\n", ["king", "woman"], ["man"]),
        ("- france + paris", ["paris"], ["france"]),
        ("-france + paris", ["paris"], ["france"]),
        ("+ a + b", ["a", "b"], []),
        ("+a - b", ["a"], ["b"]),
        ("well-known - known + un-heard-of", ["well-known", "un-heard-of"], ["known"]),
        ("a - b - c", ["a"], ["b", "c"]),
        ("- a", [], ["a"]),
        ("c++ - c", ["c++"], ["c"]),
        ("a − b – c", ["a"], ["b", "c"]),
        ("a + -lrb-", ["a", "-lrb-"], []),
    ],
)
def test_signs_between_blanks_or_at_the_beginning(text, plus, minus):
    assert parse_analogy(text) == (plus, minus)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "no word"),
        ("   ", "no word"),
        ("paris france", "no sign between 'paris' and 'france'"),
        ("paris -france", "no sign between 'paris' and '-france'"),
        ("paris - + japan", "no word between '-' and '+'"),
        ("paris - france +", "no word after the last '+'"),
        ("-", "no word after the last '-'"),
        ("- - a", "no word between '-' and '-'"),
    ],
)
def test_what_is_wrong_with_a_sum_is_said(text, complaint):
    with pytest.raises(ConfigError, match=complaint.replace("+", r"\+")) as caught:
        parse_analogy(text)
    assert "paris - france + japan" in caught.value.do


@pytest.mark.parametrize(
    "text",
    [
        "",
        "man king",
        "man king : ",
        "man king, uncle : woman",
        "man king : a woman",
        ": woman",
        "a b c : d",
        "a b,, c d : e",
    ],
)
def test_a_direction_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="pairs of words") as caught:
        parse_direction(text)
    assert "man king, uncle prince : woman" in caught.value.do


# Evaluation

FAMILY = ["man", "woman", "king", "queen", "Walk", "walked", "talk", "talked"]
POINTS = np.array(
    [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 1, 0],
        [1, 1, 1, 0],
        [0, 0, 1, 1],
        [0, 1, 1, 1],
        [0, 0, -1, 1],
        [0, 1, -1, 1],
    ]
)
QUESTIONS = """: family
man woman king queen
King QUEEN man woman

king queen man talked
emperor empress man woman
: gram7-past-tense
Walk walked talk talked
talk talked Walk walked
run ran Walk walked
: empty
: gram-unknown
go went do did
"""


def written(folder, text, name="questions.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("method", METHODS)
def test_analogies_of_a_small_file(method, tmp_path):
    record = evaluate_analogies(
        WordSpace(FAMILY, POINTS), written(tmp_path, QUESTIONS), method=method
    )
    low, high = record.pop("interval")["accuracy"]
    assert record.pop("seconds") >= 0 and 0 <= low < 0.8 < high <= 1
    assert json.loads(json.dumps(record)) == {
        "questions_are": "analogies",
        "method": method,
        "accuracy": 0.8,
        "correct": 4,
        "asked": 5,
        "questions": 8,
        "coverage": 5 / 8,
        "most": 8,
        "semantic": 2 / 3,
        "syntactic": 1.0,
        "notes": [],
        "sections": [
            {"section": "family", "accuracy": 2 / 3, "correct": 2, "asked": 3, "questions": 4},
            {
                "section": "gram7-past-tense",
                "accuracy": 1.0,
                "correct": 2,
                "asked": 2,
                "questions": 3,
            },
            {"section": "empty", "accuracy": None, "correct": 0, "asked": 0, "questions": 0},
            {"section": "gram-unknown", "accuracy": None, "correct": 0, "asked": 0, "questions": 1},
        ],
    }


def test_only_the_first_words_are_asked_and_are_answers(tmp_path):
    path = written(tmp_path, QUESTIONS)
    record = evaluate_analogies(WordSpace(FAMILY, POINTS), path, most=4)
    assert (record["asked"], record["correct"], record["syntactic"], record["most"]) == (
        2,
        2,
        None,
        4,
    )
    nothing = evaluate_analogies(WordSpace(FAMILY, POINTS), path, most=3)
    assert (
        nothing["accuracy"] is nothing["semantic"] is None
        and nothing["interval"]["accuracy"] == [None, None]
        and nothing["coverage"] == 0
    )
    assert (
        nothing["asked"] == 0
        and nothing["questions"] == 8
        and "no question was asked" in nothing["notes"][0]
    )
    unnamed = evaluate_analogies(
        WordSpace(FAMILY, POINTS),
        written(
            tmp_path,
            "man woman king queen\r\n: gram\r\nman woman king queen\n: gram\nman woman king man",
        ),
    )
    assert [
        (section["section"], section["questions"], section["correct"])
        for section in unnamed["sections"]
    ] == [("unnamed", 1, 1), ("gram", 2, 1)]


def test_the_interval_is_that_of_resampled_questions(tmp_path):
    right, wrong = "man woman king queen\n", "king queen man talked\n"
    low, high = evaluate_analogies(
        WordSpace(FAMILY, POINTS), written(tmp_path, 30 * right + 70 * wrong)
    )["interval"]["accuracy"]
    answers = np.repeat([1, 0], [30, 70])
    drawn = np.random.default_rng(1).choice(answers, (4000, 100)).mean(1)
    assert [low, high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.015)


def test_spearman_with_ties_by_hand():
    """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: the products of their distances from 2.5 sum to 4.5, the squares to 4.5 and 5."""
    assert spearman(np.array([1, 2, 2, 3]), np.array([10, 30, 20, 40]))[0] == pytest.approx(
        4.5 / math.sqrt(4.5 * 5)
    )
    assert spearman(np.array([1, 2, 3]), np.array([9, 5, 1]))[0] == pytest.approx(-1)
    assert np.isnan(spearman(np.array([1, 1]), np.array([1, 2]))[0])


@quick
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12
    )
)
def test_ranks_of_repeated_pairs_are_those_of_the_pairs_written_out(rows):
    first, second, times = map(np.array, zip(*rows))
    assume(times.sum())

    def slow(values):
        return [
            sum(other < value for other in values)
            + (sum(other == value for other in values) + 1) / 2
            for value in values
        ]

    for values in (first, second):
        assert np.repeat(ranks(values, times[None])[0], times).tolist() == slow(
            np.repeat(values, times).tolist()
        )
    x, y = (slow(np.repeat(values, times).tolist()) for values in (first, second))
    expected = cosine(
        [value - sum(x) / len(x) for value in x], [value - sum(y) / len(y) for value in y]
    )
    found = spearman(first, second, times[None])[0]
    assert (np.isnan(found) and expected == 0) or found == pytest.approx(expected)


def test_spearman_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    first, second = np.random.default_rng(0).integers(0, 9, (2, 40))
    assert spearman(first, second)[0] == pytest.approx(stats.spearmanr(first, second).statistic)


PAIRS = [
    "man,woman,9",
    "king,Queen,7.5",
    "walked,talked,3",
    "man,talk,3",
    "man,emperor,8",
    "woman,walked,5.0",
]


@pytest.mark.parametrize(
    "between, header, ending",
    [
        (",", "Word 1,Word 2,Human (mean)\n", ".csv"),
        (",", "", ".csv"),
        ("\t", "word1\tword2\tscore\n", ".tsv"),
        ("\t", "# a comment, with a comma\n\n", ".tab"),
        (" ", "", ".txt"),
        ("  ", "first second score\n", ".txt"),
        (",", "\ufeff", ".csv"),
    ],
)
def test_similarity_of_a_small_file(between, header, ending, tmp_path):
    rows = [row.replace(",", between) + between + "ignored" for row in PAIRS]
    record = evaluate_similarity(
        WordSpace(FAMILY, POINTS), written(tmp_path, header + "\n".join(rows), f"pairs{ending}")
    )
    cosines = [
        cosine(POINTS[first], POINTS[second])
        for first, second in [(0, 1), (2, 3), (5, 7), (0, 6), (1, 5)]
    ]
    assert record["spearman"] == pytest.approx(
        spearman(np.round(cosines, 6), np.array([9, 7.5, 3, 3, 5]))[0]
    )
    assert (
        record["questions_are"],
        record["pairs"],
        record["asked"],
        record["coverage"],
        record["notes"],
    ) == ("similarity", 6, 5, 5 / 6, [])
    low, high = record["interval"]["spearman"]
    assert -1 <= low <= record["spearman"] <= high <= 1 and json.dumps(record)


def test_quoted_cells_and_pairs_that_have_no_correlation(tmp_path):
    words = WordSpace(FAMILY, POINTS)
    assert (
        evaluate_similarity(
            words, written(tmp_path, '"man","woman","1,5"\n"man","woman",2\nking , queen , -3\n')
        )["pairs"]
        == 2
    )  # the first is a header
    for text in ("man woman 3", "man woman 3\nking queen 3", "emperor empress 4\nman woman 3\n"):
        record = evaluate_similarity(words, written(tmp_path, text))
        assert (
            record["spearman"] is None
            and record["interval"]["spearman"] == [None, None]
            and "no correlation" in record["notes"][0]
        )
    assert evaluate_similarity(words, written(tmp_path, "\n".join(PAIRS)), most=2)["asked"] == 1


def test_the_interval_of_a_correlation_is_that_of_resampled_pairs(tmp_path):
    words, generator = some_words(5, 40), np.random.default_rng(0)
    first, second = np.triu_indices(40, 1)
    chosen = generator.choice(len(first), 60, replace=False)
    cosines = (words.unit[first[chosen]] * words.unit[second[chosen]]).sum(1)
    scores = np.round(cosines + generator.normal(size=60), 1)
    path = written(
        tmp_path,
        "\n".join(
            f"w{a} w{b} {score}" for a, b, score in zip(first[chosen], second[chosen], scores)
        ),
    )
    drawn = [
        spearman(cosines[rows], scores[rows])[0] for rows in generator.integers(0, 60, (2000, 60))
    ]
    assert evaluate_similarity(words, path)["interval"]["spearman"] == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.05
    )


@pytest.mark.parametrize("text", [QUESTIONS, "\n".join(PAIRS)])
def test_what_was_measured_is_summarised_the_same_when_it_was_kept(text, tmp_path):
    measured = measure(WordSpace(FAMILY, POINTS), written(tmp_path, text))
    measured.save(tmp_path / "measured.safetensors")
    assert summarise(Measured.load(tmp_path / "measured.safetensors")) == summarise(measured)
    first = measured.item(0)
    assert first["truth"] and first["answers"] and first["item"] == 0


def test_the_public_files_are_read_whole(public_data):
    questions, pairs = (
        public_data / "words" / "questions-words.txt",
        public_data / "words" / "wordsim353.csv",
    )
    if not questions.exists() or not pairs.exists():
        pytest.skip("the files of words are not there")
    known = sorted(
        {
            word.lower()
            for line in questions.read_text().splitlines()
            if line[0] != ":"
            for word in line.split()
        }
        | {
            word.strip().lower()
            for line in pairs.read_text().splitlines()
            for word in line.split(",")[:2]
        }
    )
    words = WordSpace(known, np.random.default_rng(0).normal(size=(len(known), 8)))
    record = evaluate_analogies(words, questions)
    assert (record["asked"], record["questions"], len(record["sections"])) == (
        19_544,
        19_544,
        14,
    ) and record["accuracy"] < 0.05
    assert (
        sum(
            section["questions"]
            for section in record["sections"]
            if section["section"].startswith("gram")
        )
        == 10_675
    )
    assert evaluate_similarity(words, pairs)["asked"] == 353


# Refusals


def refused(kind: type[SeriatimError], action, what: str, do: str = "") -> SeriatimError:
    with pytest.raises(kind) as caught:
        action()
    assert what in caught.value.what and do in caught.value.do and caught.value.do, str(
        caught.value
    )
    return caught.value


def test_unknown_words_are_refused_with_the_nearest_spelling():
    words = WordSpace(["paris", "parish", "Oslo", "the"], np.eye(4))
    for action in (
        lambda: words.vector("pariis"),
        lambda: words.neighbours("pariis"),
        lambda: words.analogy(["pariis"], []),
        lambda: words.analogy(["paris"], ["pariis"]),
        lambda: words.odd_one_out(["the", "pariis", "Oslo"]),
        lambda: words.direction([("the", "pariis")], "Oslo"),
        lambda: words.direction([("the", "Oslo")], "pariis"),
    ):
        assert refused(DataError, action, "no vector", "Did you mean 'paris'?").got == "'pariis'"
    refused(DataError, lambda: words.vector("oslo"), "no vector", "Did you mean 'Oslo'?")
    refused(
        DataError,
        lambda: words.vector("xylophone"),
        "no vector",
        "There are 4 words, for instance paris, parish",
    )


def test_vectors_that_do_not_fit_are_refused():
    for what, names, vectors in [
        ("one vector", ["a", "b"], np.ones((3, 2))),
        ("one vector", ["a"], np.ones(3)),
        ("one vector", [], np.ones((0, 3))),
        ("one vector", ["a"], np.ones((1, 0))),
        ("two vectors", ["a", "b", "a"], np.ones((3, 2))),
        ("'b'", ["a", "b"], [[1, 2], [1, math.nan]]),
        ("'a'", ["a", "b"], [[1e300, 2], [1, 2]]),
        ("vectors are numbers", ["a", "b"], [[1, 2], [1]]),
    ]:
        refused(DataError, lambda names=names, vectors=vectors: WordSpace(names, vectors), what)


def test_settings_out_of_range_are_refused(tmp_path):
    words, path = some_words(0), written(tmp_path, QUESTIONS)
    for action in (
        lambda: words.neighbours("w0", 0),
        lambda: words.analogy(["w0"], [], -1),
        lambda: words.direction([("w0", "w1")], "w2", 0),
    ):
        refused(ConfigError, action, "at least one word is shown")
    for action in (
        lambda: words.analogy(["w0"], [], method="mull"),
        lambda: words.analogies(np.array([[0, 1, 2]]), "mull"),
        lambda: evaluate_analogies(words, path, method="mull"),
    ):
        refused(ConfigError, action, "unknown method", "Did you mean 'mul'?")
    for action in (
        lambda: words.analogies(np.array([[0, 1, 2]]), most=0),
        lambda: evaluate_analogies(words, path, most=0),
        lambda: evaluate_similarity(words, path, most=-3),
    ):
        refused(ConfigError, action, "at least one word is a candidate")
    for questions in (np.zeros((2, 4), int), np.zeros(3, int), np.zeros((2, 3))):
        refused(
            ConfigError,
            lambda questions=questions: words.analogies(questions),
            "rows of three numbers",
        )
    for questions in ([[0, 1, 12]], [[-1, 0, 1]]):
        refused(
            ConfigError, lambda questions=questions: words.analogies(np.array(questions)), "0 to 11"
        )
    refused(ConfigError, lambda: words.analogy([], []), "no word was given")
    refused(ConfigError, lambda: words.answers([(["w0"], []), ([], [])]), "no word was given")
    refused(ConfigError, lambda: words.odd_one_out(["w1", "w2", "w1"]), "three words or more")
    for pairs in ([], [("w0",)], ["w0"], ["ab"]):
        refused(ConfigError, lambda pairs=pairs: words.direction(pairs, "w1"), "pairs of words")
    for point in (np.ones(4), np.ones((1, 5)), np.full(5, math.nan)):
        refused(DataError, lambda point=point: words.neighbours(point), "5 numbers")


@pytest.mark.parametrize("measured", [measure_analogies, measure_similarity])
def test_files_that_cannot_be_read_are_refused(measured, tmp_path):
    def action(path):
        return measured(some_words(0), path)

    refused(DataError, lambda: action(tmp_path / "nowhere.txt"), "no such file")
    refused(DataError, lambda: action(tmp_path), "folder")
    refused(DataError, lambda: action(written(tmp_path, "")), "empty")
    assert (
        refused(
            DataError, lambda: action(written(tmp_path, b"a b c d\nna\xefve b c d\n")), "not UTF-8"
        ).line
        == 2
    )
    refused(DataError, lambda: action(written(tmp_path, "\n\n  \n")), "the file holds no")


@pytest.mark.parametrize(
    "text, line, what",
    [
        (": family\nman woman king\n", 2, "four words, not 3"),
        ("a b c d\n\na b c d e", 3, "four words, not 5"),
        (": only sections\n", None, "holds no question"),
    ],
)
def test_questions_that_are_not_are_refused(text, line, what, tmp_path):
    path = written(tmp_path, text)
    error = refused(
        DataError,
        lambda: evaluate_analogies(some_words(0), path),
        what,
        "Athens Greece Oslo Norway",
    )
    assert (error.line, error.file) == (line, str(path))


def test_scores_are_read_from_a_named_column(tmp_path):
    words, text = (
        WordSpace(FAMILY, POINTS),
        "word1\tword2\tPOS\t1\tmean\nman\twoman\tN\t5\t9\nking\tqueen\tN\t7\t8\nwalked\tman\tV\t9\t1\n",
    )
    path = written(tmp_path, text, "pairs.tsv")
    assert (
        evaluate_similarity(words, path, column="mean")["spearman"]
        == -evaluate(words, path, column="1")["spearman"]
        != 0
    )
    assert evaluate(words, path, column="mean")["pairs"] == 3
    assert (
        refused(
            DataError, lambda: evaluate(words, path), "not a number", "--column: POS, 1, mean"
        ).line
        == 2
    )
    refused(
        DataError,
        lambda: evaluate(words, path, column="mena"),
        "no column 'mena'",
        "Did you mean 'mean'?",
    )
    assert refused(DataError, lambda: evaluate(words, path, column="POS"), "not a number").line == 2
    refused(
        ConfigError,
        lambda: evaluate(words, written(tmp_path, QUESTIONS), column="mean"),
        "no columns",
    )


@pytest.mark.parametrize(
    "text, line, what",
    [
        ("a,b,1\na,c,two\n", 2, "not a number"),
        ("a,b,score\na,c,\n", 2, "not a number"),
        ("a b 1\n\na c nan", 3, "not a number"),
        ("a\tb\t1\na\tc\tinf", 2, "not a number"),
        ("a b 1\na b\n", 2, "two words and a score"),
        ("a,b,1\n,b,2\n", 2, "two words and a score"),
        ('a,b,1\n"a,b,2\n', 2, "not valid csv"),
        ("word word score\n", None, "no pair"),
        ("# nothing\n", None, "no pair"),
    ],
)
def test_scores_that_are_not_are_refused(text, line, what, tmp_path):
    path = written(tmp_path, text)
    error = refused(DataError, lambda: evaluate_similarity(some_words(0), path), what)
    assert (error.line, error.file) == (line, str(path))
