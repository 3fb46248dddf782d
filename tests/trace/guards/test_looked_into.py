"""State that code finds by looking into functions, classes, views and other objects of Python's: no program is stale
once it has changed, whether the code has a text or not. Python's error is an answer, too, and so is a refusal.
"""
import itertools
import sys
import types

import pytest

import fad

from ..packages import of_file, without_text

HEAD = """
import collections, dataclasses, enum, functools, inspect, sys, types
from dataclasses import fields as fields_of
import numpy as np
META = {"gain": 2.0}
@dataclasses.dataclass
class H:
    v: float = dataclasses.field(default=1.0, metadata=META)
    w: list = dataclasses.field(default_factory=list, metadata={"deep": META})
h = H()
PROXY = types.MappingProxyType(META)
NS = types.SimpleNamespace(proxy=PROXY)
def helper(a=1.0, *, k=META): return a
helper.__annotations__["gain"] = helper.tag = META
part = functools.partial(helper, META, k=META)
class K:
    table = META
    def m(self): return 1
    m.tag = META
CHAIN, SIG, UD = collections.ChainMap({}, META), inspect.signature(helper), collections.UserDict()
UD.data = META
LIST, OBJECTS, DT = [PROXY], np.array([PROXY, None], dtype=object), np.dtype("f8", metadata=META)
ERROR, PROP, METHOD, VIEW = ValueError(META), property(lambda s: META["gain"]), K().m, META.values()
"""
READS = """
dataclasses.fields(h)[0].metadata["gain"]
fields_of(H)[1].metadata["deep"]["gain"]
h.__dataclass_fields__["v"].metadata["gain"]
PROXY["gain"] + NS.proxy["gain"] + LIST[0]["gain"] + OBJECTS[0]["gain"]
vars(K)["table"]["gain"] + K.__dict__["table"]["gain"]
K.m.tag["gain"] + METHOD.__func__.tag["gain"] + METHOD.__self__.table["gain"]
helper.__kwdefaults__["k"]["gain"]
helper.__annotations__["gain"]["gain"]
helper.__dict__["tag"]["gain"]
helper.__globals__["META"]["gain"]
inspect.signature(helper).parameters["k"].default["gain"]
SIG.parameters["k"].default["gain"]
part.args[0]["gain"]
part.keywords["k"]["gain"]
CHAIN["gain"] + UD["gain"] + list(VIEW)[0]
DT.metadata["gain"]
ERROR.args[0]["gain"]
PROP.fget(None)
inspect.getattr_static(K, "table")["gain"]
sys.modules[H.__module__].META["gain"]
[m for n, m in inspect.getmembers(K) if n == "table"][0]["gain"]
""".strip().splitlines()
NUMBERS = itertools.count()


def registered(folder, text):
    """A module made by exec, which dataclasses look for among the modules."""
    name = f"made_by_exec_{next(NUMBERS)}"
    module = sys.modules[name] = types.ModuleType(name)
    exec(text, vars(module))
    return module


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "error::fad.InternalErrorWarning")
@pytest.mark.parametrize("make", [registered, without_text, of_file])
@pytest.mark.parametrize("transform", [fad.jit, fad.grad])
def test_what_is_found_by_looking_into_things_is_guarded(make, transform, tmp_path):
    for read in READS:
        module = make(tmp_path, f"{HEAD}\ndef f(v): return ({read}) * v\n")
        for f in (module.f, lambda v, f=module.f: f(v) + 0.0):
            g = transform(f, compile="never")
            for gain in (2.0, 3.0, 5.0):
                module.META["gain"] = gain
                try:
                    found = g(1.0)
                except (fad.FadError, KeyError, TypeError):
                    break
                assert found == module.f(1.0), read
