"""Word vectors from the command line: fitted, asked, evaluated, written and read again."""

from pathlib import Path

import pytest

import seriatim
from seriatim.runs.folder import events_of
from seriatim.show.progress import Watcher
from tests.terminal import furnish, good, refused


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = furnish(tmp_path_factory.mktemp("home"))
    good(
        "fit",
        "words",
        "skip-gram",
        folder / "book.txt",
        "--width",
        8,
        "--epochs",
        2,
        "--minimum-count",
        1,
        "--lower",
        "--out",
        folder / "vectors",
    )
    (folder / "questions.txt").write_text(
        ": animals\ncat sat dog slept\ncat sat horse slept\n: gram1-tense\nsat slept ran slept\n"
    )
    (folder / "pairs.csv").write_text(
        "word,other,human\ncat,dog,8.5\ncat,log,1\ntree,log,6\nhorse,mule,9\n"
    )
    return folder


def test_questions_are_answered(home):
    for verb, words, value in (
        ("analogy", "cat - sat + slept", "cosine"),
        ("neighbours", "cat", "cosine"),
        ("odd", "cat dog log", "cosine"),
        ("direction", "cat sat, dog ran : bird", "cosine"),
        ("missing", "the * sat", "probability"),
    ):
        top = () if verb == "odd" else ("--top", 3)
        record = good(verb, home / "vectors", words, *top, "--format", "json").json()
        assert (
            record["kind"] == "ranking"
            and words in record.values()
            and len(record["found"]) == 3
            and all(each[value] <= 1.0001 for each in record["found"])
        )
        assert (
            record == good(verb, home / "vectors", "--words", words, *top, "--format=json").json()
        )
        shown = good(verb, home / "vectors", *words.split(), *top).out
        assert all(each["word"] in shown for each in record["found"])


def test_many_analogies_are_answered_line_by_line(home, here):
    Path("analogies.txt").write_text("cat - sat + slept\n\n  dog\nbird - tree + log + mat\n")
    asked = ("analogies", home / "vectors", "analogies.txt", "--top", 2)
    record = good(*asked, "--format", "json").json()
    sums = ["cat - sat + slept", "dog", "bird - tree + log + mat"]
    assert [each["query"] for each in record["items"]] == sums
    for line, each in zip(good(*asked).out.splitlines(), record["items"], strict=True):
        alone = good(
            "analogy", home / "vectors", each["query"], "--top", 2, "--format", "json"
        ).json()["found"]
        assert each["found"] == [
            {"word": one["word"], "cosine": pytest.approx(one["cosine"], abs=1e-6)} for one in alone
        ]
        assert line == "\t".join(
            [each["query"], *(f"{one['word']} {one['cosine']:.4f}" for one in each["found"])]
        )


def test_what_is_wrong_with_a_line_of_analogies_is_said_with_its_place(home, here):
    asked = ("analogies", home / "vectors")
    Path("sums.txt").write_text("cat - sat\ncat sat\n")
    refused(*asked, "sums.txt", code=2, words="sums.txt:2: there is no sign between")
    Path("words.txt").write_text("cat - sat\n\ncat - zebra\n")
    words = "words.txt:3: there is no vector for this word. Received: 'zebra'"
    refused(*asked, "words.txt", code=1, words=words)
    Path("blank.txt").write_text("\n \n")
    refused(*asked, "blank.txt", code=1, words="holds no analogy")
    words = "man king, uncle prince : woman"
    refused("direction", home / "vectors", "cat dog", code=2, words=words)


def test_figures_are_told_with_their_coverage(home):
    record = good("evaluate", home / "vectors", home / "questions.txt", "--format", "json").json()
    assert record["kind"] == "evaluation" and record["questions"] == 3 and record["asked"] == 2
    assert "animals" in good("evaluate", home / "vectors", home / "questions.txt").out
    record = good(
        "evaluate", home / "vectors", home / "pairs.csv", "--column", "human", "--format", "json"
    ).json()
    assert record["asked"] == 3 and -1 <= record["spearman"] <= 1
    assert "Spearman" in good("evaluate", home / "vectors", home / "pairs.csv").out


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.vec", "v.vec.gz", "v.safetensors"])
def test_vectors_are_written_and_read_again(home, here, name):
    assert good("export", home / "vectors", "--out", name, "--format", "json").json()["width"] == 8
    ours, again = (
        good("neighbours", run, "cat", "--format", "json").json()["found"]
        for run in (home / "vectors", name)
    )
    assert [each["word"] for each in ours] == [each["word"] for each in again]


@pytest.mark.parametrize(
    "file, name, label",
    [
        ("questions.txt", "analogies", "share of analogies"),
        ("pairs.csv", "similarity", "human similarity"),
    ],
)
def test_what_is_watched_is_logged_and_drawn_on_an_axis_of_its_own(home, here, file, name, label):
    good(
        "fit",
        "words",
        "cbow",
        home / "book.txt",
        "--width",
        4,
        "--minimum-count",
        1,
        "--lower",
        "--watch",
        home / file,
        "--out",
        "run",
    )
    seen = [event for event in events_of("run") if event["event"] == "validation"]
    assert seen and all(name in event for event in seen)
    good("plot", "run", "--out", "curve.svg")
    assert (
        label in Path("curve.svg").read_text() and "nats per place" in Path("curve.svg").read_text()
    )
    good("plot", home / "vectors", "--out", "plain.svg")
    assert label not in Path("plain.svg").read_text()


def test_the_progress_line_tells_what_is_watched():
    watcher = Watcher()
    watcher.see({"event": "part", "model": "cbow", "parts": 1})
    for watched, line in (
        ({}, "loss 2.000  valid 1.500  9 s left"),
        ({"analogies": 0.25}, "loss 2.000  valid 1.500  analogies 0.250  9 s left"),
        ({"similarity": None}, "loss 2.000  valid 1.500  9 s left"),
    ):
        watcher.see({"event": "validation", "best": 1.5, **watched})
        watcher.see({"event": "step", "loss": 2.0, "remaining": 9.0, "share": 0.5, "seconds": 1.0})
        assert watcher.progress.tasks[0].fields["words"] == line


@pytest.mark.parametrize(
    "words, by, many, arrows",
    [
        ("cat sat, dog ran, bird", "pca", 5, 2),
        ("cat sat, dog ran, bird", "tsne", 5, 2),
        (None, "pca", 18, 0),
    ],
)
def test_a_map_of_words_is_drawn(home, here, words, by, many, arrows):
    asked = (
        "plot",
        home / "vectors",
        "--what",
        "map",
        "--plane",
        by,
        *(() if words is None else ("--text", words)),
    )
    record = good(*asked, "--out", "map.svg", "--format", "json").json()
    assert (record["kind"], record["what"], record["written"]) == ("picture", "map", "map.svg")
    points = seriatim.call("map", home / "vectors", words, plane=by)
    assert (len(points["points"]), len(points["arrows"])) == (many, arrows)
    picture = Path("map.svg").read_text()
    assert all(f">{each['word']}<" in picture for each in points["points"])
    assert good(*asked, "--out", "map.png").out == "map.png\n"
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")


def test_a_map_of_a_file_of_vectors_lies_beside_it(home, here):
    good("export", home / "vectors", "--out", "v.txt")
    assert good("plot", "v.txt", "--what", "map").out == "map.png\n" and Path("map.png").exists()


def test_gaps_are_filled_line_by_line(home, here):
    Path("gaps.txt").write_text("the * sat\non a *\n")
    record = good("predict", home / "vectors", "gaps.txt", "--format", "json").json()
    assert len(record["items"]) == 2 and record == seriatim.predict(home / "vectors", "gaps.txt")


def test_what_makes_no_sense_is_refused(home):
    vectors, markov = home / "vectors", home / "markov"
    refused("neighbours", vectors, "zebra", code=1, words="zebra")
    refused("analogy", vectors, "cat - ", words="cat")
    refused("missing", vectors, "no gap here", code=2, words="*")
    refused("predict", vectors, code=2, words="predict reads data")
    refused("neighbours", vectors, code=2, words="neighbours reads one words")
    refused("predict", vectors, "--neighbours", "cat", code=2, words="a verb of its own")
    refused("neighbours", markov, "cat", code=2, words="is for models of autoencode, words")
    refused("generate", vectors, code=2, words="have no verb 'generate'")
    refused("score", vectors, home / "book.txt", code=2, words="have no verb 'score'")
    refused("plot", markov, "--what", "map", code=2, words="a picture of models of words")
    refused(
        "plot", vectors, "--what", "map", "--file", "a", "--text", "cat", code=2, words="one text"
    )
    refused("plot", vectors, "--text", "cat dog", code=2, words="--what")
    few = ("plot", vectors, "--what", "map", "--out", "map.png", "--words")
    refused(*few, "cat dog", code=2, words="four words")
    refused(*few, "cat dog, bird zebra", code=1, words="zebra")
    refused("fit", "words", "lstm", home / "book.txt", code=2, words="skip-gram")
    refused("fit", "language", "cbow", home / "book.txt", code=2, words="task")
    refused("compare", "words", home / "book.txt", code=2, words="not compared")
    refused("evaluate", home / "vectors", home / "nowhere.txt", code=1)
    refused(
        "evaluate",
        home / "vectors",
        home / "pairs.csv",
        "--column",
        "humans",
        code=1,
        words="Did you mean 'human'?",
    )
    refused(
        "evaluate",
        home / "markov",
        home / "book.txt",
        "--column",
        "human",
        code=2,
        words="evaluate of models of words",
    )
    refused(
        "fit",
        "words",
        "cbow",
        home / "book.txt",
        "--minimum-count",
        5000,
        code=1,
        words="minimum count",
    )
