"""Samples of every composite: callables rng -> (args, params). On them its pullback is compared with what it is
written as."""
import numpy as np


def sample(*shapes, between=(-2.0, 2.0), **params):
    """A sample of arrays of these shapes (and other arguments as they are) with these parameters."""
    return lambda rng: (tuple([rng.uniform(*between, s) if isinstance(s, tuple) else s for s in shapes]), dict(params))


def picking(index, shape=(3, 4), **params):
    return lambda rng: ((rng.standard_normal(shape), np.array(index)), params)


def pooling(places, stride):
    return picking(places, (2, 4), kernel_size=(2,), stride=stride, padding=(0,), dilation=(1,), ceil_mode=False)


def means(*shape, divisor_override=None, **options):
    return sample(shape, divisor_override=divisor_override, **options)


def losses(low=-2.0, high=2.0, others=(), **params):
    return [sample((3, 4), (3, 4), *others, between=(low, high), reduction=r, **params)
            for r in ("mean", "sum", "none")]


def likelihood(weight, ignore, reduction):
    return lambda rng: ((rng.uniform(-2.0, -0.1, (5, 3)), rng.integers(0, 3, 5),
                         rng.uniform(0.5, 1.5, 3) if weight else None), {"ignore": ignore, "reduction": reduction})


def windows(rank, stride=1, padding=0, dilation=1, groups=1):
    return {"stride": (stride,) * rank, "padding": (padding,) * rank, "dilation": (dilation,) * rank, "groups": groups}


def recurrence(gates, parts):
    def draw(bias, backwards):
        return lambda rng: (tuple([rng.uniform(-1.0, 1.0, shape) for shape in
                                   ((3, 2, gates * 4), (parts, 2, 4), (gates * 4, 4))])
                            + (rng.uniform(-1.0, 1.0, gates * 4) if bias else None,), {"backwards": backwards})
    return [draw(True, False), draw(False, True)]


ONCE = [picking([[0, 2], [3, 1]], dim=1), picking([[0, 2, 1, 1], [2, 0, 0, 2]], dim=0)]
PARTS = [picking([2, 0, 2], (2, 3, 2), dim=1), picking([[3, 1], [1, 1]], (4, 3), dim=0)]


def reduced(**params):
    return [sample((3, 4), axes=(0, 1), keep=False, **params), sample((3, 4), axes=(1,), keep=True, **params),
            sample((2, 3, 4), axes=(0, 2), keep=False, **params)]


SAMPLES = {
    **{name: reduced() for name in ("mean", "logsumexp", "norm")},
    **{name: reduced(correction=1) for name in ("var", "std")},
    **{name: [sample((3, 4), axis=1), sample((3, 4), axis=0)] for name in ("softmax", "log_softmax")},
    **{name: [sample((3, 4))] for name in ("relu", "frac", "gelu", "gelu_tanh", "silu")},
    "rsqrt": [sample((3, 4), between=(0.3, 2.0))],
    "addmm": [sample((4,), (2, 3), (3, 4), beta=1, alpha=1), sample((2, 4), (2, 3), (3, 4), beta=0.5, alpha=2.0)],
    "nan_to_num": [sample((3, 4), nan=0.0, high=1e300, low=-1e300)],
    "trace": [sample((3, 3)), sample((2, 4))],
    "stack": [sample((3, 4), (3, 4), axis=1), sample((2,), (2,), (2,), axis=0)],
    "repeat": [sample((3,), sizes=(2,)), sample((3, 2), sizes=(2, 1, 3))],
    "leaky_relu": [sample((3, 4), slope=0.1)],
    "hardtanh": [sample((3, 4), low=-1.0, high=0.5)],
    "elu": [sample((3, 4), alpha=1.3, scale=1.1)],
    "softplus": [sample((3, 4), beta=1.7, threshold=20.0), sample((3, 4), beta=1.7, threshold=1.0)],
    "mse_loss": losses(),
    "smooth_l1_loss": losses(beta=0.7),
    "huber_loss": losses(delta=0.7),
    "binary_cross_entropy": losses(0.1, 0.9, (None,)) + losses(0.1, 0.9, ((3, 4),)),
    "binary_cross_entropy_with_logits": losses(others=(None, None)) + losses(low=0.1, others=((3, 4), (4,))),
    "nll_loss": [likelihood(weight, ignore, reduction) for weight in (False, True) for ignore in (None, -100, 1)
                 for reduction in ("mean", "sum", "none")],
    "layer_norm": [sample((3, 4), (4,), (4,), axes=(1,), shape=(4,), eps=1e-5),
                   sample((3, 4), None, None, axes=(0, 1), shape=(3, 4), eps=1e-3)],
    "batch_norm": [sample((5, 3, 2), (3,), (3,), axes=(0, 2), shape=(1, 3, 1), eps=1e-5)],
    "group_norm": [sample((2, 4, 3), (4,), (4,), num_groups=2, eps=1e-5),
                   sample((3, 2), None, None, num_groups=1, eps=1e-3)],
    "means": [means(2, 5, kernel_size=(2,), stride=(1,), padding=(0,), ceil_mode=False, count_include_pad=True),
              means(2, 5, kernel_size=(2,), stride=(), padding=(0,), ceil_mode=False, count_include_pad=True,
                    divisor_override=3),
              *[means(2, 5, 4, kernel_size=(3, 2), stride=(2, 2), padding=(1, 0), ceil_mode=True, count_include_pad=c)
                for c in (True, False)]],
    "convolution": [sample((2, 2, 6), (3, 2, 3), (3,), transposed=False, out=(4,), **windows(1)),
                    sample((2, 2, 7, 6), (4, 1, 2, 3), None, transposed=False, out=(3, 2), **windows(2, 2, 1, 2, 2)),
                    sample((2, 4, 7), (4, 2, 3), (4,), transposed=False, out=(5,), **windows(1, 1, 1, 2, 2)),
                    sample((1, 2, 4, 5), (3, 2, 3, 2), None, transposed=False, out=(4, 4), stride=(1, 1),
                           padding=(1, 0), dilation=(1, 1), groups=1),
                    sample((1, 4, 3), (4, 2, 2), (4,), transposed=True, out=(5,), **windows(1, 2, 1, 2, 2)),
                    sample((1, 2, 3), (2, 2, 2), None, transposed=False, out=(1,), **windows(1))],
    "convolution_weight": [sample((2, 2, 6), (2, 3, 4), size=(3,), **windows(1)),
                           sample((1, 4, 5, 5), (1, 2, 2, 2), size=(2, 2), **windows(2, 2, 1, 2, 2))],
    "gathered": [picking([[1, 1, 3], [0, 2, 0]], dim=1), *ONCE],
    "in_order": ONCE,
    "foremost": ONCE,
    "chosen": [picking([1, 3, 0], dim=1, keepdim=False), picking([[1], [1], [2]], dim=1, keepdim=True)],
    "scattered": [lambda rng: ((rng.standard_normal((3, 4)), rng.standard_normal((2, 3)),
                                np.array([[1, 1, 3], [0, 2, 0]])), {"dim": 1})],
    **dict.fromkeys(("parts", "indexed", "rows"), PARTS),
    "pooled": [pooling([[1, 1, 2], [0, 2, 2]], (1,)), pooling([[0, 3], [1, 2]], ())],
    **{name: recurrence(1, 1) for name in ("rnn_tanh_layer", "rnn_relu_layer")},
    "lstm_layer": recurrence(4, 2),
    "gru_layer": recurrence(3, 1),
}
