"""Language: what comes next? Text, code, tokens, melodies, DNA."""

from __future__ import annotations

from seriatim.data.options import PixelOptions
from seriatim.models.ladder import Rung
from seriatim.models.ngrams.options import (
    CacheOptions,
    MarkovOptions,
    NgramOptions,
    UniformOptions,
    UnigramOptions,
)
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.attention import ATTENTION_PICTURES, attention_verb
from seriatim.tasks.base.embedding import embed_verb
from seriatim.tasks.base.options import EvaluateOptions, LayerOptions, TextCoding, TopOptions
from seriatim.tasks.base.units import UNITS_PICTURES, units_verb
from seriatim.tasks.language.options import (
    BigramOptions,
    CompressOptions,
    ContinuationOptions,
    ExportOptions,
    FrequencyOptions,
    GenerateOptions,
    HiddenOptions,
    ImpulseOptions,
    LanguageOptions,
    PositionOptions,
    RestoreOptions,
)

RECURRENT = {"optimiser": "muon", "rate": 1e-2, "rows": 32}


RUNGS: dict[str, Rung] = {
    "uniform": Rung(
        "every symbol equally likely: the floor",
        "seriatim.models.ngrams.ngram:Uniform",
        UniformOptions,
        counts=True,
    ),
    "unigram": Rung(
        "how frequent each symbol is",
        "seriatim.models.ngrams.ngram:Unigram",
        UnigramOptions,
        counts=True,
    ),
    "markov": Rung(
        "what followed the last few symbols, leaning on fewer where that was seldom",
        "seriatim.models.ngrams.ngram:markov",
        MarkovOptions,
        counts=True,
    ),
    "kneser-ney": Rung(
        "counts of all orders at once, discounted (modified Kneser-Ney)",
        "seriatim.models.ngrams.ngram:Ngram",
        NgramOptions,
        counts=True,
    ),
    "witten-bell": Rung(
        "the same, lending by the number of different continuations",
        "seriatim.models.ngrams.ngram:Ngram",
        NgramOptions,
        {"smoothing": "witten-bell"},
        counts=True,
        usual=False,
    ),
    "absolute": Rung(
        "the same, with one discount and plain counts",
        "seriatim.models.ngrams.ngram:Ngram",
        NgramOptions,
        {"smoothing": "absolute"},
        counts=True,
        usual=False,
    ),
    "good-turing": Rung(
        "the same, discounted by Good and Turing's estimate (Katz)",
        "seriatim.models.ngrams.ngram:Ngram",
        NgramOptions,
        {"smoothing": "good-turing"},
        counts=True,
        usual=False,
    ),
    "cache": Rung(
        "what was read just now is read again; to be mixed in: kneser-ney+cache",
        "seriatim.models.ngrams.cache:Cache",
        CacheOptions,
        counts=True,
        usual=False,
    ),
    "hmm": Rung(
        "states that are never seen, found by expectation and maximisation",
        "seriatim.tasks.language.models.hidden_markov:HiddenMarkovModel",
        HiddenOptions,
        counts=True,
        usual=False,
    ),
    "bigram": Rung(
        "linear: logits from the last symbol alone",
        "seriatim.tasks.language.models.bigram:Bigram",
        BigramOptions,
        {},
        {"rate": 0.1, "weight_decay": 0.0},
        usual=False,
    ),
    "neural-ngram": Rung(
        "the last few symbols embedded side by side, one hidden layer",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {"mixer": "convolution", "gated": False, "kernel": 7, "width": 256},
        {"rate": 4e-3, "length": 32},
    ),
    "convolution": Rung(
        "causal dilated convolutions, gated",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {"mixer": "convolution", "width": 128, "layers": 5, "residual": True},
        {"rate": 4e-3, "rows": 8},
    ),
    "rnn": Rung(
        "recurrent network with tanh units",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {"mixer": "rnn", "width": 512},
        {"rate": 1.5e-3, "length": 32},
    ),
    "gru": Rung(
        "gated recurrent unit; by character the last symbols vote beside it",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {"mixer": "gru", "width": 160},
        RECURRENT,
    ),
    "lstm": Rung(
        "long short-term memory; by character the last symbols vote beside it",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {"mixer": "lstm", "width": 160},
        RECURRENT,
    ),
    "transformer": Rung(
        "self-attention over a window, with rotary positions",
        "seriatim.tasks.language.models.direct:network",
        LanguageOptions,
        {
            "mixer": "attention",
            "width": 128,
            "layers": 2,
            "residual": True,
            "feed_forward": 4.0,
            "context": 64,
        },
        {"optimiser": "muon", "rate": 1e-2, "rows": 32, "stateful": False, "warmup": 0.05},
    ),
}

HERE = "seriatim.tasks.language."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it predicts other data: bits per character, with interval and protocol.",
        "evaluate",
        "evaluation",
        options=EvaluateOptions,
        table=TABLES + "figures",
        example="seriatim evaluate runs/book other.txt --format json",
    ),
    "score": Verb(
        "One line a sequence: natural-log probability, number of tokens, number unknown.",
        "score",
        "scores",
        table="seriatim.show.tables:score_lines",
        gaps=True,
        example="seriatim score runs/book sentences.txt",
    ),
    "predict": Verb(
        "What comes next after each sequence.",
        "predict",
        "predictions",
        options=TopOptions,
        table="seriatim.show.tables:next_lines",
        rows="seriatim.show.frames:listed_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/book beginnings.txt --top 3",
    ),
    "generate": Verb(
        "Let it write, after a prompt.",
        "generation",
        "generated",
        reads="text",
        argument="prompt",
        optional=True,
        options=GenerateOptions,
        table="seriatim.show.tables:generated_lines",
        example='seriatim generate runs/book "Call me" --length 200 --temperature 0.8 --seed 1',
    ),
    "ngrams": Verb(
        "What stands at the * of a pattern, by a model that counts, and how the counts came to it.",
        "ngrams",
        "continuations",
        reads="text",
        argument="pattern",
        options=ContinuationOptions,
        table=TABLES + "continuations",
        example='seriatim ngrams runs/book "won a *"',
    ),
    "frequencies": Verb(
        "How often phrases occur over time, in a table with dates.",
        HERE + "ngrams:frequencies",
        "frequencies",
        reads="file",
        options=FrequencyOptions,
        table=TABLES + "frequencies",
        runs=False,
        example='seriatim frequencies news.csv --phrases "steam engine, telegraph" --date year',
    ),
    "surprisal": Verb(
        "How many bits each symbol of a text costs.",
        "surprisal",
        "surprisal",
        table=TABLES + "inside",
        example='seriatim surprisal runs/book --text "Call me Ishmael."',
    ),
    "embed": embed_verb('seriatim embed runs/book --text "the river bank" --layer 1'),
    "attention": attention_verb(
        'seriatim attention runs/transformer --text "Call me Ishmael." --layer 1'
    ),
    "positions": Verb(
        "What a transformer is told of each position: the vectors, or the angles.",
        "positions",
        "positions",
        reads="nothing",
        options=PositionOptions,
        table=TABLES + "positions",
        example="seriatim positions runs/transformer --most 32",
    ),
    "gates": Verb(
        "How far the gates of an lstm or gru stand open while it reads a text.",
        "gates",
        "gates",
        reads="text",
        argument="text",
        options=LayerOptions,
        table=TABLES + "gates",
        example='seriatim gates runs/lstm "Call me Ishmael."',
    ),
    "units": units_verb('seriatim units runs/lstm "$(head -c 4000 other.txt)" --marker line'),
    "gradient": Verb(
        "How far back the gradient of the loss reaches.",
        "gradient",
        "gradient",
        table=TABLES + "inside",
        example="seriatim gradient runs/lstm other.txt",
    ),
    "influence": Verb(
        "How far back a symbol matters for what is expected.",
        "influence",
        "influence",
        table=TABLES + "inside",
        example="seriatim influence runs/lstm other.txt",
    ),
    "impulse": Verb(
        "What a push leaves in a recurrence, step by step: below, at and above the spectral radius 1.",
        HERE + "impulse:impulse",
        "impulse",
        reads="nothing",
        options=ImpulseOptions,
        table=HERE + "impulse:table",
        runs=False,
        example="seriatim impulse --radius 0.9,1,1.1 --steps 60",
    ),
    "compress": Verb(
        "Write a text file in as many bits as `evaluate` says: arithmetic coding.",
        "compress",
        "compressed",
        reads="file",
        options=CompressOptions,
        table=TABLES + "compressed",
        example="seriatim compress runs/book other.txt --out other.srt",
    ),
    "restore": Verb(
        "The text that was compressed with the same run, to the byte.",
        "restore",
        "restored",
        reads="file",
        options=RestoreOptions,
        table=TABLES + "restored",
        example="seriatim restore runs/book other.srt --out other.txt",
    ),
    "export": Verb(
        "Write n-grams as an ARPA file, or a transformer as the folder of a GPT-2.",
        "export",
        "exported",
        reads="nothing",
        options=ExportOptions,
        table=TABLES + "exported",
        example="seriatim export runs/book --out book.arpa.gz",
    ),
}

TASK = Task(
    name="language",
    question="what comes next?",
    example="seriatim fit language lstm book.txt --minutes 3 --out runs/book",
    rungs=RUNGS,
    figures=(
        Figure(
            "bits_per_character",
            "bits/char",
            words="bits per character",
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_bits",
            test_name="paired resampling, 95 %",
        ),
        Figure("nats_per_token", "nats/token", "{:.4f}", wide=True),
        Figure("perplexity", "perplexity", "{:.2f}", shown=False),
    ),
    cut_by=HERE + "cut:LanguageCut",
    reading=PixelOptions,
    predictor=HERE + "predictor:LanguagePredictor",
    codec="seriatim.codecs.symbols:load_codec",
    verbs=VERBS,
    pictures={
        "gradient": Picture(
            "gradient", PICTURES + "gradient", "how far back the gradient reaches", several=True
        ),
        "influence": Picture(
            "influence", PICTURES + "influence", "how far back a symbol matters", several=True
        ),
        **ATTENTION_PICTURES,
        "gates": Picture(
            "gates", HERE + "gate_pictures:gates", "how far gates stand open along a text"
        ),
        **UNITS_PICTURES,
        "positions": Picture(
            "positions", PICTURES + "positions", "what each position is told, feature by feature"
        ),
        "surprisal": Picture("surprisal", PICTURES + "surprisal", "what surprises it in a text"),
        "impulse": Picture(
            "impulse", PICTURES + "impulse", "what a push leaves: below, at and above radius 1"
        ),
        "frequencies": Picture("frequencies", PICTURES + "frequency", "phrases over time"),
    },
    coding=TextCoding,
    openers=(HERE + "predictor:of_arpa", HERE + "predictor:of_gpt2"),
    usual_unit="character",
    references={"bz2": HERE + "references:with_bz2", "xz": HERE + "references:with_xz"},
    across_units=("bits_per_character",),
    floor="unigram",
    kept="seriatim generate {run} --length 300",
)
