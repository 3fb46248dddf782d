"""autograd.builtins: Python's own containers and questions, which fad differentiates and answers as they are."""
from builtins import dict as dict
from builtins import isinstance as isinstance
from builtins import list as list
from builtins import tuple as tuple
from builtins import type as type
