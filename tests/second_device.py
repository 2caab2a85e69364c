"""A second device for machines that have none: its tensors lie on the CPU, but behave as a GPU's do.

    with second_device() as device: model.to(device)

An operation of tensors of both devices is refused, unless the one on the CPU is a single number, an
index, or copied from or to; a generator of one device does not draw on the other; nothing of it becomes
an array before it is brought home. Torch knows it as an accelerator of its own (privateuse1).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decompositions as written_out
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "second"
aten = torch.ops.aten

# from one device to the other, and what may be asked with indices on the CPU
COPIES = {aten._to_copy, aten.copy_, aten.copy, aten._copy_from}
INDEXED = {aten.index, aten.index_put_, aten.index_put, aten._unsafe_index, aten._index_put_impl_}
# what packs rows of several lengths, and what reads them: the numbers of rows stay on the CPU
PACKING = {aten._pack_padded_sequence, aten._pad_packed_sequence}
PACKED = {*PACKING, aten._pack_padded_sequence_backward}
PACKED |= {aten.rnn_tanh, aten.rnn_relu, aten.gru, aten.lstm}
NUMBERS_OF_ROWS = ("lengths", "batch_sizes")
RESHAPED = {"transpose_", "t_", "squeeze_", "unsqueeze_", "resize_", "as_strided_", "set_"}


class Module:
    """What torch asks of the module of a device."""

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        return None

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.bfloat16]

    @staticmethod
    def synchronize(device: Any = None) -> None:
        return None


class Second(torch.Tensor):
    """A tensor of the second device, around one of the CPU."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> Second:
        sparse = inner.layout == torch.sparse_coo
        with torch.inference_mode(False):  # else it could not be a view of a weight
            made = torch.Tensor._make_wrapper_subclass(
                cls,
                inner.shape,
                strides=None if sparse else inner.stride(),
                storage_offset=None if sparse else inner.storage_offset(),
                dtype=inner.dtype,
                layout=inner.layout,
                device=torch.device(NAME, 0),
                requires_grad=False,
            )
        made.inner = inner
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"Second({self.inner!r})"

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return computed(func, args, kwargs or {})


class Everywhere(TorchDispatchMode):
    """Tensors that are made there, of nothing or of tensors of the CPU."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return computed(func, args, kwargs or {})


class Generator(torch.Generator):
    """A generator of the CPU, or one that says that it is the second device's."""

    second: bool

    def __new__(cls, device: Any = "cpu") -> Generator:
        made = super().__new__(cls, device="cpu")
        made.second = torch.device(device).type == NAME
        return made

    @property
    def device(self) -> torch.device:
        return torch.device(NAME, 0) if self.second else torch.device("cpu")


class Called(TorchFunctionMode):
    """What Python asks of torch: tensors of lists, lists and arrays of tensors, draws."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        target = kwargs.get("device")
        if func in (torch.tensor, torch.as_tensor) and target is not None:
            return func(*args, **kwargs | {"device": "cpu"}).to(target)
        if func is Tensor.numpy and isinstance(args[0], Second):
            raise TypeError(f"can't convert {NAME}:0 device type tensor to numpy; use Tensor.cpu()")
        if func is Tensor.tolist and isinstance(args[0], Second):
            return args[0].inner.tolist()
        found = func(*args, **kwargs)
        dice = kwargs.get("generator")
        if (
            isinstance(dice, Generator)
            and isinstance(found, Tensor)
            and found.device != dice.device
        ):
            raise RuntimeError(
                f"Expected a generator of {found.device}, found one of {dice.device}"
            )
        return found


def on_second(each: Any) -> bool:
    """Whether this is a tensor of the second device."""
    return isinstance(each, Second)


def computed(func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An operation, by the CPU, if it is one that a device would do."""
    leaves = tree_leaves((args, kwargs))
    there = any(map(on_second, leaves))
    target = kwargs.get("device")
    if not there and (target is None or torch.device(target).type != NAME):
        return func(*args, **kwargs)
    packet = func.overloadpacket
    if there and packet is not aten._has_compatible_shallow_copy_type:
        refuse_mixed(func, args, leaves)
    if packet is aten._fused_sdp_choice:
        return 0  # the plain way
    if packet is torch.ops.aten._has_compatible_shallow_copy_type:
        return False
    away = there if target is None else torch.device(target).type == NAME
    kwargs = kwargs | ({} if target is None else {"device": torch.device("cpu")})
    if packet.__name__ in RESHAPED:
        raise NotImplementedError(f"{func} would change the shape of what is around it")
    raw_args, raw_kwargs = tree_map(bare, (args, kwargs))
    if packet is aten._to_copy and target is not None and not away:
        raw_kwargs.pop("device")
    found = func(*raw_args, **raw_kwargs)
    if not func._schema.returns:
        return None
    if func._schema.is_mutable and in_place(func):
        return args[0]
    if packet is aten._copy_from:
        return args[1]
    if packet in PACKING:
        return Second(found[0]), found[1]
    return tree_map(lambda each: Second(each) if away and isinstance(each, Tensor) else each, found)


def in_place(func: Any) -> bool:
    """Whether it gives back the first tensor that it was given."""
    name = func._schema.name.partition("::")[2].partition(".")[0]
    return name.endswith("_") and not name.startswith("_foreach")


def bare(each: Any) -> Any:
    """The tensor of the CPU inside."""
    return each.inner if isinstance(each, Second) else each


def refuse_mixed(func: Any, args: tuple, leaves: list[Any]) -> None:
    """As a GPU does: all tensors on one device, but for numbers, indices and copies."""
    packet = func.overloadpacket
    if packet in COPIES:
        return
    if packet in PACKED:
        names = [each.name for each in func._schema.arguments]
        counts = {name: each for name, each in zip(names, args) if name in NUMBERS_OF_ROWS}
        if any(map(on_second, counts.values())):
            raise RuntimeError(f"{', '.join(counts)} should be a tensor of the CPU ({func})")
        leaves = tree_leaves([each for name, each in zip(names, args) if name not in counts])
    if packet in INDEXED and on_second(args[0]):
        leaves = tree_leaves((args[0], args[2:]))  # the indices may lie on the CPU
    strangers = [each for each in leaves if isinstance(each, Tensor) and not on_second(each)]
    first = args[0] if args else None
    written = in_place(func) and isinstance(first, Tensor) and not on_second(first)
    if written or any(each.dim() for each in strangers):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found two: {NAME}:0 and cpu ({func})"
        )


# torch's own recurrence, step by step: there are no kernels for this device
WRITTEN_OUT = {
    "lstm.input": written_out.lstm_impl,
    "lstm.data": written_out.lstm_data_impl,
    "gru.input": written_out.gru_impl,
    "gru.data": written_out.gru_impl_data,
    "rnn_tanh.input": written_out.rnn_tanh_input,
    "rnn_tanh.data": written_out.rnn_tanh_data,
    "rnn_relu.input": written_out.rnn_relu_input,
    "rnn_relu.data": written_out.rnn_relu_data,
}


# what autocast computes in the smaller type, as that of a GPU does
SMALLER = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "conv1d")


def smaller(name: str) -> Any:
    """An operation that casts its numbers to the type of autocast, then goes on below it."""
    key = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

    def cast(each: Any) -> Any:
        floats = isinstance(each, Tensor) and each.is_floating_point()
        return each.to(torch.get_autocast_dtype(NAME)) if floats else each

    def called(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(key):
            args, kwargs = tree_map(cast, (args, kwargs))
            return getattr(aten, name)(*args, **kwargs)

    return called


LOCK, READY = threading.Lock(), list[Any]()


def set_up() -> None:
    """Tell torch of it, once in a process."""
    with LOCK:
        if READY:
            return
        _setup_privateuseone_for_python_backend(NAME, Module())
        library = torch.library.Library("aten", "IMPL")
        for name, function in WRITTEN_OUT.items():
            library.impl(name, function, "AutogradPrivateUse1")
        for name in SMALLER:
            library.impl(name, smaller(name), "AutocastPrivateUse1")
        rest = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")
        rest.fallback(torch.library.fallthrough_kernel)
        READY.extend((library, rest))


@contextmanager
def second_device() -> Iterator[torch.device]:
    """Within this there is a second device."""
    set_up()
    own = torch.Generator
    torch.Generator = Generator  # type: ignore[misc]
    try:
        with Called(), Everywhere():
            yield torch.device(NAME, 0)
    finally:
        torch.Generator = own  # type: ignore[misc]
