"""Refusals that Python, or a library, takes for an answer while a function is traced: the trace fails, and the call is
made on the tape, or raises. An answer without what was refused would be wrong.
"""
import numpy as np
import pytest

import fad

from .packages import of_file

HEAD = """
import contextlib, ctypes, gc, reprlib, types, weakref
from concurrent.futures import Future
import numpy as np
K = types.SimpleNamespace(total=0.0, count=0, thing=None, log=[])
OBJECTS = np.array([np.zeros(2, [("a", float)])[0], None], dtype=object)
class Thing: pass
class Gone:
    def __del__(self):
        K.total += float(str(K.v)[:3])
class Told:
    def __repr__(self): return "long" if K.v > 0.6 else "s"
def state(): return K.total, K.count, len(K.log)
"""
BODIES = {
    "a callback of a weak reference": """
    thing = Thing()
    K.v = v
    r = weakref.ref(thing, lambda _: K.log.extend([1.0] * int(4 * v)))
    del thing
    return v * len(K.log)""",
    "__del__": """
    K.v = v
    K.thing = None
    return v + K.total""",
    "__del__ at a collection": """
    K.v = v
    K.thing = Gone()
    K.thing = None
    return v + K.total""",
    "a callback of a Future": """
    future = Future()
    future.add_done_callback(lambda _: K.log.append(int(str(4 * v)[0])))
    future.set_result(1)
    return v * len(K.log)""",
    "reprlib": """
    K.v = v
    return v * len(reprlib.repr(Told()))""",
    "return in finally": """
    y = v
    try:
        y = v * int(str(10 * v)[0])
    finally:
        return y""",
    "NumPy's words": """
    y = v
    try:
        OBJECTS[0]["a"] = v
    except ValueError:
        y = v * 100.0
    return y * OBJECTS[0]["a"]""",
    "a callback of C": """
    run = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x * float(str(v)[:3]))
    return v * run(2.0)""",
    "a manager of the library": """
    y = v
    with contextlib.ExitStack() as all_:
        all_.enter_context(contextlib.suppress(TypeError))
        y = v * np.frombuffer(np.float64(v).tobytes())[0]
    return y""",
    "a generator that goes": """
    def numbers():
        try:
            yield v
        finally:
            K.log.append(int(str(4 * v)[0]))
    g = numbers()
    next(g)
    return v * len(K.log)""",
}


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("transform", [fad.jit, fad.value_and_grad])
def test_a_refusal_that_others_take_for_an_answer_fails_the_trace(body, transform, tmp_path):
    text = f"{HEAD}\ndef f(v):{BODIES[body]}\n"
    python, module = of_file(tmp_path, text), of_file(tmp_path, text)
    g = transform(module.f, compile="never")
    for v in [0.5, 0.7, 0.7, 0.9]:
        for m in (python, module):
            m.K.v = v
            m.K.thing = m.Gone()
        want = python.f(v)
        try:
            found = g(v) if transform is fad.jit else g(v)[0]
        except fad.FadError as error:
            assert not isinstance(error, fad.InternalErrorWarning)
            return
        np.testing.assert_allclose(found, want)
        assert module.state() == python.state()
