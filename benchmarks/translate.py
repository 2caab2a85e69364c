"""Translation: quality on public and generated data, the speed of beam search against `transformers` and CTranslate2, and joint n-grams against Phonetisaurus.

    pip install -c constraints.txt -e '.[benchmark]'
    python benchmarks/translate.py [speed] [reverse] [dates] [words] [joint] [sentences] [back] [--minutes M] [--threads N] [--out FOLDER]

speed: beam 5, same shapes and lengths, random weights.  reverse, dates: generated pairs, a tenth of them for the test.  words: CMUdict, spelling to
phonemes; joint: the same by counts, beside Phonetisaurus.  sentences: Multi30k, English to German; back: German to English.  Runs are kept under --out,
and an interrupted one goes on.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from record import best_of, write_row

from seriatim.api import fit
from seriatim.batches import Batch, empty
from seriatim.codecs.symbols import STOP
from seriatim.data import read
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.models.ladder import create
from seriatim.tasks.translate import TASK
from seriatim.verbs import opened

DATA = (
    Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    / "translate"
)
SHAPE = {"width": 256, "layers": 4, "heads": 4}
VOCABULARY, TIME, BEAM = 8000, 15, 5


def peers() -> tuple[Any, dict[str, Any]]:
    """An encoder-decoder of the same shape in transformers, and the same in CTranslate2 in float32 and in 8 bits."""
    import ctranslate2
    from transformers import BartConfig, BartForConditionalGeneration

    shape = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", 4), ("attention_heads", 4), ("ffn_dim", 1024))
    }
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=VOCABULARY,
            d_model=256,
            max_position_embeddings=128,
            forced_eos_token_id=None,
            normalize_before=False,
            normalize_embedding=True,
            **shape,
        )
    ).eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        special = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        (Path(folder) / "vocab.json").write_text(
            json.dumps(
                special
                | {f"t{i}": i for i in range(4, VOCABULARY - 1)}
                | {"<mask>": VOCABULARY - 1}
            )
        )
        (Path(folder) / "merges.txt").write_text("#version: 0.2\n")
        (Path(folder) / "tokenizer_config.json").write_text(
            json.dumps({"tokenizer_class": "BartTokenizer"})
        )
        fast = {}
        for kind in ("float32", "int8"):
            out = str(Path(folder) / kind)
            ctranslate2.converters.TransformersConverter(folder).convert(out, quantization=kind)
            fast[kind] = ctranslate2.Translator(
                out,
                device="cpu",
                compute_type=kind,
                intra_threads=torch.get_num_threads(),
                inter_threads=1,
            )
    return model, fast


def speed() -> None:
    """Sources of 15 symbols, targets of exactly 15, beam 5. Peers are timed first: our decoder changes how the process keeps memory, and they gain by that."""
    sizes = (VOCABULARY, VOCABULARY, 0, True)
    ours = create(TASK.parts("transformer", SHAPE | {"tied": True}), *sizes).eval()
    gru = create(TASK.parts("gru", {"width": 384, "layers": 2, "tied": True}), *sizes).eval()
    small = copy.deepcopy(ours)
    small.quantise()
    theirs, fast = peers()
    options, found, sources = (
        DecodingOptions(length=TIME, beam=BEAM),
        {},
        {rows: torch.randint(4, VOCABULARY - 1, (rows, TIME)) for rows in (1, 16, 64)},
    )
    for rows, x in sources.items():
        tokens = [[f"t{i}" for i in row] for row in x.tolist()]
        wanted = {
            "attention_mask": torch.ones_like(x),
            "max_new_tokens": TIME,
            "min_new_tokens": TIME,
            "do_sample": False,
            "num_beams": BEAM,
        }
        work: dict[str, Callable] = {
            "transformers": torch.inference_mode()(partial(theirs.generate, x, **wanted))
        }
        work |= {
            kind: partial(
                each.translate_batch,
                tokens,
                beam_size=BEAM,
                max_decoding_length=TIME,
                min_decoding_length=TIME,
                max_batch_size=rows,
            )
            for kind, each in fast.items()
        }
        found |= {(name, rows): rows / best_of(each, 8) for name, each in work.items()}
    for rows, x in sources.items():
        batch = Batch(x, torch.full((rows,), TIME), empty(rows), empty(rows).bool())
        found |= {
            (name, rows): rows / best_of(partial(decode, model, batch, options, (), (STOP,)), 8)
            for name, model in (("ours", ours), ("ours, 8 bits", small), ("gru", gru))
        }
        shape = f"beam 5, 4 + 4 layers x 256, vocabulary 8,000, 15 to 15 symbols, {rows} source{'s' * (rows > 1)}"
        for mine, peer, words in (
            ("ours", "transformers", "transformers' generate"),
            ("ours", "float32", "CTranslate2, float32"),
            ("ours, 8 bits", "int8", "CTranslate2, int8"),
            ("gru", "ours", "our transformer"),
        ):
            what = {
                "ours, 8 bits": ", 8 bits",
                "gru": f", gru of {gru.size() / 1e6:.1f} M against a transformer of {ours.size() / 1e6:.1f} M",
            }.get(mine, "")
            write_row(
                "translate.py",
                f"{shape}{what}, beside {words}",
                f"{found[mine, rows]:,.1f} sources/s",
                f"{words}: {found[peer, rows]:,.1f}",
                f"{found[mine, rows] / found[peer, rows]:.2f} times as fast",
                ("torch", "transformers", "ctranslate2"),
            )


def measured(
    what: str,
    model: str,
    train: Any,
    valid: Any,
    test: Any,
    settings: dict[str, Any],
    peer: str,
    given: argparse.Namespace,
) -> Path:
    """Fit, evaluate, and write a row."""
    out = Path(given.out) / f"{what}-{model}".replace(" ", "-").replace(",", "").replace(":", "")
    limit = {"minutes": given.minutes} if given.minutes and "minutes" in settings else {}
    predictor = fit(
        "translate",
        model,
        train,
        valid,
        out=out,
        resume=True,
        overwrite=False,
        progress=True,
        threads=given.threads,
        **settings | limit,
    )
    judged(
        what,
        model,
        predictor,
        test,
        peer,
        f"{predictor.metrics['seconds'] / 60:.1f} min ({given.threads or torch.get_num_threads()} threads)",
    )
    return out


def judged(what: str, model: str, predictor: Any, test: Any, peer: str, how: str) -> None:
    """Evaluate, and write a row."""
    begin = time.perf_counter()
    record = predictor.evaluate(test)
    print(json.dumps({key: value for key, value in record.items() if key not in ("protocol",)}))
    figure = (
        f"BLEU {record['bleu']:.1f} (lower-cased {record['bleu_lower']:.1f}), chrF {record['chrf']:.1f}"
        if what.startswith("Multi30k")
        else f"{100 * record['exact']:.2f} % exact, token error {100 * record['token_error']:.2f} %"
    )
    write_row(
        "translate.py",
        f"{what}: {model}, {predictor.model.size() / 1e6:.2f} M parameters, {how}",
        f"{figure}; {record['nats_per_token']:.3f} nats/token",
        peer,
        f"evaluated in {time.perf_counter() - begin:.0f} s",
        ("torch", "sacrebleu"),
    )


def generated(name: str, models: tuple[str, ...], given: argparse.Namespace) -> None:
    """As many pairs as one likes, so that nothing need be dropped out."""
    train, test = read(name).split(0.9, 0.1)
    for model in given.models or models:
        settings = {"minutes": 4.5, "dropout": 0.0, "rows": 64}
        measured(name, model, train, None, test, settings, "", given)


def pronunciations(part: str) -> dict[str, list[list[str]]]:
    """The words of CMUdict, each with its pronunciations."""
    found: dict[str, list[list[str]]] = {}
    with gzip.open(DATA / f"cmudict.{part}.tsv.gz", "rt", encoding="utf-8") as lines:
        for word, sounds in (line.rstrip("\n").split("\t")[:2] for line in lines):
            found.setdefault(word, []).append(sounds.split())
    return found


def beside_phonetisaurus() -> None:
    """Joint n-grams by another's hand (Novak et al. 2016), from the same words and for the same words; ours are fitted beside them, once more."""
    import phonetisaurus

    train, test, units = (
        pronunciations("train"),
        pronunciations("test"),
        {"unit": "character", "target_unit": "token"},
    )
    pairs = read(str(DATA / "cmudict.train.tsv.gz"), columns="source,target")
    begin = time.perf_counter()
    predictor = fit("translate", "joint", pairs, **units)
    ours = time.perf_counter() - begin
    items = predictor.predict(list(test))["items"]
    answers = {word: item["target"].split() for word, item in zip(test, items, strict=True)}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        phonetisaurus.train(train, Path(folder) / "model.fst")
        theirs = time.perf_counter() - begin
        guesses = dict(phonetisaurus.predict(test, Path(folder) / "model.fst"))
    wrong = [
        100 * sum(each.get(word) not in right for word, right in test.items()) / len(test)
        for each in (answers, guesses)
    ]
    write_row(
        "translate.py",
        "CMUdict: joint n-grams beside Phonetisaurus, same words",
        f"{wrong[0]:.2f} % wrong, fitted in {ours:.1f} s",
        f"Phonetisaurus: {wrong[1]:.2f} % wrong, {theirs:.1f} s",
        f"{theirs / ours:.0f} times as fast to fit",
        ("phonetisaurus",),
    )


def words(given: argparse.Namespace) -> None:
    """CMUdict, from spelling to phonemes: by counts, by networks, and by each network together with the counts."""
    train, valid, test = (
        read(str(DATA / f"cmudict.{part}.tsv.gz"), columns="source,target")
        for part in ("train", "valid", "test")
    )
    units = {"unit": "character", "target_unit": "token", "tune_search": True}
    learned = {
        "minutes": 44.0,
        "rows": 48,
        "label_smoothing": 0.1,
        "average": "checkpoints",
        "checkpoints": 3,
        "validations": 30,
        "checkpoint_seconds": 120.0,
        "dropout": 0.2,
        "source_ngrams": 6,
        "cells": 1 << 18,
        "judge": "exact",
    }
    shapes = {
        "joint": {},
        "lstm": learned | {"encoder_layers": 2},
        "transformer": learned
        | {"encoder_layers": 4, "layers": 2, "feed_forward_activation": "relu", "rate": 6e-3},
    }
    peer, runs = (
        "published, other split: LSTM 24.7 % wrong, Transformer 22.1 %, joint n-grams 24.5 %",
        {},
    )
    for model in given.models or shapes:
        runs[model] = measured(
            "CMUdict", model, train, valid, test, units | shapes.get(model, learned), peer, given
        )
        if model != "joint" and "joint" in runs:
            both = opened([str(runs["joint"]), str(runs[model])])
            judged("CMUdict", f"joint+{model}", both, test, peer, "equal weights")


def sentences(
    given: argparse.Namespace,
    source: str = "en",
    target: str = "de",
    models: tuple[str, ...] = ("transformer",),
) -> None:
    """Multi30k, the test of 2016."""
    train, valid, test = (
        read(*(str(DATA / f"multi30k.{part}.{side}.gz") for side in (source, target)))
        for part in ("train", "val", "test_2016_flickr")
    )
    peer = (
        "published, to the end of training: 41.0 lower-cased, tokenised"
        if target == "de"
        else "published: biGRU with attention 28.3 to 33.5"
    )
    for model in given.models or models:
        settings = {
            "unit": "subword",
            "vocabulary": 7000,
            "shared": True,
            "label_smoothing": 0.1,
            "average": "checkpoints",
            "validations": 25,
            "tune_search": True,
        }
        settings |= (
            {"layers": 4, "tied": True, "rows": 64, "minutes": 87.0}
            if model == "transformer"
            else {"dropout": 0.2, "rows": 32, "minutes": 44.0}
        )
        measured(f"Multi30k {source}-{target}", model, train, valid, test, settings, peer, given)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--out", default="runs/benchmark-translate")
    given = parser.parse_args()
    PARTS = {
        "speed": lambda given: speed(),
        "reverse": lambda given: generated(
            "reverse:length=25,count=50000", ("gru", "lstm", "transformer", "vector"), given
        ),
        "dates": lambda given: generated("dates:count=20000", ("gru", "transformer"), given),
        "words": words,
        "joint": lambda given: beside_phonetisaurus(),
        "sentences": sentences,
        "back": partial(sentences, source="de", target="en", models=("gru",)),
    }
    for name in given.parts or PARTS:
        PARTS[name](given)
