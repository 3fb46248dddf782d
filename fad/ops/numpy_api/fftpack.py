"""scipy.fftpack, the older package beside scipy.fft: other names of arguments, inverses of cosine transforms without a
scale, and real spectra in one real array: y(0), Re y(1), Im y(1), Re y(2), ..."""
from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, Axes, Extent
from ..kinds import is_complex, shape_of
from ..override import BY_NAME, override
from .arguments import fixed, one_axis, rank
from .cosine import INVERSE
from .fft import checked_length, of_length, signal, swapped_last

_SAMPLES = {"fft": ("np.imag(fftpack.fft(x, 6, axis=0))",), "ifft": ("np.real(fftpack.ifft(v))",),
            "fft2": ("np.real(fftpack.fft2(x))",), "ifftn": ("np.real(fftpack.ifftn(x, (2, 3)))",),
            "dct": ("fftpack.dct(x, 3)",), "idct": ("fftpack.idct(v)",), "idst": ("fftpack.idst(x, 3, axis=0)",),
            "dctn": ("fftpack.dctn(x, norm='ortho')",), "idctn": ("fftpack.idctn(x)",)}


def _complex(name: str) -> None:
    transform = BY_NAME[f"scipy.fft.{name}"].call

    @override(f"scipy.fftpack.{name}", samples=_SAMPLES.get(name, ()))
    def call(x: ArrayLike, n: object = None, axis: int = -1, overwrite_x: bool = False) -> AnyArray:
        return transform(x, n, axis)


def _complex_axes(name: str, default: Axes) -> None:
    transform = BY_NAME[f"scipy.fft.{name}"].call

    @override(f"scipy.fftpack.{name}", samples=_SAMPLES.get(name, ()))
    def call(x: ArrayLike, shape: object = None, axes: Axes = default, overwrite_x: bool = False) -> AnyArray:
        return transform(x, shape, axes)


def _cosine(name: str) -> None:
    """dct or dst; an inverse is the transform of the inverse type."""
    of_type = INVERSE if name.startswith("i") else {}
    one, several = (BY_NAME[f"scipy.fft.{name.removeprefix('i')}{n}"].call for n in ("", "n"))

    @override(f"scipy.fftpack.{name}", samples=_SAMPLES.get(name, ()))
    def along(x: ArrayLike, type: int = 2, n: object = None, axis: int = -1, norm: object = None,
              overwrite_x: bool = False) -> AnyArray:
        return one(x, of_type.get(type, type), n, axis, norm)

    @override(f"scipy.fftpack.{name}n", samples=_SAMPLES.get(f"{name}n", ()))
    def along_axes(x: ArrayLike, type: int = 2, shape: object = None, axes: Axes = None, norm: object = None,
                   overwrite_x: bool = False) -> AnyArray:
        return several(x, of_type.get(type, type), shape, axes, norm)


for _name in ("fft", "ifft"):
    _complex(_name)
    _complex_axes(f"{_name}2", (-2, -1))
    _complex_axes(f"{_name}n", None)
for _name in ("dct", "idct", "dst", "idst"):
    _cosine(_name)


@override("scipy.fftpack.rfft", samples=("fftpack.rfft(x)", "fftpack.rfft(x, 7, axis=0)", "fftpack.rfft(v, 1)"))
def rfft(x: ArrayLike, n: "Extent | None" = None, axis: int = -1, overwrite_x: bool = False) -> AnyArray:
    """The spectrum of real data in one real array."""
    x = signal(x)
    _refuse_complex(x)
    ax = one_axis(axis, rank(x))
    n = checked_length(n, shape_of(x)[ax])
    y = swapped_last(BY_NAME["scipy.fft.rfft"].call(x, n, ax), ax)
    real, imag = registry["real"](y), registry["imag"](y)
    pairs = BY_NAME["numpy.stack"].call([real[..., 1:], imag[..., 1:]], axis=-1)
    rest = registry["reshape"](pairs, *shape_of(y)[:-1], 2 * (shape_of(y)[-1] - 1))
    # of an even length the last entry is real
    return swapped_last(_joined(real[..., :1], rest[..., :n - 1]), ax)


@override("scipy.fftpack.irfft", samples=("fftpack.irfft(x)", "fftpack.irfft(x, 7, axis=0)"))
def irfft(x: ArrayLike, n: "Extent | None" = None, axis: int = -1, overwrite_x: bool = False) -> AnyArray:
    """The real data whose spectrum rfft gives."""
    x = signal(x)
    _refuse_complex(x)
    ax = one_axis(axis, rank(x))
    n = fixed(checked_length(n, shape_of(x)[ax]), "the length of a real spectrum")
    x = of_length(of_length(swapped_last(x, ax), n), n + 1 - n % 2)   # of an even length the last entry is real
    pairs = registry["reshape"](x[..., 1:], *shape_of(x)[:-1], n // 2, 2)
    half = registry["make_complex"](_joined(x[..., :1], pairs[..., 0]), _joined(x[..., :1] * 0.0, pairs[..., 1]))
    return swapped_last(BY_NAME["scipy.fft.irfft"].call(half, n), ax)


def _joined(*xs: AnyArray) -> AnyArray:
    return registry["concatenate"](*xs, axis=rank(xs[0]) - 1)


def _refuse_complex(x: AnyArray) -> None:
    if is_complex(x):
        raise TypeError("x must be a real sequence")
