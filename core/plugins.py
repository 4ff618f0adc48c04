"""Kinds from other packages: entry points of the group `marginscope.kinds`.

A package that is installed beside Marginscope names a module that registers networks,
distributions, dynamics, observables, predictions, margins or statements (docs/extend.md). Study
files in the folder `studies` beside that module are listed with the studies of the program. The
code is loaded only where this user trusts exactly this code (core.trust); every change asks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import final

from core import trust
from core.errors import InputError
from core.program import RESOURCES, headless_program

GROUP = "marginscope.kinds"
MOST_FILES = 1000
MOST_BYTES = 50_000_000  # of all files of a package
STUDIES = "studies"
HEADING = "# ---- {name}"


@final
@dataclass(frozen=True, slots=True)
class Plugin:
    """Installed package that adds kinds. `module` registers them when it is imported."""

    distribution: str
    version: str
    module: str

    @property
    def title(self) -> str:
        """Name and version, as lists and errors show them."""
        return f"{self.distribution} {self.version}"

    @property
    def root(self) -> Path | None:
        """Folder or single file of the top-level package; None if it is missing."""
        try:
            spec = find_spec(self.module.partition(".")[0])  # without importing it
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        for folder in spec.submodule_search_locations or ():
            return Path(folder)
        return Path(spec.origin) if spec.origin else None

    def studies(self) -> tuple[Path, ...]:
        """Return the study files that the package brings."""
        root = self.root
        if root is None or not root.is_dir():
            return ()
        folder = root.joinpath(*self.module.split(".")[1:-1], STUDIES)
        return tuple(sorted(folder.glob("*.toml")))

    def code(self) -> str:
        """Return all code of the package as one text, and the digests of its other files.

        Raises InputError for a package that is missing, too large or unreadable.
        """
        root = self.root
        if root is None:
            raise InputError(f"{self.title} names the module {self.module}, which does not exist.")
        parts, size = [], 0
        files = list(_files(root))
        if len(files) > MOST_FILES:
            raise InputError(f"{self.title} has {len(files)} files; at most {MOST_FILES} are read.")
        for path in files:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError(f"{path} cannot be read ({error.strerror}).") from error
            size += len(content)
            if size > MOST_BYTES:
                raise InputError(f"{self.title} has over {MOST_BYTES // 10**6} MB of files.")
            name = path.relative_to(root.parent).as_posix()
            parts.append(f"{HEADING.format(name=name)}\n{_text(path, content)}")
        return "\n".join(parts)

    def is_trusted(self) -> bool:
        """Return True if this user has trusted exactly this code."""
        try:
            return trust.is_trusted(self.code())
        except InputError:
            return False


def _files(root: Path) -> Iterator[Path]:
    """Yield the files of a package in a fixed order, without compiled copies of the code."""
    if root.is_file():
        yield root
        return
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _text(path: Path, content: bytes) -> str:
    if path.suffix == ".py":
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text; it is not loaded.") from error
    return f"# not shown: {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}\n"


@cache
def installed_plugins() -> tuple[Plugin, ...]:
    """Return the installed packages that add kinds, sorted by name. Loads none of them."""
    return tuple(sorted(map(_plugin, entry_points(group=GROUP)), key=lambda one: one.title))


def _plugin(entry: EntryPoint) -> Plugin:
    distribution = entry.dist
    name, version = (
        (distribution.name, distribution.version) if distribution is not None else (entry.name, "")
    )
    return Plugin(name, version, entry.module)


def find_plugin(name: str) -> Plugin | None:
    """Return the installed package of that name, however it spells "-", "_" and capitals."""
    normal = _normal(name)
    return next((one for one in installed_plugins() if _normal(one.distribution) == normal), None)


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


_loaded: dict[Plugin, str] = {}  # a trusted package -> why it could not be loaded, or ""


def load_trusted() -> tuple[str, ...]:
    """Load every trusted package once; return sentences about those that could not be loaded."""
    for plugin in installed_plugins():
        if plugin not in _loaded and plugin.is_trusted():
            _loaded[plugin] = _problem(plugin)
    return tuple(filter(None, _loaded.values()))


def _problem(plugin: Plugin) -> str:
    _loaded[plugin] = ""  # the module itself may open runs
    try:
        import_module(plugin.module)
    except Exception as error:  # code of others may raise anything
        words = " ".join(str(error).split())[:300] or type(error).__name__
        return (
            f"The kinds of {plugin.title} are missing: {plugin.module} could not be loaded "
            f"({words}). Update or uninstall {plugin.distribution}."
        )
    return ""


def untrusted_plugins() -> Iterator[Plugin]:
    """Yield the readable packages that this user has not trusted."""
    for plugin in installed_plugins():
        if plugin in _loaded:
            continue
        try:
            trusted = trust.is_trusted(plugin.code())
        except InputError:
            continue
        if not trusted:
            yield plugin


def loaded_plugins() -> tuple[Plugin, ...]:
    """Return the packages whose kinds are there."""
    return tuple(plugin for plugin, problem in _loaded.items() if not problem)


def study_files() -> list[Path]:
    """Return the study files of the program, then those of loaded packages with other names."""
    paths = {path.name: path for path in (RESOURCES / STUDIES).glob("*.toml")}
    for plugin in loaded_plugins():
        for path in plugin.studies():
            paths.setdefault(path.name, path)
    return list(paths.values())


def plugin_of(module: str) -> Plugin | None:
    """Return the installed package that a module belongs to; None for the program's own."""
    top = module.partition(".")[0]
    plugins = (one for one in installed_plugins() if one.module.partition(".")[0] == top)
    return next(plugins, None)


def origin(module: str) -> str:
    """Return the words after the name of a kind that a package adds; "" for the program's own.

    >>> origin("core.network.standard")
    ''
    """
    plugin = plugin_of(module)
    return f" (from {plugin.title})" if plugin is not None else ""


def check_untrusted(name: str, where: str) -> None:
    """Raise UntrustedCodeError if an installed package that is not trusted defines a kind.

    Parameters
    ----------
    name : str
        Name of a kind or study that is not known. A package defines a kind if its code has that
        text.
    where : str
        Start of the sentence: the setting with that kind.
    """
    for plugin in untrusted_plugins():
        code = plugin.code()
        named = name and (f'"{name}"' in code or f"'{name}'" in code)
        if named or name in (study.stem for study in plugin.studies()):
            raise trust.UntrustedCodeError(
                f"{where} needs the package {plugin.title}, which is installed here but not "
                f"trusted; `{headless_program()} trust {plugin.distribution}` shows its code and "
                "explains how to trust it.",
                code=code,
                file=plugin.root or "",
                package=plugin.title,
            )
