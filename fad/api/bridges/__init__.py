"""fad's functions in other systems: JAX, PyTorch, PyTensor, and C callers (SciPy's LowLevelCallable)."""
