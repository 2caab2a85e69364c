"""Lines as users write them: mypy has nothing to say. Never run: see `tests/test_typed.py`."""

from pathlib import Path
from typing import TYPE_CHECKING

import seriatim as st
from seriatim.models.base import Model
from seriatim.models.ladder import Rung

if TYPE_CHECKING:
    # language
    train, valid, test = st.split("language", "book.txt", unit="word", by="line")
    model = st.fit("language", "lstm", train, valid, minutes=3, width=256, out="runs/book")
    bits: float = model.evaluate(test)["bits_per_character"]
    text: str = model.text("Call me", length=200, temperature=0.8, seed=1)
    written = model.generate("Call me", length=20, beam=4)
    print(written["items"][0]["text"], model.spec, model.folder, model.metrics["seconds"])
    pieces = [piece for piece in model.stream("Call me", length=5)]
    surprise = model.surprisal(["to be"]).plot()
    surprise.save("surprise.svg")
    model.ngrams("won a *", top=3).to_frame("polars")
    folder: Path = model.save(Path("runs") / "book", overwrite=True)
    counts = st.fit("language", "kneser-ney", Path("book.txt"), order=6, memory="2GB")
    counts.export(out="book.arpa")
    mixed = st.fit("language", "markov+lstm", "book.txt", order=2, updates=100, progress=False)
    better = model.evaluate(test, against=counts)["against"]["p"]

    # labels
    spam = st.fit("classify", "linear", "sms.tsv", label="kind", field="body", calibrate=True)
    figures = spam.evaluate("test.tsv", positive="spam", most_false=0.01)
    frame = spam.predict(["win cash", "tea at home"], probabilities=True).to_frame("pandas")
    why = spam.explain("claim your prize", label="spam", method="exact")
    print(why["symbols"], figures.keys(), figures.plot("confusion"))
    tagger = st.fit("tag", "lstm", "train.conllu", chain=True, letters="lstm", columns="form,upos")
    tags = tagger.predict([["the", "dog"]])["items"][0]["tags"]
    rows = tagger.best([["the", "dog"]], count=3)
    value = st.fit("regress", "linear", "reviews.jsonl", ngram=2)
    value.predict(["good"])["items"][0]["value"]

    # pairs, series, vectors
    german = st.fit("translate", "transformer", [Path("train.en"), Path("train.de")], heads=4)
    target = german.predict(["a dog"], beam=4, length=20)["items"][0]["target"]
    german.alignment("a dog").plot()
    load = st.fit("forecast", "lags-ridge", "load.csv", horizon=24, season=24, time="moment")
    coming = load.predict("load.csv").to_frame()
    load.backtest("load.csv", begin=0.9).plot()
    vectors = st.fit("words", "skip-gram", "wiki.txt", width=100, watch="questions.txt")
    near = vectors.neighbours("king", top=5)["found"]
    vectors.analogy("paris - france + japan")
    codes = st.fit("autoencode", "lstm", "sentences.txt", latent=16)
    codes.interpolate(["one", "two"], count=7)
    chords = st.fit("sets", "lstm", "tunes.mid", rows=8)
    chords.score("tunes.mid")

    # comparisons
    table = st.compare("classify", "train.tsv", ["linear", "gru"], minutes=5, folds=10)
    winner = table["rows"][0]["model"]
    table.to_frame("polars")
    table.plot().save("leaderboard.png")
    st.compare("language", "book.txt", "markov,lstm", out="all", track="tensorboard", order=2)
    st.compare("forecast", "load.csv", horizon=24, test="later.csv", on_event=print)

    # a class of one's own
    class Own(Model):
        """A rung."""

    own = st.fit("language", Own, "book.txt", q=0.7)
    own.text("Call me")
    st.compare("language", "book.txt", ["markov", Own], minutes=1, q=0.7)
    st.fit("classify", Rung("a rung", Own, Own), "sms.tsv").predict(["win"])

    # runs
    opened = st.load("runs/book")
    opened.evaluate("other.txt")
    opened.explain("free entry")
    st.evaluate("runs/book", "other.txt", by="line", report="page.html")
    st.predict([Path("runs/a"), "runs/b"], ["a text"], top=3)
    st.generate("runs/book", "Call me", length=10)
    st.score(opened, ["to be"])
    st.plot("runs/book", what="learning", out="curve.svg")
    st.check("train.tsv", "test.tsv", label="kind")["findings"]
    try:
        st.load(Path("nothing"))
    except st.SeriatimError as error:
        print(error.what, error.do)
    data = st.read("book.txt")
    events = [event["event"] for event in st.run("fit", "language", data, model="markov")]
    record = st.call("explain", "runs/spam", "free entry")
    names = ", ".join(str(path) for path in Path("runs").iterdir())
