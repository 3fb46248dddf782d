"""Tensors, and what surrounds them: dtypes, promotion, modes, random numbers, messages.

    tensor      the Tensor: an ndarray with a place in the graph        dtypes      NumPy's dtypes under PyTorch's names
    state       the modes of a thread                                   promotion   the common dtype of operands
    grad_mode   no_grad, inference_mode, ...                            overrides   __torch_function__
    generators  sources of random numbers                               errors      messages that users match on
"""
