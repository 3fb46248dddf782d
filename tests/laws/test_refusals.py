"""A law of every function that fad replaces: what NumPy or SciPy refuses, fad refuses, and says what, where, why and
what to do."""
import pytest

import fad
from fad.util.errors import CallError, FadError

from ..turns import in_turn
from . import keywords as kw
from .refusals import function_of, raised, wrong_calls
from .test_keywords import NAMES

pytestmark = pytest.mark.filterwarnings("ignore")
# taken by fad, and not by the original: a number is an array of one axis or an empty sum there, more axes are a stack,
# a real number of places is truncated as a frequency's count is
LENIENT = """
np.choose np.column_stack np.correlate np.fft.fftfreq np.fft.fftshift np.fft.ifftshift np.fft.irfftn np.fft.rfftfreq
np.fft.rfftn np.fromiter np.linalg.tensorinv np.nonzero np.piecewise np.polyder np.polyint np.putmask np.unravel_index
np.polynomial.chebyshev.chebvander2d np.polynomial.hermite.hermvander2d np.polynomial.hermite_e.hermevander2d
np.polynomial.laguerre.lagvander2d np.polynomial.legendre.legvander2d np.polynomial.polynomial.polyvander2d sfft.fftfreq
sfft.fftshift sfft.hfftn sfft.ifftshift sfft.ihfftn sfft.irfftn sfft.rfftfreq sfft.rfftn ndimage.affine_transform
ndimage.map_coordinates ndimage.maximum_filter ndimage.minimum_filter ndimage.shift ndimage.zoom signal.coherence
signal.csd signal.freqz distance.pdist la.convolution_matrix interpolate.bisplev""".split()
ROOTS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError)


@pytest.mark.parametrize("name", in_turn(NAMES, 1, count=6))
def test_what_the_original_refuses_is_refused_and_explained(name):
    for text in wrong_calls(name):
        f = function_of(text)
        if raised(f) is None:
            continue
        told = raised(fad.jit(f, fallback=False))
        if kw.short(name) in LENIENT and (told is None or text.startswith("np.piecewise")):
            continue
        assert isinstance(told, FadError) and isinstance(told, ROOTS), (text, told)
        assert "where: <program" in str(told) and "do: " in str(told), (text, told)
        assert "Tracer" not in str(told), (text, told)
        if isinstance(told, CallError):
            assert "<traced" not in str(told) and (told.why or text.startswith("np.meshgrid")
                                                   or not text.startswith("np.") or "argument" in told.what
                                                   or "None" in text), (text, told)


@pytest.mark.parametrize("name", in_turn(NAMES, count=6))
def test_wrong_numbers_and_names_of_arguments_are_type_errors(name):
    for text in list(wrong_calls(name))[:3]:
        f = function_of(text)
        if isinstance(raised(f), TypeError) and kw.short(name) not in LENIENT:
            assert isinstance(raised(fad.jit(f)), TypeError), text
