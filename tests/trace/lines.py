"""Functions that print, log and warn. `python lines.py never` says what fad.grad of them says, `plain` what Python
says.

`change(k)` before a call changes who hears, and how.
"""
import contextlib
import io
import logging
import pprint
import sys
import warnings

import numpy as np

X = np.array([0.5, 1.25, 2.0])
log = logging.getLogger("model")
OUT = logging.StreamHandler(sys.stdout)
PLAIN = "%(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s"
LAST = {}


def levels(x):
    s = np.sum(x ** 2)
    log.debug("debug %.3f", s)
    log.info("info %.3f", s)
    log.warning("warning %s %r", s, x)
    log.error("error %5.1f|%-8.2f|%08.3f|%+d", s, s, x[0], 3)
    log.critical("critical %s%%", s)
    log.log(25, "log %e", s)
    log.fatal("fatal")
    return s


def change_levels(k):
    log.setLevel([logging.DEBUG, logging.WARNING, logging.CRITICAL, 26][k])


def disabled(x):
    log.info("heard %g", x[0])
    log.error("error %g", x[1])
    return np.sum(x)


def change_disabled(k):
    logging.disable([logging.NOTSET, logging.INFO, logging.CRITICAL, logging.NOTSET][k])


def templates(x):
    s = np.sum(x)
    log.info("%.2f" % s)                                                   # noqa: UP031
    log.info(f"{s:.2f} {s!r} {x} {x[0]:>8.3f} {len(x)} {x.shape}")
    log.info("{:.3f} {k:6.2f}".format(s, k=x[0]))                          # noqa: UP032
    log.info("%(s).2f of %(n)s", {"s": s, "n": x})
    log.info("text " + str(s) + " " + repr(x[0]))
    log.info("no values")
    log.info(s)
    log.info([s, 1])
    log.info("%s %s", {"s": s}, (x[0], "a"))
    return s


class Model:
    def __init__(self, w):
        self.w = w

    def __repr__(self):
        return f"Model(w={self.w!r})"

    def __str__(self):
        return f"<{self.w} of {Model.__name__}>"


def objects(x):
    model = Model(x[0] * 2.0)
    print(model, [model], {"m": model}, f"{model!r}")
    log.info("%s %r %.1f", model, model, x[1])
    log.info("model %s", [model, x])
    return model.w * x[1]


class Padded(Model):
    def __str__(self):
        return f"{str(self.w):>10}|" + "%10s" % self.w                     # noqa: UP031


def padded(x):
    print(Padded(x[0]))
    return np.sum(x)


class Keeping(logging.Handler):
    def emit(self, record):
        self.format(record)
        print("kept", record.levelname, record.args, record.getMessage(), getattr(record, "first", None))


def handlers(x):
    log.info("sum %s, first %.2f", np.sum(x), x[0], extra={"first": x[0]})
    return np.sum(x ** 2)


def change_handlers(k):
    log.handlers[:] = [[OUT], [Keeping()], [Keeping(), OUT], []][k]


class Raising(logging.Handler):
    def emit(self, record):
        raise OverflowError(record.getMessage())


def raising(x):
    log.info("before")
    log.warning("raises %.2f", x[0])
    return np.sum(x ** 2)


def change_raising(k):
    log.handlers[:] = [[OUT], [OUT, Raising()], [OUT]][min(k, 2)]


class Upper(logging.Formatter):
    def format(self, record):
        return super().format(record).upper() + f" {record.x:.1f}"


def formatter(x):
    log.warning("value %.2f", x[0], extra={"x": x[1]})
    return np.sum(x)


def change_formatter(k):
    OUT.setFormatter([logging.Formatter(PLAIN), Upper("%(message)s"), Upper("%(levelname)s"), None][k])


class Adapter(logging.LoggerAdapter):
    def process(self, message, kwargs):
        return f"[{self.extra['run']}] {message}", kwargs


ADAPTER = Adapter(log, {"run": 1})


def adapter(x):
    ADAPTER.info("step %d of %.2f", 3, x[0])
    return np.sum(x)


def change_adapter(k):
    ADAPTER.extra["run"] = k


def exception(x):
    try:
        raise KeyError("missing")
    except KeyError:
        log.exception("no key at %.2f", x[0])
    return np.sum(x ** 2)


def of_module(x):
    logging.warning("root %.2f", x[0])
    return np.sum(x)


def helper(x, k):
    log.info("helper %d", k, stacklevel=2)
    log.info("helper itself")
    return x[k]


def places(x):
    a = helper(x, 0)
    b = helper(x, 1)
    return a * b


def warned(x):
    s = np.sum(x)
    warnings.warn(f"sum {s:.2f}", stacklevel=1)
    warnings.warn("the same at each call", RuntimeWarning, stacklevel=1)
    warnings.warn(DeprecationWarning("old %.1f" % s), stacklevel=1)        # noqa: UP031
    return s


def change_warned(k):
    warnings.resetwarnings()
    warnings.simplefilter(["always", "ignore", "default", "once"][k])


def warned_as_error(x):
    s = np.sum(x)
    warnings.warn("an error", RuntimeWarning, stacklevel=1)
    return s


def change_warned_as_error(k):
    warnings.resetwarnings()
    warnings.simplefilter(["always", "error", "always", "error"][k])


def caught(x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.warn("inside", stacklevel=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("nobody hears it", stacklevel=1)
    print(len(found))
    return np.sum(x) * len(found)


def redirected(x):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print(f"{x[0]:.2f}")
    print("out of it", text.getvalue())
    return np.sum(x)


def printed(x):
    s = np.sum(x)
    print("sum", s, x, sep="|", end="!\n")
    print()
    print(s, file=sys.stderr, flush=True)
    print(*x)
    print(x.shape, len(x), x.dtype, x > 1.0, x.reshape(1, 3), s > 1, -x[0], 3, None, "a")
    print([x[0], (x[1], "b")], {"s": s, 1: [x]}, [s > 1], [len(x)], [1.0, True])
    pprint.pprint({"s": s, "long" * 10: [s] * 4, "x" * 30: "y" * 30})
    return s


def options(x):
    print(x / 3.0)
    log.info("%s", x / 3.0)
    return np.sum(x)


def change_options(k):
    np.set_printoptions(precision=[3, 8, 2, 8][k])


def loops(x):
    total, kept = 0, []
    for k in range(len(x)):
        print(k, total)
        total = total + x[k]
        kept.append(total)
        if x[k] > 1.0:
            log.info("big %d %.2f", k, x[k])
        else:
            print("small")
    while total > 0.5:
        total = total / 2.0
        log.info(f"down to {total:.3f}")
    print(kept, [v * 2.0 for v in x], len(kept))
    for i in range(2):
        for j in range(i + 1):
            print(f"{i},{j}", x[i] * j)
    return total


def found(x):
    first = None
    for k in range(len(x)):
        if x[k] > 1.0 and first is None:
            first = x[k]
        print("first", first)
    log.info("first is %s", first)
    return np.sum(x) if first is None else first * 2.0


def changed_later(x):
    y = x * 2.0
    rows = [1, 2]
    print(y, rows, end=" ")
    log.info("%s %s", y, rows)
    message = f"{y} {rows}"
    y[0] = 100.0
    rows.append(3)
    print(y, rows, message)
    return np.sum(y) + x[0]


class Counter:
    calls = 0

    def loss(self, x):
        self.calls += 1
        print("call", self.calls)
        log.info("call %d: %.2f", self.calls, x[0])
        return np.sum(x) * self.calls


counted = Counter().loss


def fails(x):
    print("before", x[0])
    log.info("before %.2f", x[0])
    if x[0] > 1.0:
        raise ValueError(f"too large: {x[0]:.2f}")
    print("after")
    return np.sum(x)


def asserted(x):
    print("asserted")
    assert x[0] < 1.0, f"{x[0]:.1f} is too much"
    return np.sum(x)


def on_tape(x):
    print("start", x[0])
    LAST[float(x[0] > 1.0)] = f"{x[0]:.1f}"
    names = {f"{v:.2f}": v for v in x}
    log.info("names %s, first %.3f", sorted(names), x[0])
    return sum(names.values())


def beyond(x):
    """A check of the program fails behind the first lines, and the call goes to the tape."""
    best = None
    for k in range(len(x)):
        print("look at", k)
        if x[k] > 2.0:
            best = x[k]
    log.info("best %s", best)
    total = np.sum(x)
    try:
        total = total + best
    except TypeError:
        print("nothing found")
    log.info("done %.2f", total)
    return total


def beyond_later(x):
    """The first calls take a fast path, and the third one uses None."""
    best = None
    for k in range(len(x)):
        print("look at", k)
        if x[k] < 1.0:
            best = x[k]
    print("found", best)
    return np.sum(x) * best


def in_try(x):
    try:
        log.info("in try %.2f", x[0])
        y = x[0] * 2.0
    except OverflowError:
        y = x[1]
    return y


def change_in_try(k):
    log.handlers[:] = [[OUT], [OUT], [OUT, Raising()], [OUT]][k]


def own_handler(x):
    own = logging.StreamHandler(sys.stdout)
    log.addHandler(own)
    log.info("twice")
    log.removeHandler(own)
    return np.sum(x)


PAPER = io.StringIO()


def to_files(x):
    own = io.StringIO()
    print("to own", len(x), file=own)
    print(f"{x[0]:.2f}", x, file=PAPER)
    return np.sum(x) * len(own.getvalue())


def change_to_files(k):
    print(PAPER.getvalue())


def to_own_file(x):
    own = io.StringIO()
    print("to own", x[0], file=own)
    print(own.getvalue())
    return np.sum(x)


class Tee:
    def __init__(self):
        self.lines = []

    def write(self, line):
        self.lines.append(line)


TEE = Tee()


def to_object(x):
    print(x[0], file=TEE)
    return np.sum(x) * len(TEE.lines)


def change_to_object(k):
    print(TEE.lines)


def written(x):
    sys.stdout.write(f"write {x[0]:.2f}\n")
    return np.sum(x)


FUNCTIONS = [to_files, to_own_file, to_object, written, levels, disabled, templates, objects, padded, handlers, raising,
             formatter, adapter, exception, of_module, places, warned, warned_as_error, caught, redirected, printed,
             options, loops, found, changed_later, counted, fails, on_tape, beyond, beyond_later, in_try, own_handler]


def main(mode):
    if mode != "plain":
        import fad
        warnings.showwarning = shown(fad.FallbackWarning, warnings.showwarning)
    for f in FUNCTIONS:
        log.handlers[:], log.propagate, OUT.stream = [OUT], False, sys.stdout
        log.setLevel(logging.INFO)
        logging.root.handlers[:] = [OUT]
        OUT.setFormatter(logging.Formatter(PLAIN))
        np.set_printoptions(precision=8)
        warnings.resetwarnings()
        call = f if mode == "plain" else fad.value_and_grad(f, compile=mode)
        print("===", f.__name__)
        for k in range(4):
            globals().get(f"change_{f.__name__}", lambda k: None)(k)
            print("call", k)
            try:
                call(X * [1.0, 1.0, 2.0, 1.5][k])
            except Exception as error:
                kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
                print("raised", kind.__name__, "" if kind is TypeError else error)


def shown(kind, show):
    """Shows warnings as Python does, but for those of fad's."""
    return lambda message, category, *rest, **kwargs: (
        None if issubclass(category, kind) else print(category.__name__, message, *rest[1:2]))


if __name__ == "__main__":
    if sys.argv[1] == "plain":
        warnings.showwarning = shown(type(None), None)
    main(sys.argv[1])
