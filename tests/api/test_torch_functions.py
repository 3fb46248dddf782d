"""fad.torch: functions of PyTorch's tensors, held against PyTorch's own derivatives and its checks."""
import pickle
import warnings

import numpy as np
import pytest

import fad

torch = pytest.importorskip("torch")
double = {"dtype": torch.float64}


def pair(x, y):
    return np.sin(x) @ y, np.sum(y ** 2) * x[0, 0]


def cube(x):
    return np.sum(x ** 3)


def loop(x):
    total = 0.0
    for k in range(len(x) - 1):
        if x[k] > 0:
            total += x[k] ** 2 * x[k + 1]
    return total


def inputs():
    torch.manual_seed(0)
    return torch.randn(3, 2, **double, requires_grad=True), torch.randn(2, **double, requires_grad=True)


# -- derivatives ------------------------------------------------------------------------------------


def test_derivatives_of_both_modes_and_orders_are_right():
    of_pair = fad.torch.function(pair)
    assert torch.autograd.gradcheck(of_pair, inputs(), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(of_pair, inputs(), check_fwd_over_rev=True)


def test_a_loop_with_a_branch_has_derivatives_of_both_orders():
    x = torch.tensor([0.5, -0.2, 0.7, 1.1], **double, requires_grad=True)
    assert torch.autograd.gradcheck(fad.torch.function(loop), x)
    assert torch.autograd.gradgradcheck(fad.torch.function(loop), x)


def test_complex_derivatives_are_conjugate_as_those_of_pytorch():
    z = torch.randn(3, dtype=torch.complex128, requires_grad=True)
    of_z = fad.torch.function(lambda z: z * np.conj(z) * z)
    assert torch.autograd.gradcheck(of_z, z) and torch.autograd.gradgradcheck(of_z, z)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes_stay_as_they_are(dtype):
    x = torch.tensor([1.0, -2.0], dtype=getattr(torch, dtype), requires_grad=True)
    value = fad.torch.function(cube)(x)
    value.backward()
    assert value.dtype == x.grad.dtype == x.dtype and torch.equal(x.grad, 3 * x.detach() ** 2)


@pytest.mark.parametrize("asked", [(0,), (1,), (0, 1)])
def test_those_derivatives_alone_are_computed_that_are_asked_for(asked, monkeypatch):
    seen = []
    forward = fad.api.bridges.hosted.Hosted.with_pullback
    monkeypatch.setattr(fad.api.bridges.hosted.Hosted, "with_pullback",
                        lambda self, args, wanted: seen.append(wanted) or forward(self, args, wanted))
    x, y = (z.detach().requires_grad_(k in asked) for k, z in enumerate(inputs()))
    first, second = fad.torch.function(pair)(x, y)
    (first.sum() + second).backward()
    expected = torch.autograd.grad((torch.sin(x) @ y).sum() + (y ** 2).sum() * x[0, 0], [(x, y)[k] for k in asked])
    assert seen == [asked]
    assert [z.grad is not None for z in (x, y)] == [k in asked for k in (0, 1)]
    assert all(torch.allclose((x, y)[k].grad, g) for k, g in zip(asked, expected))


def test_results_of_integers_have_no_derivatives_and_numbers_may_stand_among_arguments():
    x = torch.ones(3, requires_grad=True)
    y, count = fad.torch.function(lambda x, k: (x * k, k + 1))(x, 3)
    y.sum().backward()
    assert not count.requires_grad and torch.equal(x.grad, 3 * torch.ones(3))


# -- memory -----------------------------------------------------------------------------------------


def test_arguments_are_not_copied():
    x, seen = torch.ones(4, **double), []
    hosted = fad.torch.function(cube)
    run = hosted.hosted.run
    hosted.hosted.run = type("Run", (),
                             {"program_for": run.program_for,
                              "__call__": lambda self, *args: seen.extend(args) or run(*args)})()
    hosted(x)
    assert np.shares_memory(seen[0], x.numpy())


def test_results_and_gradients_are_tensors_of_their_own():
    a, b, g = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True), torch.ones(3)
    same, total = fad.torch.function(lambda x, y: (x, x + y))(a, b)
    total.backward(g)
    assert len({t.data_ptr() for t in (a, b, g, same, a.grad, b.grad)}) == 6


def test_an_argument_that_is_changed_before_the_backward_pass_is_an_error():
    x = torch.ones(3, requires_grad=True)
    value = fad.torch.function(cube)(x)
    with torch.no_grad():
        x += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def test_transposed_and_expanded_tensors():
    x = torch.randn(2, 3, **double, requires_grad=True)
    y = torch.ones(1, **double).expand(3)
    first, _ = fad.torch.function(pair)(x.T, torch.ones(2, **double))
    first.backward(y)
    assert torch.allclose(x.grad, torch.cos(x.detach()))


# -- torch.func -------------------------------------------------------------------------------------


def test_transforms_of_torch_func():
    x, many, of_cube = torch.randn(3), torch.randn(4, 3), fad.torch.function(cube)
    assert torch.allclose(torch.func.grad(of_cube)(x), 3 * x ** 2)
    assert torch.allclose(torch.vmap(of_cube)(many), (many ** 3).sum(1), atol=1e-6)
    assert torch.allclose(torch.vmap(torch.func.grad(of_cube), in_dims=1)(many.T), 3 * many ** 2)
    assert torch.allclose(torch.func.hessian(of_cube)(x), torch.diag(6 * x))
    assert torch.allclose(torch.vmap(torch.func.hessian(of_cube))(many)[1], torch.diag(6 * many[1]))


def test_older_batching_is_refused_in_words():
    x, y = inputs()
    with pytest.raises(fad.FadError, match="torch.func.jacrev"):
        torch.autograd.functional.jacobian(lambda x: fad.torch.function(pair)(x, y)[0], x, vectorize=True)


def test_programs_of_torch_compile_call_it_as_it_is():
    x, of_cube = torch.ones(2, requires_grad=True), fad.torch.function(cube)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Dynamo")
        value = torch.compile(lambda x: 2 * of_cube(2 * x), backend="eager")(x)
    value.backward()
    assert value.dtype == torch.float32 and value == 32.0 and x.grad.tolist() == [48.0, 48.0]


# -- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tensor, words", [
    (torch.ones(2, device="meta"), "on meta"),
    (torch.ones(2, dtype=torch.bfloat16), "bfloat16"),
    (torch.eye(2).to_sparse(), "to_dense"),
])
def test_tensors_that_fad_cannot_read_are_refused(tensor, words):
    with pytest.raises(fad.FadError, match=words):
        fad.torch.function(cube)(tensor)


@pytest.mark.parametrize("f, words", [
    (lambda x: {"a": x}, "without a structure"),
    (lambda x: (x, (x, x)), "without a structure"),
    (lambda x: "text", "no array"),
    (lambda x: None, "no array"),
    (lambda x: x * np.random.standard_normal(2), "random"),
])
def test_functions_that_pytorch_cannot_host_are_refused(f, words):
    with pytest.raises(fad.FadError, match=words):
        fad.torch.function(f)(torch.ones(2, requires_grad=True))


def test_a_function_that_writes_to_its_argument_is_refused():
    def write(x):
        x[0] = 1.0
        return x
    x = torch.zeros(2)
    with pytest.raises(fad.FadError, match="writes to x"):
        fad.torch.function(write)(x)
    assert x[0] == 0.0


@pytest.mark.parametrize("args, kwargs, words",
                         [(([1.0],), {}, "got a list"), ((), {"x": torch.ones(2)}, "no keywords")])
def test_arguments_are_tensors_by_position(args, kwargs, words):
    with pytest.raises(fad.FadError, match=words):
        fad.torch.function(cube)(*args, **kwargs)


def test_functions_of_modules_can_be_pickled():
    again = pickle.loads(pickle.dumps(fad.torch.function(np.sum)))
    assert again(torch.ones(3)) == 3.0


def test_a_function_that_begins_to_draw_is_refused():
    drawing, x = [], torch.ones(2, requires_grad=True)
    hosted = fad.torch.function(lambda x: x * np.random.standard_normal(2) if drawing else x)
    assert hosted(x).tolist() == [1.0, 1.0]
    drawing.append(True)
    with pytest.raises(fad.FadError, match="random"):
        hosted(x)


def test_a_function_that_returns_more_than_before():
    more, x = [], torch.ones(2)
    hosted = fad.torch.function(lambda x: (x, x) if more else x)
    assert isinstance(hosted(x), torch.Tensor)
    more.append(True)
    assert isinstance(hosted(x), tuple)
