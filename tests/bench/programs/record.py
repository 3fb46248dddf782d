"""What the benchmark knows of a program: its text in NumPy, its data, and what is differentiated."""
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .words import namespace, retold


@dataclass(frozen=True)
class Program:
    """A row of the tables.

    The other libraries are given the same text with `np` meaning their own namespace, or what `texts` has for them: a
    function from the library's module to the program in the words of its users. `left_out` says why a library has no
    figure.
    """
    name: str
    f: Callable
    data: Callable                                            # of a generator and sizes, to the arguments
    sizes: tuple
    small: tuple                                              # the sizes that the tests take
    argnums: int | tuple = 0
    # with the value; or "jacobian", "rows" (of a batch), "sparse", "call"
    what: str = "gradient"
    texts: dict = field(default_factory=dict)
    left_out: dict = field(default_factory=dict)
    dense: Callable = lambda derivative: derivative           # fad's answer in the form of the others'

    def arguments(self, small=False):
        """The data, the same at each call."""
        return self.data(np.random.default_rng(0), *(self.small if small else self.sizes))

    def text(self, library, module):
        """The program in a library's words."""
        if library == "fad":
            return self.f
        make = self.texts.get(library)
        return make(module) if make else retold(self.f, namespace(module))


def for_all_others(f):
    """Texts for the other libraries: the same NumPy for all three."""
    return dict.fromkeys(("JAX", "PyTorch", "autograd"), lambda module: retold(f, namespace(module)))
