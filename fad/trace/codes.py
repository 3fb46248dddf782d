"""What can be told of a function by its byte code."""
import dis
from types import CodeType


def names_used(code: CodeType) -> set:
    """Names of globals and attributes that the code (and the functions within it) may read."""
    return set(code.co_names).union(*[names_used(c) for c in code.co_consts if isinstance(c, CodeType)])


_ASSIGN_GLOBALS = {dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]}


def assigned_globals(code: CodeType) -> set:
    """Global names that the code (or a function within it) assigns to."""
    names = set()
    if not _ASSIGN_GLOBALS.isdisjoint(code.co_code[::2]):     # seldom so: to take all instructions apart takes long
        names = {i.argval for i in dis.get_instructions(code) if i.opcode in _ASSIGN_GLOBALS}
    return names.union(*[assigned_globals(c) for c in code.co_consts if isinstance(c, CodeType)])


_MATCHES = {dis.opmap[name] for name in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH", "JUMP_IF_NOT_EXC_MATCH") if name in dis.opmap}
_BARE = bytes([dis.opmap.get(name, 0) for name in ("PUSH_EXC_INFO", "POP_TOP")])     # how `except:` begins


def handles_errors(code: CodeType) -> bool:
    """Whether the code (or a function within it) has a try with handlers."""
    operations = code.co_code[::2]
    return not _MATCHES.isdisjoint(operations) or _BARE in operations or any(handles_errors(c) for c in code.co_consts if isinstance(c, CodeType))
