"""What lets a test's function compute something else under fad than in plain Python, so that a judge has a defect to
see."""
from fad.ir import stack


def is_traced():
    """Whether a program is being built; what a traced value looks like does not tell, for its text is that of an
    array."""
    return bool(stack.builders())
