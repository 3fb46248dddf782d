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

    _version: "int | None" = None

    def _kept(self) -> list:
        """(name, tensor) of what is saved."""
        buffers = [(name, b) for name, b in self._buffers.items() if name not in self._transient]
        return [(name, t) for name, t in (*self._parameters.items(), *buffers) if t is not None]

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, t in self._kept():
            destination[prefix + name] = t if keep_vars else t.detach()

    def state_dict(self, *args: object, destination: object = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Names to values of all parameters and persistent buffers of this module and those below."""
        destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        """Take over the values of this module's own tensors."""
        own = self._kept()
        for name, t in own:
            key = prefix + name
            if key in state_dict:
                error = self._take(name, t, state_dict[key], key, local_metadata.get("assign_to_params_buffers", False))
                error_msgs.extend([error] if error else [])
            elif strict:
                missing_keys.append(key)
        known = {name for name, _ in own}
        for key in state_dict:
            if (strict and key.startswith(prefix)
                    and (rest := key[len(prefix):].split("."))[0] not in (known if len(rest) == 1 else self._modules)):
                unexpected_keys.append(key)

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
        keys, errors = IncompatibleKeys([], []), []
        self._load(OrderedDict(state_dict), "", getattr(state_dict, "_metadata", {}), strict, assign, keys, errors)
        for what, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
            if strict and names:
                listed = ", ".join([f'"{name}"' for name in names])
                errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _load(self, state: dict, prefix: str, metadata: object, strict: bool, assign: bool, keys: IncompatibleKeys,
              errors: list) -> None:
        local = {**metadata.get(prefix[:-1], {}), "assign_to_params_buffers": assign}
        self._load_from_state_dict(state, prefix, local, True, keys.missing_keys, keys.unexpected_keys, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                child._load({k: v for k, v in state.items() if k.startswith(below)}, below, metadata, strict, assign,
                            keys, errors)
