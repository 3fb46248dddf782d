"""autograd.scipy: the names of SciPy's subpackages, which take traced arrays too."""
from . import integrate as integrate
from . import linalg as linalg
from . import signal as signal
from . import special as special
from . import stats as stats
