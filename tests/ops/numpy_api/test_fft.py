"""numpy.fft and scipy.fft, function by function: values, dtypes, derivatives."""
import numpy as np
import pytest
import scipy.fft

from .overrides_at import check_derivatives, check_value

NORMS = ("", ", norm='ortho'", ", norm='forward'")
SAME = [line for line in """
np.fft.fft(v)
np.fft.fft(z)
np.fft.fft(x, 3)
np.fft.fft(x, n=7, axis=0)
np.fft.ifft(z)
np.fft.ifft(x, axis=0)
np.fft.ifft(np.fft.fft(x))
np.fft.rfft(x)
np.fft.rfft(x, axis=0)
np.fft.rfft(x, 3)
np.fft.rfft(x, 7)
np.abs(np.fft.rfft(x, axis=1))
np.fft.irfft(z)
np.fft.irfft(x)
np.fft.irfft(z, 5)
np.fft.irfft(z, 9, axis=0)
np.fft.irfft(np.fft.rfft(v))
np.fft.hfft(z)
np.fft.hfft(z, 5)
np.fft.ihfft(x)
np.fft.ihfft(x, 3)
np.fft.fft2(x)
np.fft.ifft2(z)
np.fft.fft2(x, s=(2, 6))
np.fft.fft2(x, axes=(1, 0))
np.fft.fftn(x)
np.fft.fftn(x, axes=(0,))
np.fft.ifftn(z)
np.fft.ifftn(z, (2, 2), (0, 1))
np.fft.rfft2(x)
np.fft.rfft2(x, axes=(1, 0))
np.fft.irfft2(z)
np.fft.irfft2(z, s=(3, 5))
np.fft.rfftn(x)
np.fft.irfftn(z)
np.fft.irfftn(z, s=(2, 5), axes=(0, 1))
np.fft.fftshift(x)
np.fft.fftshift(x, axes=0)
np.fft.ifftshift(x)
np.fft.ifftshift(x, axes=(0, 1))
np.real(np.fft.fftshift(np.fft.fftn(x)))
""".splitlines() if line]
SCIPY = [f"scipy.fft.{name}(z)" for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "hfft", "irfft", "hfft2",
                                             "hfftn", "irfftn")]
SCIPY += [f"scipy.fft.{name}(x)" for name in ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn", "fftshift", "dctn",
                                              "idctn", "dstn", "idstn")]
COSINES = [f"scipy.fft.{name}(x, type={t}{norm})" for name in ("dct", "idct", "dst", "idst") for t in (1, 2, 3, 4)
           for norm in NORMS]
COSINES += ["scipy.fft.dct(z)", "scipy.fft.dct(x, n=6, axis=0)", "scipy.fft.dct(x, norm='ortho', orthogonalize=False)",
            "scipy.fft.dst(x, orthogonalize=True)", "scipy.fft.dctn(x, s=(2, 5), norm='ortho')"]


@pytest.mark.parametrize("expression", SAME + SCIPY + COSINES)
def test_value(expression):
    check_value(expression, scope={"scipy": scipy})


@pytest.mark.parametrize("norm", NORMS[1:])
@pytest.mark.parametrize("expression", [e for e in SAME if e.count("(") == 1])
def test_value_in_each_normalization(expression, norm):
    if "shift" not in expression:
        check_value(expression[:-1] + norm + ")")


@pytest.mark.parametrize("expression", SAME + ["np.fft.irfft(z, norm='ortho')", "np.fft.fft2(x, norm='forward')"])
def test_derivatives(expression):
    check_derivatives(expression)


@pytest.mark.parametrize("expression", COSINES[::3] + ["scipy.fft.hfftn(z)", "scipy.fft.ihfft2(x)"])
def test_derivatives_of_scipy(expression):
    check_derivatives(expression, scope={"scipy": scipy})


@pytest.mark.parametrize("dtype", (np.float32, np.complex64, np.int64))
@pytest.mark.parametrize("name", ("fft", "ifft", "irfft", "hfft"))
def test_dtypes_are_numpys(name, dtype):
    check_value(f"np.fft.{name}(q)", values={"q": np.arange(1, 7).astype(dtype)}, rtol=1e-5)


def test_frequencies():
    check_value("np.fft.fftfreq(5, d=v[0])")
    check_value("np.fft.rfftfreq(6, d=v[0])")
    check_derivatives("np.fft.fftfreq(4, d=v[0])")
