"""Functions of Python's own library that are functions of their arguments alone, and the fate of all others.

    function                             its result is                             examples
    known to be pure (PURE)              a constant of the program                 re.sub, itertools.product, Fraction
    a question (CLOCKS, QUESTIONS)       asked anew before each call (percall.py)  time.perf_counter, os.getpid
    anything else                        left to the tape                          open, subprocess.run, queue.get

A question may be asked once more without any effect, so it is asked while tracing, too, for the type of its result. All
that belongs to the tape is not called while tracing.
"""
import builtins
import datetime
import os
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

from ...util.own import owner_of
from ...util.where import is_captured, module_name
from .bytecode import global_names, imported_modules, names_used
from .settings import is_setting

CLOCKS = {"time", "secrets", "uuid", "platform", "resource"}  # modules all of whose functions may be asked at any time
QUESTIONS = {
    "os": {"urandom", "getrandom", "times", "getloadavg", "getpid", "getppid", "getuid", "cpu_count", "getcwd",
           "getenv", "listdir"},
    "sys": {"getrefcount", "getallocatedblocks"},
    "gc": {"get_count", "get_stats"},
    "threading": {"get_ident", "get_native_id", "active_count", "stack_size"},
    "locale": {"getlocale", "localeconv"},
    **dict.fromkeys(
        ("posixpath", "ntpath", "genericpath"),
        {"abspath", "exists", "expanduser", "expandvars", "getatime", "getctime", "getmtime", "getsize", "isdir",
         "isfile", "islink", "lexists", "realpath", "samefile"},
    ),
    **dict.fromkeys(
        ("numpy", "scipy"), {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "loadmat", "mmread"}
    ),
}
# modules of Python's own library whose functions say the same of the same arguments, or tell people something (logging)
PURE = {
    "abc", "argparse", "array", "ast", "base64", "binascii", "bisect", "builtins", "calendar", "cmath",
    "collections", "collections_abc", "colorsys", "contextlib", "contextvars", "copy", "copyreg", "dataclasses",
    "datetime", "decimal", "difflib", "dis", "enum", "fractions", "functools", "genericpath", "graphlib", "hashlib",
    "heapq", "hmac", "html", "inspect", "itertools", "json", "keyword", "linecache", "logging", "math", "ntpath",
    "numbers", "operator", "posixpath", "pprint", "random", "re", "reprlib", "shlex", "sre", "statistics", "string",
    "struct", "textwrap", "threading", "traceback", "types", "typing", "unicodedata", "warnings", "weakref",
    "weakrefset", "xml", "zlib", "zoneinfo",
}
_ALIASES = {
    "posix": "os",
    "nt": "os",
    "_io": "io",
    "_socket": "socket",
    "_sqlite3": "sqlite3",
    "_csv": "csv",
    "_pickle": "pickle",
    "_uuid": "uuid",
    "_locale": "locale",
    "_thread": "threading",
    "_pydatetime": "datetime",
    "_pydecimal": "decimal",
    "_decimal": "decimal",                                    # of Python 3.13
}
_OF_PATHS = {"read_text", "read_bytes", "write_text", "write_bytes", "open", "exists", "is_file", "is_dir",
             "stat", "iterdir", "glob", "rglob", "unlink", "mkdir", "touch"}
DATES = {"now", "today", "utcnow"}
_EFFECTS = {  # of modules that have functions of other kinds, too
    "json": {"load", "dump"},
    "configparser": {"read", "read_file", "readfp", "write"},
}
_KNOWN = {
    "fspath", "fsencode", "fsdecode", "loads", "dumps", "strptime", "StringIO", "BytesIO", "import_module",
}  # of their arguments alone
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)
_SHARED = {"decimal": {"getcontext", "localcontext"}, "contextvars": {"copy_context"}, "logging": {"getLogger"},
           "threading": {"enumerate"}, "gc": {"isenabled"}, "importlib": {"import_module"}}
_BUILTINS = {"open", "input", "breakpoint", "exec"}
_GOING_ON = {"hashlib", "zlib", "hmac"}                       # modules of objects whose methods change what nobody sees
_ASKING = {"digest", "hexdigest", "copy"}                     # those that do not


def module_of(f: object) -> str:
    """The module that a function, or the class of a method's object, stands in."""
    owner = owner_of(f)
    if owner is None or isinstance(owner, (type, ModuleType)):
        found = owner.__name__ if isinstance(owner, ModuleType) else module_name(owner or f)
    else:
        found = module_name(type(owner))
    root = found.partition(".")[0]
    return _ALIASES.get(root, root)


def tells_today(x: object) -> bool:
    """Whether x is a class that has the methods named in DATES."""
    return isinstance(x, type) and module_name(x) == "datetime" and issubclass(x, datetime.date)


def is_question(f: object) -> bool:
    """Whether f may be asked at any time, and gives another thing each time."""
    if not isinstance(f, _FUNCTIONS):
        return False
    name, module = getattr(f, "__name__", ""), module_of(f)
    owner = owner_of(f)
    if isinstance(owner, type) and module == "datetime":
        return issubclass(owner, (datetime.date, datetime.time)) and name in DATES
    if isinstance(f, type) or name in _KNOWN or (owner is not None and not isinstance(owner, ModuleType)):
        return False
    return module in CLOCKS or name in QUESTIONS.get(module, ())


def unseen_calls(f: FunctionType) -> list:
    """The functions that f may call, by the names in its code, that give what nobody knows: for code that is not
    rewritten.
    """
    names, code = names_used(f.__code__), f.__code__
    cells = dict(zip(code.co_freevars, f.__closure__ or ()))
    known = {**vars(builtins), **f.__globals__, **{n: c.cell_contents for n, c in cells.items() if c != CellType()}}
    found = [known[n] for n in global_names(code) | imported_modules(code) | cells.keys() if n in known]
    for _ in range(2):  # np.random.rand is two names away
        spaces = [x for x in found if isinstance(x, (ModuleType, type))]
        found += [getattr(x, n, None) for x in spaces for n in names if n in vars(x)]
    return [x for x in found if callable(x) and (is_question(x) or is_effect(x))]


def is_shared(f: object) -> bool:
    """Whether f hands out what all share, such as a context of decimal numbers: for code that is not rewritten."""
    return isinstance(f, (FunctionType, BuiltinFunctionType)) and (f.__name__ in _SHARED.get(module_of(f), ()))


def goes_on_unseen(owner: object) -> bool:
    """Whether an object is a hash, a compressor or the like: what it has been given does not show."""
    return module_name(type(owner)).partition(".")[0].lstrip("_") in _GOING_ON


def is_effect(f: object) -> bool:
    """Whether a call of f may change something outside, use up what it reads, or say another thing at each call.

    Nothing of Python's own library is taken for a function of its arguments alone, but what is known to be one.
    """
    if not isinstance(f, _FUNCTIONS):
        return False
    name, module = getattr(f, "__name__", ""), module_of(f)
    owner = owner_of(f)
    code = None if isinstance(f, type) else getattr(getattr(f, "__func__", f), "__code__", None)
    is_users = isinstance(code, CodeType) and is_captured(code.co_filename)
    if isinstance(owner, type(os.environ)) or name in _KNOWN or is_users:
        return False
    if module == "pathlib":
        return name in _OF_PATHS
    if name == "copy_context":
        return True
    if module in _EFFECTS:
        return name in _EFFECTS[module]
    if module == "builtins":
        return name in _BUILTINS and isinstance(owner, ModuleType)
    if goes_on_unseen(owner):
        return name not in _ASKING
    is_pure = module in PURE or module.lstrip("_") in PURE or is_setting(f)
    return module in sys.stdlib_module_names and not is_pure and not _is_made_plainly(f)


def _is_made_plainly(f: Callable) -> bool:
    """Whether f is a class of Python's own library that only holds what it is given."""
    return isinstance(f, type) and (
        issubclass(f, (BaseException, os.PathLike)) or module_name(f) in ("io", "_io", "queue")
    )
