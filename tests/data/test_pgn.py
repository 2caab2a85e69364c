"""Games: moves and results arrive; comments, variations, numbers and marks do not."""

import random

import pytest

import seriatim as st
from seriatim.data.formats import read_files
from seriatim.errors import DataError

GAMES = """[Event "A (small) {match}"]
[White "Ann \\"A\\" B"]
[Result "1-0"]

1. e4! {best; by (test)} e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 $1 Nc6 ; a rest 1-0
% escaped e4
3.Bb5 a6 4. 0-0 Nge7 5. exd5 e.p. e8=Q+ 1-0

[Event "no result behind the moves"]
[Result "1/2-1/2"]

1. d4 d5 2. O-O-O#
[Event "forfeit"]
[Result "0-1"]

0-1

[Event "open"]
1. c4 *
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    return write_file


def test_moves_and_results_arrive_and_nothing_else(write):
    notes = []
    data = read_files(write("a.pgn", GAMES), notes=notes)
    rows = [data[s] for s in range(len(data))]
    first = "e4 e5 Nf3 Nc6 Bb5 a6 O-O Nge7 exd5 e8=Q+"
    assert [" ".join(row["tokens"]) for row in rows] == [first, "d4 d5 O-O-O#", "c4"]
    assert [row["label"] for row in rows] == [["1-0"], ["1/2-1/2"], ["*"]]
    assert data.lines.tolist() == [1, 9, 18] and data.by == "line"
    assert "1 game has no moves and 1 left out" in notes[-1]


def test_plain_moves_are_a_game_a_line_of_any_game(write):
    text = "1. e4 e5 2.Nf3 1-0\n\ne2e4 e7e5 *\n11-15 23-19 0-1\n1 B[dd] 2 W[pp]\n"
    data = read_files(write("a.moves", text))
    rows = [(" ".join(data[s]["tokens"]), data[s]["label"][0]) for s in range(4)]
    assert rows == [
        ("e4 e5 Nf3", "1-0"),
        ("e2e4 e7e5", "*"),
        ("11-15 23-19", "0-1"),
        ("B[dd] W[pp]", "*"),
    ]
    assert data.lines.tolist() == [1, 3, 4, 5]


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("1. e4\n{ open", 2, "comment does not end"),
        ("1. e4 (1. d4\n", 1, "variation does not end"),
        ("1. e4\n) e5", 2, "did not begin"),
        ("1. e4\n\n2. hello", 3, "no move"),
        ("1. e4 } e5", 1, "no move"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(write, text, line, words):
    path = write("a.pgn", text)
    with pytest.raises(DataError, match=words) as caught:
        read_files(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_a_file_without_moves_is_refused(write):
    with pytest.raises(DataError, match="holds no sequence"):
        read_files(write("a.pgn", '[Event "x"]\n\n*\n'))


def test_games_are_a_language_and_have_labels(write, tmp_path):
    dice, games = random.Random(0), []
    for _ in range(120):
        white = dice.random() < 0.5
        opening = "1. e4 e5 2. Nf3" if white else "1. d4 d5 2. c4"
        rest = " ".join(dice.choice(["a3", "h3", "Nc6"]) for _ in range(4))
        games.append(f'[Result "{"1-0" if white else "0-1"}"]\n\n{opening} {rest}\n\n')
    path = write("games.pgn", "".join(games))
    model = st.fit("language", "markov", path, out=tmp_path / "run")
    assert model.unit == "token"
    assert model.text("e4", length=2, temperature=0).startswith("e4 e5 Nf3")
    assert st.fit("classify", "naive-bayes", path).evaluate(path)["accuracy"] == 1.0
