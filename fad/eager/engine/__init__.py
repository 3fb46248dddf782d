"""Derivatives of what was recorded: the backward engine, forward mode, users' own steps, checks.

    engine      gradients go down the graph                forward_ad      tensors that carry a tangent
    grad_api    autograd.backward and autograd.grad        graph_api       autograd.graph: hooks for several tensors
    function, function_call   autograd.Function            checkpoint      recomputation in place of saved tensors
    gradcheck, differences    checks by differences        anomaly         the forward's line behind a nan
    profiler, events          how long operations take
"""
