"""fad.draw: a picture of a program, or of the graph behind a tensor."""
import os
import pathlib
from collections.abc import Callable
from typing import Any

from ..api.calls.staged import Staged, check_callable
from ..api.derivatives.derivative import grad
from ..eager.tensors.tensor import Tensor
from ..util.keywords import named_as_here
from .graph import Drawing
from .nests import Nests
from .picture import outline, picture, svg
from .stages import programs_of


class Picture:
    """Programs as a picture, side by side. A notebook shows it; `save` writes it; str() has it as text.

    svg : the picture.
    """

    def __init__(self, programs: list):
        self.programs = programs                              # (title, Nests)

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return svg([picture(nests, title) for title, nests in self.programs])

    def save(self, path: "str | os.PathLike") -> pathlib.Path:
        """Write the picture to a file (SVG); return its path."""
        target = pathlib.Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n{outline(nests)}" for title, nests in self.programs)

    __repr__ = __str__


@named_as_here
def draw(f: "Callable | Tensor", *args: object, **kwargs: object) -> "Picture | Drawing":
    """Draw a program and its derivative, or the graph behind a tensor.

    In the picture of a program, a box is a kernel: operations that fad fused into one loop nest. A dashed frame is a
    loop or a branch. A red arrow carries what a loop saves for the reverse sweep.

    Parameters
    ----------
    f : callable or Tensor
        A function, which is drawn beside its gradient; the result of `grad`, `jit` and their kin; or a tensor that was
        computed from leaves that require a gradient.
    *args, **kwargs
        Arguments to trace the function with. A tensor takes none.

    Returns
    -------
    Picture or Drawing
        Shows itself in a notebook and prints as text. The attribute `svg` holds the picture. A program's picture has
        ``save(path)``; a tensor's has `dot`, the graph for Graphviz.

    Raises
    ------
    BackendError
        If the program has no compiled form. `show` prints its text.
    RuntimeError
        If the tensor does not require a gradient.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> print(fad.draw(fad.grad(lambda x: np.sum(np.sin(x) ** 2)), np.ones(3)).programs[-1][0])
    fad.grad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> print(fad.draw((x * 2).sum()))
    0: SumBackward0 -> 1
    1: MulBackward0 -> 2
    2: AccumulateGrad (2,)
    """
    if isinstance(f, Tensor):
        return Drawing(f)
    staged: Any = f if isinstance(f, Staged) else grad(check_callable(f, "draw"))
    own = [("the function", program) for program in programs_of(staged, args, kwargs)]
    program, _ = staged.program_for(*args, **kwargs)
    shown = [*own, (f"fad.{staged.kernel_name}", program)]
    return Picture([(title, Nests(each.runner.linked, "kernel", each.runner.guards)) for title, each in shown])
