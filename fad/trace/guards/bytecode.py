"""Facts about a function that its bytecode tells."""
import dis
import sys
from types import CodeType

from ...util.codes import once_for_each_code
from ..frontend.origin import codes_in


def _with_inner(code: CodeType) -> list:
    """The code, and that of all functions within it."""
    return [code, *codes_in(code)]


def names_used(code: CodeType) -> set:
    """Names of globals and attributes that the code (and the functions within it) may read, without those of tools."""
    return {name for name in _names_in(code) if not _is_tools(name)}


_ASKED_FOR = dict.fromkeys(("fields", "asdict", "astuple", "replace", "is_dataclass"), "__dataclass_fields__")


def asked_for(names: set) -> set:
    """Attributes that functions of these names look for, which are Python's own: code names the functions alone."""
    return {_ASKED_FOR[name] for name in names & _ASKED_FOR.keys()}


def names_of_tools(code: CodeType) -> set:
    """Names that no user can write: a tool has put them into the code, as pytest does (@pytest_ar) where a test
    asserts.

    The tool keeps notes for people there. The function neither reads nor changes them.
    """
    return {name for name in _names_in(code) if _is_tools(name)}


def _names_in(code: CodeType) -> set:
    return {name for c in _with_inner(code) for name in c.co_names}


def _is_tools(name: str) -> bool:
    return not name.replace(".", "").isidentifier()           # `import os.path` has a name with a dot


def texts_in(code: CodeType) -> set:
    """Texts of the code (and of the functions within it) that may be names: getattr(o, "rate")."""
    return {x for c in _with_inner(code) for x in c.co_consts if isinstance(x, str) and x.isidentifier()}


_READ_GLOBALS = {
    dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if name in dis.opmap
}
_SHIFTED = dis.opmap["LOAD_GLOBAL"] if sys.version_info >= (3, 11) else None  # its last bit says something else there


@once_for_each_code
def global_names(code: CodeType) -> frozenset:
    """Names that the code (and the functions within it) looks up among the global ones, without those of tools."""
    found, extended = set(), 0
    for c in _with_inner(code):
        for operation, argument in zip(c.co_code[::2], c.co_code[1::2]):
            argument |= extended
            extended = argument << 8 if operation == dis.EXTENDED_ARG else 0
            if operation in _READ_GLOBALS:
                found.add(c.co_names[argument >> (operation == _SHIFTED)])
    return frozenset(name for name in found if not _is_tools(name))


def _arguments_of(operations: set, code: CodeType) -> set:
    """The arguments of these operations of the code and of the functions within it."""
    found = [c for c in _with_inner(code) if not operations.isdisjoint(c.co_code[::2])]
    return {i.argval for c in found for i in dis.get_instructions(c) if i.opcode in operations}


_IMPORT = dis.opmap["IMPORT_NAME"]
_FORMATS = {dis.opmap[name] for name in ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC") if name in dis.opmap}
_TEXTS = {"str", "repr", "format", "ascii", "array2string", "array_str", "array_repr", "join"}


def imported_modules(code: CodeType) -> set:
    """Modules that the code (or a function within it) imports, as the text names them."""
    return _arguments_of({_IMPORT}, code)


def runs_texts(code: CodeType) -> bool:
    """Whether the code (or a function within it) may call Python's eval, exec or __import__. A method of the user's may
    be called eval, too.
    """
    used = names_used(code) | texts_in(code)
    found = global_names(code) if used.isdisjoint(("builtins", "__builtins__")) else used
    return not found.isdisjoint(("eval", "exec", "__import__"))


def makes_texts(code: CodeType) -> bool:
    """Whether the code (or a function within it) makes texts of values."""
    return any(
        not _FORMATS.isdisjoint(c.co_code[::2])
        or not _TEXTS.isdisjoint(c.co_names)
        or any("%" in x for x in c.co_consts if isinstance(x, str))
        for c in _with_inner(code)
    )


_IS = dis.opmap["IS_OP"]


def asks_identity(code: CodeType) -> bool:
    """Whether the code (or a function within it) has `is` in it."""
    return any(_IS in c.co_code[::2] for c in _with_inner(code))


_ASSIGN_GLOBALS = {dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]}


def assigned_globals(code: CodeType) -> set:
    """Global names that the code (or a function within it) assigns to."""
    return _arguments_of(_ASSIGN_GLOBALS, code)


_REBIND = ("STORE_DEREF", "DELETE_DEREF")


@once_for_each_code
def rebound(code: CodeType) -> frozenset:
    """Variables of functions around that the code (or a function within it) binds."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname in _REBIND} if code.co_freevars else set()
    inner = [rebound(c) for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(own.union(*inner) & set(code.co_freevars))


_MATCHES = {
    dis.opmap[name] for name in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH", "JUMP_IF_NOT_EXC_MATCH") if name in dis.opmap
}
_BARE = bytes([dis.opmap.get(name, 0) for name in ("PUSH_EXC_INFO", "POP_TOP")])     # how `except:` begins
_BARE_OF_3_10 = bytes([dis.opmap["POP_TOP"]] * 3)             # where SETUP_FINALLY leads


def _handlers_of_3_10(code: CodeType) -> list:
    """The places where the handlers of a code begin, counted in instructions; later versions of Python have tables of
    them.
    """
    if "PUSH_EXC_INFO" in dis.opmap:
        return []
    return [i.argval // 2 for i in dis.get_instructions(code) if i.opname == "SETUP_FINALLY"]


def handles_errors(code: CodeType) -> bool:
    """Whether the code (or a function within it) has a try with handlers."""
    return any(
        not _MATCHES.isdisjoint(c.co_code[::2])
        or _BARE in c.co_code[::2]
        or any(c.co_code[::2][k:].startswith(_BARE_OF_3_10) for k in _handlers_of_3_10(c))
        for c in _with_inner(code)
    )
