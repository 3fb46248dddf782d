"""Random functions that read a variable under one name and write it under another: a global name and an attribute of
its module, an attribute and an item of `vars(o)`, a property and what it reads, a variable and a function that closes
over it, a default argument and the list that it is.

Each is called six times in a transform, and in Python, as those of states.py are, and some variable changes between two
calls. `python -m tests.fuzz.places [COUNT] [FIRST]` tries COUNT functions from seed FIRST, and prints a shrunk one for
each failure.
"""
import re
import types

from . import calls, judge, states
from .calls import text_of, within
from .effects import plain
from .statement import Blocks, Statement

SETTINGS = """
import numpy as np

LEVEL, TABLE, VEC, SWITCH = 0.6, {"u": 0.3, "l": [0.1, 0.2]}, np.array([0.3, 0.5]), False

def level():
    return LEVEL

def set_level(v):
    global LEVEL
    LEVEL = v

def damped(v):
    return np.tanh(v * LEVEL) + TABLE["u"] * VEC[0]
"""
STATE = """
import dataclasses, functools, operator, types
from types import SimpleNamespace
import numpy as np

class Base:
    share, parts, on = 0.4, [0.2, 0.7], True

    @classmethod
    def set_share(cls, v):
        cls.share = v

    @staticmethod
    def add(v):
        Base.share = Base.share * 0.5 + 0.1 * v

class Model(Base):
    def __init__(self, own):
        self.own, self._inner, self.vec, self.items = own, 0.8, np.array([0.3, -0.2]), [0.1, 0.4]
        self.table = {"own": own, "vec": self.vec}

    @property
    def inner(self):
        return self._inner

    @inner.setter
    def inner(self, v):
        self._inner = v

    @property
    def whole(self):
        return self.own + self.share * self._inner

    def get(self):
        return self.own

    def put(self, v):
        self.own = v
        return self

class Open:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)

    def __getattr__(self, name):
        if name == "missing":
            return 0.35
        raise AttributeError(name)

class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

@dataclasses.dataclass
class Data:
    w: float = 0.5
    l: list = dataclasses.field(default_factory=lambda: [0.3, 0.6])

def closed():
    held, counts = 0.6, [0.2, 0.4]
    def get():
        return held + counts[0]
    def put(v):
        nonlocal held
        held = v
    def bump(v):
        counts[0] = v
    return get, put, bump

def gathered(v, into=[0.1, 0.2]):
    into[0] = 0.5 * into[0] + 0.1 * v
    return into[0]

def counted(v):
    counted.calls += 1
    return v * counted.rate

def read_gain():
    return GAIN

def write_gain(v):
    global GAIN
    GAIN = v

def noted(v):
    LOG.append(v)
    return v

GAIN, FLAG, LIST, VEC, LOG = 1.3, True, [0.2, 0.5], np.array([0.4, -0.1]), [0.3]
GET, PUT, BUMP = closed()
counted.calls, counted.rate = 0, 0.7
INTO = gathered.__defaults__[0]
OB, OTHER, NS = Model(0.5), Model(0.2), SimpleNamespace(u=0.3, l=LIST)
OPEN, SLOTS, DATA = Open(u=0.9), Slots(0.1, [0.2]), Data()
DICT = {"k": 0.4, "l": LIST, "v": VEC, "in": {"k": 0.7}}
HOLD, INNER, SAME = [LIST, OB, DICT], DICT["in"], OB
"""
# an entry: ways to read one variable | ... || ways to write it | ...; the lines that continue it are indented
VARIABLES = [tuple(map(within, entry.split(" ||"))) for entry in re.split(r"\n(?! )", """
GAIN | ME.GAIN | vars(ME)['GAIN'] | getattr(ME, 'GAIN') | globals()['GAIN'] | read_gain() | globals().get('GAIN') ||
    GAIN = {0} | GAIN *= 0.9 | ME.GAIN = {0} | setattr(ME, 'GAIN', {0}) | write_gain({0}) | vars(ME)['GAIN'] = {0} |
    globals()['GAIN'] = {0} | ME.GAIN += 0.1
S.LEVEL | S.level() | S.damped(s) | getattr(S, 'LEVEL') | vars(S)['LEVEL'] | S.__dict__['LEVEL'] |
    (lambda: S.LEVEL)() ||
    S.LEVEL = {0} | S.LEVEL *= 0.9 | setattr(S, 'LEVEL', {0}) | S.set_level({0}) | vars(S)['LEVEL'] = {0}
S.TABLE['u'] | S.damped(s) | T['u'] | S.TABLE['l'][0] | T['l'][-1] | T.get('u', 0.1) | sum(T['l']) ||
    S.TABLE['u'] = {0} | T['u'] = {0} | T['u'] *= 0.9 | S.TABLE['l'][0] = {0} | T['l'][-1] += {0} |
    S.TABLE = {{'u': {0}, 'l': [0.5, 0.2]}} | T.update(u={0}) | T = S.TABLE | T = dict(T)
S.VEC[0] | V[0] | V.sum() | S.damped(s) | S.VEC @ y[:2] ||
    S.VEC[0] = {0} | V[0] = {0} | V *= 0.9 | S.VEC = y[:2] * 0.5 | V = S.VEC | V[:] = y[:2] | S.VEC += 0.1
GET() | GET() * 0.5 | GET.__closure__[1].cell_contents || PUT({0}) | BUMP({0})
get() | t | put(t) or t | get() * t || t = {0} | put({0}) | t += 0.1 | put(get() * 0.9)
Base.share | Model.share | OB.share | type(OB).share | OB.__class__.share | OTHER.share | getattr(Model, 'share') |
    OB.whole | vars(Base)['share'] ||
    Base.share = {0} | Model.share = {0} | OB.share = {0} | setattr(Base, 'share', {0}) | Model.set_share({0}) |
    Base.set_share({0}) | Base.add({0}) | OB.set_share({0}) | type(OB).share = {0} | vars(OB)['share'] = {0} |
    vars(OB).pop('share', None) | Base.share *= 0.9 | OB.share += 0.1 | if 'share' in OB.__dict__: del OB.share
OB.own | SAME.own | OB.get() | OB.whole | vars(OB)['own'] | OB.__dict__['own'] | getattr(OB, 'own') | HOLD[1].own |
    OB.__dict__.get('own', 0.1) | operator.attrgetter('own')(OB) ||
    OB.own = {0} | SAME.own = {0} | OB.put({0}) | setattr(OB, 'own', {0}) | vars(OB)['own'] = {0} |
    OB.__dict__['own'] = {0} | OB.__dict__.update(own={0}) | HOLD[1].own = {0} | object.__setattr__(OB, 'own', {0}) |
    OB.own += 0.1 | SAME.own *= 0.9 | OB.__dict__['own'] += 0.1 | SAME = OB | SAME = OTHER |
    d = vars(OB); d['own'] = {0}
OB.inner | OB._inner | OB.whole | vars(OB)['_inner'] | getattr(OB, 'inner') | SAME.inner ||
    OB.inner = {0} | OB._inner = {0} | setattr(OB, 'inner', {0}) | vars(OB)['_inner'] = {0} | OB.inner += 0.1 |
    SAME.inner *= 0.9
OB.vec[0] | OB.table['vec'][0] | vars(OB)['vec'].sum() | SAME.vec[1] | OB.vec @ y[:2] ||
    OB.vec[0] = {0} | OB.table['vec'][0] = {0} | OB.vec = y[:2] * 1.0 | vars(OB)['vec'] = y[:2] * 0.3 | OB.vec *= 0.9 |
    v = OB.vec; v += {0} | OB.table['vec'] = OB.vec | vars(OB)['vec'][1] = {0}
OB.items[0] | vars(OB)['items'][-1] | sum(OB.items) | Base.parts[0] | OB.parts[-1] | Model.parts[0] ||
    OB.items[0] = {0} | OB.parts[0] = {0} | Base.parts[-1] = {0} | vars(OB)['items'][-1] = {0} | OB.parts = OB.items |
    OB.items = Base.parts | OB.items.append({0}); OB.items.pop(0) | OB.parts = [{0}, 0.2]
NS.u | vars(NS)['u'] | getattr(NS, 'u') | NS.__dict__.get('u') | getattr(NS, 'w', 0.4) ||
    NS.u = {0} | vars(NS)['u'] = {0} | setattr(NS, 'u', {0}) | NS.w = {0} | vars(NS)['w'] = {0} |
    NS.__dict__.update(u={0}, w=0.3) | vars(NS).pop('w', None) | NS = SimpleNamespace(u={0}, l=LIST)
OPEN.u | vars(OPEN)['u'] | getattr(OPEN, 'missing') | OPEN.missing | getattr(OPEN, 'none', 0.3) | OPEN.__dict__['u'] ||
    OPEN.u = {0} | vars(OPEN)['u'] = {0} | OPEN.missing = {0} | vars(OPEN)['missing'] = {0} |
    OPEN.__dict__.pop('missing', None) | OPEN.none = {0} | OPEN.u *= 0.9
SLOTS.a | getattr(SLOTS, 'a') | SLOTS.b[0] | operator.attrgetter('a')(SLOTS) ||
    SLOTS.a = {0} | setattr(SLOTS, 'a', {0}) | SLOTS.b[0] = {0} | SLOTS.b = [{0}] | SLOTS.a += 0.1 |
    object.__setattr__(SLOTS, 'a', {0})
DATA.w | vars(DATA)['w'] | dataclasses.asdict(DATA)['w'] | getattr(DATA, 'w') | dataclasses.replace(DATA).w |
    DATA.l[0] | dataclasses.astuple(DATA)[0] ||
    DATA.w = {0} | vars(DATA)['w'] = {0} | DATA = dataclasses.replace(DATA, w={0}) | DATA.l[0] = {0} |
    dataclasses.replace(DATA).l[0] = {0} | setattr(DATA, dataclasses.fields(DATA)[0].name, {0}) | DATA.l = LIST
INTO[0] | gathered(s) | gathered.__defaults__[0][0] | gathered(0.1, [0.5]) | INTO[-1] ||
    gathered({0}) | INTO[0] = {0} | gathered.__defaults__[0][1] = {0} | gathered({0}, LIST) |
    INTO.append({0}); INTO.pop(0) | gathered({0}, into=INTO)
counted(s) | counted.rate | counted.calls * 0.1 | vars(counted)['rate'] | getattr(counted, 'rate') ||
    counted.rate = {0} | counted.calls = 3 | setattr(counted, 'rate', {0}) | vars(counted)['rate'] = {0} |
    counted.rate *= 0.9 | counted({0})
LIST[0] | NS.l[0] | DICT['l'][0] | HOLD[0][0] | sum(LIST) | l[0] | HOLD[2]['l'][0] | (LIST is DICT['l']) * 0.3 ||
    LIST[0] = {0} | NS.l[0] = {0} | DICT['l'][0] = {0} | HOLD[0][0] += 0.1 | LIST = DICT['l'] | DICT['l'] = [{0}, 0.3] |
    l = DICT['l'] | l[0] = {0} | LIST.append({0}); LIST.pop(0) | HOLD[2]['l'] = LIST | l = LIST | LIST = [{0}, 0.7] |
    DICT['l'].reverse() | [q.append(q.pop(0)) for q in (LIST, NS.l)]
DICT['k'] | HOLD[2]['k'] | INNER['k'] | DICT['in']['k'] | DICT.get('k', 0.1) | D['k'] | dict(DICT)['k'] |
    {{**DICT}}['k'] ||
    DICT['k'] = {0} | HOLD[2]['k'] = {0} | INNER['k'] = {0} | DICT['in']['k'] *= 0.9 | DICT['in'] = {{'k': {0}}} |
    INNER = DICT['in'] | D = DICT | D['k'] = {0} | D = dict(DICT) | DICT.update({{'k': {0}}}) |
    DICT.setdefault('k', {0}) | DICT.pop('k') and DICT.update(k={0}) | D = D['in']
VEC[0] | DICT['v'][0] | v[0] | v.sum() | HOLD[2]['v'][1] | VEC @ y[:2] ||
    VEC[0] = {0} | DICT['v'][0] = {0} | v = DICT['v'] | v = VEC[::-1] | v[0] = {0} | DICT['v'] = y[:2] * 1.0 |
    VEC = VEC * 0.9 | VEC *= 0.9 | VEC = y[:2] | v = y[:2] | DICT['v'] = VEC | np.add(v, 0.1, out=v)
LOG[-1] | len(LOG) * 0.1 | sum(LOG) | noted(s) ||
    LOG.append({0}) | noted({0}) | LOG[:] = [{0}] | LOG[-1] = {0} | LOG = [{0}] | LOG.clear() or LOG.append({0})
""".strip())]
NUMBERS = within("y[0] | s | 0.3 | np.tanh(s) | y.sum() * 0.2 | y[1] * s | 0.7 | s * 0.5 + 0.1 | 1")
TESTS = within("y[0] > 0.117 | s > 0.2113 | y[1] > s | FLAG | y.sum() > 0.513 | hasattr(OB, 'extra') | GAIN > 0.8317 | "
               "OB.own > 0.4113 | OB.on | S.SWITCH | 'share' in vars(OB) | OB is SAME | len(LOG) > 2")
SWITCHES = within("FLAG = not FLAG | ME.FLAG = not FLAG | OB.on = not OB.on | Base.on = not Base.on | "
                  "S.SWITCH = True | vars(S)['SWITCH'] = False | OB.extra = 1 | vars(OB).pop('extra', None)")
LOOPS = within("for k in range(3): | for k in range(2): | for u in y: | for u in LIST: | "
               "for k in range(len(LOG) % 3): | for name in ('own', '_inner'):")
GLOBALS = ("GAIN", "FLAG", "T", "V", "SAME", "NS", "DATA", "LIST", "LOG", "INNER", "VEC", "HOLD")
MADE = {  # what a function may have of its own in place of what stands outside
    "OB": "OB = Model(y[0])", "NS": "NS = SimpleNamespace(u=y[0], l=LIST)", "OPEN": "OPEN = Open(u=s)",
    "SLOTS": "SLOTS = Slots(s, [y[1]])", "DATA": "DATA = Data(y[0])",
    "DICT": "DICT = {'k': s, 'l': [s, y[0]], 'v': y[:2], 'in': {'k': 0.4}}",
    "LIST": "LIST = [s, 0.4]", "VEC": "VEC = y[:2] * 1.0", "INTO": "INTO = LIST"}


class Generator(Blocks):
    """One function of a few variables from a seed, and what changes outside between its calls."""

    def __init__(self, seed):
        super().__init__(seed)
        self.variables = self.r.sample(VARIABLES, self.r.randint(1, 3))

    def program(self):
        body = [s for _ in range(self.r.randint(2, 5)) for s in self.statement(0)]
        body = [Statement("y, s, t = x * 1.0, 0.2, 0.3"), *body,
                Statement(f"return s + y.sum() + 0.3 * {self.read()} * y[1] + {self.read()}")]
        text = text_of(body)
        made = [line for name, line in MADE.items() if f"{name}" in text and self.r.random() < 0.12]
        before = [*made, *(line for name, line in (("l", "l = LIST"), ("v", "v = VEC"), ("D", "D = DICT"))
                           if f"{name}[" in text or f"{name}." in text)]
        inner = ["def get():\n        return t", "def put(v):\n        nonlocal t\n        t = v"]
        before += inner if "get()" in text or "put(" in text else []
        body = [body[0], *map(Statement, before), *body[1:]]
        text = text_of(body)
        bound = [n for n in GLOBALS if f"{n} = " in text.replace(f".{n} = ", "") or f"{n} *= " in text]
        bound = [n for n in bound if MADE.get(n) not in made]
        head = [Statement(f"global {', '.join(bound)}")] if bound else []
        return [Statement("def f(x):", [*head, *body]), *(Statement(self.change()) for _ in range(states.CALLS - 1))]

    def read(self):
        return self.r.choice(self.r.choice(self.variables)[0]).replace("{{", "{").replace("}}", "}")

    def write(self):
        return self.r.choice(self.r.choice(self.variables)[1]).format(self.r.choice([*NUMBERS, self.read()]))

    def change(self):
        if self.r.random() < 0.5:
            return "pass"
        written = self.r.choice(self.r.choice(self.variables)[1]) if self.r.random() < 0.7 else self.r.choice(SWITCHES)
        return written.format(f"{self.r.uniform(0.1, 1):.3f}").replace("y[:2]", "np.array([0.3, 0.6])")

    def statement(self, depth):
        nested = [self.loop, self.iterations, self.branch, self.branch] if depth < 2 else []
        return self.r.choice([self.changed] * 4 + [self.number] * 4 + nested)(depth)

    def changed(self, depth):
        return [Statement(part) for part in self.write().split("; ")]

    def number(self, depth):
        return [Statement(self.r.choice([f"s = s + 0.3 * {self.read()}", f"y[0] = y[0] + 0.1 * {self.read()}",
                                         f"s = np.tanh(s * {self.read()})", f"y = y * (0.5 + 0.1 * {self.read()})",
                                         f"s = s + ({self.read()}) - ({self.read()})"]))]

    def branch(self, depth):
        test = self.r.choice([*TESTS, f"{self.read()} > 0.3171"])
        return [Statement(f"if {test}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def loop(self, depth):
        head, body = self.r.choice(LOOPS), self.iteration(2, depth)
        if "name" in head:
            body = [Statement(f"setattr(OB, name, getattr(OB, name) * 0.9 + 0.1 * {self.r.choice(NUMBERS)})"), *body]
        return [Statement(head, body)]

    def iterations(self, depth):
        return [Statement(f"w{depth} = 0.0"), Statement(f"while w{depth} < 1.2 + y[2]:",
                                                        [*self.iteration(2, depth), Statement(f"w{depth} += 1.0")])]


class Run(states.Run):
    """The function in modules of its own, in Python or in a transform."""

    def __init__(self, definition, number, transform=lambda f: f):
        here, settings = types.ModuleType("program"), types.ModuleType("settings")
        settings.__file__ = here.__file__ = __file__
        judge.executed(SETTINGS + f"#{number}", vars(settings))
        self.scope = judge.executed(STATE + f"#{number}", vars(here))
        self.scope |= {"ME": here, "S": settings, "T": settings.TABLE, "V": settings.VEC}
        self.f = transform(judge.executed(f"#{number}\n{definition}", self.scope)["f"])

    @property
    def state(self):
        s = self.scope
        names = [n for n in sorted(s) if n.isupper() and n not in ("ME", "S", "GET", "PUT", "BUMP", "SLOTS")]
        cells = [c.cell_contents for c in s["GET"].__closure__]
        settings = {n: v for n, v in sorted(vars(s["S"]).items(), key=str) if n.isupper()}
        return {**{n: plain(s[n]) for n in names}, "S": plain(settings), "closed": plain(cells),
                "counted": plain(vars(s["counted"])), "slots": plain([s["SLOTS"].a, s["SLOTS"].b]),
                "class": plain([s["Base"].share, s["Base"].parts, s["Base"].on, vars(s["Model"]).get("share")])}

    def aliases(self):
        """Which of the arrays, lists and objects are one."""
        s = self.scope
        found = [s["LIST"], s["NS"].l, s["DICT"]["l"], s["HOLD"][0], s["INTO"], s["OB"].items, s["Base"].parts,
                 s["OB"].parts, s["DATA"].l, s["VEC"], s["DICT"]["v"], s["V"], s["S"].VEC, s["OB"].vec,
                 s["OB"].table["vec"], s["T"], s["S"].TABLE, s["INNER"], s["DICT"]["in"], s["SAME"], s["OB"]]
        return [a is b for a in found for b in found]


def report(seed, compile=False):
    """None, or the failure of this seed's function with the function shrunk."""
    tier = "compiled" if compile else ("interpreted", "text")[seed // 4 % 2]
    return calls.shrunk(seed, tier, Generator.of(seed), lambda body, tier: states.calls_of(body, seed, tier, Run))


if __name__ == "__main__":
    judge.command(report)
