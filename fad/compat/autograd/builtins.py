"""autograd.builtins: Python's own containers and questions, which fad differentiates and answers as they are.

fad puts no container into a box, so no container is an instance of the classes of boxes.
"""
from builtins import dict as dict
from builtins import isinstance as isinstance
from builtins import list as list
from builtins import tuple as tuple
from builtins import type as type

from .tracer import Box as DictBox
from .tracer import Box as ListBox
from .tracer import Box as SequenceBox
from .tracer import Box as TupleBox

__all__ = ["DictBox", "ListBox", "SequenceBox", "TupleBox", "dict", "isinstance", "list", "tuple", "type"]
