"""What people meet first: README, metadata and citation agree with each other and with the pages that are there."""

import configparser
import re
import subprocess

import pytest

import fad

from .source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)]+)\)", README)


def metadata() -> configparser.SectionProxy:
    """The metadata of the package."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return settings["metadata"]


def urls() -> dict[str, str]:
    """The addresses of the project by name."""
    lines = metadata()["project_urls"].strip().splitlines()
    return {name.strip(): url.strip() for name, _, url in (line.partition("=") for line in lines)}


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert metadata()["version"] == fad.__version__ and f"\nversion: {fad.__version__}\n" in citation


def test_there_is_a_changelog_of_this_version():
    assert f"## [{fad.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", LINKS)
def test_links_of_readme_are_absolute_and_lead_somewhere(link):
    """Package indexes show README, where relative links lead nowhere."""
    source, pages = urls()["Source"], urls()["Documentation"]
    roots = {f"{source}/blob/main/": "", source.replace("github.com", "raw.githubusercontent.com") + "/main/": ""}
    if link.startswith(pages):
        page = link.removeprefix(pages).removesuffix(".html") or "index"
        notebook = ROOT / "notebooks" / f"{page.rpartition('/')[2]}.ipynb"
        assert (ROOT / "docs" / f"{page}.md").exists() or notebook.exists() or page == "reference/index"
    else:
        root = next(root for root in roots if link.startswith(root))
        assert (ROOT / link.removeprefix(root)).exists()


def test_type_checkers_are_told():
    assert (ROOT / "fad" / "py.typed").exists()


TOP = (".ci .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE MANIFEST.in README.md SECURITY.md docs fad "
       "notebooks pyproject.toml "
       "setup.cfg tests").split()


def test_the_repository_holds_what_people_wrote():
    """No output of a build, and no package that pip has brought."""
    if not (ROOT / ".git").exists():
        pytest.skip("a source distribution")
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    assert sorted({name.partition("/")[0] for name in files}) == sorted(TOP)
    assert not [name for name in files
                if name.endswith((".whl", ".pyc", ".so", ".nbi", ".nbc")) or "_build/" in name
                or "jupyter_execute/" in name]
