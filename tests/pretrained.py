"""Small pretrained models of random weights, in folders as transformers writes them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

TEXTS = ["what a wonderful film, a joy to watch!", "free entry: claim your prize now", "ok", "0 1"]
HOME = tempfile.TemporaryDirectory()  # gone with the process


@cache
def encoder() -> str:
    """The folder of a BERT of two layers, 16 wide."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789,:!"
    words = sorted({word for text in TEXTS for word in text.split() if word.isalpha()})
    pieces = dict.fromkeys([*special, *words, *letters, *(f"##{each}" for each in letters)])
    vocabulary = {piece: i for i, piece in enumerate(pieces)}  # a trainer breaks ties by chance
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder = str(Path(HOME.name) / "encoder")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@cache
def causal(kind: str) -> str:
    """The folder of a causal language model of two layers, 16 wide, with byte-level pieces."""
    from transformers import GPT2Config, GPT2LMHeadModel, GPTNeoXConfig, GPTNeoXForCausalLM

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=270,
            special_tokens=["<|endoftext|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    folder = Path(HOME.name) / kind
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    size = tokenizer.get_vocab_size()
    special = {"bos_token_id": 0, "eos_token_id": 0}
    if kind == "gpt2":
        config = GPT2Config(
            vocab_size=size, n_embd=16, n_layer=2, n_head=2, n_positions=64, **special
        )
        GPT2LMHeadModel(config).save_pretrained(folder)
    else:
        config = GPTNeoXConfig(
            vocab_size=size,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.3,
            **special,
        )
        GPTNeoXForCausalLM(config).save_pretrained(folder)
    return str(folder)
