"""Source that was typed at Python's prompt, given to `python -c`, or sent by another process with a function. No file
has it, but the prompt's history, the command line or the pickle does.

A text is only proposed here: whether a function was compiled from it, origin.py tells by its code. Newer prompts and
notebooks keep their own texts.
"""
import ast
import codeop
import functools
import sys
from collections.abc import Iterator
from types import CodeType

from ...util.cached import drop_oldest
from ...util.interrupts import reraise_interrupt

PROMPT, COMMAND = "<stdin>", "<string>"
INSIDE = (" ", "\t", "else", "elif", "except", "finally", ")", "]", "}")  # how lines begin that go on with a statement
MOST_LINES = 500                                             # of one statement
MOST_SENT = 100
SENT: dict[str, None] = {}                                   # texts of other processes, the latest last


def typed_trees(code: CodeType) -> Iterator[ast.Module]:
    """The syntax trees of texts that code may be from, the latest first."""
    word = "lambda" if code.co_name == "<lambda>" else code.co_name
    for text in _history() if code.co_filename == PROMPT else _commands() if code.co_filename == COMMAND else ():
        if word in text:
            yield ast.parse(text)
    for text in reversed(tuple(SENT)):
        if word in text:
            tree = _parsed_once(text)
            if tree is not None:
                yield tree


def keep(text: str) -> None:
    """Remember a text that another process has sent."""
    SENT[text] = None
    drop_oldest(SENT, MOST_SENT)


def parsed(text: str) -> "ast.Module | None":
    """The syntax tree of a text, None where it is none of Python's."""
    try:
        return ast.parse(text)
    except SyntaxError as error:                              # a cell with magic commands, say
        reraise_interrupt(error)
        return None


_parsed_once = functools.lru_cache(maxsize=MOST_SENT)(parsed)


def _commands() -> Iterator[str]:
    """The text after `python -c`."""
    given = sys.orig_argv
    if "-c" in given[:-1]:
        text = given[given.index("-c") + 1]
        try:
            compile(text, COMMAND, "exec")
        except (SyntaxError, ValueError) as error:            # it is an argument of another program
            reraise_interrupt(error)
            return
        yield text


def _history() -> Iterator[str]:
    """The statements in the prompt's history. A line that was typed twice in a row is in it once: such a statement is
    not found.
    """
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(k) or "" for k in range(1, count + 1)]
    for start in reversed(range(count)):
        if not lines[start].startswith(INSIDE):
            text = _statement(lines[start:start + MOST_LINES])
            if text is not None:
                yield text


def _statement(lines: list) -> "str | None":
    """The statement that begins with the first of these lines, if one does."""
    end = 1
    while end <= len(lines):
        while end < len(lines) and lines[end].startswith(INSIDE):
            end += 1
        text = "\n".join(lines[:end]) + "\n"
        try:
            if codeop.compile_command(text + "\n") is not None:
                return text
        except (SyntaxError, ValueError, OverflowError) as error:         # what Python refused has made no function
            reraise_interrupt(error)
            return None
        end += 1                                              # a decorator, or a text or bracket over several lines
    return None
