"""Folders of pretrained models in Hugging Face's layout: what may be read of them, and an encoder.

    v(x) = mean over the pieces t of x of h_t        h by the encoder, which does not learn

Unlike our own models, which have seen nothing but the training data, what these have read is
unknown. Nothing is downloaded and nothing in a folder is run: configuration and tokenizer are JSON,
weights safetensors. A run keeps the path of the folder and the checksum of its files, no copy.
Shapes: S sequences, B rows, P pieces, D width.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.errors import RunError, SeriatimError, extras
from seriatim.progress import passing
from seriatim.storage import checksums, read_json

CONFIG = "config.json"
READ = (".json", ".safetensors", ".txt", ".model")  # of the files in a folder: what is looked at
ROWS = 32  # texts that are encoded at a time
MOST_PIECES = 512  # of a text, unless the model reads fewer: what is behind is not read


def folder_of(path: str) -> Path:
    """The folder of a pretrained model, if it is one whose weights can be read."""
    folder = Path(path)
    if not (folder / CONFIG).is_file():
        raise RunError(
            f"{path} is no folder of a pretrained model",
            got=f"no {CONFIG}" if folder.is_dir() else "no such folder",
            do="Give a local folder in Hugging Face's layout; nothing is downloaded",
        )
    if not any(folder.glob("*.safetensors")):
        other = sorted(
            file.name for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".h5")
        )
        raise RunError(
            f"{path} has no weights as safetensors, and pickles could run anything",
            got=", ".join(other) or None,
            do="Where you trust it, convert it with Python:\n"
            "from transformers import AutoModel\n"
            f"AutoModel.from_pretrained({path!r}).save_pretrained({path!r})\n",
        )
    return folder


def checksum_of(folder: Path) -> Tensor:
    """(32,) bytes that change with any file that is looked at."""
    files = sorted(each for each in folder.iterdir() if each.suffix in READ)
    sums = checksums(files)
    lines = "".join(f"{each.name} {sums[each]}\n" for each in files)
    return torch.frombuffer(bytearray(hashlib.sha256(lines.encode()).digest()), dtype=torch.uint8)


def unchanged(path: str, known: Tensor | None) -> None:
    """An error if the pretrained model that a run was fitted over is gone, or another one."""
    if known is None or known.shape != (32,) or known.dtype != torch.uint8:
        raise ValueError("it does not say which pretrained model it was fitted over")
    if not (Path(path) / CONFIG).is_file():
        raise RunError(
            "the pretrained model of this run is gone",
            got=path,
            do="Put the folder back where it was, or fit again",
        )
    if not torch.equal(checksum_of(Path(path)), known):
        raise RunError(
            "the pretrained model of this run is not the one it was fitted over",
            got=f"{path}: its files have changed",
            do="Put the old files back, or fit again",
        )


@contextmanager
def quietly() -> Iterator[Any]:
    """The library, silent within this; then as it was."""
    with extras:
        import transformers as library
    logging = library.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield library
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def opened(path: str, kind: str, tokenizer: bool = True) -> tuple[Any, Any]:
    """Tokenizer and model of a folder, by the library's class `kind`: its own code alone, weights
    as safetensors, and no more numbers than these have."""
    folder = folder_of(path)
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with quietly() as library:
        try:
            check_sizes(folder)
            cutting = library.AutoTokenizer.from_pretrained(path, **local) if tokenizer else None
            model = getattr(library, kind).from_pretrained(
                path, use_safetensors=True, dtype=torch.float32, **local
            )
        except (SeriatimError, KeyboardInterrupt):
            raise
        except Exception as error:  # whatever the library finds wrong with a stranger's folder
            raise RunError(
                f"{path} cannot be opened as a pretrained model",
                got=str(error).splitlines()[0] if str(error) else type(error).__name__,
                do=f"Expected: what transformers opens as {kind}, without code of its own",
            ) from None
    return cutting, model.eval().requires_grad_(False)


def check_sizes(folder: Path) -> None:
    """Refuse a configuration that promises more than the weights could hold, before anything is
    laid out: no number in it exceeds that of their bytes, and layers have a kilobyte each."""
    config = read_json(folder / CONFIG)
    room = sum(each.stat().st_size for each in folder.glob("*.safetensors"))
    if not isinstance(config, dict):
        raise RunError(f"{folder / CONFIG} is no configuration", do="Fetch the folder again")
    for name, value in config.items():
        most = room // 1000 if "layer" in name else room
        if isinstance(value, int) and value > max(most, 10) and "token" not in name:
            raise RunError(
                f"{folder / CONFIG} promises more than the weights hold",
                got=f"{name} {value:,}, and {room:,} bytes of weights",
                do="Fetch the folder again",
            )


class Encoder:
    """A pretrained encoder that does not learn."""

    def __init__(self, path: str):
        self.tokenizer, self.network = opened(path, "AutoModel")
        places = getattr(self.network.config, "max_position_embeddings", MOST_PIECES)
        self.longest = min(MOST_PIECES, int(self.tokenizer.model_max_length), places)
        self.size = sum(each.numel() for each in self.network.parameters())
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    @torch.inference_mode()
    def pooled(self, texts: Sequence[Any]) -> np.ndarray:
        """(S, D) the mean of the vectors of all pieces of each text, or of its words with blanks
        between; texts of similar length are read together."""
        written = [each if isinstance(each, str) else " ".join(map(str, each)) for each in texts]
        order = sorted(range(len(written)), key=lambda s: len(written[s]))
        out = np.zeros((len(written), int(self.network.config.hidden_size)))
        begins = range(0, len(order), ROWS)
        for begin in passing("encoding", begins):
            rows = order[begin : begin + ROWS]
            given = self.tokenizer(
                [written[s] for s in rows],
                padding=True,
                truncation=True,
                max_length=self.longest,
                return_tensors="pt",
            )
            hidden = self.network(**given).last_hidden_state  # (B, P, D)
            real = given["attention_mask"][..., None].to(hidden.dtype)  # (B, P, 1)
            out[rows] = ((hidden * real).sum(1) / real.sum(1).clamp(min=1)).double().numpy()
        return out
