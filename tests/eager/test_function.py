"""autograd.Function: what ctx offers, in place, errors, double backward, under fad's transforms."""
import weakref

import numpy as np
import pytest

import fad
from fad.autograd import forward_ad
from fad.autograd.function import once_differentiable

from .support import close, leaf


class Scaled(fad.autograd.Function):
    """x ** power with a backward that is 100 / power times too large, so that one can see that it is used."""

    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        ctx.power = power
        return x ** power

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 100 * x ** (ctx.power - 1), None


class Pair(fad.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        return a * y + b, a * x + b


def test_two_outputs_and_double_backward():
    x, y = leaf(1, 2), leaf(3, 4)
    p, q = Pair.apply(x, y)
    assert p.grad_fn is q.grad_fn and p.grad_fn.name() == "PairBackward"
    (p.sum() + q.sum() * 2).backward()
    close(x.grad, [5, 6]), close(y.grad, [3, 4])
    assert fad.autograd.gradcheck(Pair.apply, (x, y)) and fad.autograd.gradgradcheck(Pair.apply, (x, y))


def test_dirty_inputs():
    class Double(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2
    x = leaf(1, 2)
    y = x * 1
    assert Double.apply(y) is y and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    close(x.grad, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Double.apply(x)
    base = x * 1
    Double.apply(base[:1])
    assert base.grad_fn.name() == "torch::autograd::CopySlices"


def test_wrong_answers_are_told():
    class Short(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 2, got 1\)"):
        Short.apply(leaf(1), leaf(2)).backward()

    class Wide(Short):
        @staticmethod
        def backward(ctx, g):
            return fad.ones(3), None
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        Wide.apply(leaf(1, 2), leaf(1, 2)).sum().backward()


def test_once_differentiable():
    class Square(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return 2 * x * g
    x, w = leaf(1, 2), leaf(3, 4)
    g, = fad.autograd.grad((Square.apply(x) * w).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_reentrant_to_any_depth():
    class Nested(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with fad.enable_grad():
                ctx.x = (x.detach() - 1).requires_grad_()
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x.item() >= 0:
                with fad.enable_grad():
                    Nested.apply(ctx.x).sum().backward()
            return g
    x = fad.tensor(500.0, requires_grad=True)
    Nested.apply(x).sum().backward()
    close(x.grad, 1.0)


def test_under_the_transforms_of_programs():
    close(fad.grad(lambda x: np.sum(Scaled.apply(x, 3)))(np.array([1.0, 2.0])), [100, 400])
    x = leaf(1, 2)
    fad.jit(lambda x: np.sum(Scaled.apply(x, 3)))(x).backward()
    close(x.grad, [100, 400])
    gx, gy = fad.grad(lambda x, y: np.sum(np.prod(np.stack(Pair.apply(x, y)), 0)),
                      (0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    close(gx, [15, 32]), close(gy, [7, 20])


class Doubled(fad.autograd.Function):
    """Twice and three times x. The second has no derivative, or backward asks which gradients there are."""

    @staticmethod
    def forward(ctx, x, marked):
        y = x * 2, x * 3
        if marked:
            ctx.mark_non_differentiable(y[1])
        else:
            ctx.set_materialize_grads(False)
        return y

    @staticmethod
    def backward(ctx, g, h):
        return (2 * g if h is None else 2 * g + 3 * h), None


@pytest.mark.filterwarnings("ignore")
def test_transforms_heed_what_ctx_was_told():
    x = fad.tensor([1.0, 2.0])
    for given in (x, x.numpy()):
        close(fad.grad(lambda x: sum(y.sum() for y in Doubled.apply(x, True)))(given), [2, 2])
        close(fad.jacobian(lambda x: Doubled.apply(x, True)[1])(given), np.zeros((2, 2)))
    f = lambda x: Doubled.apply(x, False)[0].sum()
    close(fad.grad(f)(x), [2, 2])
    with pytest.raises(fad.FadError, match="set_materialize_grads"):
        fad.grad(f)(x.numpy())


def made(forward, jvp=None, backward=lambda ctx, *gs: gs[0]):
    """A Function of these."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (fad.autograd.Function,), {**methods, **({"jvp": staticmethod(jvp)} if jvp else {})})


def pushed(function, pre=lambda x: x):
    with forward_ad.dual_level():
        return function.apply(pre(forward_ad.make_dual(fad.ones(3), fad.ones(3))))


def doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def with_constant(ctx, x):
    constant = x.clone()
    ctx.mark_non_differentiable(constant)
    return x.clone(), constant


@pytest.mark.parametrize("function, pre, message", [
    (made(doubled, lambda ctx, d: d), lambda x: x, "not modifying the forward mode gradients inplace"),
    (made(doubled, lambda ctx, d: d * 2), lambda x: x.clone(), "must modify the corresponding gradient inplace"),
    (made(lambda ctx, x: x[:2], lambda ctx, d: d[:2].clone()), lambda x: x, "the jvp is not returning a view"),
    (made(lambda ctx, x: x[:2], lambda ctx, d: d[:2].clone()[:]), lambda x: x,
     "not returning a view of the given grad input"),
    (made(lambda ctx, x: x[:2], lambda ctx, d: d[:2].clone()[:]), lambda x: x[:],
     "not returning a view of the same base"),
    (made(lambda ctx, x: x, lambda ctx, d: d), lambda x: x, "returning a view .or an input as-is. but the jvp is not"),
    (made(with_constant, lambda ctx, d: (d, d.clone())), lambda x: x,
     "You should return None at that position instead"),
    (made(lambda ctx, x: x * 2, lambda ctx, d: (d, d)), lambda x: x,
     "invalid number of forward gradients .expected 1 but got 2."),
    (made(lambda ctx, x: x * 2, lambda ctx, d: fad.ones(2)), lambda x: x, "forward gradient that has a different size"),
    (made(lambda ctx, x: x * 2, lambda ctx, d: 3), lambda x: x,
     "expected Variable or None .got int. for grad output 0"),
    (made(lambda ctx, x: x * 2), lambda x: x, "must implement the jvp function")])
def test_what_a_jvp_must_return(function, pre, message):
    with pytest.raises((RuntimeError, NotImplementedError), match=message):
        pushed(function, pre)


def test_jvp_in_place_keeps_the_tangent():
    with forward_ad.dual_level():
        t = fad.ones(3)
        x = forward_ad.make_dual(fad.ones(3), t)
        y = made(doubled, lambda ctx, d: d.mul_(2)).apply(x)
        assert y is x and forward_ad.unpack_dual(y).tangent is t
        close(t, [2, 2, 2])


def test_jvp_sees_what_was_saved_for_it():
    def forward(ctx, x, save):
        ctx.save_for_backward(x)
        if save:
            ctx.save_for_forward(x)
        return x.clone()

    def jvp(ctx, d, _):
        seen.append(len(ctx.saved_tensors))
        return d
    seen = []
    with forward_ad.dual_level():
        x = forward_ad.make_dual(fad.ones(3), fad.ones(3))
        made(forward, jvp).apply(x, True)
        made(forward, jvp).apply(x, False)
    assert seen == [1, 0]


class Bent(fad.autograd.Function):
    """x ** 2 and x + p with derivatives that are not theirs: 10 x and 5 in reverse mode, x ** 3 and 7 in forward mode.
    """

    @staticmethod
    def forward(x, p):
        return x ** 2, x + p

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        return g * 10 * x + 5 * h, None

    @staticmethod
    def jvp(ctx, d, none):
        x, = ctx.saved_tensors
        assert none is None or not np.any(none)
        return d * x ** 3, 7 * d


@pytest.mark.parametrize("kind", [np.array, fad.tensor])
def test_jvp_under_the_transforms_of_programs(kind):
    x, f = kind([2.0, 3.0]), lambda x: Bent.apply(x, 1.0)
    value, tangent = fad.jvp(f, (x,), (x,))
    close(value[0], [4, 9]), close(tangent[0], [16, 81]), close(tangent[1], [14, 21])
    close(fad.jacfwd(f)(x)[0], np.diag([8.0, 27.0]))
    close(fad.grad(lambda x: np.sum(f(x)[0]))(x), [20, 30])
    close(fad.jvp(fad.grad(lambda x: np.sum(f(x)[0])), (x,), (kind([1.0, 1.0]),))[1], [10, 10])
    with pytest.raises(RuntimeError, match="invalid number of forward gradients .expected 1 but got 2."):
        fad.jvp(made(lambda ctx, x: x * 2, lambda ctx, d: (d, d)).apply, (x,), (x,), fallback=False)


def test_values_within_derivatives_keep_the_rule():
    """A value that came with a derivative has the derivative that the Function gives it, at every order."""
    f, x = lambda x: Bent.apply(x, 1.0)[0], 2.0
    close(fad.grad(lambda x: fad.value_and_grad(f)(x)[0])(x), 20)
    close(fad.grad(lambda x: fad.jvp(f, (x,), (1.0,))[0])(x), 20)
    close(fad.jvp(lambda x: fad.value_and_grad(f)(x)[0], (x,), (1.0,))[1], 8)
    close(fad.jvp(lambda x: fad.jvp(f, (x,), (1.0,))[0], (x,), (1.0,))[1], 8)


def test_what_may_be_marked_dirty():
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        made(lambda ctx, x: (lambda y: (ctx.mark_dirty(y), y)[1])(x * 2)).apply(leaf(1) * 1)
    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        made(lambda ctx, x: (lambda y: (ctx.mark_dirty(y), y)[1])((x * 2)[:])).apply(leaf(1) * 1)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        made(doubled).apply(leaf(1, 2).split(1)[0])
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        made(doubled).apply(x[:])
    two = made(lambda ctx, x: (doubled(ctx, x), x + 1), backward=lambda ctx, g, h: g + h)
    with pytest.raises(RuntimeError, match="an input that is a view of another Tensor"):
        two.apply((x * 1)[:])


def test_outputs_that_are_views_may_not_be_changed():
    one, two = made(lambda ctx, x: x[:]), made(lambda ctx, x: (x[:], x * 1))
    for x in (leaf(1, 2) * 1, fad.ones(2)):
        with pytest.raises(RuntimeError, match="created inside a custom Function"):
            one.apply(x).add_(leaf(1))
        with pytest.raises(RuntimeError, match="returns multiple views"):
            two.apply(x)[0].add_(leaf(1))
    with fad.no_grad():
        y = one.apply(leaf(1, 2))
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        y.zero_()


def test_a_changed_view_that_is_saved_makes_no_cycle():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def scope():
        x = (leaf(1) * 1)[:]
        made(forward).apply(x)
        return weakref.ref(x)
    assert scope()() is None


def test_saved_tensors_that_may_be_read_once():
    class Once(fad.autograd.Function):
        clear_saved_tensors_on_access = True
        times = 1

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            for _ in range(Once.times):
                (x,) = ctx.saved_tensors
                ref = weakref.ref(x)
                del x
                assert ref() is None
            return g
    Once.apply(leaf(1) * 1).backward()
    Once.times = 2
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Once.apply(leaf(1) * 1).backward()


def test_defaults_of_forward_reach_setup_context():
    class Power(fad.autograd.Function):
        @staticmethod
        def forward(x, p=3):
            return x ** p

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.p = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.p * x ** (ctx.p - 1), None
    x = leaf(2)
    Power.apply(x).backward()
    close(x.grad, 12)


def test_raw_saved_tensors():
    f = made(lambda ctx, x: (ctx.save_for_backward(x, None), x * 1)[1])
    x = leaf(1)
    y = f.apply(x)
    raw = y.grad_fn._raw_saved_tensors
    assert y.grad_fn.saved_tensors == (x, None) and raw[0].data is x and raw[0].unpack_hook is None
    with pytest.raises(RuntimeError, match="None is forbidden"):
        raw[1].register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        raw[0].register_hooks(lambda t: t)
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._raw_saved_tensors  # noqa: B018
    with pytest.raises(RuntimeError, match="from Python is forbidden"):
        fad.autograd.SavedTensor()


def test_a_saved_tensor_that_left_the_graph():
    a = leaf(1) * 1
    b, c = a.sin(), a * 1
    a.detach_()
    with pytest.raises(RuntimeError, match="has been detached in-place"):
        b.backward()
    c.backward()
    y = leaf(1).exp()
    z = y * 2
    y.detach_()
    z.backward()
    assert y._version == 0 and y.is_leaf


def test_a_gradient_that_is_smaller_than_its_argument_is_refused():
    class Summed(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.sum() * 2
    with pytest.raises(RuntimeError,
                       match=r"invalid gradient at index 0 - got \[\] but expected shape compatible with \[2\]"):
        Summed.apply(fad.ones(2, requires_grad=True)).sum().backward()


def test_what_is_given_by_name_has_its_gradient():
    class Scaled(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    for call in (lambda x: Scaled.apply(x=x, factor=3.0), lambda x: Scaled.apply(x, factor=3.0),
                 lambda x: Scaled.apply(factor=3.0, x=x)):
        x = leaf(1, 2)
        call(x).sum().backward()
        close(x.grad, [3.0, 3.0])
        close(fad.grad(lambda x, call=call: np.sum(call(x)))(np.array([1.0, 2.0])), [3.0, 3.0])


class Product(fad.autograd.Function):
    @staticmethod
    def forward(x, y, scale=2.0):
        return x * y * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.scale = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.scale, g * x * ctx.scale, None

    @staticmethod
    def vmap(info, dims, x, y, scale):
        assert dims == (None, 0, None)
        return Product.apply(x, y, scale), 0


class ProductInOne(fad.autograd.Function):
    backward = Product.backward

    @staticmethod
    def forward(ctx, x, y, scale=2.0):
        Product.setup_context(ctx, (x, y, scale), None)
        return x * y * scale


@pytest.mark.parametrize("cls", [Product, ProductInOne])
def test_arguments_may_be_left_to_their_defaults(cls):
    x = fad.tensor(3.0, requires_grad=True)
    close(fad.autograd.grad(cls.apply(x, fad.tensor(2.0)), x)[0], 4.0)
    for call in (lambda y: cls.apply(3.0, y), lambda y: cls.apply(3.0, y=y)):
        assert fad.grad(call)(2.0) == 6.0
    close(fad.vmap(lambda y: cls.apply(3.0, y))(fad.tensor([1.0, 2.0])), [6.0, 12.0])


def test_a_leaf_does_not_take_over_what_backward_returned():
    """A saved tensor, say: the next gradient is added to .grad in place."""
    class Weighted(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return (x * w).sum()

        @staticmethod
        def backward(ctx, g):
            w, = ctx.saved_tensors
            return w, None
    x, w = leaf(0, 0), fad.tensor([1.0, 2.0])
    for _ in range(2):
        Weighted.apply(x, w).backward()
    assert x.grad.tolist() == [2, 4] and w.tolist() == [1, 2]
