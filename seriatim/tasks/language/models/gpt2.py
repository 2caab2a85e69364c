"""GPT-2 as Hugging Face keeps it, in and out: a folder with config.json, model.safetensors and a
tokenizer.

    theirs                  ours
    wte                     embedding, numbered anew; the row of their bos is START as well
    wpe                     places.table; START stands at place 0 and nothing else does, so a START
                            that is none of their symbols is written as their end, and the row of
                            place 0 makes up the difference
    h.0.ln_1                blocks.0.norm
    h.0.attn.c_attn         blocks.0.mixer.inward, transposed, as all maps
    ln_f                    norm, times sqrt(D), by which `Network.read` divides

What Radford et al. (2019) call GPT-2 is our transformer with learned positions, LayerNorm before
each part and the embedding as output layer. It has no bias there: ours is zero, but for UNKNOWN,
which they have not, and which is made impossible. Shapes: D width, V our symbols; they have V - 1.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.subwords import Foreign, Subwords, names_of, tokenizer_of, unused
from seriatim.codecs.symbols import STOP, UNKNOWN, Codec
from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.models.base import Model
from seriatim.models.network import Network
from seriatim.models.options import NetworkOptions
from seriatim.settings import build
from seriatim.storage import read_bytes, read_json, write_arrays, write_bytes, write_json
from seriatim.tasks.language.options import LanguageOptions

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


END = "<|endoftext|>"


IMPOSSIBLE = -1e9  # the bias of UNKNOWN


FEEDS = {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu": "gelu", "relu": "relu"}


PARTS = {
    "ln_1": "norm",
    "attn.c_attn": "mixer.inward",
    "attn.c_proj": "mixer.outward",
    "ln_2": "norm_2",
    "mlp.c_fc": "feed_forward.inward",
    "mlp.c_proj": "feed_forward.outward",
}


USUAL = {
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


SHAPE = LanguageOptions(
    mixer="attention", residual=True, positions="learned", tied=True
)  # what makes a network a GPT-2


FREE = {
    "width",
    "layers",
    "heads",
    "context",
    "feed_forward",
    "feed_forward_activation",
    "dropout",
    "output_bias",  # and what it leaves open
    "weight_dropout",
    "activation",
    "initial",
    "kernel",
    "gated",
}


RECIPE = (
    "`seriatim fit language transformer FILE --unit subword --positions learned --tied "
    "--feed-forward-activation gelu-tanh --output-bias false`"
)


AGAIN = "Fetch or write the folder again"


def names(layers: int) -> dict[str, str]:
    """Our name of each of their arrays; `wte` apart, which is numbered anew."""
    found = {"wpe.weight": "places.table"}
    for layer in range(layers):
        found |= {
            f"h.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
            for theirs, ours in PARTS.items()
            for kind in ("weight", "bias")
        }
    return found | {f"ln_f.{kind}": f"norm.{kind}" for kind in ("weight", "bias")}


def turned(name: str, array: Tensor) -> Tensor:
    """Their maps are (in, out), ours (out, in)."""
    return array.T.contiguous() if ".c_" in name and array.ndim == 2 else array


# Reading


def read_gpt2(folder: Path) -> tuple[Codec, LanguageOptions, Network]:
    """A folder -> codec, options and network. Every size is compared with the header of the weights
    before anything is laid out."""
    config = read_json(folder / CONFIG)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "gpt2":
        raise RunError(
            f"{folder} is neither a run folder nor a GPT-2",
            got=f"model_type {kind!r} in {CONFIG}",
            do="Of the models of Hugging Face, those of model_type gpt2 can be read",
        )
    options, vocabulary = options_of(config, str(folder / CONFIG))
    arrays = read_weights(
        folder, shapes(options, vocabulary), bool(config.get("tie_word_embeddings", True))
    )
    codec, start = read_tokenizer(folder, config, vocabulary)
    wte, root, known = arrays.pop("wte.weight"), options.width**0.5, names(options.layers)
    ours = {
        known[name]: turned(name, array) * (root if name.startswith("ln_f.") else 1)
        for name, array in arrays.items()
    }
    nothing = torch.zeros(1, options.width, device="cpu")
    bias = torch.zeros(codec.size, device="cpu")
    bias[UNKNOWN] = IMPOSSIBLE
    embedding = torch.cat(
        [nothing, wte[torch.from_numpy(codec.theirs[STOP:]).long()], wte[start : start + 1]]
    )  # (V + 1, D)
    with torch.device("meta"):
        network = Network(codec.size, options)
    network.load_arrays(ours | {"embedding.weight": embedding, "bias": bias})
    return codec, options, network.eval()


def usual_feed(config: dict[str, Any], where: str) -> str:
    """Their name of the activation function; an error where the network is not the usual one."""
    unusual = [
        f"{key} {config[key]!r}" for key, value in USUAL.items() if config.get(key, value) != value
    ]
    if unusual:
        raise RunError(
            "this GPT-2 is of a kind we do not have",
            got=", ".join(unusual),
            file=where,
            do="Expected: " + ", ".join(f"{key} {value!r}" for key, value in USUAL.items()),
        )
    feed = config.get("activation_function", "gelu_new")
    if not isinstance(feed, str) or feed not in FEEDS:
        raise RunError(
            "this activation function is not one of ours",
            got=repr(feed),
            file=where,
            do=f"Known: {', '.join(FEEDS)}",
        )
    return feed


def options_of(config: dict[str, Any], where: str) -> tuple[LanguageOptions, int]:
    """The options of the network, and how many symbols they have."""
    feed = usual_feed(config, where)

    def size(*keys: str) -> int:
        """A number of the configuration, under the first of its names that is there."""
        value = next((config[key] for key in keys if config.get(key) is not None), None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise RunError(
                f"{keys[0]} is a whole number above 0", got=repr(value), file=where, do=AGAIN
            )
        return value

    width, heads = size("n_embd"), size("n_head")
    inner = size("n_inner") if config.get("n_inner") is not None else 4 * width
    if width % heads:
        raise RunError(
            "n_embd is a multiple of n_head",
            got=f"n_embd {width}, n_head {heads}",
            file=where,
            do=AGAIN,
        )
    many = inner / width if inner < 1 << 32 else math.inf
    many = (
        many
        if int(width * many if many < math.inf else 0) == inner
        else math.nextafter(many, math.inf)
    )
    try:
        return build(
            LanguageOptions,
            {f.name: getattr(SHAPE, f.name) for f in fields(SHAPE)}
            | {
                "width": width,
                "layers": size("n_layer"),
                "heads": heads,
                "context": size("n_positions", "n_ctx"),
                "feed_forward": many,
                "feed_forward_activation": FEEDS[feed],
            },
            where,
        ), size("vocab_size")
    except ConfigError as error:
        raise RunError(error.what, do=AGAIN) from None


def shapes(options: LanguageOptions, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The shape of each of their arrays."""
    width, inner = options.width, int(options.width * options.feed_forward)
    maps: dict[str, tuple[int, ...]] = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, inner),
        "mlp.c_proj": (inner, width),
    }
    found: dict[str, tuple[int, ...]] = {"wte.weight": (vocabulary, width)}
    for name in names(options.layers):
        part, _, kind = name.split(".", 2)[-1].rpartition(".")
        shape = maps.get(part, (width,))
        found[name] = shape if kind == "weight" else shape[-1:]
    return found | {"wpe.weight": (options.context, width)}


def check_weights_file(folder: Path) -> None:
    """An error that names the files of weights that are there, if ours is not."""
    if (folder / WEIGHTS).is_file():
        return
    kinds = ("pytorch_model", "model.safetensors", "tf_model", "flax_model")
    other = sorted(file.name for file in folder.iterdir() if file.name.startswith(kinds))
    raise RunError(
        f"{folder} has no {WEIGHTS}",
        got=", ".join(other) or None,
        do="Other files of weights are not read, since they can execute code or are in parts: "
        f"convert them to one {WEIGHTS}, with transformers: AutoModelForCausalLM."
        "from_pretrained(FOLDER).save_pretrained(FOLDER, max_shard_size='100GB')",
    )


def check_same_shapes(
    path: Path, wanted: dict[str, tuple[int, ...]], found: dict[str, tuple[int, ...]]
) -> None:
    """An error that names the first arrays that are not as the configuration promises."""
    names = wanted.keys() | found.keys()
    wrong = sorted(name for name in names if wanted.get(name) != found.get(name))
    if wrong:
        raise RunError(
            f"{path} does not fit {CONFIG}",
            do=AGAIN,
            got="; ".join(
                f"{name} {found.get(name, 'missing')}, expected {wanted.get(name, 'none')}"
                for name in wrong[:3]
            ),
        )


def read_weights(folder: Path, wanted: dict[str, tuple[int, ...]], tied: bool) -> dict[str, Tensor]:
    """The arrays, if they are those that the configuration promises; as float32."""
    path = folder / WEIGHTS
    check_weights_file(folder)
    try:
        with safe_open(path, "pt") as file:
            full = list(file.keys())
            stored = {
                name.removeprefix("transformer."): name
                for name in full
                if not name.endswith((".attn.bias", ".attn.masked_bias"))
            }
            found = {
                short: tuple(file.get_slice(name).get_shape()) for short, name in stored.items()
            }
            head = found.pop("lm_head.weight", None)
            check_same_shapes(path, wanted, found)
            arrays = {name: file.get_tensor(stored[name]) for name in wanted}
            same = (
                tied
                if head is None
                else head == found["wte.weight"]
                and torch.equal(file.get_tensor(stored["lm_head.weight"]), arrays["wte.weight"])
            )
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise RunError(f"{path} cannot be read", got=error, do=AGAIN) from None
    if not same:
        raise RunError(
            f"{path} has an output layer of its own",
            got="lm_head.weight unlike wte.weight" if head else "tie_word_embeddings false",
            do="A GPT-2 whose output layer is its embedding can be read",
        )
    for name, array in arrays.items():
        if not array.is_floating_point() or not bool(torch.isfinite(array).all()):
            raise RunError(
                f"{path} is damaged", got=f"{name} has values that are not numbers", do=AGAIN
            )
    return {name: array.float() for name, array in arrays.items()}


def read_tokenizer(folder: Path, config: dict[str, Any], vocabulary: int) -> tuple[Foreign, int]:
    """The codec, and their number of the symbol that stands for START. Rows of the embedding that
    have no subword get a name."""
    try:
        if (folder / TOKENIZER).is_file():
            tokenizer = tokenizer_of(read_bytes(folder / TOKENIZER).decode(), ours=False)
        else:
            tokenizer = older_tokenizer(folder)
        known = set(names_of(tokenizer))
        if len(known) > vocabulary:
            raise ValueError(f"{len(known)} subwords, but vocab_size {vocabulary}")
        end, start = (
            which(config, key, tokenizer, vocabulary) for key in ("eos_token_id", "bos_token_id")
        )
        if len(known) < vocabulary:
            tokenizer.add_special_tokens(
                [unused(f"<unused {i}>", known) for i in range(len(known), vocabulary)]
            )
        lower = tokenizer.normalizer is not None and json.loads(
            tokenizer.normalizer.__getstate__()
        ) == {"type": "Lowercase"}
        return Foreign(CodecOptions(unit="subword", lower=lower), tokenizer, end), start
    except SeriatimError:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise RunError(f"the tokenizer of {folder} cannot be used", got=error, do=AGAIN) from None


def older_tokenizer(folder: Path) -> Tokenizer:
    """The same from vocab.json and merges.txt."""
    if not ((folder / "vocab.json").is_file() and (folder / "merges.txt").is_file()):
        raise RunError(
            f"{folder} has no tokenizer",
            got=f"neither {TOKENIZER} nor vocab.json with merges.txt",
            do=AGAIN,
        )
    vocabulary, lines = (
        read_json(folder / "vocab.json"),
        read_bytes(folder / "merges.txt").decode().split("\n"),
    )
    if not isinstance(vocabulary, dict) or not all(
        isinstance(number, int) and 0 <= number < 1 << 31 for number in vocabulary.values()
    ):
        raise ValueError("vocab.json is not a table of subwords and their numbers")
    cut = [
        line.rstrip("\r").split(" ")
        for line in lines
        if line.strip() and not line.startswith("#version")
    ]
    if not all(len(pair) == 2 for pair in cut):
        raise ValueError("a line of merges.txt is not a pair")
    pairs = [(first, second) for first, second in cut]
    try:
        tokenizer = Tokenizer(models.BPE(vocabulary, pairs))
    except Exception as error:  # the library has no errors of its own
        raise ValueError(error) from None
    tokenizer.pre_tokenizer, tokenizer.decoder = (
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
    )
    if END in vocabulary:
        tokenizer.add_special_tokens([END])
    return tokenizer


def which(config: dict[str, Any], key: str, tokenizer: Tokenizer, vocabulary: int) -> int:
    """The number of a special symbol; one that the configuration does not name is <|endoftext|>."""
    number = config.get(key)
    number = (
        tokenizer.token_to_id(END)
        if number is None
        else number[0]
        if isinstance(number, list) and number
        else number
    )
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < vocabulary:
        raise ValueError(f"{key} {number!r} of {CONFIG} is none of its {vocabulary} symbols")
    return number


# Writing


def configuration(options: NetworkOptions, vocabulary: int, begin: int, end: int) -> dict[str, Any]:
    """config.json: what transformers needs to make the same network."""
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": vocabulary,
        "n_embd": options.width,
        "n_layer": options.layers,
        "n_head": options.heads,
        "n_positions": options.context,
        "n_inner": int(options.width * options.feed_forward),
        **USUAL,
        "activation_function": {ours: name for name, ours in reversed(FEEDS.items())}[
            options.feed_forward_activation
        ],
        "embd_pdrop": options.dropout,
        "resid_pdrop": options.dropout,
        "attn_pdrop": 0.0,
        "tie_word_embeddings": True,
        "dtype": "float32",
        "bos_token_id": begin,
        "eos_token_id": end,
    }


def make_folder(folder: Path) -> None:
    """A new folder, or an empty one; an error for any other."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunError(f"{folder} exists", do="Choose another folder, or an empty one")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot make the folder {folder}", got=error.strerror, do="Choose another one"
        ) from None


def write_gpt2(folder: Path, codec: Codec, model: Model) -> dict[str, Any]:
    """Write a folder that transformers.GPT2LMHeadModel and AutoTokenizer read; config.json last."""
    check(codec, model)
    if not isinstance(model, Network) or not isinstance(codec, Subwords):
        raise TypeError("checked above")
    options, tokenizer = model.options, codec.shared()
    order = (
        torch.from_numpy(codec.ours).long()
        if isinstance(codec, Foreign)
        else torch.arange(codec.size)
    )
    end = codec.end if isinstance(codec, Foreign) else STOP
    rows, start = model.embedding.weight.detach()[order], model.embedding.weight.detach()[-1]
    alike = (rows == start).all(1).nonzero().flatten().tolist()  # symbols with the row of START
    begin = end if end in alike or not alike else alike[0]
    arrays, root = model.arrays(), options.width**0.5
    theirs = {
        name: turned(name, arrays[ours] / (root if name.startswith("ln_f.") else 1))
        for name, ours in names(options.layers).items()
    }
    theirs["wpe.weight"] = theirs["wpe.weight"].clone()
    theirs["wpe.weight"][0] += start - rows[begin]
    config = configuration(options, len(rows), begin, end)
    special = {"bos_token": tokenizer.id_to_token(begin), "eos_token": tokenizer.id_to_token(end)}
    never = [] if isinstance(codec, Foreign) else [UNKNOWN]
    make_folder(folder)
    write_arrays(
        folder / WEIGHTS,
        {f"transformer.{name}": array for name, array in ({"wte.weight": rows} | theirs).items()},
    )
    write_bytes(folder / TOKENIZER, tokenizer.to_str(pretty=True).encode())
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": options.context,
            "clean_up_tokenization_spaces": False,
            **special,
        },
    )
    write_json(
        folder / "generation_config.json",
        {"bos_token_id": begin, "eos_token_id": end}
        | ({"suppress_tokens": never} if never else {}),
    )
    write_json(folder / CONFIG, config)
    return {
        "out": str(folder),
        "parameters": rows.numel() + sum(array.numel() for array in theirs.values()),
    }


def check(codec: Codec, model: Model) -> None:
    """Refuse what GPT-2 has not, all at once."""
    direct = getattr(getattr(model, "options", None), "direct", 0)
    if direct:
        raise ConfigError(
            "a network with votes beside it cannot be written as a GPT-2",
            got=f"--direct {direct}",
            do=f"Fit one without: {RECIPE}",
        )
    if type(model) is not Network:
        raise ConfigError(
            "only a transformer can be written as a GPT-2",
            got=type(model).__name__.lower(),
            do=f"Fit one: {RECIPE}",
        )
    wrong = [
        f"{f.name} {getattr(model.options, f.name)!r}, not {getattr(SHAPE, f.name)!r}"
        for f in fields(SHAPE)
        if f.name not in FREE and getattr(model.options, f.name) != getattr(SHAPE, f.name)
    ]
    if (
        model.options.feed_forward_activation not in FEEDS.values()
        or int(model.options.width * model.options.feed_forward) < 1
    ):
        wrong.append("a feed-forward part that GPT-2 has not")
    if not isinstance(codec, Subwords):
        wrong.append(f"unit {codec.options.unit}, not subword")
    elif not codec.lossless:
        wrong.append("a tokenizer that is not made of bytes, or changes the text first")
    if model.bias is not None:
        bias = model.bias.detach()
        bias = bias[STOP:] if isinstance(codec, Foreign) and bias[UNKNOWN] <= IMPOSSIBLE else bias
        if bool((bias != 0).any()):
            wrong.append("an output bias")
    if wrong:
        raise ConfigError(
            "this model is not a GPT-2", got="; ".join(wrong), do=f"Fit one: {RECIPE}"
        )
