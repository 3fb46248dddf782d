"""How LLVM compiles a kernel: as fast after thousands of kernels as after one."""
import re
import time

import numba
import numpy as np
import pytest
from llvmlite import binding as llvm
from numba.core.registry import cpu_target

import fad
from fad.kernels import libraries, vecmath
from fad.kernels.numba_pipeline import LeanCompiler

from .support import looped

TEXT = """
define double @twice(double %x) {
entry:
  %place = alloca double
  store double %x, double* %place
  %y = load double, double* %place
  %z = fadd double %y, %y
  ret double %z
}
"""


def seconds(codegen, count):
    """Processor time of so many optimisations of a function, the least of three."""
    found = []
    for _ in range(3):
        modules = [llvm.parse_assembly(TEXT) for _ in range(count)]
        library = libraries.new_library(codegen, "timed")
        begun = time.thread_time()
        for module in modules:
            library._optimize_functions(module)
        found.append(time.thread_time() - begun)
    return min(found)


def test_passes_take_no_longer_with_each_kernel():
    codegen = libraries.Releasable(cpu_target.target_context.codegen())
    libraries._builder.cache_clear()
    first = seconds(codegen, 50)
    seconds(codegen, 1000)
    assert seconds(codegen, 50) <= 2.5 * first, "passes are slower after 3,000 runs"


def test_one_maker_of_passes_is_for_several_kernels():
    codegen = libraries.Releasable(cpu_target.target_context.codegen())
    assert len({id(codegen._pass_builder(3)) for _ in range(50)}) <= 2


def test_settings_of_llvm_hold_while_a_large_kernel_is_made(monkeypatch):
    """A setting is the process's: it must not stay, whatever happens."""
    given = []
    monkeypatch.setattr(libraries.llvm, "set_option", lambda name, option: given.append(option))
    numba.njit(lambda x: x + 1.0, pipeline_class=LeanCompiler)(1.0)
    assert not given
    monkeypatch.setattr(libraries.Library, "is_large", True)
    numba.njit(lambda x: x + 2.0, pipeline_class=LeanCompiler)(1.0)
    with pytest.raises(KeyError), libraries.without_strength_reduction():
        raise KeyError
    monkeypatch.setattr(libraries, "KNOWN", ())
    with libraries.without_strength_reduction():
        pass
    assert given == ["-disable-lsr=true", "-disable-lsr=false"] * 2


def test_vectors_wait_in_one_line_of_the_cache():
    """The stack is aligned for vectors that are kept across calls of libmvec: the caller aligns it for 16 bytes."""
    exp, sin = vecmath.exp, vecmath.sin
    f = numba.njit(looped(numba.njit(lambda x: exp(x) * sin(x) + x), 1).py_func, pipeline_class=LeanCompiler)
    f(np.empty(100), np.ones(100))
    text = next(iter(f.inspect_asm().values()))
    kept = re.findall(r"vmov(\w)p[sd]\s+%[yz]mm\d+, -?\d*\(%r[sb]p\)", text)
    if not kept:
        pytest.skip("no vectors wider than the stack's alignment are kept here")
    assert set(kept) == {"a"} and re.search(r"andq\s+\$-(32|64), %rsp", text)


def test_who_waits_for_a_compilation_knows_when_it_leaves_the_lock(monkeypatch):
    """LLVM works on the module, and makes machine code, without Python's lock."""
    seen = []

    class Seen(set):
        def add(self, thread):
            super().add(thread)
            seen.append(len(self))
    monkeypatch.setattr(libraries, "without_lock", Seen())
    with fad.config.using(compile="now", cache_dir=None):
        fad.grad(lambda x: np.sum(x * x * 1.2345))(np.ones(3))
    assert len(seen) >= 2 and set(seen) == {1} and not libraries.without_lock
