"""Modules made of a text in each way that Python knows: as a file, by exec, without their text, and installed from a
wheel."""
import base64
import hashlib
import importlib
import itertools
import linecache
import subprocess
import sys
import types
import zipfile

NUMBERS = itertools.count()


def wheel(folder, name, files):
    """A wheel with these files, {path: text}, as a build tool writes it."""
    info = f"{name}-1.0.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = [f"{path},sha256={digest(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def digest(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def site_of(folder):
    site = folder / "site-packages"
    site.mkdir(exist_ok=True)
    return site


def imported(site, name):
    if str(site) not in sys.path:
        sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    return importlib.import_module(name)


def by_pip(folder, text):
    """A package that pip has installed from a wheel."""
    name = f"fad_wheel_{next(NUMBERS)}"
    made = wheel(folder, name, {f"{name}/__init__.py": text})
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
                    "--disable-pip-version-check", "--target", site_of(folder), made],
                   check=True)
    return imported(site_of(folder), name)


def installed(folder, text, **files):
    """A package unpacked from a wheel, with further files in its folder ({name: text})."""
    name = f"fad_package_{next(NUMBERS)}"
    inside = {f"{name}/{path.replace('__', '.')}": content for path, content in files.items()}
    zipfile.ZipFile(wheel(folder, name, {f"{name}/__init__.py": text, **inside})).extractall(site_of(folder))
    return imported(site_of(folder), name)


def without_text(folder, text):
    """A package of byte code alone."""
    name = f"fad_bytes_{next(NUMBERS)}"
    source = site_of(folder) / f"{name}.py"
    source.write_text(text)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-b", source], check=True)
    source.unlink()
    linecache.clearcache()
    return imported(site_of(folder), name)


def of_file(folder, text):
    name = f"fad_file_{next(NUMBERS)}"
    (folder / f"{name}.py").write_text(text)
    return imported(folder, name)


def changed_file(folder, text):
    """A module whose file was written anew since it was imported."""
    module = of_file(folder, text)
    (folder / f"{module.__name__}.py").write_text("# another text\n" + text.replace("*", "+"))
    return module


def executed(folder, text):
    module = types.ModuleType("made_by_exec")
    exec(text, vars(module))
    return module


WAYS = (of_file, executed, installed, without_text, changed_file)
