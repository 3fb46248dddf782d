"""Derivatives of functions of tensors: autograd.functional, torch.func, functions that fad compiles.

    functional  jacobian, hessian, vjp, ...                func            grad, vmap, jvp, ... of functions of tensors
    compiled    compiled functions as steps of the graph   libraries       linalg, fft and special for tensors
"""
