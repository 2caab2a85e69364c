"""Words: a vector for each word."""

from __future__ import annotations

from seriatim.models.ladder import Rung
from seriatim.tasks.base import NoOptions, Picture, Task, Verb
from seriatim.tasks.base.options import TextCoding as WordCoding
from seriatim.tasks.base.options import TopOptions
from seriatim.tasks.words.options import (
    AnalogyOptions,
    ExportVectorsOptions,
    GloveOptions,
    MapOptions,
    NearestOptions,
    PairsOptions,
    QuestionOptions,
    VectorsOptions,
)

WORDS = {"epochs": 5.0, "rate": 0.025, "validations": 10}


RUNGS: dict[str, Rung] = {
    "predictor": Rung(
        "word vectors: one word predicts the next",
        "seriatim.tasks.words.models.vectors:Before",
        VectorsOptions,
        {"window": 1},
        WORDS,
    ),
    "cbow": Rung(
        "word vectors: the words around predict the one between them",
        "seriatim.tasks.words.models.vectors:Bag",
        VectorsOptions,
        {},
        WORDS | {"rate": 0.05},
    ),
    "glove": Rung(
        "word vectors: from counts of which words stand together",
        "seriatim.tasks.words.models.glove:Glove",
        GloveOptions,
        {},
        {"epochs": 25.0, "rate": 0.05, "validations": 10},
    ),
    "skip-gram": Rung(
        "word vectors: each word around predicts the one between them",
        "seriatim.tasks.words.models.vectors:SkipGram",
        VectorsOptions,
        {},
        WORDS,
    ),
}

HERE = "seriatim.tasks.words."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"


def question(summary: str, name: str, example: str, options: type = NearestOptions) -> Verb:
    """A question to word vectors, answered with a ranking."""
    return Verb(
        summary,
        name,
        "ranking",
        reads="text",
        argument="words",
        options=options,
        table=TABLES + "ranking",
        example=f'seriatim {name} runs/vectors "{example}"',
    )


VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How far it can be trusted: a file of analogies, or of pairs with their similarity.",
        "evaluate",
        "evaluation",
        reads="file",
        argument="file",
        options=QuestionOptions,
        table=TABLES + "word_figures",
        example="seriatim evaluate runs/vectors questions-words.txt",
    ),
    "predict": Verb(
        "The likeliest words at the * of each line.",
        "predict",
        "predictions",
        options=TopOptions,
        table=TABLES + "next_lines",
        rows="seriatim.show.frames:listed_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/vectors lines.txt",
    ),
    "neighbours": question("The nearest words of a word.", "neighbours", "king"),
    "analogy": question(
        "Words added and subtracted.", "analogy", "paris - france + japan", AnalogyOptions
    ),
    "direction": question(
        "Where the mean way of some pairs leads from a word.",
        "direction",
        "man king, uncle prince : woman",
    ),
    "odd": question("The one that does not belong.", "odd", "cat dog car", NoOptions),
    "missing": question("What stands at a gap.", "missing", "the * of france"),
    "analogies": Verb(
        "Many analogies, one a line of a file.",
        "analogies",
        "rankings",
        reads="file",
        argument="file",
        options=AnalogyOptions,
        table=TABLES + "rankings",
        rows="seriatim.show.frames:listed_rows",
        example="seriatim analogies runs/vectors questions.txt",
    ),
    "pairs": Verb(
        "What a sentence teaches: the inputs and targets that each rung makes of it.",
        HERE + "pairs:pairs",
        "pairs",
        reads="text",
        options=PairsOptions,
        table=TABLES + "pairs",
        rows=TABLES + "pair_rows",
        runs=False,
        example='seriatim pairs --text "the cat sat" --window 2 --start true',
    ),
    "map": Verb(
        "Words in a plane, with arrows between pairs: paris france, tokyo japan.",
        "map",
        "map",
        reads="text",
        argument="words",
        optional=True,
        options=MapOptions,
        example='seriatim map runs/vectors "paris france, tokyo japan"',
    ),
    "export": Verb(
        "Write the vectors for other programs.",
        "export",
        "exported",
        reads="nothing",
        options=ExportVectorsOptions,
        table=TABLES + "exported",
        example="seriatim export runs/vectors --out vectors.txt",
    ),
}

TASK = Task(
    name="words",
    question="which words are alike?",
    example="seriatim fit words skip-gram wiki.txt --out runs/vectors",
    rungs=RUNGS,
    figures=(),
    cut_by=HERE + "cut:WordsCut",
    predictor=HERE + "predictor:WordPredictor",
    codec="seriatim.codecs.symbols:load_codec",
    verbs=VERBS,
    pictures={"map": Picture("map", PICTURES + "word_map", "words in a plane")},
    coding=WordCoding,
    mixture=None,
    openers=(HERE + "predictor:of_vectors",),
    usual_unit="word",
    kept='seriatim neighbours {run} "word"',
)
