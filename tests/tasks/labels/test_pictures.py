"""Tables and pictures of labels show the figures of their records, whatever the names and however many labels."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

import seriatim
from seriatim.errors import RunError
from seriatim.tasks.labels.metrics import calibration, report
from seriatim.tasks.labels.pictures import confusion, reliability
from seriatim.tasks.labels.tables import label_figures
from tests.labels import messages

SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


def labelled(names, seed: int = 0) -> dict:
    """Each label truly occurs in proportion to its place from the end, and one in five is taken for the next."""
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(names)), 5 * np.arange(len(names), 0, -1))
    return report(truth, (truth + (generator.random(len(truth)) < 0.2)) % len(names), names)


def shown(record: dict, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(label_figures(record))
    return console.file.getvalue()


def words_in(picture: bytes) -> list[str]:
    """The texts of an svg picture, in the order of drawing."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.decode())


def test_a_table_shows_headline_labels_and_matrix():
    floor = {"majority": 0.75, "majority_label": "ham"}
    text = shown(report(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["ham", "spam"]) | floor)
    assert re.search(
        r"accuracy +0\.7500 +\(95 % interval 0\.3006 to 0\.9544\)", text
    ) and re.search(r"majority +0\.7500 +\(of always saying ham", text)
    assert re.search(r"balanced accuracy +0\.8333", text)
    assert re.search(
        r"macro F1 +0\.7333 +\(precision 0\.7500, recall 0\.8333\)", text
    ) and re.search(r"Matthews +0\.5774", text)
    assert re.search(r"spam +0\.5000 +1\.0000 +0\.6667 +█+ +1\n", text)
    assert re.search(r"true \\ found +ham spam\nham +2 +1\s+spam +· +1", text)


def test_many_labels_show_the_ten_most_frequent_confusions_instead():
    record = labelled([f"label-{i}" for i in range(13)])
    lines = shown(record).splitlines()
    rows = lines[1 + next(place for place, line in enumerate(lines) if "of the true" in line) :]
    mistakes = sorted(
        (
            count
            for k, counts in enumerate(record["confusion"])
            for j, count in enumerate(counts)
            if j != k
        ),
        reverse=True,
    )
    assert [int(row.split()[2]) for row in rows] == mistakes[:10]
    true, found, times, share, _ = rows[0].split()
    support = next(each["support"] for each in record["classes"] if each["name"] == true)
    assert int(found.split("-")[1]) == int(true.split("-")[1]) + 1 and float(
        share
    ) == pytest.approx(100 * int(times) / support, abs=0.05)


@pytest.mark.parametrize(
    "names",
    [
        ["[bold]a[/nothing]", "b\nc"],
        [f"a very long name of a label, number {i}" for i in range(12)],
    ],
)
def test_no_name_breaks_a_table_and_no_column_is_lost(names):
    record = labelled(names)
    matrix = shown(record).split("true \\ found")[1].splitlines()[1:]
    assert [
        [0 if cell == "·" else int(cell) for cell in row.split()[-len(names) :]] for row in matrix
    ] == record["confusion"]


def calibrated(log_probs, truth) -> dict:
    found = calibration(np.array(log_probs), np.array(truth))
    return {"log_loss": found.pop("log_loss"), "calibration": found}


@pytest.mark.parametrize("format", SIGNATURES)
def test_pictures_have_the_format_that_is_asked_for(format):
    record = labelled("abc") | calibrated(np.log([[0.9, 0.1], [0.4, 0.6]]), [0, 0])
    for draw in (confusion, reliability):
        assert draw(record, format).startswith(SIGNATURES[format])


@pytest.mark.parametrize("what", ["confusion", "reliability"])
def test_an_evaluation_is_drawn_and_another_ending_is_refused_before_anything_is_written(
    tmp_path, what
):
    model = seriatim.fit("classify", "naive-bayes", messages(60))
    found = seriatim.plot(model, messages(40, seed=1), what=what, out=tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(SIGNATURES["png"])
    assert found["kind"] == "evaluation" and found["picture"] == str(tmp_path / "a.png")
    with pytest.raises(RunError, match="png, svg or pdf"):
        seriatim.plot(model, messages(40, seed=1), what=what, out=tmp_path / "a.jpeg")
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


def test_every_count_but_zero_stands_in_its_cell():
    record = labelled(["one", "two", "three"])
    picture = confusion(record)
    words = words_in(picture)
    cells = re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>(\d+)</text>', picture.decode())
    in_order = [
        int(count)
        for _, _, count in sorted(cells, key=lambda cell: (float(cell[1]), float(cell[0])))
    ]
    assert in_order == [count for counts in record["confusion"] for count in counts if count]
    assert {"one", "two", "three", "found", "true"} <= set(words) and any(
        word.startswith(f"{100 * record['accuracy']:.1f} % right") for word in words
    )


def test_of_very_many_labels_the_most_frequent_are_drawn():
    words = words_in(confusion(labelled([f"label-{i}" for i in range(64)])))
    assert {word for word in words if word.startswith("label-")} == {
        f"label-{i}" for i in range(60)
    }
    assert any("the 60 most frequent of 64 labels" in word for word in words)


def test_names_are_drawn_as_they_are():
    words = words_in(confusion(labelled(["$x", "$y", "\udc80", "x" * 99])))
    assert {"$x", "$y", "x" * 23 + "…"} <= set(words)


def test_a_reliability_diagram_tells_the_figures():
    words = words_in(reliability(calibrated(np.log([[0.9, 0.1], [0.4, 0.6]]), [0, 0])))
    assert "calibration error 0.3500, log loss 0.5108, Brier 0.3700" in words
    assert any(
        "log loss infinite" in word
        for word in words_in(reliability(calibrated([[0.0, -np.inf]], [1])))
    )


def test_the_same_record_gives_the_same_bytes():
    assert confusion(labelled("abc")) == confusion(labelled("abc"))
