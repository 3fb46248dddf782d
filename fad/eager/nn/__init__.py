"""Modules: layers with parameters, activations, losses; on tensors, and on traced arrays through functional_call."""
