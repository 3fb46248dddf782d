"""Programs that ask a value about itself: every question, of every kind of value, in every position. Written to a file,
since fad reads text.

Each is a function f(w, x, n) of an array, a float and an int. `LEFT` is a list outside.
"""
import importlib.util
from typing import NamedTuple

KINDS = {"float": "x", "product": "x * 2.0", "element": "w[0]", "total": "np.sum(w)", "int": "n",
    "extent": "w.shape[0]", "length": "len(w) + 1", "truth": "w[0] > 0.5", "array": "w", "row": "w[:2]",
    "list": "[w[0], 1.0]", "sizes": "w.shape", "tuple": "(n, x)", "index": "k", "table": "{'a': x}",
    "negated": "not (w[0] > 0.5)"}

TEXTS = ("str(v)", "repr(v)", "f'{v}'", "f'{v!r}'", "f'a{v}b'", "'%s' % (v,)", "'%r!' % (v,)", "'{} {}'.format(v, 1)",
    "'{a}'.format(a=v)", "format(v)", "ascii(v)", "','.join(map(str, [v]))", "str([v])", "str((v, 1))", "f'{[v]}'",
    "'a' + str(v)", "str(v)[:1]", "str(v).upper()", "'-'.join([str(v)])", "f'{v:.3f}'", "'%.2f' % v", "'%d' % v",
    "f'{v:03d}'", "'{:>8}'.format(v)", "hex(v)", "chr(v + 65)", "json.dumps(v)", "f'{f\"{v}\"}'", "f'{v:{4}}'",
    "str(v).encode()", "'%(a)s' % {'a': v}", "str({'a': v})", "f'{v}' + f'{v!r}'", "f'{v}' * 2", "len(str(v))",
    "[c for c in str(v)]", "str(v).split('.')")

OTHERS = ("hash(v)", "type(v).__name__", "isinstance(v, float)", "isinstance(v, np.ndarray)",
    "isinstance(v, (int, list))", "callable(v)", "bool(v)", "len(v)", "v is None", "v is v", "v is not v",
    "hasattr(v, 'shape')", "hasattr(v, 'append')", "sorted(dir(v))[:3]", "v.__class__.__name__",
    "v in [0.3, 1, True]", "{v: 1}", "{v}", "pickle.loads(pickle.dumps(v))", "copy.copy(v)", "copy.deepcopy(v)",
    "copy.copy(v) is v", "np.isscalar(v)", "v == 'a'", "v != 'a'", "np.ndim(v)", "isinstance(v, numbers.Real)",
    "isinstance(v, collections.abc.Hashable)", "operator.index(v)", "int(v)", "v == 1", "sys.getsizeof(v)",
    "np.array_repr(np.asarray(v))", "np.array2string(np.asarray(v))", "id(v) == id(v)")

POSITIONS = {
    "branch": "if ({q}) == WANT: s = s * 2.0",
    "key": "s = s * {{WANT: 2.0}}.get({q}, 5.0)",
    "among": "s = s * (2.0 if ({q}) in (WANT, 17) else 5.0)",
    "returned": "s = (s, {q})",
    "left": "LEFT.append({q})",
    "dropped": "{q}",
    "kept": "texts = [{q}]; s = s + len(texts)",
    "message": "if w[0] > 100.0: raise ValueError({q})",
    "asserted": "assert w[0] < 100.0, {q}",
    "printed": "print({q}, file=None)",
    "logged": "log.info('%s', {q})",
}
HEAD = """
import collections.abc, copy, json, logging, numbers, operator, pickle, sys
import numpy as np
LEFT = []
log = logging.getLogger("fad.tests.questions")
"""
PLAIN = """
def f(w, x, n):
    s = np.sum(w)
    v = {v}
    {line}
    return s
"""
LOOP = """
def f(w, x, n):
    s = 0.0
    for k in range(3):
        s = s + w[k]
        v = {v}
        {line}
    return s
"""
QUESTION = """
def q(w, x, n):
    k = 1
    v = {v}
    return {q}
"""


class Program(NamedTuple):
    kind: str
    question: str
    position: str

    def __str__(self) -> str:
        return f"{self.position}: {self.question} of {self.kind}"

    @property
    def text(self) -> str:
        v = KINDS[self.kind]
        body = (LOOP if self.kind == "index"
                else PLAIN).format(v=v, line=POSITIONS[self.position].format(q=self.question))
        return HEAD + body + QUESTION.format(v=v, q=self.question)


def module(program: Program, folder: object, number: int):
    """The program as a module of its own, WANT not set."""
    path = f"{folder}/question_{number}.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(program.text)
    spec = importlib.util.spec_from_file_location(f"question_{number}", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def programs(step: int = 1, first: int = 0) -> list:
    """Every program, or every step-th of them."""
    found = [Program(kind, q, position) for kind in KINDS for q in (*TEXTS, *OTHERS) for position in POSITIONS
             if not (position == "returned" and kind == "index")]
    return found[first::step]
