"""GPT-2 folders: what transformers writes we read and score the same, what we write it reads, and whatever is wrong is named."""

from __future__ import annotations

import json
import random
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import seriatim
from seriatim.batches import prompts
from seriatim.cli.main import main
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.subwords import Foreign, Subwords
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.data.sequences import Field
from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.models.ladder import create
from seriatim.tasks.language import TASK
from seriatim.tasks.language.models.gpt2 import IMPOSSIBLE, names, read_gpt2, shapes
from seriatim.tasks.language.predictor import LanguagePredictor
from tests.ladder import parts_of as parse

WIDTH, LAYERS, HEADS, POSITIONS, SYMBOLS = 32, 2, 4, 64, 300
TEXT = "The cat sat on the mat.\n\nIt's  the   naïve cat's mat!\n  She said: \"don't\" 1234 €\t\r\nand\n\n\nso  \n on\x85\u2028 \x1c 😀 </s> <unk> \n"
EXPORTABLE = {
    "width": WIDTH,
    "layers": LAYERS,
    "heads": HEADS,
    "context": POSITIONS,
    "positions": "learned",
    "tied": True,
    "output_bias": False,
}


def trained() -> Tokenizer:
    """A small byte-level tokenizer in the manner of GPT-2, with the end of a text in the middle of the numbers."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = (
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [TEXT, "the cat sat on the mat\n\n" * 9],
        trainers.BpeTrainer(vocab_size=SYMBOLS - 1, initial_alphabet=alphabet, show_progress=False),
    )
    tokenizer.add_special_tokens(["<|endoftext|>"])
    assert tokenizer.get_vocab_size() == SYMBOLS
    return tokenizer


def config(**changes) -> dict:
    return {
        "model_type": "gpt2",
        "vocab_size": SYMBOLS,
        "n_embd": WIDTH,
        "n_layer": LAYERS,
        "n_head": HEADS,
        "n_positions": POSITIONS,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "bos_token_id": SYMBOLS - 1,
        "eos_token_id": SYMBOLS - 1,
    } | changes


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder as transformers would write it, made without it."""
    folder = tmp_path_factory.mktemp("gpt2")
    generator = torch.Generator().manual_seed(0)
    options = parse("transformer", EXPORTABLE)[0].options
    save_file(
        {
            f"transformer.{name}": 0.3 * torch.randn(shape, generator=generator)
            for name, shape in shapes(options, SYMBOLS).items()
        },
        folder / "model.safetensors",
        {"format": "pt"},
    )
    (folder / "config.json").write_text(json.dumps(config()))
    trained().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def copy(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def transformers(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def change(folder: Path, **changes) -> Path:
    (folder / "config.json").write_text(
        json.dumps(json.loads((folder / "config.json").read_text()) | changes)
    )
    return folder


def weights(folder: Path, edit) -> Path:
    arrays = load_file(folder / "model.safetensors")
    edit(arrays)
    save_file(arrays, folder / "model.safetensors")
    return folder


def following(predictor: LanguagePredictor, ids: list[int]) -> torch.Tensor:
    """(1 + T, V) log-probabilities after nothing, one, two ... of our symbols."""
    with torch.inference_mode():
        first, state = predictor.model.start(prompts([np.zeros(0, np.int32)]))
        rest, _ = predictor.model.extend(torch.tensor([ids]), state)
        return torch.cat([first.log_probs(), rest.log_probs()[0]])


def random_network(spec: dict, vocabulary: int) -> torch.nn.Module:
    """With values everywhere, so that no part can be mixed up with another."""
    torch.manual_seed(1)
    network = create(parse("transformer", spec), vocabulary).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return network


def ours(codec=None, **changes) -> LanguagePredictor:
    spec = EXPORTABLE | changes
    codec = codec or Subwords.fit(
        Field.of_text([TEXT * 3]), CodecOptions(unit="subword", vocabulary=290)
    )
    network = random_network(spec, codec.size)
    return LanguagePredictor(
        TASK, "transformer", parse("transformer", spec), codec, network, "stream"
    )


# With transformers as the judge


def saved_by_them(transformers, folder: Path, **changes):
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**config(**changes))).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained(), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    ).save_pretrained(folder)
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_function": "relu", "n_inner": 50},
        {"activation_function": "gelu", "bos_token_id": 7},
    ],
)
def test_what_transformers_saved_gives_the_same_logits(transformers, tmp_path, changes):
    model = saved_by_them(transformers, tmp_path / "theirs", **changes)
    predictor = seriatim.load(tmp_path / "theirs")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    theirs = tokenizer(TEXT * 2)["input_ids"][: POSITIONS - 1]
    ids = predictor.codec.encode_text(TEXT * 2)[: POSITIONS - 1].tolist()
    assert predictor.codec.theirs[ids].tolist() == theirs and len(ids) == POSITIONS - 1
    with torch.inference_mode():
        expected = (
            model(torch.tensor([[changes.get("bos_token_id", SYMBOLS - 1), *theirs]]))
            .logits[0]
            .log_softmax(-1)
        )  # (T, V - 1)
    found = following(predictor, ids)
    torch.testing.assert_close(found[:, predictor.codec.ours], expected, atol=1e-4, rtol=0)
    assert found[:, UNKNOWN].max() < -1e8
    predictor.save(tmp_path / "run")
    back = seriatim.load(tmp_path / "run", verify=True)
    torch.testing.assert_close(back.model.arrays(), predictor.model.arrays(), atol=0, rtol=0)
    torch.testing.assert_close(
        following(back, ids), found, atol=1e-5, rtol=0
    )  # memory laid out otherwise rounds otherwise
    assert back.codec.encode_text(TEXT).tolist() == predictor.codec.encode_text(TEXT).tolist()
    back.export(out=tmp_path / "again")
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "again")
    assert (again.config.bos_token_id, again.config.eos_token_id) == (
        model.config.bos_token_id,
        model.config.eos_token_id,
    )
    torch.testing.assert_close(again.state_dict(), model.state_dict(), atol=1e-6, rtol=1e-6)
    assert (
        transformers.AutoTokenizer.from_pretrained(tmp_path / "again")(TEXT)["input_ids"]
        == tokenizer(TEXT)["input_ids"]
    )


@pytest.mark.parametrize("feed", ["gelu-tanh", "gelu", "relu"])
@pytest.mark.parametrize("codec", [{}, {"method": "unigram"}, {"lower": True}])
def test_what_we_export_gives_the_same_logits_in_transformers(transformers, tmp_path, feed, codec):
    codec = Subwords.fit(
        Field.of_text([TEXT * 3]), CodecOptions(unit="subword", vocabulary=290, **codec)
    )
    predictor = ours(codec, feed_forward_activation=feed, feed_forward=3.0)
    record = predictor.export(out=str(tmp_path / "gpt.2") + "/")
    model = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "gpt.2").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "gpt.2")
    text = TEXT.replace("</s> <unk>", "")  # they take what looks like a special symbol for one
    ids = codec.encode_text(text).tolist()
    assert (
        tokenizer(text)["input_ids"] == ids and tokenizer.bos_token == tokenizer.eos_token == "</s>"
    )
    assert (
        tokenizer.decode(ids)
        == codec.decode(ids)
        == (text.lower() if codec.options.lower else text)
    )
    ids = ids[: POSITIONS - 1]
    with torch.inference_mode():
        logits = model(torch.tensor([[tokenizer.bos_token_id, *ids]])).logits[0]
    assert record["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    torch.testing.assert_close(logits.log_softmax(-1), following(predictor, ids), atol=1e-4, rtol=0)
    written = model.generate(
        torch.tensor([[tokenizer.bos_token_id]]), max_new_tokens=20, do_sample=False
    )
    assert UNKNOWN not in written[0, 1:].tolist()


# Without it


def test_a_folder_is_loaded_scored_and_continued(made, tmp_path, capsys):
    predictor = seriatim.load(made)
    assert (predictor.spec, predictor.by, predictor.codec.size) == (
        "transformer",
        "stream",
        SYMBOLS + 1,
    )
    assert (
        predictor.codec.symbols[:2] == ["<unk>", "</s>"]
        and "<|endoftext|>" not in predictor.codec.number
    )
    assert predictor.codec.decode(predictor.codec.encode_text(TEXT)) == TEXT
    assert predictor.text("the cat", length=10, seed=3).startswith("the cat")
    (tmp_path / "text.txt").write_text(TEXT * 9)
    assert predictor.score(tmp_path / "text.txt")["items"][0]["unknown"] == 0
    assert main(["evaluate", str(made), str(tmp_path / "text.txt"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["bits_per_character"] > 0


def test_a_folder_written_again_is_the_same(made, tmp_path, capsys):
    assert main(["export", str(made), "--out", str(tmp_path / "again")]) == 0
    assert "a GPT-2 with" in capsys.readouterr().out
    first, second = (
        load_file(folder / "model.safetensors") for folder in (made, tmp_path / "again")
    )
    torch.testing.assert_close(first, second, atol=1e-6, rtol=1e-6)
    assert json.loads((made / "tokenizer.json").read_text()) == json.loads(
        (tmp_path / "again" / "tokenizer.json").read_text()
    )
    back, predictor = seriatim.load(tmp_path / "again"), seriatim.load(made)
    ids = predictor.codec.encode_text(TEXT)[:40].tolist()
    torch.testing.assert_close(following(back, ids), following(predictor, ids), atol=1e-5, rtol=0)


def test_our_own_export_comes_back_with_one_symbol_more(tmp_path):
    predictor = ours()
    predictor.export(out=tmp_path / "gpt2")
    back = seriatim.load(tmp_path / "gpt2")
    ids = predictor.codec.encode_text(TEXT)
    assert back.codec.theirs[back.codec.encode_text(TEXT)].tolist() == ids.tolist()
    found = following(back, back.codec.ours[ids[:40]].tolist())[
        :, back.codec.ours[: predictor.codec.size]
    ]
    torch.testing.assert_close(
        found.log_softmax(-1), following(predictor, ids[:40].tolist()), atol=1e-4, rtol=0
    )


def test_a_fit_without_output_bias_can_be_exported(tmp_path, capsys):
    (tmp_path / "text.txt").write_text(TEXT * 30)
    assert (
        main(
            [
                "fit",
                "language",
                "transformer",
                str(tmp_path / "text.txt"),
                "--unit",
                "subword",
                "--vocabulary",
                "280",
                "--positions",
                "learned",
                "--tied",
                "--feed-forward-activation",
                "gelu-tanh",
                "--output-bias",
                "false",
                "--width",
                "16",
                "--layers",
                "1",
                "--updates",
                "3",
                "--out",
                str(tmp_path / "run"),
            ]
        )
        == 0
    )
    assert main(["export", str(tmp_path / "run"), "--out", str(tmp_path / "gpt2")]) == 0
    assert seriatim.load(tmp_path / "gpt2").codec.symbols[2:4] == [
        "<unk>'",
        seriatim.load(tmp_path / "run").codec.symbols[2],
    ]


def test_names_without_prefix_buffers_a_tied_head_and_half_precision_are_understood(copy, made):
    def edit(arrays):
        for name in list(arrays):
            arrays[name.removeprefix("transformer.")] = arrays.pop(name).bfloat16()
        arrays["lm_head.weight"] = arrays["wte.weight"].clone()
        arrays["h.0.attn.bias"], arrays["h.0.attn.masked_bias"] = (
            torch.ones(1, 1, 64, 64, dtype=torch.bool),
            torch.tensor(-1e4),
        )

    found = read_gpt2(weights(copy, edit))[2].arrays()
    torch.testing.assert_close(found, seriatim.load(made).model.arrays(), atol=0.05, rtol=0.01)


def test_older_folders_have_vocab_and_merges(copy, made):
    trained().model.save(str(copy))
    vocabulary = json.loads((copy / "vocab.json").read_text())
    (copy / "vocab.json").write_text(json.dumps(vocabulary | {"<|endoftext|>": SYMBOLS - 1}))
    (copy / "tokenizer.json").unlink()
    found, expected = read_gpt2(copy)[0], seriatim.load(made).codec
    assert (
        found.symbols == expected.symbols
        and found.encode_text(TEXT).tolist() == expected.encode_text(TEXT).tolist()
    )


def test_rows_without_a_subword_and_ends_without_a_number_are_named(copy):
    def longer(arrays):
        arrays["transformer.wte.weight"] = torch.cat(
            [arrays["transformer.wte.weight"], torch.zeros(4, WIDTH)]
        )

    codec, _, network = read_gpt2(
        change(weights(copy, longer), vocab_size=SYMBOLS + 4, bos_token_id=None, eos_token_id=None)
    )
    assert (
        codec.size == network.vocabulary == SYMBOLS + 5
        and codec.symbols[-1] == f"<unused {SYMBOLS + 3}>"
        and codec.end == SYMBOLS - 1
    )
    assert torch.equal(network.embedding.weight[-1], network.embedding.weight[STOP])
    assert network.bias[UNKNOWN] == IMPOSSIBLE and not network.bias[STOP:].any()


@settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(
    some.text(
        some.sampled_from("ab .'\n\r\t\x0b\x0c\x1c\x85\xa0\u2003\u2028\u3000é1😀"), max_size=40
    )
)
def test_cutting_at_lines_changes_no_symbol(text):
    codec = Foreign(CodecOptions(unit="subword"), TOKENIZER_FOR_CUTTING, SYMBOLS - 1)
    assert (
        codec.theirs[codec.encode_text(text)].tolist()
        == TOKENIZER_FOR_CUTTING.encode(text, add_special_tokens=False).ids
    )
    assert codec.decode(codec.encode_text(text)) == text


TOKENIZER_FOR_CUTTING = trained()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"model_type": "llama"}, "model_type 'llama'"),
        ({"n_embd": 10**12}, "width: must be at most"),
        ({"n_embd": 64}, "does not fit config.json"),
        ({"n_layer": 10**9}, "layers: must be at most"),
        ({"n_layer": 3}, "h.2"),
        ({"n_layer": 1}, "expected none"),
        ({"n_positions": 10**15}, "wpe.weight"),
        ({"n_head": 5}, "multiple of n_head"),
        ({"n_head": 0}, "n_head is a whole number"),
        ({"n_embd": "32"}, "n_embd is a whole number"),
        ({"n_embd": True}, "n_embd is a whole number"),
        ({"n_layer": None}, "n_layer is a whole number"),
        ({"vocab_size": 1 << 60}, "wte.weight"),
        ({"vocab_size": 200}, "wte.weight"),
        ({"n_inner": 10**400}, "feed_forward"),
        ({"n_inner": 100}, "mlp.c_fc"),
        ({"n_inner": 1.5}, "n_inner is a whole"),
        ({"activation_function": "swish"}, "'swish'"),
        ({"activation_function": ["gelu"]}, "activation function"),
        ({"layer_norm_epsilon": 1e-6}, "1e-06"),
        ({"scale_attn_weights": False}, "scale_attn_weights False"),
        ({"add_cross_attention": True}, "add_cross_attention"),
        ({"tie_word_embeddings": False}, "output layer of its own"),
        ({"eos_token_id": SYMBOLS}, f"eos_token_id {SYMBOLS}"),
        ({"bos_token_id": -1}, "bos_token_id -1"),
        ({"bos_token_id": "x"}, "bos_token_id 'x'"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(copy, changes, words):
    with pytest.raises(RunError, match=words):
        seriatim.load(change(copy, **changes))


@pytest.mark.parametrize(
    "file, content, words",
    [
        ("config.json", b"{", "damaged"),
        ("config.json", b"[]", "model_type None"),
        ("config.json", b"[" * 100_000, "damaged"),
        ("model.safetensors", b"", "cannot be read"),
        ("model.safetensors", b"\xff" * 100, "cannot be read"),
        ("tokenizer.json", b"{}", "tokenizer"),
        ("tokenizer.json", b"\xff", "tokenizer"),
        ("tokenizer.json", None, "neither tokenizer.json nor vocab.json"),
        ("model.safetensors", None, "no model.safetensors"),
    ],
)
def test_a_damaged_or_missing_file_is_named(copy, file, content, words):
    (copy / file).unlink()
    if content is not None:
        (copy / file).write_bytes(content)
    with pytest.raises(RunError, match=words):
        seriatim.load(copy)


def test_a_file_that_could_execute_code_is_not_opened(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(RunError, match=r"pytorch_model.bin.*convert them"):
        seriatim.load(copy)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("lm_head.weight", torch.zeros(SYMBOLS, WIDTH), "output layer of its own"),
        ("lm_head.weight", torch.zeros(3), "output layer of its own"),
        ("transformer.ln_f.bias", torch.full((WIDTH,), torch.nan), "not numbers"),
        ("transformer.ln_f.bias", torch.zeros(WIDTH, dtype=torch.int64), "not numbers"),
        ("score.weight", torch.zeros(3), "score.weight"),
    ],
)
def test_weights_that_do_not_fit_are_refused(copy, name, value, words):
    with pytest.raises(RunError, match=words):
        seriatim.load(weights(copy, lambda arrays: arrays.update({name: value})))


@pytest.mark.parametrize(
    "attribute, value, words",
    [
        ("pre_tokenizer", pre_tokenizers.Whitespace(), "does not cut"),
        ("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=True), "does not cut"),
        ("normalizer", normalizers.NFC(), "changes the text"),
        ("decoder", decoders.WordPiece(), "does not write bytes"),
        ("model", models.BPE({"a": 0}, []), "not have all bytes"),
        ("model", models.WordLevel({"a": 0}, "a"), "neither byte-pair"),
    ],
)
def test_a_tokenizer_that_loses_something_is_refused(copy, attribute, value, words):
    tokenizer = trained()
    setattr(tokenizer, attribute, value)
    if attribute == "model":
        tokenizer.add_special_tokens(["<|endoftext|>"])
    with pytest.raises(ValueError, match=words):
        Foreign(CodecOptions(unit="subword"), tokenizer, 0)
    tokenizer.save(str(copy / "tokenizer.json"))
    with pytest.raises(RunError, match="tokenizer"):
        seriatim.load(copy)


def test_vocab_and_merges_that_are_none(copy):
    (copy / "tokenizer.json").unlink()
    for vocabulary, merges in (
        ("[]", ""),
        ('{"a": "b"}', ""),
        ('{"a": -1}', ""),
        ('{"a": 0}', "a b"),
        ('{"a": 0}', "a b c"),
        ('{"a": 7}', "#version: 0.2\n"),
    ):
        (copy / "vocab.json").write_text(vocabulary)
        (copy / "merges.txt").write_text(merges)
        with pytest.raises(RunError, match="tokenizer"):
            seriatim.load(copy)


def test_random_damage_is_an_error_of_ours_or_harmless(copy):
    chance = random.Random(0)
    for _ in range(60):
        file = copy / chance.choice(["config.json", "tokenizer.json", "model.safetensors"])
        sound = file.read_bytes()
        place = chance.randrange(min(len(sound), 3000))
        file.write_bytes(
            chance.choice(
                [
                    sound[:place],
                    sound[:place] + bytes([chance.randrange(256)]) + sound[place + 1 :],
                    sound[:place] + sound[place + 9 :],
                ]
            )
        )
        with suppress(SeriatimError):
            seriatim.load(copy).generate("a", length=2)
        file.write_bytes(sound)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"positions": "rotary"}, "positions 'rotary'"),
        ({"tied": False}, "tied False"),
        ({"norm": "rms"}, "norm 'rms'"),
        ({"score": "dot"}, "score 'dot'"),
        ({"feed_forward_activation": "gated"}, "feed-forward"),
        ({"feed_forward": 0}, "feed-forward"),
        ({"output_bias": True}, "an output bias"),
        ({"mixer": "gru"}, "mixer 'gru'"),
    ],
)
def test_what_is_not_a_gpt2_is_not_exported(tmp_path, changes, words):
    with pytest.raises(ConfigError) as error:
        ours(**changes).export(out=tmp_path / "gpt2")
    assert (
        words in str(error.value)
        and "--output-bias false" in str(error.value)
        and not (tmp_path / "gpt2").exists()
    )


def test_other_units_models_names_and_folders_are_refused(tmp_path):
    text = seriatim.read("markov:length=500")
    with pytest.raises(ConfigError, match="only a transformer"):
        seriatim.fit("language", "bigram", text, updates=1, threads=1).export(out=tmp_path / "gpt2")
    with pytest.raises(ConfigError, match="ending"):
        seriatim.fit("language", "markov", text).export(out=tmp_path / "gpt2")
    with pytest.raises(ConfigError) as error:
        seriatim.fit("language", "transformer", text, updates=1, threads=1, **EXPORTABLE).export(
            out=tmp_path / "gpt2"
        )
    assert "unit character" in str(error.value)
    with pytest.raises(ConfigError, match="ending"):
        ours().export(out=tmp_path / "model.safetensors")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "file").touch()
    for name in ("full", "file"):
        with pytest.raises(RunError, match="exists"):
            ours().export(out=tmp_path / name)
    zero = ours(output_bias=True)
    torch.nn.init.zeros_(zero.model.bias)
    assert zero.export(out=tmp_path / "zero")["kind"] == "exported"


def test_our_names_are_those_of_the_network():
    network = create(parse("transformer", EXPORTABLE), 9)
    assert {*names(LAYERS).values(), "embedding.weight"} == network.arrays().keys()
