"""The ops that any program may meet, and the overrides of NumPy's main namespace: fad loads these. All others:
table.py.
"""
from . import bits, contract, control, custom, elementwise, host, index, numpy_api, printing, reduce, scan, shape
from .special import information  # the logistic function is the derivative of logaddexp

__all__ = ["bits", "contract", "control", "custom", "elementwise", "host", "index", "information", "numpy_api",
           "printing", "reduce", "scan", "shape"]
