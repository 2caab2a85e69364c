"""Causal language models of others: the library's own figures, through our yardstick."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.batches import prompts
from seriatim.data.sequences import Sequences
from seriatim.errors import RunError
from tests.pretrained import causal

TEXT = "what a wonderful film, a joy to watch!\nfree entry: claim your prize now\n" * 30


def slow_nats(folder: str, text: str) -> float:
    """Nats of a text that fits into the context, by the library alone."""
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM

    ids = Tokenizer.from_file(f"{folder}/tokenizer.json").encode(text).ids
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        said = model(torch.tensor([[0, *ids[:-1]]])).logits[0].log_softmax(-1)
    return -float(said[torch.arange(len(ids)), torch.tensor(ids)].sum())


@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox"])
def test_bits_are_those_of_the_library(kind):
    folder, text = causal(kind), TEXT[:38]
    record = st.load(folder).evaluate(Sequences.of([text], by="stream"))
    bits = slow_nats(folder, text) / np.log(2) / len(text)
    assert record["bits_per_character"] == pytest.approx(bits, rel=1e-4)


def test_a_text_longer_than_its_context_is_read_in_windows():
    model = st.load(causal("gpt_neox")).model
    tokens = torch.tensor([0, *np.random.default_rng(0).integers(1, 200, 150).tolist()])
    whole = model.scored(tokens)
    assert len(whole) == 150 and np.isfinite(whole).all()
    np.testing.assert_allclose(whole[:64], model.scored(tokens[:65]), rtol=1e-4, atol=1e-5)
    last = model.logits(tokens[99:150])[-1].log_softmax(-1)  # the windows begin at 0, 33, 66, 99
    ours = int(np.flatnonzero(st.load(causal("gpt_neox")).codec.theirs == int(tokens[150]))[0])
    assert whole[-1] == pytest.approx(float(last[ours]), rel=1e-4)


def test_it_writes_as_it_scores():
    found = st.load(causal("gpt_neox"))
    item = found.generate("what", length=5, seed=1)["items"][0]
    assert item["text"].startswith("what")
    _, state = found.model.start(
        prompts([found.codec.encode_text("what a"), found.codec.encode_text("ok")])
    )
    second, _ = found.model.step(torch.tensor([5, 6]), state)
    ids = found.codec.encode_text("ok").tolist()
    theirs = found.codec.theirs[[*ids, 6]].tolist()
    alone = found.model.logits(torch.tensor([0, *theirs]))[-1].log_softmax(-1)
    torch.testing.assert_close(second.log_probs()[1], alone, rtol=1e-4, atol=1e-4)


def test_a_comparison_holds_it_against_the_others(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    found = st.compare(
        "language", str(path), models="unigram,markov", pretrained=causal("gpt_neox"), minutes=1
    )
    guest = next(each for each in found["references"] if each.get("pretrained"))
    assert guest["name"] == "gpt_neox" and guest["value"] > 1
    assert "pretraining data unknown" in found._repr_html_()


def test_what_is_no_causal_model_is_refused(tmp_path):
    folder = Path(shutil.copytree(causal("gpt_neox"), tmp_path / "model"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}))
    with pytest.raises(RunError, match="gpt2"):
        st.load(folder)
