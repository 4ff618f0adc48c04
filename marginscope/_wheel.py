"""Build of a wheel that installs one top-level name, `marginscope` (decision 0048).

`core` and `app` are names that researchers use for their own code. In the repository the packages
are side by side; in a wheel they are parts of `marginscope`, and their imports are renamed. An
editable install keeps the folders of the repository. Only setuptools imports this module
(pyproject.toml).
"""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path
from typing import final

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

OUTER = "marginscope"
INNER = ("app", "core", "resources")
ADDRESS = "MARGINSCOPE_URL"  # variable of the environment: the address that a release names


def with_outer_name(source: str) -> str:
    """Return a module's source with every import of an inner package made one of the outer name.

    >>> with_outer_name("from core.runs import open_run; import numpy")
    'from marginscope.core.runs import open_run; import numpy'
    >>> with_outer_name("import core")
    'from marginscope import core'
    """
    lines = source.encode().splitlines(keepends=True)  # positions in a syntax tree count bytes
    for node in sorted(_imports(source), key=_position, reverse=True):
        name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        is_import = isinstance(node, ast.Import) and name in INNER
        statement = f"import {name}" if isinstance(node, ast.Import) else f"from {name}"
        new = f"from {OUTER} {statement}" if is_import else statement.replace(" ", f" {OUTER}.", 1)
        line, start = lines[node.lineno - 1], node.col_offset
        if not line[start:].startswith(statement.encode()):
            raise ValueError(
                f"Line {node.lineno}: write this import as {statement!r}, on one line."
            )
        lines[node.lineno - 1] = (
            line[:start] + new.encode() + line[start + len(statement.encode()) :]
        )
    return b"".join(lines).decode()


def _position(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _imports(source: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports of inner packages; ValueError for one that could not be renamed."""
    imports: list[ast.Import | ast.ImportFrom] = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(_is_inner(one.name) for one in node.names):
            if len(node.names) > 1 or node.names[0].asname:
                raise ValueError(f"Line {node.lineno}: import {node.names[0].name} by itself.")
            imports.append(node)
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_inner(node.module or ""):
            imports.append(node)
    names = {node.names[0].name for node in imports if isinstance(node, ast.Import)}
    for name_used in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - names:
        if any(name.startswith(f"{name_used}.") for name in names):
            raise ValueError(f"`{name_used}` is used; `import {name_used}` by itself as well.")
    return imports


def _is_inner(module: str) -> bool:
    """Return True for a module of an inner package, or one of them (`INNER`)."""
    return module.partition(".")[0] in INNER


def project_urls(address: str) -> dict[str, str]:
    """Return the links of a package's page, for a repository at an address."""
    if not address.startswith("https:"):
        raise ValueError(f"{ADDRESS} = {address!r}: an address begins with https.")
    return {
        "Homepage": address,
        "Documentation": f"{address}/blob/main/docs/tour.md",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


@final
class BuildOneName(build_py):
    """Move the inner packages into the outer one, after setuptools has collected them."""

    def run(self) -> None:
        """Collect the packages; then move and rename, but for an editable install."""
        super().run()
        if self.editable_mode:
            return
        outer = Path(self.build_lib, OUTER)
        for name in INNER:
            shutil.rmtree(outer / name, ignore_errors=True)  # from an earlier build
            shutil.move(Path(self.build_lib, name), outer / name)
        for path in outer.rglob("*.py"):
            source = path.read_bytes().decode()
            if (renamed := with_outer_name(source)) != source:
                path.write_bytes(renamed.encode())


@final
class OneTopLevel(egg_info):
    """Metadata that names the outer package alone, and the address of the project if known."""

    def run(self) -> None:
        """Write setuptools' metadata, then the one name (importlib.metadata reads it)."""
        if address := os.environ.get(ADDRESS, "").rstrip("/"):
            self.distribution.metadata.project_urls = project_urls(address)
        super().run()
        Path(self.egg_info, "top_level.txt").write_text(f"{OUTER}\n", encoding="utf-8")
