"""Time per operation of fad's tensors, forward and backward, beside PyTorch's: python tests/bench/tensor.py fad, and with a Python that has torch.

On tensors of ten elements; prints a line an operation, in microseconds of the process' own time.
"""
import importlib
import sys
import time
import timeit


def operations(T) -> dict:
    """Name -> a call that computes something and its gradients."""
    x, y = T.randn(10).requires_grad_(), T.randn(10).requires_grad_()
    a, ones, square, part = T.randn(3, 3).requires_grad_(), T.ones(10), T.ones(3, 3), T.ones(4)

    def chain() -> None:
        z = x
        for _ in range(50):
            z = (z * 0.99).exp() * 0.1
        z.backward(ones)
    return {"exp": lambda: x.exp().backward(ones), "mul": lambda: (x * y).backward(ones), "add": lambda: (x + y).backward(ones),
            "matmul": lambda: (a @ a).backward(square), "sum": lambda: x.sum().backward(), "index": lambda: x[2:6].backward(part), "chain of 150": chain}


def main(name: str) -> None:
    T = importlib.import_module(name)
    T.set_default_dtype(T.float64)
    if hasattr(T, "set_num_threads"):
        T.set_num_threads(1)
    for what, call in operations(T).items():
        count = 20 if "chain" in what else 1000
        call()
        print(f"{what:14s}{min(timeit.repeat(call, number=count, repeat=9, timer=time.process_time)) / count * 1e6:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "fad")
