"""Translate: a target for each source, in the widest sense."""

from __future__ import annotations

from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.attention import ATTENTION_PICTURES, attention_verb
from seriatim.tasks.translate.options import (
    AlignmentOptions,
    EvaluateTranslationOptions,
    JointOptions,
    LexiconOptions,
    PairCoding,
    PairReading,
    SearchOptions,
    TranslateOptions,
    TreeOptions,
    TuneOptions,
)

ATTENDING = {"heads": 4, "dropout": 0.1}


PAIRS = {  # small batches: on little data in little time, what counts is the number of updates
    "rows": 16,
    "length": 32,
    "optimiser": "muon",
    "rate": 4e-3,
    "warmup": 0.05,
    "validations": 10,
}


RUNGS: dict[str, Rung] = {
    "lexicon": Rung(
        "counted: which symbols go with which, near the diagonal, and which follow each other",
        "seriatim.tasks.translate.models.lexicon:LexicalTranslator",
        LexiconOptions,
        counts=True,
    ),
    "joint": Rung(
        "counted: n-grams of symbols of the source, each with what is written for it",
        "seriatim.tasks.translate.models.joint:Joint",
        JointOptions,
        counts=True,
    ),
    "vector": Rung(
        "gru that keeps one vector of the source, without attention",
        "seriatim.tasks.translate.models.encoder_decoder:EncoderDecoder",
        TranslateOptions,
        ATTENDING | {"mixer": "gru", "attends": "no"},
        PAIRS,
    ),
    "rnn": Rung(
        "recurrent network with tanh units, attending to the source",
        "seriatim.tasks.translate.models.encoder_decoder:EncoderDecoder",
        TranslateOptions,
        ATTENDING | {"mixer": "rnn"},
        PAIRS | {"rate": 2e-3},
    ),
    "gru": Rung(
        "gated recurrent unit, attending to the source",
        "seriatim.tasks.translate.models.encoder_decoder:EncoderDecoder",
        TranslateOptions,
        ATTENDING | {"mixer": "gru"},
        PAIRS,
    ),
    "lstm": Rung(
        "long short-term memory, attending to the source",
        "seriatim.tasks.translate.models.encoder_decoder:EncoderDecoder",
        TranslateOptions,
        ATTENDING | {"mixer": "lstm"},
        PAIRS,
    ),
    "transformer": Rung(
        "self-attention and attention to the source in every block",
        "seriatim.tasks.translate.models.encoder_decoder:EncoderDecoder",
        TranslateOptions,
        {"mixer": "attention", "layers": 2, "residual": True, "feed_forward": 4.0, "dropout": 0.1},
        PAIRS,
    ),
}

HERE = "seriatim.tasks.translate."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "What its translations are worth: chrF, BLEU, exact ones, error rates.",
        "evaluate",
        "evaluation",
        options=EvaluateTranslationOptions,
        table=TABLES + "translation_figures",
        example="seriatim evaluate runs/dates test.tsv",
    ),
    "predict": Verb(
        "A target for each source.",
        "predict",
        "predictions",
        options=SearchOptions,
        table=TABLES + "target_lines",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/dates sources.txt --beam 5",
    ),
    "score": Verb(
        "The log-probability of the target of each pair.",
        "score",
        "scores",
        table=TABLES + "score_lines",
        example="seriatim score runs/dates pairs.tsv",
    ),
    "generate": Verb(
        "The target of one source, as it is written.",
        "generation",
        "generated",
        reads="text",
        argument="prompt",
        fields=True,
        options=SearchOptions,
        table=TABLES + "generated_lines",
        example='seriatim generate runs/dates "3 May 1843"',
    ),
    "alignment": Verb(
        "What of the source each symbol of the target attends to.",
        "alignment",
        "alignment",
        reads="text",
        argument="text",
        fields=True,
        options=AlignmentOptions,
        example='seriatim alignment runs/dates "3 May 1843"',
    ),
    "tree": Verb(
        "Every candidate of a beam search, kept, pruned or ended.",
        "tree",
        "tree",
        reads="text",
        argument="text",
        fields=True,
        options=TreeOptions,
        example='seriatim tree runs/dates "3 May 1843" --beam 3',
    ),
    "attention": attention_verb(
        'seriatim attention runs/dates "3 May 1843"', reads="text", fields=True
    ),
}

TASK = Task(
    name="translate",
    question="what is this in the other language?",
    example="seriatim fit translate gru train.en train.de --out runs/dates",
    rungs=RUNGS,
    figures=(
        Figure(  # chrF, or of single words the share that is exact: the protocol says which
            "quality",
            "quality",
            "{:.2f}",
            higher=True,
            most=100.0,
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_quality",
            test_name="paired bootstrap, 95 %",
            ties="nats_per_token",
        ),
        Figure("chrf", "chrF", "{:.2f}", shown=False),
        Figure("bleu", "BLEU", "{:.2f}"),
        Figure("exact", "exact", "{:.2%}"),
        Figure("cer", "edits", "{:.2%}"),
        Figure("token_error", "token error", "{:.2%}", shown=False),
        Figure("nats_per_token", "nats/token", "{:.4f}", wide=True),
    ),
    cut_by=HERE + "cut:TranslateCut",
    predictor=HERE + "predictor:Translator",
    codec=HERE + "codec:PairCodec.from_json",
    verbs=VERBS,
    pictures={
        "alignment": Picture("alignment", PICTURES + "alignment", "what the target attends to"),
        "tree": Picture("tree", PICTURES + "tree", "the tree of a beam search"),
        **ATTENTION_PICTURES,
        "lengths": Picture("evaluate", PICTURES + "lengths", "errors by the length of the source"),
    },
    reading=PairReading,
    coding=PairCoding,
    fitting=TuneOptions,
    usual_unit="",  # as the pairs call for: see `units`
    kept="seriatim predict {run} FILE",
    extra="texts",
)
