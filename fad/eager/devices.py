"""Devices: there is one, the CPU, and to ask for another is an error."""
import functools
from collections.abc import Callable

from ..util.array import AnyArray


class device(str):
    """The place of memory: the CPU, here.

    >>> import fad
    >>> fad.device("cpu").type
    'cpu'
    """

    def __new__(cls, name: object = "cpu", index: "int | None" = None) -> "device":
        if str(name).partition(":")[0] != "cpu":
            raise RuntimeError(f"there is no device {str(name)!r} here: tensors are in the memory of the CPU")
        return str.__new__(cls, name)

    @property
    def type(self) -> str:
        """The kind of device."""
        return str.__str__(self).partition(":")[0]

    @property
    def index(self) -> "int | None":                                                            # type: ignore[override]
        """Its number, where one was given."""
        return int(self.partition(":")[2]) if ":" in self else None

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"


CPU = device("cpu")


def on_cpu(create: Callable) -> Callable:
    """create(...) with the options of which there is one answer each: `device` can only be the CPU, `layout` strided;
    memory is as it is."""
    @functools.wraps(create)
    def created(*args: object, device: "device | None" = None, layout: object = None, pin_memory: bool = False,
                memory_format: object = None, **options: object) -> AnyArray:
        required(device)
        if layout is not None and not str(layout).endswith("strided"):
            raise RuntimeError(f"there are no tensors of layout {layout} here: they are strided")
        return create(*args, **options)
    return created


def required(name: object) -> device:
    """The device of this name (None: the CPU); RuntimeError if it is not here."""
    return CPU if name is None else device(name)
