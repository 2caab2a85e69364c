"""A small tokenizer of each family that others make, and model files of sentencepiece written by hand."""

import json
import struct
from functools import cache

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from seriatim.codecs.tokenizer_files import CL100K, GPT2, QWEN
from tests.terminal import prose

TEXT = prose(60, 1) + "Der Übermut; naïve café, 猫 and 🐈!\n" * 3 + "\tTwo  blanks.\n\n"
META = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
FROM_META = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]


# -- one of each family
def word_piece() -> Tokenizer:
    """As BERT's."""
    found = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    found.normalizer, found.decoder = normalizers.BertNormalizer(), decoders.WordPiece()
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=150, special_tokens=special, show_progress=False)
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


def unigram() -> Tokenizer:
    """As those of sentencepiece, in the manner of T5."""
    found = Tokenizer(models.Unigram())
    several = [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    found.normalizer = normalizers.Sequence(several)
    found.pre_tokenizer, found.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


def byte_pair() -> Tokenizer:
    """Pieces of letters with marked blanks, without special symbols of its own."""
    found = Tokenizer(models.BPE(unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=["<unk>"], show_progress=False)
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


def with_fallback() -> Tokenizer:
    """As Llama 2's: what is unknown is bytes."""
    record = json.loads(byte_pair().to_str())
    many = len(record["model"]["vocab"])
    record["model"]["vocab"] |= {f"<0x{i:02X}>": many + i for i in range(256)}
    record["model"]["byte_fallback"] = True
    prepend = {"type": "Prepend", "prepend": "▁"}
    record |= {
        "normalizer": {"type": "Sequence", "normalizers": [prepend, META]},
        "decoder": {"type": "Sequence", "decoders": FROM_META},
        "pre_tokenizer": None,
    }
    return Tokenizer.from_str(json.dumps(record))


def of_bytes(pattern: str = "", normalizer=None, prefix: bool = False) -> Tokenizer:
    """Byte-level pieces."""
    found = Tokenizer(models.BPE())
    into = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=not pattern)
    split = pre_tokenizers.Split(Regex(pattern), "isolated") if pattern else None
    found.pre_tokenizer = pre_tokenizers.Sequence([split, into]) if split else into
    found.decoder = decoders.ByteLevel()
    if normalizer is not None:
        found.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


def plain() -> Tokenizer:
    """That of many a first tutorial: words cut into letters, and no decoder."""
    found = Tokenizer(models.BPE(unk_token="[UNK]"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=["[UNK]"], show_progress=False)
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


def folded() -> Tokenizer:
    """Lower case without accents, cut at blanks and digits; what is unknown is dropped."""
    found = Tokenizer(models.BPE())
    parts = [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
    found.normalizer = normalizers.Sequence(parts)
    cuts = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(), pre_tokenizers.Punctuation()]
    found.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=[], show_progress=False)
    found.train_from_iterator([TEXT[:2000]], trainer)
    return found


LOSSY = {
    "word-piece": word_piece,
    "unigram": unigram,
    "byte-pair": byte_pair,
    "fallback": with_fallback,
    "normal-form": lambda: of_bytes(QWEN, normalizers.NFC()),
    "prefix": lambda: of_bytes(prefix=True),
    "plain": plain,
    "folded": folded,
}
WHOLE = {
    "gpt-2": of_bytes,
    "gpt-2-split": lambda: of_bytes(GPT2),
    "llama-3": lambda: of_bytes(CL100K),
    "qwen": lambda: of_bytes(QWEN),
}
FAMILIES = LOSSY | WHOLE


@cache
def source(name: str) -> str:
    """The file of a family, as its library writes it."""
    return FAMILIES[name]().to_str()


# -- model files of sentencepiece
def whole(number: int) -> bytes:
    """A number, seven bits a byte."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def message(*fields: tuple[int, object]) -> bytes:
    """Fields: whole numbers, single precision, texts, messages."""
    found = b""
    for number, value in fields:
        if isinstance(value, (bool, int)):
            found += whole(number << 3) + whole(int(value))
        elif isinstance(value, float):
            found += whole(number << 3 | 5) + struct.pack("<f", value)
        else:
            content = value.encode() if isinstance(value, str) else bytes(value)
            found += whole(number << 3 | 2) + whole(len(content)) + content
    return found


PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("<sep>", 0.0, 4)] + [
    (text, -float(i), 1)
    for i, text in enumerate(
        ["▁the", "▁cat", "at", "▁t", "he", "▁c", "th", *"▁thecas.</>", "unused"], 1
    )
]


def model_file(kind: int = 1, pieces=PIECES, trainer=(), normalizer=()) -> bytes:
    """A model: its pieces, how it was trained, what is done first."""
    several = [(1, message((1, text), (2, score), (3, kind))) for text, score, kind in pieces]
    return message(*several, (2, message((3, kind), *trainer)), (3, message(*normalizer)))
