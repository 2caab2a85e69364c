"""Codecs: what is encoded is decoded, unknown symbols keep their place and have a price, a damaged codec is refused."""

import copy
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tokenizers.pre_tokenizers import ByteLevel

from seriatim.codecs.options import UNITS, CodecOptions
from seriatim.codecs.subwords import shown
from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN, Labels, fit_codec, load_codec
from seriatim.data.sequences import Field
from seriatim.errors import DataError, SeriatimError

patient = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)  # machines are busy
TRAINING = [
    "The cat sat on the mat; the dog didn't.\n",
    "A well-known cat, the cat!\nÜber naïve 猫 and 🐈: café (again).\n",
    "",
    "the the the\n",
]
ANY = some.text(max_size=30)
WHOLE = some.text(some.characters(), max_size=30)  # halves of surrogate pairs too
SEEN = some.text(some.sampled_from(sorted(set("".join(TRAINING)))), max_size=40)
WORDS = some.lists(
    some.sampled_from(["the", "cat", "dog", "zebra", "unseen", "<unk>", "</s>", "<s>", "Ω"]),
    max_size=8,
)


def codec_of(texts, **options):
    return fit_codec(Field.of_text(texts), CodecOptions(**options))


def encoded(codec, *texts) -> list[list[int]]:
    ids = codec.encode(Field.of_text(texts))
    return [ids.row(s).tolist() for s in range(len(ids))]


def back(codec, text) -> str:
    return codec.decode(codec.encode_text(text))


CODECS = {
    unit: codec_of(TRAINING, unit=unit, vocabulary=300 if unit == "subword" else None)
    for unit in UNITS
}
CODECS["unigram"] = codec_of(TRAINING, unit="subword", method="unigram", vocabulary=300)
EVERY = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)


# There and back


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(
    "prompt", ["the cat", "the zebra", "zebra Ω", "Ωmega the  cat", "the cat ", "\ufffd", " ", ""]
)
def test_what_is_written_begins_with_the_prompt_as_typed(name, prompt):
    codec = CODECS[name]
    ids, after = codec.encode_text(prompt), codec.encode_text("the cat sat on")
    text = codec.continue_text(prompt, ids, after)
    assert text.startswith(prompt) and "\ufffd" not in text[len(prompt) :]
    assert text[len(prompt) :].strip() == codec.decode(after).strip()


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(
    "prompt,following", [("the cat", "sat on"), ("the cat", ", the cat"), ("the cat (", "again")]
)
def test_known_symbols_are_continued_as_one_text(name, prompt, following):
    codec = CODECS[name]
    ids, after = codec.encode_text(prompt), codec.encode_text(following)
    text = codec.continue_text(prompt, ids, after)
    assert UNKNOWN in ids or text == codec.decode([*ids, *after])
    assert codec.continue_text(prompt, ids, []) == prompt


def test_a_word_after_a_blank_or_after_an_unknown_word_stands_one_blank_apart():
    codec = CODECS["word"]
    for prompt, text in (
        ("the cat ", "the cat sat"),
        ("the  cat", "the  cat sat"),
        ("a zebra", "a zebra sat"),
        ("a zebra\n", "a zebra\nsat"),
    ):
        found = codec.continue_text(prompt, codec.encode_text(prompt), codec.encode_text("sat"))
        assert found == text


@patient
@given(ANY, SEEN)
@pytest.mark.parametrize("name", UNITS)
def test_any_prompt_comes_back_as_typed(name, prompt, following):
    codec = CODECS[name]
    ids, after = codec.encode_text(prompt), codec.encode_text(following)
    assert codec.continue_text(prompt, ids, after).startswith(prompt)


@settings(patient, max_examples=150)
@given(SEEN)
def test_characters_that_were_seen_are_lossless(text):
    assert back(CODECS["character"], text) == text


@settings(patient, max_examples=150)
@given(WHOLE)
def test_characters_keep_the_length_and_write_a_mark_for_the_unknown(text):
    codec = CODECS["character"]
    assert back(codec, text) == "".join(c if c in codec.number else "\ufffd" for c in text)


@settings(patient, max_examples=150)
@given(WHOLE)
def test_characters_fitted_on_a_text_are_lossless_for_it_whatever_it_is(text):
    if text:
        codec = codec_of([text], unit="character")
        assert back(codec, text) == text and codec.size == len(set(text)) + len(SPECIALS)


@pytest.mark.parametrize("name", ["byte", "subword", "unigram"])
@settings(patient, max_examples=150)
@given(ANY)
def test_bytes_and_subwords_are_lossless_for_any_text(name, text):
    assert back(CODECS[name], text) == text
    assert UNKNOWN not in CODECS[name].encode_text(text) and STOP not in CODECS[name].encode_text(
        text
    )


@pytest.mark.parametrize("name", ["byte", "subword", "unigram"])
@patient
@given(
    some.lists(
        some.sampled_from(
            ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", " ", "a", "\t", "ü"]
        ),
        max_size=12,
    ).map("".join)
)
def test_every_kind_of_line_ending_survives(name, text):
    assert back(CODECS[name], text) == text


@patient
@given(ANY)
def test_tokens_come_back_one_blank_apart(text):
    if text.split():
        assert back(codec_of([text], unit="token"), text) == " ".join(text.split())


@patient
@given(
    some.lists(
        some.sampled_from(
            ["don't", "well-known", "cat", "(", ")", ",", ".", "!", "naïve", "x_1", "[", "]"]
        ),
        min_size=1,
        max_size=10,
    )
)
def test_words_written_again_are_cut_into_the_same_words(words):
    codec = codec_of([" ".join(words)], unit="word")
    assert codec.pieces_of(codec.decode(codec.encode_text(" ".join(words)))) == words


@EVERY
@patient
@given(some.lists(ANY, max_size=5))
def test_sequences_are_encoded_one_by_one(codec, texts):
    assert encoded(codec, *texts) == [encoded(codec, text)[0] for text in texts]
    ids = codec.encode(Field.of_text(texts))
    assert (
        ids.values.dtype == np.int32
        and all(0 <= i < codec.size for i in ids.values)
        and STOP not in ids.values
    )


@EVERY
def test_a_view_that_does_not_begin_at_zero_is_encoded_like_its_copy(codec):
    column = Field.of_text(["bé", "cat ü", "", "the dog", "猫"])
    view = column.take(slice(1, 4))
    ids, copied = codec.encode(view), codec.encode(view.take(np.arange(3)))
    assert (
        ids.flat.tolist() == copied.flat.tolist()
        and ids.lengths.tolist() == copied.lengths.tolist()
    )
    assert ids.lengths.tolist() == [len(row) for row in encoded(codec, "cat ü", "", "the dog")]


@EVERY
def test_no_sequences_and_empty_sequences_are_fine(codec):
    assert (
        encoded(codec) == []
        and encoded(codec, "", "") == [[], []]
        and codec.decode([]) == ""
        and codec.pieces_of("") == []
    )
    symbols, rest = codec.side_nats(Field.of_text([""]), codec.encode(Field.of_text([""])))
    assert len(symbols) == 0 and len(rest) == 1


@EVERY
def test_the_end_is_not_written(codec):
    ids = codec.encode_text("the cat")
    assert codec.decode([*ids, STOP]) == codec.decode(ids)


@pytest.mark.parametrize("name", CODECS)
def test_half_a_surrogate_pair_is_encoded_or_refused_with_our_error(name):
    try:
        assert len(CODECS[name].encode_text("a \udcff b")) >= 3
    except SeriatimError as error:
        assert "Unicode" in str(error) or "UTF-8" in str(error)


# Where words end


@pytest.mark.parametrize(
    "text, words",
    [
        ("I don't know.", ["I", "don't", "know", "."]),
        ("I don’t", ["I", "don’t"]),
        ("a well-known fact", ["a", "well-known", "fact"]),
        ("state-of-the-art's", ["state-of-the-art's"]),
        ("'quoted' -- so", ["'", "quoted", "'", "-", "-", "so"]),
        ("rock 'n' roll", ["rock", "'", "n", "'", "roll"]),
        ("end...", ["end", ".", ".", "."]),
        ("3.14 and 1,000", ["3", ".", "14", "and", "1", ",", "000"]),
        ("snake_case x2", ["snake_case", "x2"]),
        ("a--b", ["a", "-", "-", "b"]),
        ("one\ntwo\r\n\tthree", ["one", "two", "three"]),
        ("naïve Ünïcode 猫好", ["naïve", "Ünïcode", "猫好"]),
        ("🐈!", ["🐈", "!"]),
        ("a@b.c", ["a", "@", "b", ".", "c"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_the_rule_for_words(text, words):
    assert CODECS["word"].pieces_of(text) == words


@patient
@given(ANY)
def test_no_visible_character_is_lost_between_words(text):
    assert "".join(CODECS["word"].pieces_of(text)) == "".join(text.split())


def test_words_are_written_without_a_blank_before_a_closing_mark():
    codec = codec_of(["Well , ( he said ) : yes !"], unit="word")
    assert back(codec, "Well, (he said): yes!") == "Well, (he said): yes!"


# The vocabulary


@pytest.mark.parametrize("unit", ["character", "word", "token"])
@patient
@given(
    some.lists(some.sampled_from(["a", "b", "c", "dd", "e"]), min_size=1, max_size=30),
    some.integers(1, 4),
    some.one_of(some.none(), some.integers(3, 7)),
)
def test_the_vocabulary_is_the_most_frequent_first_within_size_and_minimum_count(
    unit, words, least, most
):
    pieces = list(" ".join(words)) if unit == "character" else words
    counts = Counter(pieces)
    kept = sorted(
        (piece for piece in counts if counts[piece] >= least),
        key=lambda piece: (-counts[piece], piece),
    )[: None if most is None else most - 2]
    try:
        codec = codec_of([" ".join(words)], unit=unit, minimum_count=least, vocabulary=most)
    except DataError as error:
        assert not kept and "no symbols" in str(error)
        return
    assert codec.symbols == [*SPECIALS, *kept] and codec.size <= (most or math.inf)
    assert [codec.number[piece] for piece in kept] == list(range(2, 2 + len(kept)))


@pytest.mark.parametrize("method", ["byte-pair", "unigram"])
@pytest.mark.parametrize("size", [260, 265, 280])
def test_subwords_stay_within_the_size_asked_for(method, size):
    codec = codec_of(TRAINING, unit="subword", method=method, vocabulary=size)
    assert 258 <= codec.size <= size and codec.symbols[:2] == list(SPECIALS)
    assert back(codec, "The cat 🐈 ż") == "The cat 🐈 ż"


@pytest.mark.parametrize("method", ["byte-pair", "unigram"])
def test_fewer_subwords_than_bytes_are_refused(method):
    with pytest.raises(SeriatimError, match="256"):
        codec_of(TRAINING, unit="subword", method=method, vocabulary=100)


def test_subwords_need_fewer_symbols_than_bytes_for_what_was_frequent():
    text = "the the the cat"
    assert len(CODECS["subword"].encode_text(text)) < len(CODECS["byte"].encode_text(text)) / 2


@EVERY
def test_encoding_other_text_teaches_a_codec_nothing(codec):
    before = json.dumps(codec.to_json())
    codec.encode_text("zebra 斑马 never seen")
    codec.side_nats(Field.of_text(["zebra 斑马"]), codec.encode(Field.of_text(["zebra 斑马"])))
    assert json.dumps(codec.to_json()) == before


@pytest.mark.parametrize("unit", ["character", "word", "token"])
def test_a_text_without_symbols_and_numbers_are_refused(unit):
    with pytest.raises(DataError, match="no symbols"):
        codec_of(["", ""], unit=unit)
    with pytest.raises(DataError, match="numbers are not text"):
        fit_codec(Field.of_numbers([[1.0]]), CodecOptions(unit=unit))


@EVERY
def test_numbers_are_refused_by_a_fitted_codec(codec):
    with pytest.raises(DataError, match="numbers are not text"):
        codec.encode(Field.of_numbers([[1.0, 2.0]]))


@pytest.mark.parametrize("name", CODECS)
@patient
@given(some.text(some.sampled_from("aAbBÉéÜ \n"), max_size=12))
def test_lower_makes_case_not_matter(name, text):
    codec = LOWER[name]
    assert encoded(codec, text) == encoded(codec, text.lower())
    assert codec.decode(codec.encode_text(text)).lower() == codec.decode(codec.encode_text(text))


LOWER = {
    name: codec_of(
        TRAINING,
        unit=codec.options.unit,
        method=codec.options.method,
        lower=True,
        vocabulary=280 if name in ("subword", "unigram") else None,
    )
    for name, codec in CODECS.items()
}


# The unknown


@pytest.mark.parametrize("unit", ["word", "token"])
@patient
@given(WORDS)
def test_unknown_words_keep_their_place_and_have_a_price(unit, words):
    codec, column = CODECS[unit], Field.of_symbols([words])
    ids = codec.encode(column)
    known = [word in codec.symbols[2:] for word in words]
    assert (ids.flat != UNKNOWN).tolist() == known and codec.decode(ids.flat).count(
        "\ufffd"
    ) == known.count(False)
    price = codec.side_nats(column, ids)[0]
    spelled = [0 if each else codec.spell(word) for each, word in zip(known, words, strict=True)]
    blanks = math.log(4)  # nothing was learned of them: none, one, a line, or others
    assert price == pytest.approx(np.array(spelled) + blanks, abs=1e-5)


@patient
@given(WHOLE)
def test_unknown_characters_cost_their_place_in_unicode(text):
    codec, column = CODECS["character"], Field.of_text([text])
    ids = codec.encode(column)
    assert ids.lengths.tolist() == [len(text)]
    assert codec.side_nats(column, ids)[0].tolist() == [
        0.0 if c in codec.number else pytest.approx(math.log(0x110000)) for c in text
    ]


@pytest.mark.parametrize("unit", ["word", "token"])
@patient
@given(
    some.text(some.sampled_from("thecaqzΩ猫"), min_size=1, max_size=8),
    some.text(some.sampled_from("thecaqzΩ猫"), min_size=1, max_size=8),
)
def test_a_longer_unseen_word_costs_more(unit, word, more):
    codec = CODECS[unit]
    assert 0 < codec.spell(word) < codec.spell(word + more)


def test_the_price_of_spelling_is_that_of_a_distribution_over_words():
    codec = codec_of(
        ["ab ab b"], unit="token"
    )  # letters: a 2, b 3, end 3; with one more each and an escape: 12
    assert codec.spell("ab") == pytest.approx(
        -math.log(3 / 12) - math.log(4 / 12) - math.log(4 / 12)
    )
    assert codec.spell("z") == pytest.approx(
        -math.log(1 / 12) + math.log(0x110000) - math.log(4 / 12)
    )
    assert math.exp(-codec.spell("")) + math.fsum(math.exp(-codec.spell(c)) for c in "ab") < 1


@pytest.mark.parametrize("unit", ["word", "token"])
def test_words_left_out_by_size_or_count_are_unknown_not_dropped(unit):
    for options in ({"vocabulary": 4}, {"minimum_count": 2}):
        codec = codec_of(["a a a b b c"], unit=unit, **options)
        assert encoded(codec, "c a b c zz") == [[UNKNOWN, 2, 3, UNKNOWN, UNKNOWN]]


# Symbols that look special


def test_literal_specials_in_token_text():
    codec = codec_of(["<unk> </s> <s> <unk> word </s>"], unit="token")
    assert sorted(codec.symbols) == sorted(
        [*SPECIALS, "<s>", "word"]
    )  # only <s> and word were learned
    assert encoded(codec, "<unk> </s> <s> word") == [
        [UNKNOWN, UNKNOWN, codec.symbols.index("<s>"), codec.symbols.index("word")]
    ]
    assert codec.decode(codec.encode_text("<s> word")) == "<s> word"


@pytest.mark.parametrize("name", CODECS)
@patient
@given(
    some.lists(some.sampled_from(["<unk>", "</s>", "<s>", " ", "a", "\n"]), max_size=6).map("".join)
)
def test_text_never_becomes_the_end_of_a_sequence(name, text):
    assert STOP not in CODECS[name].encode_text(text)
    assert STOP not in SPECIAL[name].encode_text(text)


@pytest.mark.parametrize("name", ["character", "byte", "subword", "unigram"])
@patient
@given(some.lists(some.sampled_from(["<unk>", "</s>", "<s>", " ", "a"]), max_size=6).map("".join))
def test_text_that_looks_special_is_lossless(name, text):
    assert back(SPECIAL[name], text) == text


SPECIAL = {
    name: codec_of(
        ["a <unk> b </s> c <s> d\n" * 3], unit=codec.options.unit, method=codec.options.method
    )
    for name, codec in CODECS.items()
}


# Symbols given as such


@pytest.mark.parametrize("unit", ["word", "token"])
def test_given_tokens_are_kept_as_they_are(unit):
    rows = [["New York", "don't.", "a"], [], ["a", "New York"]]
    codec = fit_codec(Field.of_symbols(rows), CodecOptions(unit=unit))
    ids = codec.encode(Field.of_symbols(rows))
    assert [[codec.symbols[i] for i in ids.row(s)] for s in range(3)] == rows
    assert codec.encode(Field.of_symbols([["New", "York"]])).flat.tolist() == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize("name", ["character", "byte", "subword", "unigram"])
@patient
@given(
    some.lists(
        some.lists(some.text(some.sampled_from("abc.é"), max_size=3), max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_given_tokens_are_joined_by_blanks_where_the_unit_is_smaller(name, rows):
    ids = CODECS[name].encode(Field.of_symbols(rows))
    assert [ids.row(s).tolist() for s in range(len(ids))] == encoded(
        CODECS[name], *map(" ".join, rows)
    )


def test_given_tokens_are_lowered_too():
    codec = fit_codec(Field.of_symbols([["The", "the"]]), CodecOptions(unit="token", lower=True))
    assert codec.symbols == [*SPECIALS, "the"] and codec.encode(
        Field.of_symbols([["THE"]])
    ).flat.tolist() == [2]


# On disk


@EVERY
def test_a_codec_comes_back_from_json_the_same(codec):
    again = load_codec(json.loads(json.dumps(codec.to_json())), "codec.json")
    texts = [*TRAINING, "zebra <unk> 斑马\n\n \u2028x"]
    column = Field.of_text(texts)
    assert (
        encoded(again, *texts) == encoded(codec, *texts)
        and again.to_json() == codec.to_json()
        and again.options == codec.options
    )
    for one, other in zip(
        again.side_nats(column, again.encode(column)),
        codec.side_nats(column, codec.encode(column)),
        strict=True,
    ):
        assert one.tolist() == other.tolist()
    assert [again.decode(row) for row in encoded(again, *texts)] == [
        codec.decode(row) for row in encoded(codec, *texts)
    ]


@patient
@given(WHOLE)
def test_any_characters_come_back_from_json(text):
    if text:
        codec = codec_of([text], unit="character")
        assert back(load_codec(json.loads(json.dumps(codec.to_json())), "codec.json"), text) == text


VALUES = [None, 0, -1, 1.5, True, "", "x", "word", "byte", [], ["x"], {}, {"x": 1}, [[]], 10**30]


def places(record, prefix=()) -> list[tuple]:
    """The way to everything inside a record; of long lists the ends only."""
    if isinstance(record, dict):
        keys = list(record)
    elif isinstance(record, list):
        keys = sorted({*range(min(4, len(record))), len(record) - 1} - {-1})
    else:
        return []
    keys = keys if len(keys) < 12 else keys[:3] + keys[-2:]
    return [
        place for key in keys for place in [(*prefix, key), *places(record[key], (*prefix, key))]
    ]


def damaged(record) -> list:
    """A record harmed in many ways: something removed, replaced, repeated or swapped."""
    harmed = list(copy.deepcopy(VALUES))
    for place in places(record):
        for value in [..., *VALUES]:
            again = copy.deepcopy(record)
            inner = again
            for key in place[:-1]:
                inner = inner[key]
            if value is ...:
                del inner[place[-1]]
            else:
                inner[place[-1]] = value
            harmed.append(again)
    return harmed


def check_refused_or_sound(record) -> bool:
    """A damaged codec is refused with our error, or does what a codec promises. True if it was refused."""
    try:
        codec = load_codec(record, "codec.json")
    except SeriatimError as error:
        assert "codec.json" in str(error)
        return True
    for text in ("The cat sat", "zebra 🐈", ""):
        ids = codec.encode_text(text)
        assert all(0 <= i < codec.size for i in ids)
        assert isinstance(codec.decode(ids), str)
        column = Field.of_text([text])
        for nats in codec.side_nats(column, codec.encode(column)):
            assert np.isfinite(nats).all()
    return False


@EVERY
def test_a_damaged_codec_is_refused_or_still_a_codec(codec):
    record = json.loads(json.dumps(codec.to_json()))
    fates = [check_refused_or_sound(each) for each in damaged(record)]
    assert sum(fates) > len(fates) / 3


@EVERY
def test_symbols_that_are_no_vocabulary_are_refused(codec):
    record = json.loads(json.dumps(codec.to_json()))
    symbols = record["symbols"]
    for wrong in (
        symbols[1:],
        symbols[:1],
        [],
        symbols + symbols[-1:],
        [*symbols[1::-1], *symbols[2:]],
        [*symbols, 3],
        [*symbols, None],
        "".join(symbols),
        dict.fromkeys(symbols),
        None,
    ):
        with pytest.raises(SeriatimError, match=r"codec\.json"):
            load_codec(record | {"symbols": wrong}, "codec.json")
    for key in ("options", "symbols", "spelling"):
        with pytest.raises(SeriatimError, match=r"codec\.json"):
            load_codec({name: value for name, value in record.items() if name != key}, "codec.json")


def test_a_byte_codec_has_the_256_bytes_in_their_order():
    record = json.loads(json.dumps(CODECS["byte"].to_json()))
    for wrong in (
        record["symbols"][:-1],
        [*record["symbols"][:2], *record["symbols"][:1:-1]],
        [*record["symbols"][:-1], "猫"],
    ):
        with pytest.raises(SeriatimError):
            load_codec(record | {"symbols": wrong}, "codec.json")


# and a panic inside the library (continuing_subword_prefix "word") is not even an Exception
@pytest.mark.parametrize("name", ["subword", "unigram"])
def test_a_damaged_tokenizer_is_refused_or_still_a_codec(name):
    record = json.loads(json.dumps(CODECS[name].to_json()))
    inner = json.loads(record["tokenizer"])
    harmed = damaged(inner)
    if name == "subword":
        last = max(inner["model"]["vocab"], key=inner["model"]["vocab"].get)
        hole = copy.deepcopy(inner)
        hole["model"]["vocab"][last] = 5000
        merged = next(word for word in ("Ġthe", "the", "Ġt") if word in inner["model"]["vocab"])
        swapped = copy.deepcopy(inner)
        swapped["model"]["vocab"][merged] = 5000
        harmed += [hole, swapped]
    for each in harmed:
        check_refused_or_sound(record | {"tokenizer": json.dumps(each)})
    for text in (
        "",
        "{",
        record["tokenizer"][:-5],
        record["tokenizer"].replace("ByteLevel", "Nothing"),
    ):
        assert check_refused_or_sound(record | {"tokenizer": text})


# What records call a symbol


def test_byte_level_pieces_are_shown_as_text():
    assert [shown(each) for each in ("ĠfÃ¤hrt", "groÃŁen", "Ċ", "<unk>", "Ġ")] == [
        " fährt",
        "großen",
        "\n",
        "<unk>",
        " ",
    ]
    assert shown("Ã") == "⟨C3⟩" and shown("¤h") == "⟨A4⟩h" and shown("<｜end｜>") == "<｜end｜>"
    every = ByteLevel.alphabet()
    assert len({shown(each) for each in every}) == 256 == len(every)


@given(
    some.text(some.characters(exclude_categories=["Cs"]), max_size=30).filter(
        lambda t: "⟨" not in t
    )
)
@patient
def test_shown_pieces_together_are_the_text(text):
    for name in ("subword", "unigram", "byte", "character"):
        codec = CODECS[name]
        pieces = [codec.shown(each) for each in codec.pieces_of(text)]
        raw = re.sub("⟨(..)⟩", lambda found: chr(0xDC00 + int(found[1], 16)), "".join(pieces))
        assert raw.encode("utf-8", "surrogateescape").decode() == text
        assert name != "character" or pieces == list(text)


def test_words_and_special_symbols_are_shown_as_they_are():
    for codec in CODECS.values():
        assert [codec.shown(each) for each in SPECIALS] == list(SPECIALS)
    assert CODECS["word"].shown("Ġthe") == "Ġthe" and CODECS["byte"].shown("Ã") == "⟨C3⟩"


# Labels


def test_labels_are_numbered_in_order_and_come_back():
    labels = Labels.fit(Field.of_labels(["spam", "ham", "spam"]))
    assert labels.names == ["ham", "spam"] and labels.size == 2
    again = Labels.from_json(json.loads(json.dumps(labels.to_json())))
    ids = again.encode(Field.of_labels(["spam", "ham"]))
    assert ids.flat.tolist() == [1, 0] and again.decode(ids.flat) == ["spam", "ham"]


def test_labels_are_those_of_the_rows_taken_not_of_all_names():
    column = Field.of_labels(["a", "b", "c"])
    assert Labels.fit(column.take(slice(1, 3))).names == ["b", "c"]
    assert Labels(["b", "c"]).encode(column.take(slice(1, 3))).flat.tolist() == [0, 1]


@pytest.mark.parametrize("rows", [slice(None), slice(1, None), np.array([3, 2])])
def test_an_unknown_label_is_an_error_with_file_and_line(rows):
    column, lines = (
        Field.of_symbols([["ham"], ["spam"], [], ["ham", "eggs"]]).take(rows),
        np.array([2, 3, 5, 8])[rows],
    )
    with pytest.raises(DataError) as error:
        Labels(["ham", "spam"]).encode(column, lines, "mail.tsv")
    assert (error.value.file, error.value.line) == ("mail.tsv", 8)
    assert (
        "mail.tsv:8" in str(error.value)
        and "'eggs'" in str(error.value)
        and "ham, spam" in str(error.value)
    )


def test_labels_of_no_or_empty_sequences_are_fine():
    assert len(Labels(["a"]).encode(Field.of_labels([]))) == 0
    assert Labels(["a"]).encode(Field.of_symbols([[], ["a"], []])).lengths.tolist() == [0, 1, 0]
