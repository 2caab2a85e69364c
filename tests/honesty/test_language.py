"""Language: figures that mean what they say. Numbers are those of the findings."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

import seriatim as st
from seriatim.batches import prompts
from seriatim.measuring.measured import Measured
from seriatim.tasks.language.metrics import p_of_difference
from tests.honesty import seriatim

VERSE = (
    "The rain in Spain stays mainly in the plain.\nIn Hartford, Hereford and Hampshire, "
    "hurricanes hardly ever happen.\nHow kind of you to let me come! "
)
OTHER = "The kind rain stays in Hereford.\nHow hardly,  hardly ever it came in the plain!\n"


@pytest.fixture(scope="module")
def verse(tmp_path_factory) -> Path:
    """A short text, many times over."""
    path = tmp_path_factory.mktemp("verse") / "verse.txt"
    path.write_text(VERSE * 12, newline="")
    return path


def fitted(model: str, path: Path, out: Path, *flags: object) -> Path:
    """A run of this model."""
    said = seriatim("fit", "language", model, path, *flags, "--out", out)
    assert said.code == 0, said.err
    return out


def bits(run: Path, path: Path) -> float:
    """Bits per character of a file."""
    return seriatim("evaluate", run, path, "--format", "json").record["bits_per_character"]


# -- bits per character (finding 5)
@pytest.mark.parametrize("unit", ["character", "word", "token"])
def test_blanks_are_charged_in_every_unit(unit, tmp_path):
    """5: `a` and a blank or a newline at random are half a bit a character, by word, too."""
    rng, path = random.Random(0), tmp_path / "a.txt"
    path.write_text("".join("a" + rng.choice(" \n") for _ in range(4000)))
    run = fitted("markov", path, tmp_path / "run", "--unit", unit)
    assert bits(run, path) == pytest.approx(0.5, abs=0.01)


def test_many_blanks_cost_what_they_are_worth(tmp_path):
    """5: words with 1 to 8 blanks between them: three bits a gap more than with one blank."""
    rng = random.Random(0)
    words = [rng.choice(["rain", "Spain", "plain"]) for _ in range(3000)]
    figures = []
    for most in (1, 8):
        path = tmp_path / f"{most}.txt"
        path.write_text("".join(word + " " * rng.randint(1, most) for word in words))
        run = fitted("unigram", path, tmp_path / f"run{most}", "--unit", "word")
        figures.append(bits(run, path) * len(path.read_text()))
    assert figures[1] - figures[0] == pytest.approx(3 * 3000, rel=0.02)


def test_capitals_are_charged_where_text_is_lower_cased(tmp_path):
    """5: capitals at random are a bit a word that --lower does not save."""
    rng, path = random.Random(0), tmp_path / "capitals.txt"
    path.write_text(" ".join(rng.choice(["rain", "Rain"]) for _ in range(3000)))
    for unit in ("word", "character"):
        run = fitted("markov", path, tmp_path / unit, "--unit", unit, "--lower")
        assert bits(run, path) == pytest.approx(0.2, abs=0.01)


def test_no_caution_against_what_compares(verse, tmp_path):
    """5: what the protocol of words says, and so compare, agrees with evaluation.md: units compare."""
    run = fitted("unigram", verse, tmp_path / "run", "--unit", "word", "--lower")
    record = seriatim("evaluate", run, verse, "--format", "json").record
    assert "do not compare" not in str(record["protocol"])
    assert "blanks" in record["protocol"]["text"] and "capitals" in record["protocol"]["text"]
    assert record["bits_per_byte"] == pytest.approx(
        record["bits_per_character"] * record["characters"] / record["bytes"]
    )


# -- compress and restore
def there_and_back(run: Path, content: bytes, folder: Path, *flags: object) -> dict:
    """Compress bytes and restore them; the record of `compress`."""
    source, small, back = (folder / name for name in ("in.txt", "small.srt", "back.txt"))
    source.write_bytes(content)
    said = seriatim("compress", run, source, "--out", small, *flags, "--format", "json")
    assert said.code == 0, said.err
    again = seriatim("restore", run, small, "--out", back, *flags, "--format", "json")
    assert again.code == 0, again.err
    assert back.read_bytes() == content
    assert said.record["bytes"] == small.stat().st_size
    return said.record


@pytest.mark.parametrize(
    ("model", "flags"),
    [
        ("markov", ()),
        ("markov", ("--unit", "word", "--add", "0.01")),
        ("kneser-ney", ("--unit", "word", "--lower", "--minimum-count", "13")),
        ("witten-bell", ("--unit", "subword", "--vocabulary", "300", "--by", "line")),
        ("unigram+kneser-ney", ("--order", "3")),
        ("lstm", ("--unit", "byte", "--width", "8", "--updates", "2", "--lower")),
    ],
)
def test_a_text_is_as_small_as_it_scores_and_comes_back(model, flags, verse, tmp_path):
    """The printed figure, the size of the file, and the text to the byte: units, smoothings, mixtures."""
    run = fitted(model, verse, tmp_path / "run", *flags)
    record = there_and_back(run, OTHER.encode(), tmp_path)
    body = record["bytes"] - record["header_bytes"]
    assert body == pytest.approx(record["expected_bits"] / 8, rel=0.001, abs=1.5)
    assert record["header_bytes"] <= 20


@pytest.mark.parametrize(
    "content",
    [
        "The Łódź rain, 斑马 🐈\u2028 of İstanbul.\n".encode(),
        b"\xef\xbb\xbfThe rain\r\nin Spain\r\n",
        b"The rain\r\nin\nSpain\rstays",
        b"\n\n  rain \n\n",
    ],
)
@pytest.mark.parametrize("how", [(), ("--unit", "word", "--lower"), ("--by", "line")])
def test_whatever_reading_leaves_out_comes_back(content, how, verse, tmp_path):
    """Unknown characters, byte order marks, line endings of any kind, blank lines."""
    run = fitted("unigram", verse, tmp_path / "run", *how)
    there_and_back(run, content, tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("Käse – schön\r\nThe rain\r\n".encode("windows-1252"), ""),
        ("Käse\x81 schön\nThe rain".encode("latin-1"), ""),
        ("The rain of Łódź\r\n".encode("utf-16"), ""),
        (b"\xfe\xff" + "The rain of Łódź 🐈\rx".encode("utf-16-be"), ""),
        ("The rain of Łódź\n".encode("utf-32"), ""),
        ("привет rain\n".encode("koi8-r"), "koi8-r"),
        ("The rain\r\n".encode("utf-16-le"), "utf-16"),
        ("雨 rain\n".encode("shift_jis"), "shift_jis"),
        (b"\xef\xbb\xbfThe rain\n", "utf-8-sig"),
    ],
)
@pytest.mark.parametrize("by", ["stream", "line"])
def test_other_encodings_come_back_to_the_byte(content, told, by, tmp_path):
    """`compress` read UTF-8 only."""
    (tmp_path / "train.txt").write_bytes((VERSE * 3).encode(told or "utf-8"))
    flags = ("--by", by, *(("--encoding", told) if told else ()))
    run = fitted("unigram", tmp_path / "train.txt", tmp_path / "run", *flags)
    there_and_back(run, content, tmp_path)


@pytest.mark.parametrize(
    ("content", "told", "words"),
    [
        ("é\n".encode() * 9 + b"\xe9\n", "", "in.txt:10: this is not UTF-8"),
        (b"rain\nin \x1b$B\x1b(BSpain\n", "iso2022_jp", "in.txt:2: .*would not come back"),
        (b"rain\n\x81\x8d", "windows-1252", "in.txt:2: this is not"),
    ],
)
def test_bytes_that_would_not_come_back_are_refused_with_their_line(content, told, words, tmp_path):
    (tmp_path / "train.txt").write_bytes((VERSE * 3).encode())
    flags = ("--encoding", told) if told else ()
    run = fitted("unigram", tmp_path / "train.txt", tmp_path / "run", *flags)
    (tmp_path / "in.txt").write_bytes(content)
    said = seriatim("compress", run, tmp_path / "in.txt", "--out", tmp_path / "small.srt")
    assert said.code == 1 and re.search(words, said.err)
    assert not (tmp_path / "small.srt").exists()


def test_another_model_does_not_restore_it(verse, tmp_path):
    """A file is refused by a run that did not write it, and a damaged one by its checksum."""
    run = fitted("markov", verse, tmp_path / "run")
    other = fitted("markov", verse, tmp_path / "other", "--order", "1")
    there_and_back(run, OTHER.encode(), tmp_path)
    small = tmp_path / "small.srt"
    assert "another model" in seriatim("restore", other, small, "--out", tmp_path / "x").err
    content = bytearray(small.read_bytes())
    content[-3] ^= 255
    small.write_bytes(content)
    assert "did not come back" in seriatim("restore", run, small, "--out", tmp_path / "x").err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["character", "word", "subword"])
@pytest.mark.parametrize("model", ["kneser-ney", "kneser-ney+cache", "lstm"])
def test_a_longer_text_is_within_a_thousandth(model, unit, tmp_path):
    """0.1 % of the figure that `evaluate` prints, on 20,000 characters of documentation."""
    text = str(st.read("python-docs").main.raw(0))
    train, test = tmp_path / "train.txt", text[200_000:220_000]
    train.write_text(text[:200_000], newline="")
    flags = ("--updates", "30") if model == "lstm" else ()
    run = fitted(model, train, tmp_path / "run", "--unit", unit, *flags)
    record = there_and_back(run, test.encode(), tmp_path)
    body = record["bytes"] - record["header_bytes"]
    assert body == pytest.approx(record["expected_bits"] / 8, rel=0.001)


# -- numbers that were wrong
def test_exact_search_of_a_network_finds_the_best_of_all(tmp_path):
    """4: as many symbols as asked for, and none of all sequences is likelier."""
    rng, path = random.Random(1), tmp_path / "abc.txt"
    path.write_text("".join(rng.choice("aabc ") for _ in range(3000)))
    flags = ("--width", "48", "--updates", "8", "--rate", "0.05", "--seed", "3")
    run = fitted("lstm", path, tmp_path / "run", *flags)
    predictor = st.load(run)
    allowed = [i for i in range(predictor.codec.size) if i > 1]
    for prompt, length in itertools.product(["", "a", "ab c", "cab", "b b"], (2, 3, 4)):
        found = predictor.generate(prompt, exact=True, length=length)["items"][0]
        assert found["tokens"] == length
        every = torch.tensor(list(itertools.product(allowed, repeat=length)))
        with torch.inference_mode():
            first, state = predictor.model.start(
                prompts([predictor.codec.encode_text(prompt)] * len(every))
            )
            rest, _ = predictor.model.extend(every[:, :-1], state)
            total = first.log_prob(every[:, 0]) + rest.log_prob(every[:, 1:]).sum(1)
        assert found["log_prob"] == pytest.approx(float(total.max()), abs=1e-4)


def test_a_difference_in_the_sixth_place_is_a_tie():
    """6: 1.392987 and 1.392988, all symbols agreeing, are no two models."""
    loss = np.random.default_rng(0).exponential(size=20_000) * 1.392987
    first, second, third = (
        Measured({"loss": each, "offsets": np.array([0, len(loss)])}, {"by": "stream"})
        for each in (loss, loss + 1e-6, loss + 1e-3)
    )
    assert p_of_difference(first, second) == 1.0 and p_of_difference(first, third) < 0.01


GPT2 = (
    "--unit", "subword", "--vocabulary", "300", "--positions", "learned", "--tied",
    "--feed-forward-activation", "gelu-tanh", "--output-bias", "false", "--width", "16", "--heads", "2",
    "--layers", "2", "--updates", "3",
)  # fmt: skip


def gpt2_log_probs(folder: Path, ids: list[int]) -> torch.Tensor:
    """(T, V) what GPT-2 as Radford et al. (2019) published it says after each symbol: by the files
    that were written and the paper alone, so that no library is needed, and nothing of ours is used."""
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    w = {name.removeprefix("transformer."): each.double() for name, each in weights.items()}
    wide, heads, size = config["n_embd"], config["n_head"], len(ids)

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = w[f"{name}.weight"], w[f"{name}.bias"]
        return F.layer_norm(x, (wide,), scale, shift, config["layer_norm_epsilon"])

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][ids] + w["wpe.weight"][:size]
    future = torch.full((size, size), -torch.inf, dtype=x.dtype).triu(1)
    for layer in range(config["n_layer"]):
        name = f"h.{layer}"
        q, k, v = linear(norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn").split(wide, -1)
        q, k, v = (each.view(size, heads, -1).transpose(0, 1) for each in (q, k, v))
        seen = (q @ k.mT / (wide // heads) ** 0.5 + future).softmax(-1) @ v
        x = x + linear(seen.transpose(0, 1).reshape(size, wide), f"{name}.attn.c_proj")
        inner = linear(norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc")
        x = x + linear(F.gelu(inner, approximate="tanh"), f"{name}.mlp.c_proj")
    return (norm(x, "ln_f") @ w["wte.weight"].T).log_softmax(-1)


def test_a_gpt2_scores_by_the_paper_as_its_run(verse, tmp_path):
    """8: -69.7433 in the run, -69.7638 by the exported files: no symbol is added that takes
    probability from the others."""
    run = fitted("transformer", verse, tmp_path / "run", *GPT2)
    assert seriatim("export", run, "--out", f"{tmp_path}/gpt2/").code == 0
    text = VERSE[:60]
    wanted = seriatim("score", run, "--text", text, "--format", "json").record["items"][0]
    config = json.loads((tmp_path / "gpt2" / "config.json").read_text())
    assert config["activation_function"] in ("gelu_new", "gelu_pytorch_tanh")
    tokenizer = Tokenizer.from_file(str(tmp_path / "gpt2" / "tokenizer.json"))
    ids = [config["bos_token_id"], *tokenizer.encode(text).ids]
    log_p = gpt2_log_probs(tmp_path / "gpt2", ids[:-1])
    assert log_p.shape[1] == config["vocab_size"]
    total = float(log_p.gather(1, torch.tensor(ids[1:])[:, None]).sum())
    assert len(ids) - 1 == wanted["tokens"]
    assert total == pytest.approx(wanted["log_prob"], abs=1e-3)


@pytest.mark.slow
def test_a_gpt2_scores_in_transformers_as_its_run(verse, tmp_path, monkeypatch):
    """8: the same by the library."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    run = fitted("transformer", verse, tmp_path / "run", *GPT2)
    assert seriatim("export", run, "--out", f"{tmp_path}/gpt2/").code == 0
    text = VERSE[:60]
    wanted = seriatim("score", run, "--text", text, "--format", "json").record["items"][0]
    model = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "gpt2").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "gpt2")
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]])
    with torch.inference_mode():
        log_p = model(ids).logits[0, :-1].log_softmax(-1)
    total = float(log_p.gather(1, ids[0, 1:, None]).sum())
    assert total == pytest.approx(wanted["log_prob"], abs=1e-3)


def test_counts_that_do_not_decide_have_beside_them_what_does(tmp_path):
    """9: of shorter n-grams Kneser-Ney counts what stood before them; the table says so."""
    path = tmp_path / "names.txt"
    path.write_text("Philip " * 200 + "xPhil! yPhil! zPhil! " * 2 + "Philip ")
    run = fitted("kneser-ney", path, tmp_path / "run")
    said = seriatim("ngrams", run, "Phil*", "--format", "json").record
    rows = {row["symbol"]: row for row in said["rows"]}
    assert rows["i"]["count"] > 100 * rows["!"]["count"] / 6
    assert (rows["i"]["different_before"], rows["!"]["different_before"]) == (2, 3)
    assert rows["i"]["probability"] < rows["!"]["probability"]
    assert "different symbols stood before" in seriatim("ngrams", run, "Phil*").out


def test_surprisal_adds_up_to_the_score(verse, tmp_path):
    """`plot --what surprisal` shows what its title says: unknown words and blanks included."""
    run = fitted("markov", verse, tmp_path / "run", "--unit", "word")
    path = tmp_path / "other.txt"
    path.write_text(OTHER)
    record = seriatim("surprisal", run, path, "--format", "json").record
    total = sum(row["bits"] for row in record["tokens"])
    assert any(row["unknown"] for row in record["tokens"])
    assert total == pytest.approx(bits(run, path) * len(OTHER))
    nats = seriatim("score", run, path, "--format", "json").record["items"][0]["log_prob"]
    symbols = sum(row["bits"] - row["side_bits"] for row in record["tokens"])
    assert symbols == pytest.approx(-nats / np.log(2), rel=1e-5)


def test_samples_begin_where_a_line_or_a_word_does(tmp_path):
    """Samples of a comparison begin with a word: every word of this text begins with a capital."""
    rng = random.Random(0)
    text = " ".join(rng.choice(["Rain", "Spain", "Plain"]) for _ in range(4000))
    model = st.fit("language", "markov", st.Sequences.of([text], by="stream"), order=4)
    for cut in range(1, 9):
        test = st.Sequences.of([text[cut:900]], by="stream")
        assert re.match(r"(Rain|Spain|Plain)\b", model.sample(test))


def test_words_of_a_markov_chain_follow_each_other(tmp_path):
    """19: by word, what was never seen after a word is not what mostly follows it."""
    rng, path = random.Random(0), tmp_path / "pairs.txt"
    words = [f"w{i}" for i in range(1500)]
    path.write_text(" ".join(f"{w} {w}x {w}y" for w in (rng.choice(words) for _ in range(6000))))
    run = fitted("markov", path, tmp_path / "run", "--unit", "word")
    said = seriatim("generate", run, "--length", "300", "--seed", "1", "--format", "json")
    written = said.record["items"][0]["text"].split()
    inner = [(a, b) for a, b in itertools.pairwise(written) if not a.endswith("y")]
    right = sum(b == (a[:-1] + "y" if a.endswith("x") else a + "x") for a, b in inner)
    assert right > 0.8 * len(inner)
