"""The saved form of a module: names to values, and how it takes them over again."""
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...util.interrupts import reraise_interrupt
from ..tensors.state import changed
from ..tensors.tensor import Tensor, wrap


class IncompatibleKeys(NamedTuple):
    """The names that a state lacked, and those that the module has no place for."""

    missing_keys: list
    unexpected_keys: list

    def __repr__(self) -> str:
        return "<All keys matched successfully>" if not any(self) else (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})")


class Saving:
    """The part of Module that is saved: parameters and persistent buffers."""

    def _kept(self) -> list:
        """(name, tensor) of what is saved."""
        buffers = [(name, b) for name, b in self._buffers.items() if name not in self._transient]
        return [(name, t) for name, t in (*self._parameters.items(), *buffers) if t is not None]

    def _places(self) -> list:
        """(dotted name, module, name there, tensor) of what is saved of this module and those below."""
        return [(f"{path}.{name}" if path else name, module, name, t)
                for path, module in self.named_modules(remove_duplicate=False) for name, t in module._kept()]

    def state_dict(self, *args: object, destination: object = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Names to values of all parameters and persistent buffers of this module and those below."""
        destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        found: Any = OrderedDict() if destination is None else destination
        found.update((prefix + key, t if keep_vars else t.detach()) for key, _, _, t in self._places())
        return found

    def _take(self, name: str, t: Tensor, value: object, key: str, assign: bool) -> str:
        """Write a value over a tensor (or put it in its place); what was wrong with it."""
        if not isinstance(value, (Tensor, np.ndarray)):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(value)}")
        given = value if isinstance(value, Tensor) else wrap(value)
        if given._a.shape == (1,) and not t._a.ndim:                           # as numbers were saved of old
            given = given.reshape(())
        if given._a.shape != t._a.shape:
            return (f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                    f"the shape in current model is {t.shape}.")
        try:
            with changed(grad=False):
                if not assign:
                    t.copy_(given)
                elif name in self._parameters:
                    self._parameters[name] = (
                        given if type(given) is type(t) else type(t)(given, requires_grad=t.requires_grad)
                    )  # type: ignore[call-arg, attr-defined]
                else:
                    self._buffers[name] = given
        except Exception as error:
            reraise_interrupt(error)
            return (f'While copying the parameter named "{key}", whose dimensions in the model are {t.shape} and '
                    f"whose dimensions in the checkpoint are {given.shape}, an exception occurred : {error.args}.")
        return ""

    def load_state_dict(self, state_dict: object, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Write values over the parameters and buffers of their names (with assign: put them in their places)."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        places = self._places()
        known = {key for key, *_ in places}
        keys = IncompatibleKeys([key for key, *_ in places if key not in state_dict],
                                [key for key in state_dict if key not in known])
        taken = [module._take(name, t, state_dict[key], key, assign) for key, module, name, t in places
                 if key in state_dict]
        errors = [error for error in taken if error]
        for what, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
            if strict and names:
                listed = ", ".join([f'"{name}"' for name in names])
                errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys
