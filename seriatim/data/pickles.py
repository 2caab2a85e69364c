"""Files that are pickles, of whatever program: to read one could run anything, so none is read.

Their first bytes tell them; who trusts such a file is told the two lines of Python that convert it.
"""

from __future__ import annotations

import re
from pathlib import Path

from seriatim.errors import DataError

HEAD = 512  # bytes that tell it


# a pickle since protocol 2; and those before that begin as lists, tables and objects do
BEGINS = re.compile(
    rb"\x80[\x02-\x05]|\([dl]p\d+\n|[\]}]q\x00|c(?:copy_reg|__builtin__|numpy[\w.]*)\n\w+\n"
)


OBJECTS = re.compile(rb"\x93NUMPY.{0,8}\{[^}]*'descr': '[|<>=]?O", re.DOTALL)


ARCHIVED = re.compile(rb"PK\x03\x04.{26}[^\x00]{0,200}?data\.pkl", re.DOTALL)  # of torch


class PickleError(DataError):
    """The file is a pickle, which is not read."""


def refuse_pickle(path: str, head: bytes | bytearray) -> None:
    """An error if a file that begins so is a pickle, with the lines that convert it."""
    head = bytes(head[:HEAD])
    if OBJECTS.match(head):
        kind, lines = "a numpy array of objects, which is a pickle", of_objects(path)
    elif ARCHIVED.match(head) or b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." in head:
        kind, lines = "a file of torch, which is a pickle", of_torch(path)
    elif not BEGINS.match(head):
        return
    elif b"gensim" in head:
        kind, lines = "a file of gensim, which is a pickle", of_gensim(path)
    else:
        kind, lines = "a pickle", of_pickle(path)
    raise PickleError(
        f"this is {kind}: to read it could run anything",
        file=path,
        do=f"Where you trust it, convert it with Python:\n{lines}\n",
    )


def of_gensim(path: str) -> str:
    """The lines that convert vectors of gensim."""
    model = "KeyedVectors" if Path(path).suffix == ".kv" else "Word2Vec"
    vectors = "" if model == "KeyedVectors" else ".wv"
    return (
        f"from gensim.models import {model}\n"
        f"{model}.load({path!r}){vectors}.save_word2vec_format({path + '.vec'!r})"
    )


def of_torch(path: str) -> str:
    """The lines that convert tensors of torch."""
    out = str(Path(path).with_suffix(".safetensors"))
    return (
        "import torch, safetensors.torch\n"
        f"safetensors.torch.save_file(torch.load({path!r}, weights_only=True), {out!r})"
    )


def of_objects(path: str) -> str:
    """The lines that convert an array of texts."""
    out = str(Path(path).with_suffix(".txt"))
    return (
        "import numpy\n"
        f"open({out!r}, 'w').write('\\n'.join(map(str, numpy.load({path!r}, allow_pickle=True))))"
    )


def of_pickle(path: str) -> str:
    """The lines that convert any table."""
    out = str(Path(path).with_suffix(".csv"))
    return f"import pandas\npandas.DataFrame(pandas.read_pickle({path!r})).to_csv({out!r}, index=False)"
