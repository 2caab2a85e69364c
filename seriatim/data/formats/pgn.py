"""Games as sequences of moves: chess in Portable Game Notation, and plain moves, a game a line.

    [White "Ann"]                           tags, comments, variations, numbers of moves and marks
    1. e4! {best} e5 (1... c5) 2. Nf3 1-0   are no moves:  e4 e5 Nf3, with the label 1-0

A result is the label, "*" where there is none; castling is written O-O, with letters. Of plain moves any
word is one, so that other games can be read, too. (Edwards, "Portable Game Notation Specification
and Implementation Guide", 1994.)
"""

from __future__ import annotations

import re
from array import array

import numpy as np

from seriatim.data.files import add_notes, lines_of, utf8
from seriatim.data.sequences import SYMBOLS, Field, Table, offsets_of
from seriatim.errors import DataError

RESULT = r"(?:1-0|0-1|1/2-1/2|\u00bd-\u00bd|\*)(?![^\s)({;\[])"
NUMBER = r"\d+(?:\.+|(?=\s|$))"  # of a move
CASTLES = r"[O0]-[O0](?:-[O0])?[+#]?"
PLAIN = r"[KQRBN]?[a-h]?[1-8]?[x:]?[a-h][1-8](?:=?[QRBNqrbn])?[+#]?"  # e4 Nbd2 exd5 e8=Q+ e2e4
MOVE = re.compile(rf"{CASTLES}|{PLAIN}|--|Z0")
TOKEN = re.compile(
    r'\[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\]'
    r"|(?P<comment>\{[^}]*\}|;[^\n]*|^%[^\n]*)"
    rf"|(?P<result>{RESULT})"
    rf"|(?P<castles>{CASTLES})"
    rf"|(?P<number>{NUMBER})"
    r"|(?P<mark>\$\d+|[!?]+|\.+|e\.p\.)"
    r"|(?P<bracket>[()])"
    r"|(?P<word>[^\s(){};!?$]+)"
    r"|(?P<wrong>\S)",
    re.M,
)
NO_RESULT = "*"
NO_MOVES = re.compile(rf"{RESULT}|{NUMBER}")


class Games:
    """Games as they are read: the numbers of their moves, results, and lines."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.moves = array("i")
        self.lengths: list[int] = []
        self.results: list[str] = []
        self.lines: list[int] = []
        self.left_out = 0  # games without a move
        self.line = self.begun = 0  # of the present game: its line, and its first move
        self.said = NO_RESULT  # what its tags say of its result

    def move(self, name: str, line: int) -> None:
        """Another move."""
        self.line = self.line or line
        self.moves.append(self.names.setdefault(name, len(self.names)))

    def end(self, result: str = "") -> None:
        """The present game is over, if one was begun."""
        many = len(self.moves) - self.begun
        if many:
            self.lengths.append(many)
            self.results.append((result or self.said).replace("\u00bd", "1/2"))
            self.lines.append(self.line)
        elif self.line or result:
            self.left_out += 1
        self.line, self.begun, self.said = 0, len(self.moves), NO_RESULT

    def table(self, path: str, notes: list[str] | None) -> Table:
        """Fields `tokens` and `label`, and the lines where games begin."""
        if self.left_out:
            many = f"{self.left_out:,} game{' has' if self.left_out == 1 else 's have'}"
            add_notes(notes, path, [f"{many} no moves and {self.left_out:,} left out"])
        flat = np.frombuffer(self.moves, np.int32) if self.moves else np.zeros(0, np.int32)
        tokens = Field(flat, offsets_of(self.lengths), SYMBOLS, tuple(self.names))
        return {"tokens": tokens, "label": Field.of_labels(self.results)}, np.array(self.lines)


def read_pgn(path: str, encoding: str = "", notes: list[str] | None = None) -> Table:
    """The moves of each game of a file, and its result."""
    text = utf8(path, encoding, notes).decode()
    games, deep, line, place = Games(), 0, 1, 0
    for found in TOKEN.finditer(text):
        line += text.count("\n", place, found.start())
        place, kind, word = found.start(), found.lastgroup, found[0]
        if kind == "value":  # of a tag: the group that ends last
            if len(games.moves) > games.begun:
                games.end()
            games.line, deep = games.line or line, 0
            if found["tag"] == "Result":
                games.said = found["value"].strip() or NO_RESULT
        elif kind == "bracket":
            deep += 1 if word == "(" else -1
            if deep < 0:
                raise wrong(path, line, "a variation ends that did not begin", text, place)
        elif kind == "wrong":
            what = "a comment does not end" if word == "{" else "this is no move"
            raise wrong(path, line, what, text, place)
        elif deep:
            continue
        elif kind == "result":
            games.end(word)
        elif kind in ("castles", "word"):
            if not MOVE.fullmatch(word):
                raise wrong(path, line, "this is no move", text, place)
            games.move(word.replace("0-", "O-").replace("-0", "-O"), line)
    if deep:
        raise wrong(path, line, "a variation does not end", text, place)
    games.end()
    return games.table(path, notes)


def wrong(path: str, line: int, what: str, text: str, place: int) -> DataError:
    """The error of a place in a file."""
    return DataError(
        what,
        got=repr(text[place : place + 20].split("\n")[0]),
        file=path,
        line=line,
        do="Correct it; games that are moves alone, one a line, are read with --input-format moves",
    )


def read_moves(path: str, encoding: str = "", notes: list[str] | None = None) -> Table:
    """The moves of each line, whatever the game."""
    games = Games()
    for line, words in enumerate(lines_of(path, encoding, notes), 1):
        result = ""
        games.line = line if words.strip() else 0
        for word in re.sub(r"\b(\d+\.+)", r"\1 ", words).split():
            if re.fullmatch(RESULT, word):
                result = word
            elif not NO_MOVES.fullmatch(word):
                games.move(word, line)
        games.end(result)
    return games.table(path, notes)
