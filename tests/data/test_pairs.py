"""Generated pairs: every target is what a slow twin makes of its source, and no source comes twice."""

from __future__ import annotations

import re
import string
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.data import read
from seriatim.data.corpora.pairs import PAIRS, generate_pairs
from seriatim.data.sequences import SYMBOLS, TEXT, Sequences
from seriatim.errors import ConfigError

TWINS = {"copy": list, "reverse": lambda letters: list(reversed(letters)), "sort": sorted}
ORDERED = pytest.mark.parametrize("name", TWINS)

MONTHS = [
    words.split()
    for words in (
        "january jan januar janvier enero janeiro gennaio januari stycznia i",
        "february feb februar février febrero fevereiro febbraio februari lutego ii",
        "march mar märz mars marzo março maart marca iii",
        "april apr avril abril aprile kwietnia iv",
        "may mai mayo maio maggio mei maj maja v",
        "june jun juni juin junio junho giugno czerwca vi",
        "july jul juli juillet julio julho luglio lipca vii",
        "august aug août agosto augustus augusti sierpnia viii",
        "september sep septembre septiembre setembro settembre września ix",
        "october oct oktober octobre octubre outubro ottobre października x",
        "november nov novembre noviembre novembro listopada xi",
        "december dec dezember décembre diciembre dezembro dicembre grudnia xii",
    )
]
WEEKDAYS = [
    words.split()
    for words in (
        "monday montag lundi lunes segunda lunedì maandag måndag poniedziałek 月",
        "tuesday dienstag mardi martes terça martedì dinsdag tisdag wtorek 火",
        "wednesday mittwoch mercredi miércoles quarta mercoledì woensdag onsdag środa 水",
        "thursday donnerstag jeudi jueves quinta giovedì donderdag torsdag czwartek 木",
        "friday freitag vendredi viernes sexta venerdì vrijdag fredag piątek 金",
        "saturday samstag samedi sábado sabato zaterdag lördag sobota 土",
        "sunday sonntag dimanche domingo domenica zondag söndag niedziela 日",
    )
]
MONTH, WEEKDAY = (
    {word: number for number, words in enumerate(table) for word in words}
    for table in (MONTHS, WEEKDAYS)
)
OTHER = "st nd rd th er º de of den el le r feira"
NUMERIC = [
    r"(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<year>\d{4})",
    r"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4})",
    r"(?P<year>\d{4})/(?P<month>\d+)/(?P<day>\d+)",
    r"(?P<year>\d{4})年(?P<month>\d+)月(?P<day>\d+)日(\((?P<weekday>.)\))?",
]

MARCH = """\
March 7, 2024 | 7 March 2024 | 7th of March 2024 | Thursday, 7 March 2024 | Thursday, March 7th, 2024 | Mar 7 2024 | 7-Mar-2024
7. März 2024 | Donnerstag, den 7. März 2024 | le 7 mars 2024 | jeudi 7 mars 2024 | el 7 de marzo de 2024 | jueves 7 de marzo de 2024
7 de março de 2024 | quinta-feira, 7 de março de 2024 | 7 marzo 2024 | giovedì 7 marzo 2024 | 7 maart 2024 | donderdag 7 maart 2024
den 7 mars 2024 | torsdag 7 mars 2024 | 7 marca 2024 r. | czwartek, 7 marca 2024 r. | 2024年3月7日 | 2024年3月7日(木)
7.III.2024 | 07.03.2024 | 03/07/2024 | 2024/3/7"""
WAYS = re.split(r" \| |\n", MARCH)


def rows(data: Sequences) -> list[tuple]:
    return [(row["source"], row["target"]) for row in data]


def sources(data: Sequences) -> set:
    return {tuple(source) for source, _ in rows(data)}


def understood(text: str) -> tuple[date, int | None]:
    """The date that a text names, and the weekday; any word that is not known is an error."""
    for pattern in NUMERIC:
        if found := re.fullmatch(pattern, text):
            parts = found.groupdict()
            return date(*(int(parts[name]) for name in ("year", "month", "day"))), WEEKDAY.get(
                parts.get("weekday")
            )
    words = re.findall(r"[^\W\d]+", text.lower())
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    assert set(words) <= {*MONTH, *WEEKDAY, *OTHER.split()}, text
    [month] = [MONTH[word] for word in words if word in MONTH]
    return date(max(numbers), month + 1, min(numbers)), next(
        (WEEKDAY[word] for word in words if word in WEEKDAY), None
    )


def value_of(numeral: str) -> int:
    """A letter before a greater one is taken away."""
    values = [
        {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}[letter]
        for letter in numeral
    ]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0]))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(TWINS)),
    count=st.integers(1, 60),
    least=st.integers(1, 6),
    more=st.integers(0, 6),
    symbols=st.integers(2, 62),
    seed=st.integers(0, 99),
)
def test_letters_are_rewritten_and_no_source_comes_twice(name, count, least, more, symbols, seed):
    length = least + more
    description = (
        f"{name}:count={count},least={least},length={length},symbols={symbols},seed={seed}"
    )
    space = sum(symbols**size for size in range(least, length + 1))
    if space < count:
        with pytest.raises(ConfigError, match=f"only {space} different"):
            generate_pairs(description)
        return
    data = generate_pairs(description)
    assert len(data) == count == len(sources(data))
    for source, target in rows(data):
        assert least <= len(source) <= length and target == TWINS[name](source)
        assert set(source) <= set(
            (string.ascii_lowercase + string.ascii_uppercase + string.digits)[:symbols]
        )


@ORDERED
def test_letters_are_symbols_with_the_same_names_on_both_sides(name):
    data = read(f"{name}:length=25,count=20000,seed=1")
    source, target = data.field("source"), data.field("target")
    assert len(data) == 20_000 and (data.by, data.unit, data.entropy) == ("line", "token", None)
    assert source.kind == target.kind == SYMBOLS and source.names == target.names == tuple(
        string.ascii_lowercase
    )
    assert source.values.dtype == target.values.dtype == np.int32
    assert (
        list(data.fields) == ["source", "target"]
        and data.origin == f"{name}:length=25,count=20000,seed=1"
    )


def test_sources_are_all_there_are_when_so_many_are_asked_for():
    data = generate_pairs("sort:symbols=3,length=6,count=1092")
    assert sources(data) == {
        tuple("abc"[number // 3**place % 3] for place in range(size))
        for size in range(1, 7)
        for number in range(3**size)
    }


def test_lengths_and_letters_are_uniform_where_there_is_room():
    """Of one letter there are 26 sources, of two 676; what they leave is spread over the others, within five standard deviations."""
    source = generate_pairs("copy").field("source")
    many = np.bincount(source.lengths, minlength=26)
    assert many[:3].tolist() == [0, 26, 676]
    assert (abs(many[3:] - many[3:].mean()) < 5 * many[3:].mean() ** 0.5).all()
    letters = np.bincount(source.flat, minlength=26)
    assert (abs(letters - letters.mean()) < 5 * letters.mean() ** 0.5).all()


def test_every_place_of_a_long_source_has_every_letter_equally_often():
    """Also behind the beginning by which sources are told apart."""
    letters = (
        generate_pairs("copy:symbols=2,least=90,length=90,count=4000")
        .field("source")
        .flat.reshape(4000, 90)
    )
    assert (abs(letters.mean(0) - 0.5) < 5 * 0.5 / 4000**0.5).all()


def test_the_order_of_sources_does_not_tell_their_lengths():
    lengths = generate_pairs("reverse").field("source").lengths
    assert abs(np.corrcoef(lengths[1:], lengths[:-1])[0, 1]) < 0.05


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(1, 300),
    first=st.integers(1583, 9999),
    more=st.integers(0, 300),
    seed=st.integers(0, 99),
)
def test_dates_are_understood(count, first, more, seed):
    last = min(first + more, 9999)
    data = generate_pairs(f"dates:count={count},first={first},last={last},seed={seed}")
    assert len(data) == count == len(sources(data))
    for source, target in rows(data):
        day, weekday = understood(source)
        assert (
            day.isoformat() == target
            and first <= day.year <= last
            and weekday in (None, day.weekday())
        )


def test_all_ways_to_write_a_date():
    """A whole year in all forms: no two texts are the same, each names its date, and one day is as written by hand above."""
    data = generate_pairs(f"dates:first=2024,last=2024,count={366 * len(WAYS)}")
    assert len(sources(data)) == 366 * len(WAYS)
    for source, target in rows(data):
        day, weekday = understood(source)
        assert day.isoformat() == target and weekday in (None, day.weekday())
    written = [source for source, target in rows(data) if target == "2024-03-07"]
    assert sorted(written) == sorted(WAYS)
    firsts = {source for source, target in rows(data) if target == "2024-05-01"}
    assert {
        "1st of May 2024",
        "le 1er mai 2024",
        "1º maggio 2024",
        "1. Mai 2024",
        "01.05.2024",
        "05/01/2024",
    } <= firsts
    suffixes = {
        source[: -len(" of May 2024")]
        for source, _ in rows(data)
        if source.endswith(" of May 2024")
    }
    assert {
        "2nd",
        "3rd",
        "11th",
        "12th",
        "13th",
        "20th",
        "21st",
        "22nd",
        "23rd",
        "31st",
    } <= suffixes
    with pytest.raises(ConfigError, match=f"only {366 * len(WAYS)} different"):
        generate_pairs(f"dates:first=2024,last=2024,count={366 * len(WAYS) + 1}")


def test_dates_of_every_language_and_of_all_years():
    data = read("dates")
    assert len(data) == 20_000 and (data.by, data.unit, data.entropy) == ("line", "character", None)
    assert data.field("source").kind == data.field("target").kind == TEXT
    words = set(re.findall(r"[^\W\d]+", " ".join(source.lower() for source, _ in rows(data))))
    assert {*MONTH, *WEEKDAY} - set("月火水木金土日") <= words
    assert {f"年月日({weekday})" for weekday in "月火水木金土日"} <= {
        re.sub(r"\d", "", source) for source, _ in rows(data)
    }
    assert {target[:4] for _, target in rows(data)} == set(map(str, range(1900, 2100)))
    assert len({target for _, target in rows(data)}) > 15_000


def test_roman_numerals_up_to_3999():
    data = read("roman")
    assert len(data) == 3999 and (data.by, data.unit, data.entropy) == ("line", "character", None)
    form = re.compile(
        "M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"
    )  # each number has one numeral of this form
    assert all(
        form.fullmatch(source) and str(value_of(source)) == target for source, target in rows(data)
    )
    numbers = [int(target) for _, target in rows(data)]
    assert sorted(numbers) == list(range(1, 4000)) != numbers
    assert ("MCMXCIV", "1994") in rows(data)


@settings(max_examples=20, deadline=None)
@given(count=st.integers(1, 3999), seed=st.integers(0, 99))
def test_roman_numerals_in_both_directions(count, seed):
    there, back = (
        rows(generate_pairs(f"roman:count={count},seed={seed},direction={way}"))
        for way in ("to-number", "from-number")
    )
    assert len(set(there)) == count and back == [(target, source) for source, target in there]


@pytest.mark.parametrize("name", PAIRS)
def test_one_description_one_sample(name):
    one, same, seed, draw = (
        rows(generate_pairs(f"{name}:count=300{more}"))
        for more in ("", ",draw=1", ",seed=1", ",draw=2")
    )
    assert one == same and len({str(pairs) for pairs in (one, seed, draw)}) == 3
    assert len({str(pair) for pair in one} & {str(pair) for pair in draw}) < 100


@pytest.mark.parametrize(
    "description, words",
    [
        ("revers", "Did you mean 'reverse'"),
        ("reverse:lenght=3", "Did you mean 'length'"),
        ("copy:count=0", "at least 1"),
        ("copy:count=x", "whole number"),
        ("sort:symbols=63", "at most 62"),
        ("sort:symbols=1", "at least 2"),
        ("copy:least=9,length=8", "least must be at most length"),
        ("copy:count=1000000", "count * length"),
        ("copy:symbols=2,length=3,count=15", "only 14 different"),
        ("copy:seed=-1", "at least 0"),
        ("copy:draw=two", "whole number"),
        ("copy:seed=1,seed=2", "twice"),
        ("dates:years=3", "unknown setting"),
        ("dates:first=1582", "at least 1583"),
        ("dates:last=10000", "at most 9999"),
        ("dates:first=2000,last=1999", "first must be at most last"),
        ("roman:count=4000", "at most 3999"),
        ("roman:direction=to-numbers", "Did you mean 'to-number'"),
    ],
)
def test_bad_descriptions(description, words):
    with pytest.raises(ConfigError) as caught:
        generate_pairs(description)
    assert words in str(caught.value)
