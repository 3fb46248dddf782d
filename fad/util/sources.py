"""Texts of modules, wherever they were imported from: a folder, a zip archive, a frozen program."""
import importlib.util
import marshal
import pathlib
import pkgutil
from importlib.machinery import ModuleSpec
from typing import Any


def text_of(module: str) -> "str | None":
    """The text of a module, which need not be imported; None where only its code is installed.

    >>> text_of("fad.util.sources").splitlines()[1]
    'import importlib.util'
    """
    loader = _loader(module)
    return loader.get_source(module) if hasattr(loader, "get_source") else None


def contents_of(package: str) -> list:
    """Names and contents of all that a package's folder holds; of the modules, where there is no folder.

    >>> "sources.py" in contents_of("fad.util")
    True
    """
    found: list = []
    for place in _spec(package).submodule_search_locations or ():
        folder = pathlib.Path(place)
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            if file.is_file():
                found += [file.name, file.read_bytes()]
        for name in () if folder.is_dir() else sorted(part.name for part in pkgutil.iter_modules([place])):
            found += [name, marshal.dumps(_loader(f"{package}.{name}").get_code(f"{package}.{name}"))]
    return found


def _loader(module: str) -> Any:
    return _spec(module).loader


def _spec(module: str) -> ModuleSpec:
    """The file in which the import system finds a module."""
    found = importlib.util.find_spec(module)
    if found is None:
        raise ModuleNotFoundError(f"no module named {module!r}", name=module)
    return found
