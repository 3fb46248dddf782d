"""Source text and bytecode, rewritten: what a function says, as calls of the runtime.

    origin      where a function's text is                 typed      text that was typed at a prompt
    syntax      rewriting: control flow becomes calls      access     reads, writes and operators become calls
    lower       jumps become flags                         liveness   which names matter where
    nodes       questions about syntax trees               functions  kinds of functions
    expressions   rewriting of expressions
"""
