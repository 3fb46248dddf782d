"""What is said of attributes and operations that traced values do not have."""
from typing import Any

from ..ops.face import METHODS, PROPERTIES
from ..util.errors import ConcreteValueError, MissingAttributeError, OperandError
from ..util.nearest import nearest


def missing_attribute(x: Any, name: str) -> AttributeError:
    """The error of x.name, where a traced x has no attribute of this name."""
    kind = "array" if x.ndim else "number"
    if name.startswith("__"):                                 # what Python and libraries look for: no answer but yes or no is read
        return AttributeError(f"a traced {kind} has no attribute {name!r}")
    meant = nearest(name, [*METHODS, *PROPERTIES])
    if name in dir(x):
        return MissingAttributeError(f"a traced {kind} has no attribute {name!r}", why="its value is not known while the function is traced",
                                     do="use NumPy's functions and methods of which fad has a record, or ask before the call")
    return MissingAttributeError(f"a traced {kind} has no attribute {name!r}", why="NumPy's arrays have none of this name either",
                                 do=f"did you mean {meant!r}?" if meant else "use NumPy's functions and methods")


def times_text(text: Any) -> OperandError:
    """The error of a product of a text and what is no int."""
    return OperandError(f"an array is multiplied by {text!r:.40}", why="only an int says how many times a text is repeated",
                        do="look for a name that holds a text there, and not a number")


def pickled(x: Any) -> ConcreteValueError:
    """The error of a pickle or another copy of an object that holds x."""
    return ConcreteValueError(f"a copy or a text was made of {x.describe()} as Python makes them of objects (copy, pickle)",
                              why="it has no value while the function is traced", do="copy arrays by x.copy(), and pickle them outside the function")
