"""fad.scipy: SciPy's functions that take derivatives, with fad's."""
from . import optimize as optimize
