"""Labels and tags against scikit-learn and CRFsuite: the same data, the same folds, in one run.

    pip install -c constraints.txt -e '.[test]'
    python benchmarks/labels.py [speed linear sms polarity tags networks spans defaults] [--word-vectors RUN]

speed: naive Bayes on a million words.  linear: beside LinearSVC, with its time.  sms, polarity: 10 folds, each in the test once.  tags: universal tags of English EWT, gold tokens,
by counting; networks: by networks, which takes some minutes.  defaults: every rung of classify and tag with nothing but a file.
Without names all of them are run. Vectors are word vectors of wiki100 (see benchmarks/words.py), which further rows begin with.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from record import write_row

from seriatim import fit
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.data.splits import folds

DATA = Path(
    os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
)
PACKAGES = ("torch", "scikit-learn", "sklearn-crfsuite")


def texts_and_labels(data: Sequences) -> tuple[list[str], list[str]]:
    return [data.main.raw(s) for s in range(len(data))], [
        data.field("label").raw(s)[0] for s in range(len(data))
    ]


def speed() -> None:
    """Naive Bayes on a million words, text to model, in lines of 100 words with one of two labels."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    words = read(str(DATA / "text" / "wiki100.txt.xz")).main.raw(0)[:6_500_000].split()[:1_000_000]
    texts = [" ".join(words[i : i + 100]) for i in range(0, len(words), 100)]
    labels = ["odd" if i % 2 else "even" for i in range(len(texts))]
    data = Sequences({"text": Field.of_text(texts), "label": Field.of_labels(labels)}, unit="word")
    ours, theirs = [], []
    for _ in range(5):
        begin = time.perf_counter()
        fit("classify", "naive-bayes", data)
        ours.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        MultinomialNB().fit(CountVectorizer().fit_transform(texts), labels)
        theirs.append(time.perf_counter() - begin)
    write_row(
        "labels.py",
        "naive-bayes on 1,000,000 words, text to model",
        f"{min(ours):.2f} s",
        f"scikit-learn: {min(theirs):.2f} s",
        f"{min(theirs) / min(ours):.2f} times as fast",
        PACKAGES,
    )


def questions(count: int = 5452, labels: int = 50, seed: int = 0) -> Sequences:
    """Short texts of many labels, some of them rare: a third of the words are those that a label
    shares with a few others, the rest are common to all."""
    dice = np.random.default_rng(seed)
    common = 1 / np.arange(1, 4001)
    own = dice.integers(4000, 7000, (labels, 60))
    sizes = 1 / np.arange(1, labels + 1) ** 0.7
    texts, names = [], []
    for label in dice.choice(labels, count, p=sizes / sizes.sum()):
        length = int(dice.integers(5, 16))
        background = dice.choice(4000, length, p=common / common.sum())
        told = dice.choice(own[label], length)
        words = np.where(dice.random(length) < 0.3, told, background)
        texts.append(" ".join(f"w{word}" for word in words))
        names.append(f"label{label}")
    return Sequences({"text": Field.of_text(texts), "label": Field.of_labels(names)}, unit="word")


def linear() -> None:
    """`linear` with nothing but the data beside tf-idf of words and pairs and LinearSVC: the same
    five folds, fitting and answering."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    read_table = {"input_format": "tsv", "columns": "label,text"}
    several = {
        "SMS spam, distinct": read(
            str(DATA / "classify" / "SMSSpamCollection"), **read_table
        ).distinct(),
        "movie reviews": read(str(DATA / "classify" / "rt-polarity.tsv"), **read_table),
        "5,452 generated texts of 50 labels": questions(),
    }
    fit("classify", "linear", several["SMS spam, distinct"][:100])  # what is imported and compiled
    for title, data in several.items():
        right, seconds = np.zeros(2), np.zeros(2)
        for train, test in folds(data, 5, how="stratify"):
            begin = time.perf_counter()
            measured = fit("classify", "linear", train).measure(test)
            seconds[0] += time.perf_counter() - begin
            right[0] += (measured["answers"] == measured["truth"]).sum()
            given = texts_and_labels(train), texts_and_labels(test)
            begin = time.perf_counter()
            peer = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
            found = peer.fit(*given[0]).predict(given[1][0])
            seconds[1] += time.perf_counter() - begin
            right[1] += (found == np.array(given[1][1])).sum()
        ours, theirs = (
            f"{100 * r / len(data):.2f} %, {s:.1f} s" for r, s in zip(right, seconds, strict=True)
        )
        write_row(
            "labels.py",
            f"{title}, 5 folds: linear",
            ours,
            f"tf-idf of words and pairs, LinearSVC: {theirs}",
            f"{100 * (right[0] - right[1]) / len(data):+.2f} points, "
            f"{seconds[0] / seconds[1]:.1f} times the time",
            PACKAGES,
        )


def crossed(data: Sequences, name: str, **settings) -> tuple[np.ndarray, np.ndarray, float]:
    """Found and true labels of all folds, and seconds."""
    begin, found, true = time.perf_counter(), [], []
    for train, test in folds(data, 10, how="stratify"):
        measured = fit("classify", name, train, **settings).measure(test)
        found.append(measured["answers"])
        true.append(measured["truth"])
    return np.concatenate(found), np.concatenate(true), time.perf_counter() - begin


def theirs(data: Sequences, model) -> tuple[np.ndarray, np.ndarray]:
    found, true = [], []
    for train, test in folds(data, 10, how="stratify"):
        model.fit(*texts_and_labels(train))
        texts, labels = texts_and_labels(test)
        found.append(model.predict(texts))
        true.append(np.array(labels))
    return np.concatenate(found), np.concatenate(true)


def shares(found: np.ndarray, true: np.ndarray, positive) -> str:
    right = ((found == positive) & (true == positive)).sum()
    return f"{100 * (found == true).mean():.2f} %, F1 {2 * right / ((found == positive).sum() + (true == positive).sum()):.3f}"


def cross(
    title: str, data: Sequences, positive: str, peers: dict, rungs: list[tuple[str, dict]]
) -> None:
    peer = {name: shares(*theirs(data, model), positive) for name, model in peers.items()}
    number = sorted(set(texts_and_labels(data)[1])).index(positive)
    for name, settings in rungs:
        found, true, seconds = crossed(data, name, **settings)
        told = " ".join(
            [
                name,
                *(
                    f"--{key.replace('_', '-')} {Path(value).name if key == 'word_vectors' else value}"
                    for key, value in settings.items()
                ),
            ]
        )
        write_row(
            "labels.py",
            f"{title}, 10 folds: {told}",
            f"{shares(found, true, number)}, {seconds:.0f} s",
            "; ".join(f"{each}: {figures}" for each, figures in peer.items()),
            "the same folds",
            PACKAGES,
        )


def peers() -> dict:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return {
        "scikit-learn's MultinomialNB": make_pipeline(CountVectorizer(), MultinomialNB()),
        "tf-idf and logistic regression": make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10, max_iter=1000)
        ),
    }


def sms(vectors: str | None) -> None:
    data = read(
        str(DATA / "classify" / "SMSSpamCollection"), input_format="tsv", columns="label,text"
    ).distinct()
    cross(
        "SMS spam, distinct",
        data,
        "spam",
        peers(),
        [("naive-bayes", {}), ("naive-bayes", {"ngram": 2}), ("linear", {})],
    )


def polarity(vectors: str | None) -> None:
    data = read(str(DATA / "classify" / "rt-polarity.tsv"), columns="label,text")
    together = ("naive-bayes+linear+mean+convolution", {"ngram": 2, "presence": True})
    rungs = [("naive-bayes", {"ngram": 2}), ("linear", {}), ("convolution", {}), together]
    if vectors:
        rungs += [
            ("convolution", {"word_vectors": vectors}),
            (together[0], together[1] | {"word_vectors": vectors}),
        ]
    cross("movie reviews", data, "pos", peers(), rungs)


def features(tokens: list[str]) -> list[dict]:
    """What taggers with CRFsuite usually look at."""
    rows = []
    for i, token in enumerate(tokens):
        row = {
            "word": token.lower(),
            "end3": token[-3:],
            "end2": token[-2:],
            "upper": token.isupper(),
            "title": token.istitle(),
            "digit": token.isdigit(),
        }
        for step in (-1, 1):
            if 0 <= i + step < len(tokens):
                row |= {
                    f"{step}:word": tokens[i + step].lower(),
                    f"{step}:title": tokens[i + step].istitle(),
                }
        rows.append(row)
    return rows


def tags(vectors: str | None) -> None:
    tag([("most-frequent", {}), ("hmm", {}), ("hmm", {"order": 2})])


def networks(vectors: str | None) -> None:
    tag([("lstm", {}), *([("lstm", {"chain": True, "word_vectors": vectors})] if vectors else [])])


def tag(rungs: list[tuple[str, dict]]) -> None:
    from sklearn_crfsuite import CRF

    train, dev, test = (
        read(str(DATA / "tag" / f"en_ewt-ud-{part}.conllu.xz")) for part in ("train", "dev", "test")
    )
    rows = {
        name: [[data.field(field).raw(s) for s in range(len(data))] for field in ("tokens", "tags")]
        for name, data in (("train", train), ("test", test))
    }
    begin = time.perf_counter()
    peer = CRF(c1=0.1, c2=0.1, max_iterations=100)
    peer.fit([features(tokens) for tokens in rows["train"][0]], rows["train"][1])
    fitted = time.perf_counter() - begin
    found = peer.predict([features(tokens) for tokens in rows["test"][0]])
    right = np.mean(
        [a == b for one, other in zip(found, rows["test"][1]) for a, b in zip(one, other)]
    )
    theirs = f"CRFsuite: {100 * right:.2f} %, {fitted:.0f} s"
    for name, settings in rungs:
        begin = time.perf_counter()
        model = fit("tag", name, train, dev, **settings)
        seconds, record = time.perf_counter() - begin, model.evaluate(test)
        told = " ".join(
            [
                name,
                *(
                    f"--{key.replace('_', '-')} {Path(value).name if key == 'word_vectors' else value}"
                    for key, value in settings.items()
                ),
            ]
        )
        write_row(
            "labels.py",
            f"English EWT, universal tags: {told}",
            f"{100 * record['accuracy']:.2f} % (unknown words {100 * record['unknown_words']['accuracy']:.1f} %), {seconds:.0f} s, "
            f"{record['symbols_per_second']:,.0f} tokens/s",
            theirs,
            f"{100 * (record['accuracy'] - right):+.2f} points",
            PACKAGES,
        )


def spans() -> None:
    """Named entities of WNUT-17 with nothing but the file: networks beside the best that counts."""
    train, dev, test = (
        read(str(DATA / "tag" / f"wnut17{part}.conll.gz"), input_format="columns")
        for part in ("train", "dev", "test")
    )
    counted = [fit("tag", name, train, dev).evaluate(test) for name in ("most-frequent", "hmm")]
    best = max(each["spans"]["f1"] for each in counted)
    for name, settings in (("lstm", {}), ("lstm", {"chain": True})):
        begin = time.perf_counter()
        model = fit("tag", name, train, dev, **settings)
        seconds, record = time.perf_counter() - begin, model.evaluate(test)
        told = " ".join([name, *(f"--{key}" for key in settings)])
        write_row(
            "labels.py",
            f"WNUT-17, entities: {told}",
            f"span F1 {record['spans']['f1']:.3f}, {seconds:.0f} s",
            f"the best that counts: {best:.3f}",
            f"{record['spans']['f1'] - best:+.3f}",
            PACKAGES,
        )


LABELLED = {
    "SMS spam, distinct": ("classify", "classify/SMSSpamCollection"),
    "rt-polarity": ("classify", "classify/rt-polarity.tsv"),
    "python-lines": ("classify", "python-lines"),
    "5,452 generated texts of 50 labels": ("classify", ""),
    "EWT, 3,000 sentences": ("tag", "tag/en_ewt-ud-train.conllu.xz"),
    "WNUT-17": ("tag", "tag/wnut17train.conll.gz"),
    "python-tokens": ("tag", "python-tokens"),
}


def labelled_set(file: str) -> Sequences | str:
    """The data of a labelled set."""
    path = DATA / file
    if not file:
        return questions()
    if not path.exists():
        return file
    if file.startswith("tag"):
        form = "columns" if file.endswith("conll.gz") else "conllu"
        return read(str(path), input_format=form)[:3000]
    data = read(str(path), input_format="tsv", columns="label,text")
    return data.distinct() if "SMS" in file else data


def defaults(minutes: float) -> None:
    """Every rung with nothing but a file: is a network worse than the best that counts by more than
    the interval? The comparison's own test part, chosen by nobody."""
    from seriatim import compare
    from seriatim.tasks import task as card

    for name, (task, file) in LABELLED.items():
        found = compare(task, labelled_set(file), minutes=minutes)
        counts = {rung for rung, each in card(task).rungs.items() if each.counts}
        key = found["figure"]
        rows = [row for row in found["rows"] if row["status"] == "ok" and "+" not in row["model"]]
        best = max((row for row in rows if row["model"] in counts), key=lambda row: row[key])
        networks = [row for row in rows if row["model"] not in counts]
        behind = [row for row in networks if row["interval"][key][1] < best[key]]
        said = ", ".join(f"{row['model']} {row[key]:.4f}" for row in networks)
        write_row(
            "labels.py defaults",
            f"{name}: {key} of networks, {minutes:g} minutes for all",
            said,
            f"best that counts: {best['model']} {best[key]:.4f}",
            f"{len(behind)} of {len(networks)} behind by more than the interval"
            + "".join(f", {row['model']}" for row in behind),
            PACKAGES,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    alone = {"speed": speed, "linear": linear, "spans": spans}
    begun = {"sms": sms, "polarity": polarity, "tags": tags, "networks": networks}
    parser.add_argument("what", nargs="*", default=[*alone, *begun])
    parser.add_argument("--word-vectors")
    parser.add_argument("--minutes", type=float, default=5.0, help="defaults: of a comparison")
    given = parser.parse_args()
    for each in given.what:
        if each in alone:
            alone[each]()
        elif each == "defaults":
            defaults(given.minutes)
        else:
            begun[each](given.word_vectors)


if __name__ == "__main__":
    main()
