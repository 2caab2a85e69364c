"""Training and generation of networks against the usual ways to do it: same shapes, same threads, one process.

    pip install -c constraints.txt -e '.[benchmark]'
    python benchmarks/networks.py [training] [lstm] [generation] [length]

Peers: a plain loop over `transformers`' GPT-2 (float32, eager), a plain loop over `torch.nn.LSTM`, `transformers`' generate, and CTranslate2.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ctranslate2
import numpy as np
import torch
from record import best_of, write_row
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from seriatim.batches import Batch, empty, prompts
from seriatim.data.sequences import Field
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.models.ladder import create
from seriatim.tasks.language import TASK
from seriatim.tasks.language.cut import LanguageLesson
from seriatim.training.loop import Loop

PACKAGES = ("torch", "transformers")


def batch_of(y: torch.Tensor) -> Batch:
    return Batch(
        empty(len(y)),
        torch.zeros(len(y), dtype=torch.long),
        y,
        torch.ones_like(y, dtype=torch.bool),
    )


def our_loop(model: str, vocabulary: int, **settings) -> Loop:
    part = TASK.parts(model, settings)[0]
    ids = Field(
        np.random.default_rng(0).integers(2, vocabulary, 100_000).astype(np.int32),
        np.array([0, 100_000]),
        "symbols",
    )
    loop = Loop(create([part], vocabulary), LanguageLesson(ids, ids, "stream"), part.training, None)
    for event in loop.prepare(False):
        print(event)
    return loop


def training() -> None:
    """6 layers, width 384, 6 heads, context 256, 16 rows, 65 symbols."""
    rows, context, vocabulary = 16, 256, 65
    loop = our_loop(
        "transformer",
        vocabulary,
        layers=6,
        width=384,
        heads=6,
        context=context,
        rows=rows,
        length=context,
        minutes=1,
        optimiser="adamw",
    )
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_positions=context,
            n_embd=384,
            n_layer=6,
            n_head=6,
            attn_pdrop=0,
            embd_pdrop=0,
            resid_pdrop=0,
        )
    )
    optimiser = torch.optim.AdamW(theirs.parameters(), lr=1e-3)
    y = torch.randint(2, vocabulary, (rows, context))

    def plain() -> None:
        optimiser.zero_grad()
        loss = theirs(input_ids=y, labels=y).loss
        loss.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        optimiser.step()

    def update() -> None:
        loop.update(batch_of(y), 1e-3)

    ours, peer, square, symbols = (
        best_of(update, 4),
        best_of(plain, 4),
        torch.randn(2048, 2048),
        rows * context,
    )
    reached = (
        6 * sum(each.numel() for each in loop.model.parameters()) * symbols / ours / 1e9
    )  # without what attention itself computes
    most = 2 * 2048**3 / best_of(lambda: square @ square, 4) / 1e9
    write_row(
        "networks.py",
        "train a Transformer, 6 x 384, 16 rows of 256",
        f"{symbols / ours:,.0f} symbols/s",
        f"plain loop over transformers' GPT-2: {symbols / peer:,.0f}",
        f"{peer / ours:.2f} times as fast",
        PACKAGES,
    )
    write_row(
        "networks.py",
        "the same in GFLOP/s",
        f"{reached:,.0f}",
        f"a product of 2048 x 2048 alone: {most:,.0f}",
        f"{reached / most:.2f}",
        PACKAGES,
    )
    loop.loss = torch.compile(loop.model.loss)
    compiled = best_of(update, 4)
    write_row(
        "networks.py",
        "the same, compiled",
        f"{symbols / compiled:,.0f} symbols/s",
        f"plain loop over transformers' GPT-2: {symbols / peer:,.0f}",
        f"{peer / compiled:.2f} times as fast",
        PACKAGES,
    )


def lstm() -> None:
    """2 layers of 200, vocabulary 10,000, 20 rows x 35 steps."""
    rows, length, vocabulary = 20, 35, 10_000
    loop = our_loop(
        "lstm",
        vocabulary,
        layers=2,
        width=200,
        rows=rows,
        length=length,
        minutes=1,
        optimiser="adamw",
    )
    embedding, cell, output = (
        nn.Embedding(vocabulary, 200),
        nn.LSTM(200, 200, 2, batch_first=True),
        nn.Linear(200, vocabulary),
    )
    parts = nn.ModuleList([embedding, cell, output])
    optimiser = torch.optim.AdamW(parts.parameters(), lr=1e-3)
    y = torch.randint(2, vocabulary, (rows, length))

    def plain() -> None:
        optimiser.zero_grad()
        logits = output(cell(embedding(y))[0])
        nn.functional.cross_entropy(logits.reshape(-1, vocabulary), y.reshape(-1)).backward()
        nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
        optimiser.step()

    ours, peer = best_of(lambda: loop.update(batch_of(y), 1e-3), 8), best_of(plain, 8)
    write_row(
        "networks.py",
        "train an LSTM, 2 x 200, vocabulary 10,000, 20 rows of 35",
        f"{rows * length / ours:,.0f} symbols/s",
        f"plain torch.nn.LSTM loop: {rows * length / peer:,.0f}",
        f"{peer / ours:.2f} times as fast",
        PACKAGES,
    )


def translators(model: GPT2LMHeadModel, vocabulary: int) -> dict[str, ctranslate2.Generator]:
    """The same model in CTranslate2, in float32 and in 8 bits."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        (Path(folder) / "vocab.json").write_text(
            json.dumps(
                {f"t{i}": i for i in range(vocabulary - 1)} | {"<|endoftext|>": vocabulary - 1}
            )
        )
        (Path(folder) / "merges.txt").write_text("#version: 0.2\n")
        (Path(folder) / "tokenizer_config.json").write_text(
            json.dumps({"tokenizer_class": "GPT2Tokenizer"})
        )
        made = {}
        for kind in ("float32", "int8"):
            out = str(Path(folder) / kind)
            ctranslate2.converters.TransformersConverter(folder).convert(out, quantization=kind)
            made[kind] = ctranslate2.Generator(
                out, device="cpu", compute_type=kind, intra_threads=torch.get_num_threads()
            )
    return made


def generation() -> None:
    """6 layers, width 384, vocabulary 8,000: 200 symbols after a prompt of 16, greedy."""
    vocabulary, length = 8000, 200
    settings = {
        "layers": 6,
        "width": 384,
        "heads": 6,
        "context": 256,
        "tied": True,
        "positions": "learned",
        "feed_forward_activation": "gelu-tanh",
    }
    ours = create(TASK.parts("transformer", settings), vocabulary).eval()
    small = copy.deepcopy(ours)
    small.quantise()
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_positions=256,
            n_embd=384,
            n_layer=6,
            n_head=6,
            eos_token_id=None,
            bos_token_id=None,
        )
    ).eval()
    fast = translators(theirs, vocabulary)
    options = DecodingOptions(length=length, temperature=0.0)
    for rows in (1, 16):
        prompt = torch.randint(2, vocabulary, (rows, 16))
        batch, tokens = (
            prompts(list(prompt.numpy())),
            [[f"t{i}" for i in row] for row in prompt.tolist()],
        )
        wanted = {
            "attention_mask": torch.ones_like(prompt),
            "max_new_tokens": length,
            "min_new_tokens": length,
            "do_sample": False,
            "pad_token_id": 0,
        }
        work: dict[str, Callable] = {
            "ours": partial(decode, ours, batch, options),
            "ours, 8 bits": partial(decode, small, batch, options),
            "transformers": torch.inference_mode()(partial(theirs.generate, prompt, **wanted)),
        }
        work |= {
            kind: partial(
                each.generate_batch,
                tokens,
                max_length=length,
                min_length=length,
                sampling_topk=1,
                include_prompt_in_result=False,
            )
            for kind, each in fast.items()
        }
        speed = {name: rows * length / best_of(each, 4) for name, each in work.items()}
        shape = f"generate {length} symbols after 16, 6 x 384, {rows} row{'s' * (rows > 1)}"
        for mine, peer, words in (
            ("ours", "transformers", "transformers' generate"),
            ("ours", "float32", "CTranslate2, float32"),
            ("ours, 8 bits", "int8", "CTranslate2, int8"),
        ):
            write_row(
                "networks.py",
                f"{shape}{', 8 bits' if 'bits' in mine else ''}, beside {words}",
                f"{speed[mine]:,.0f} symbols/s",
                f"{words}: {speed[peer]:,.0f}",
                f"{speed[mine] / speed[peer]:.2f} times as fast",
                (*PACKAGES, "ctranslate2"),
            )


def length() -> None:
    """What a symbol costs after 10,000 others, compared with one of the first."""
    for name in ("kneser-ney", "convolution", "gru", "lstm", "transformer"):
        part = TASK.parts(name, {})
        model = create(part, 65)
        if isinstance(model, nn.Module):
            model.eval()
        else:
            model.count(
                Field(
                    np.random.default_rng(0).integers(2, 65, 50_000).astype(np.int32),
                    np.array([0, 50_000]),
                    "symbols",
                ),
                stop=False,
            )
        with torch.inference_mode():
            following, state = model.start(prompts([np.array([2])]))
            times = []
            for _ in range(10_000):
                begin = time.perf_counter()
                following, state = model.step(following.log_probs().argmax(-1), state)
                times.append(time.perf_counter() - begin)
        early, late = (float(np.median(part)) * 1e6 for part in (times[500:1500], times[-1000:]))
        write_row(
            "networks.py",
            f"a step of {name} after 10,000 symbols",
            f"{late:,.0f} microseconds",
            f"after 1,000: {early:,.0f}",
            f"{late / early:.2f} times",
            ("torch",),
        )


if __name__ == "__main__":
    PARTS = {"training": training, "lstm": lstm, "generation": generation, "length": length}
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
