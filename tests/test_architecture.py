"""The project's shape, checked on its source: imports one way, small files, plain classes."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("marginscope", "core", "app", "docs/site")
SOURCES = sorted(path for part in PARTS for path in (ROOT / part).rglob("*.py"))
CODE = SOURCES + sorted((ROOT / "tests").rglob("*.py"))

FILE_LINES = 400
FUNCTION_LINES = 60
LOOSE_FILES = 8  # at the top of core: what is used everywhere
WINDOW_MODULES = ("PySide6", "shiboken6", "pyqtgraph")
HEAVY_MODULES = ("torch", "scipy", "matplotlib", "numba", "sklearn")
LEFT_TO_DO = re.compile("|".join([r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b"]))
MACHINE_PATH = re.compile(r"(?<![\w./<>$}~-])/(?:work|root|home)(?![\w-])")
HOST = re.compile(r"(?:https?://)?((?:[a-z0-9-]+\.)+(?:org|com))\b(?!\s*[(=\[])")
WITH_SCHEME = re.compile(r"https?://([^\s/:)>\"']+)")
# Where an address may lead: papers, and the standards that a file names.
HOSTS = {
    "arxiv.org",
    "doi.org",
    "openreview.net",
    "keepachangelog.com",
    "semver.org",
    "www.w3.org",
    "www.freedesktop.org",
    "w3id.org",
}


def relative(path: Path) -> str:
    """Return a path as messages show it."""
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


LEAVES = frozenset({ast.Name, ast.Constant, *ast.expr_context.__subclasses__()})


Kinds = dict[type[ast.AST], list[ast.AST]]


@cache
def nodes_by_kind(path: Path) -> Kinds:
    """Return nodes of one file by their exact class; LEAVES are left out."""
    return by_kind(tree(path))


def by_kind(source: ast.AST) -> Kinds:
    """Return the nodes of one tree by their exact class; LEAVES are left out."""
    found: Kinds = {}
    todo: list[ast.AST] = [source]
    for node in todo:
        found.setdefault(type(node), []).append(node)
        for value in node.__dict__.values():
            if type(value) is list:
                todo += [one for one in value if isinstance(one, ast.AST)]
            # Two nodes in five are names and constants, which have no children.
            elif isinstance(value, ast.AST) and type(value) not in LEAVES:
                todo.append(value)
    return found


def nodes(paths: list[Path], *kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield place and node of every node of exactly these classes."""
    for path in paths:
        found, name = nodes_by_kind(path), relative(path)
        for kind in kinds:
            for node in found.get(kind, ()):
                yield f"{name}:{getattr(node, 'lineno', 1)}", node


def python(code: str) -> str:
    """Return what a clean interpreter prints for some code, run in the project's folder."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def name_of(node: ast.AST) -> str:
    """Return the last part of a dotted name; for a call or subscript, that of its target."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.AST) -> str:
    """Return the source of a name with its attributes ("gc.collect"), else an empty string."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def imports(node: ast.AST) -> list[str]:
    """Return the modules that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


# ------------------------------------------------------------------------------------ imports


LIGHT = (
    "core",
    "core.study_file.experiment",
    "core.studies.study",
    "core.observables.registry",
    "core.theorems.registry",
    "core.figures.export",
    "core.figures.scene",
    "core.cli.drawing",
    "core.cli.sweeping",
)
NEITHER = (*WINDOW_MODULES, *HEAVY_MODULES, "PIL")
NEVER = (*WINDOW_MODULES, "app", "scipy.stats")  # scipy.stats takes 2.6 s to load


def test_modules_load_no_package_that_they_do_without() -> None:
    """A command line loads least, no study, run or command anything heavy, and nothing Qt."""
    code = f"""
import importlib, pkgutil, sys
loaded = {{}}
import core.cli.parser
loaded["core.cli.parser"] = [one for one in ("numpy", "pydantic") if one in sys.modules]
for name in {LIGHT!r}:
    importlib.import_module(name)
    loaded[name] = [one for one in {NEITHER!r} if one in sys.modules]
import core
class WithoutTorch:
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("left out", name=name)
sys.meta_path.insert(0, WithoutTorch)
count = 0
for module in pkgutil.walk_packages(core.__path__, "core.", onerror=lambda name: None):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
            count += 1
        except ModuleNotFoundError as error:
            assert error.name == "torch", error
loaded["all of core"] = [one for one in {NEVER!r} if one in sys.modules]
assert count > 100, count
print(loaded)
"""
    assert python(code) == repr({name: [] for name in ("core.cli.parser", *LIGHT, "all of core")})


def find_imports_of_the_window() -> list[str]:
    """A module of core imports Qt or the window."""
    kept_out = {*WINDOW_MODULES, "app"}
    return [
        place
        for place, node in nodes(SOURCES, ast.Import, ast.ImportFrom)
        if place.startswith("core/") and kept_out & {name.split(".")[0] for name in imports(node)}
    ]


def find_imports_of_numba() -> list[str]:
    """numba is imported outside core/compiled."""
    return [
        place
        for place, node in nodes(SOURCES, ast.Import, ast.ImportFrom)
        if any(name.split(".")[0] == "numba" for name in imports(node))
        and not place.startswith("core/compiled/")
    ]


# --------------------------------------------------------------------------------------- size


def test_the_plan_of_core_is_its_folders() -> None:
    loose = [
        path.name for path in (ROOT / "core").glob("*.py") if path.stem.strip("_") == path.stem
    ]
    assert len(loose) <= LOOSE_FILES, f"put what is not used everywhere into a folder: {loose}"


def test_files_are_short() -> None:
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    long = {name: lines for name, lines in lengths.items() if lines >= FILE_LINES}
    assert not long, f"files of {FILE_LINES} lines or more, to be split: {long}"


def find_long_functions() -> list[str]:
    """Functions of 60 lines or more, to be split; sections of docstrings do not count."""
    long = []
    for place, node in nodes(SOURCES, ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if ast.get_docstring(node) is not None:
            text = node.body[0]
            lines -= (text.end_lineno or text.lineno) - text.lineno + 1
        if lines >= FUNCTION_LINES:
            long.append(f"{place} {node.name}: {lines}")
    return long


# ------------------------------------------------------------------------------------ classes

VALUE_BASES = {"Section", "BaseModel", "NamedTuple", "TypedDict"}
OPEN_BASES = {"ABC", "Protocol"}
ENUM_OR_EXCEPTION = re.compile(r"(Enum|Flag|Error|Exception|Warning)$")


def has_abstract_method(cls: ast.ClassDef) -> bool:
    """Return True if a class declares an abstract method."""
    methods = [item for item in cls.body if isinstance(item, ast.FunctionDef)]
    return any(name_of(mark) == "abstractmethod" for m in methods for mark in m.decorator_list)


def is_plain(cls: ast.ClassDef) -> bool:
    """Return True if a class is final, abstract, or one of the kinds that hold values only."""
    if {name_of(mark) for mark in cls.decorator_list} & {"final", "dataclass"}:
        return True
    bases = [name_of(base) for base in cls.bases]
    if any(base in VALUE_BASES | OPEN_BASES or ENUM_OR_EXCEPTION.search(base) for base in bases):
        return True
    return has_abstract_method(cls)


def find_open_classes() -> list[str]:
    """Classes are neither @final nor abstract."""
    return [
        f"{place} {node.name}"
        for place, node in nodes(SOURCES, ast.ClassDef)
        if isinstance(node, ast.ClassDef) and not is_plain(node)
    ]


CLASSES = (
    ("class A: pass", False),
    ("class A(B): pass", False),
    ("@final\nclass A(B): pass", True),
    ("@typing.final\nclass A(B): pass", True),
    ("@dataclass(frozen=True)\nclass A: pass", True),
    ("class A(Protocol[T]): pass", True),
    ("class A(abc.ABC): pass", True),
    ("class A(B):\n    @abstractmethod\n    def f(self): ...", True),
    ("class A(StrEnum): pass", True),
    ("class A(InputError): pass", True),
    ("class A(Section): pass", True),
)


def test_plain_classes_are_told_from_others(subtests: pytest.Subtests) -> None:
    for source, plain in CLASSES:
        with subtests.test(source=source):
            cls = ast.parse(source).body[0]
            assert isinstance(cls, ast.ClassDef)
            assert is_plain(cls) is plain


# --------------------------------------------------------------------------------------- kinds

# Where names of several kinds may stand together: the losses' twins on tensors, and the groups of
# kernels, of which two are called as the dynamics that they are for; and what a recorder, which
# knows no registry, may be told (tests/python/test_record.py compares both).
TWINS = (
    "core/tensors/stepper.py",
    "core/compiled/kernel_groups.py",
    "marginscope/_record/options.py",
    "marginscope/_record/optimizer.py",
    "marginscope/_record/losses.py",
)


LISTS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BoolOp, ast.Match)  # of `strings_in`


def strings_in(node: ast.AST) -> set[str]:
    """Return the strings in a list, tuple, set, among a dictionary's keys, or between `or`s."""
    parts: Sequence[ast.expr | None] = ()
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.keys
    elif isinstance(node, ast.BoolOp):
        compared = [value for value in node.values if isinstance(value, ast.Compare)]
        parts = [one for value in compared for one in (value.left, *value.comparators)]
    elif isinstance(node, ast.Match):
        cases = [case.pattern for case in node.cases]
        parts = [case.value for case in cases if isinstance(case, ast.MatchValue)]
    return {
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def lists_kinds(node: ast.AST) -> bool:
    """Return True if a node names two kinds or more of one sort."""
    named = strings_in(node)
    if len(named) < 2:
        return False
    from core.run_files.networks import ActivationName
    from core.study_file.experiment import KINDS

    if named <= set(get_args(ActivationName)):  # two of which are also kinds of networks
        return False
    return any(len(named & set(kinds)) > 1 for kinds in KINDS.values())


def find_lists_of_kinds() -> list[str]:
    """Kinds are listed outside registries; ask the kind itself (docs/decisions/0016)."""
    return [
        place
        for place, node in nodes(SOURCES, *LISTS)
        if not place.startswith(TWINS) and lists_kinds(node)
    ]


LISTS_TRIED = (
    ('kind in ("standard", "scalar")', True),
    ('RELU = {"standard": 1, "scalar": 2}', True),
    ('kind == "gd" or kind == "flow"', True),
    ('kind == "gd" and m > 1', False),
    ('names = ["standard"]', False),
    ('names = ("standard", "gd")', False),
    ('activations = ("relu", "linear", "quadratic")', False),
    ('kind in ("linear", "quadratic", "standard")', True),
)


def test_lists_of_kinds_are_told_from_other_lists(subtests: pytest.Subtests) -> None:
    for source, wrong in LISTS_TRIED:
        with subtests.test(source=source):
            found = ast.walk(ast.parse(source))
            assert any(lists_kinds(node) for node in found if isinstance(node, LISTS)) is wrong


# ------------------------------------------------------------------------- what is never done


def keeps_alive(call: ast.Call) -> bool:
    """Return True if a call connects a signal to a lambda or partial, which keeps a view alive."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "connect"):
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    return any(
        isinstance(value, ast.Lambda)
        or (isinstance(value, ast.Call) and name_of(value) == "partial")
        for value in given
    )


def find_lasting_connections() -> list[str]:
    """connect() to a lambda or partial keeps its view alive for ever."""
    return [
        place
        for place, node in nodes(SOURCES, ast.Call)
        if isinstance(node, ast.Call) and keeps_alive(node)
    ]


def flag_set(statement: ast.stmt) -> tuple[str, bool] | None:
    """Return the attribute that a statement sets to True or False, and which; also by
    `blockSignals`."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        name, value = dotted(statement.targets[0]), statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        name, given = dotted(statement.value.func), statement.value.args
        if not (name.endswith(".blockSignals") and given):
            return None
        value = given[0]
    else:
        return None
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        return name, value.value
    return None


def leaves_flags(function: ast.FunctionDef) -> bool:
    """Return True if a function sets a flag and resets it later, unless something is raised."""
    for node in ast.walk(function):
        block = getattr(node, "body", None)
        flags = [flag_set(statement) for statement in block] if isinstance(block, list) else []
        found = [flag for flag in flags if flag is not None]
        if any((name, not value) in found[k + 1 :] for k, (name, value) in enumerate(found)):
            return True
    return False


def find_flags_that_stay() -> list[str]:
    """A flag is set and reset in one block, and stays set if something is raised between.

    Use app.flag.Flag or QSignalBlocker in a `with`, or `finally`.
    """
    return [
        f"{place} {node.name}"
        for place, node in nodes(SOURCES, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef) and node.name != "__init__" and leaves_flags(node)
    ]


FLAGS = (
    ("self.on = True\n    act()\n    self.on = False", True),
    ("if x:\n        self.a.on = False\n        act()\n        self.a.on = True", True),
    ("box.blockSignals(True)\n    act()\n    box.blockSignals(False)", True),
    ("self.on = True\n    try:\n        act()\n    finally:\n        self.on = False", False),
    ("self.on = True\n    act()\n    self.off = False", False),
    ("with self.on:\n        act()", False),
)


def test_flags_that_stay_are_told_from_others(subtests: pytest.Subtests) -> None:
    for source, wrong in FLAGS:
        with subtests.test(source=source):
            function = ast.parse(f"def f():\n    {source}").body[0]
            assert isinstance(function, ast.FunctionDef)
            assert leaves_flags(function) is wrong


def find_references_to_all_objects() -> list[str]:
    """A call takes references to all objects beside other threads.

    A tuple that another thread is filling is among them, and filling a tuple that has a second
    reference raises SystemError in that thread.
    """
    taking = {"gc.get_objects", "gc.get_referrers"}
    return [
        place
        for place, node in nodes(SOURCES, ast.Call)
        if isinstance(node, ast.Call) and dotted(node.func) in taking
    ]


def find_drawing_in_the_window() -> list[str]:
    """The window draws figures itself; a process must do so (core.figures.export).

    matplotlib holds the interpreter's lock.
    """
    places = {
        place.split(":")[0]
        for place, node in nodes(SOURCES, ast.ImportFrom)
        if isinstance(node, ast.ImportFrom)
        and (
            node.module == "core.figures.draw" or "figure_bytes" in [one.name for one in node.names]
        )
    }
    drawing_place = "app/export/jobs.py"  # where a job is done without a window, as in tests
    assert places >= {drawing_place, "core/figures/export.py"}
    return [place for place in places if place.startswith("app/") and place != drawing_place]


def runs_foreign_code(node: ast.AST) -> bool:
    """Return True if a node could run code out of a file: pickle, eval, exec, torch.load."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        loaders = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal"}
        return any(name.split(".")[0] in loaders for name in imports(node))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}:
        return True
    called = dotted(node.func)
    allows = any(
        word.arg == "allow_pickle"
        and not (isinstance(word.value, ast.Constant) and word.value.value is False)
        for word in node.keywords
    )
    if called == "torch.load":  # which reads tensors alone where it is told to
        told = {word.arg: ast.unparse(word.value) for word in node.keywords}
        return told.get("weights_only") != "True"
    return called in {"joblib.load", "builtins.eval", "builtins.exec"} or allows


def find_foreign_code() -> list[str]:
    """pickle, eval, exec or torch.load run code out of files.

    Allowed for a user's own network, whose trust docs/decisions/0006 is about, for machine code
    that this user's programs keep in a folder only they can write to (docs/decisions/0013), and for
    an unpickler that knows the names of arrays alone (docs/decisions/0045).
    """
    allowed = (
        "core/network/custom.py",
        "core/compiled/numba_compat.py",
        "core/data/pickle_reader.py",
    )
    kinds = (ast.Import, ast.ImportFrom, ast.Call)
    return [
        place
        for place, node in nodes(SOURCES, *kinds)
        if runs_foreign_code(node) and not place.startswith(allowed)
    ]


# ------------------------------------------------------------------------ others' internals

OWN_PACKAGES = {"marginscope", "core", "app", "docs", "tests", "resources"}
WORKAROUNDS = ("core/compiled/numba_compat.py", "app/qt_workarounds.py")
SETTINGS = {"tqdm.tqdm.monitor_interval"}  # classes' attributes that are to be set, by a manual
DOCUMENTED = {"_exit", "_getframe", "_asdict", "_fields", "_replace"}  # of Python, by its manual


def is_internal(name: str) -> bool:
    """Return True if a part of a dotted name marks it as not for others."""
    private = name.startswith("_") and not name.endswith("__")
    return (private or name == "internals") and name not in DOCUMENTED


def imported_names(found: Kinds) -> dict[str, str]:
    """Map each name that a file imports from another project to its dotted origin."""
    names: dict[str, str] = {}
    for node in (*found.get(ast.Import, []), *found.get(ast.ImportFrom, [])):
        for one, origin in foreign_origins(node):
            top = origin.split(".")[0]
            names[one.asname or one.name.split(".")[0]] = (
                origin if one.asname or isinstance(node, ast.ImportFrom) else top
            )
    return names


def foreign_origins(node: ast.AST) -> list[tuple[ast.alias, str]]:
    """Return what an import statement takes from other projects, with dotted origins."""
    if isinstance(node, ast.Import):
        found = [(one, one.name) for one in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        found = [(one, f"{node.module}.{one.name}") for one in node.names]
    else:
        return []
    ours = OWN_PACKAGES | {"__future__"}
    return [(one, origin) for one, origin in found if origin.split(".")[0] not in ours]


def origin_of(node: ast.AST, names: dict[str, str]) -> list[str]:
    """Return the parts of an expression's dotted origin; none if it is not another project's."""
    first, _, rest = dotted(node).partition(".")
    return f"{names[first]}.{rest}".rstrip(".").split(".") if first in names else []


def own_names(found: Kinds) -> set[str]:
    """Return the names that a file defines: functions, classes and attributes."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {getattr(node, "name", "") for kind in kinds for node in found.get(kind, [])}
    for node in (*found.get(ast.Assign, []), *found.get(ast.AnnAssign, [])):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for one in targets:
            parts = one.elts if isinstance(one, ast.Tuple) else [one]
            defined |= {name_of(part) for part in parts if part is not None}
    return defined


def is_patch(node: ast.AST, names: dict[str, str]) -> bool:
    """Return True if a node assigns to an attribute of another project's module or class."""
    if isinstance(node, ast.Call):
        changed = (
            node.args[0] if dotted(node.func) in {"setattr", "delattr"} and node.args else node
        )
        return changed is not node and origin_of(changed, names)[:1] not in ([], ["sys"])
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
        return False
    parts = origin_of(node, names)
    if not parts or ".".join(parts) in SETTINGS:
        return False
    return parts[0] == "builtins" or parts[0] not in sys.stdlib_module_names


def extends_internals(node: ast.AST, names: dict[str, str]) -> bool:
    """Return True for a class that extends numba, or a class of pyqtgraph below its top level."""
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        parts = origin_of(base, names)
        if parts[:1] == ["numba"] or (parts[:1] == ["pyqtgraph"] and len(parts) > 2):
            return True
    return False


def internals_used(found: Kinds, own: set[str]) -> list[ast.AST]:
    """Return the nodes that import, name, patch or extend internals of another project."""
    names = imported_names(found)
    wrong = [
        node
        for node in (*found.get(ast.Import, []), *found.get(ast.ImportFrom, []))
        if any(map(is_internal, ".".join(origin for _, origin in foreign_origins(node)).split(".")))
    ]
    for node in found.get(ast.Attribute, []):
        assert isinstance(node, ast.Attribute)
        inside = is_internal(node.attr) and (node.attr not in own or bool(origin_of(node, names)))
        if inside or is_patch(node, names):
            wrong.append(node)
    wrong += [node for node in found.get(ast.Call, []) if is_patch(node, names)]
    return wrong + [node for node in found.get(ast.ClassDef, []) if extends_internals(node, names)]


def find_internals_of_others() -> list[str]:
    """Internals of other projects are used outside the modules of workarounds.

    Only the modules of WORKAROUNDS may, and say there when that can go.
    """
    own = {name for path in SOURCES for name in own_names(nodes_by_kind(path))}
    return [
        f"{relative(path)}:{getattr(node, 'lineno', 1)} {getattr(node, 'name', '')}"
        for path in SOURCES
        if not relative(path).startswith(WORKAROUNDS)
        for node in internals_used(nodes_by_kind(path), own)
    ]


INTERNALS = (
    ("from numba.core.caching import _Cache", True),
    ("from scipy.optimize._highspy import _core", True),
    ("import scipy._lib.deprecation", True),
    ("from core.run_files.networks import read", False),
    ("from __future__ import annotations", False),
    ("import numpy as np\nnp._core.multiarray", True),
    ("import numpy as np\nnp.linalg.__name__", False),
    ("import pyqtgraph as pg\npg.Qt.internals.PrimitiveArray", True),
    ("def read(context):\n    return context._registries", True),
    ("class A:\n    def f(self):\n        self._mine = self._mine + 1", False),
    ("import os\nos._exit(1)", False),
    ("from numba.core import event\nevent.start_event = None", True),
    ("from tqdm import tqdm\ntqdm.monitor_interval = 0", False),
    ("from tqdm import tqdm\ntqdm.update = None", True),
    ("import torch\nsetattr(torch.nn.Module, 'forward', None)", True),
    ("import builtins\nbuiltins.__import__ = None", True),
    ("import sys\nsys.stdout = None", False),
    ("from numba.core.lowering import Lower\nclass Mine(Lower): ...", True),
    ("from pyqtgraph.graphicsItems.AxisItem import AxisItem\nclass Mine(AxisItem): ...", True),
    ("import pyqtgraph as pg\nclass Mine(pg.AxisItem): ...", False),
)


def test_internals_of_others_are_told_from_what_they_offer(subtests: pytest.Subtests) -> None:
    for source, wrong in INTERNALS:
        with subtests.test(source=source):
            found = by_kind(ast.parse(source))
            assert bool(internals_used(found, own_names(found))) is wrong


RULES = (
    find_imports_of_the_window,
    find_imports_of_numba,
    find_long_functions,
    find_open_classes,
    find_lists_of_kinds,
    find_lasting_connections,
    find_flags_that_stay,
    find_references_to_all_objects,
    find_drawing_in_the_window,
    find_foreign_code,
    find_internals_of_others,
)


def test_sources_keep_the_rules(subtests: pytest.Subtests) -> None:
    """One test, so that one process parses the sources."""
    assert len(SOURCES) > 300
    for rule in RULES:
        with subtests.test(rule=rule.__name__):
            wrong = rule()
            assert not wrong, f"{rule.__doc__}\n{wrong}"
    nodes_by_kind.cache_clear()  # collections of garbage would look through a million nodes


CALLS = (
    ("import pickle", True),
    ("from pickle import loads", True),
    ("exec('1')", True),
    ("dialog.exec()", False),
    ("torch.load(path)", True),
    ("torch.load(path, weights_only=False)", True),
    ("torch.load(path, weights_only=True)", False),
    ("np.load(path, allow_pickle=True)", True),
    ("np.load(path, allow_pickle=False)", False),
)


def test_foreign_code_is_told_from_other_code(subtests: pytest.Subtests) -> None:
    for source, wrong in CALLS:
        with subtests.test(source=source):
            assert any(map(runs_foreign_code, ast.walk(ast.parse(source)))) is wrong


# --------------------------------------------------------------------------------------- text


HAS_GIT = bool(shutil.which("git")) and (ROOT / ".git").exists()


@cache
def tracked_files() -> list[Path]:
    """Return the text files among them."""
    return sorted(path for path in kept_files() if path.is_file() and is_text(path))


@cache
def kept_files() -> list[Path]:
    """Return the files that git knows or would add; without git those of the folders."""
    if HAS_GIT:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        paths = [ROOT / name for name in done.stdout.split("\0") if name]
    else:
        folders = ("app", "core", "resources", "tests", "docs", ".ci")
        paths = [path for name in folders for path in (ROOT / name).rglob("*")]
        made = ROOT / "resources" / "site"  # by `make docs`
        paths = [path for path in paths if made not in path.parents] + list(ROOT.glob("*"))
    return paths


TOP = {
    *(".ci", ".github", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("LICENSE", "Makefile", "README.md", "app", "build.spec", "constraints.txt", "core", "docs"),
    *("marginscope", "pyproject.toml", "resources", "tests"),
}


@pytest.mark.skipif(not HAS_GIT, reason="what is kept is known to git alone")
def test_only_what_belongs_there_lies_at_the_top() -> None:
    """Examples and commands write beside where they are started; none of that is kept."""
    names = {path.relative_to(ROOT).parts[0] for path in kept_files() if path.exists()}
    assert names == TOP


def is_text(path: Path) -> bool:
    """Return True if a file is text; bytecode and files with NUL bytes are not."""
    return path.suffix != ".pyc" and b"\0" not in path.read_bytes()[:4096]


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield every place in some files where a pattern is found, with the match."""
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            for match in pattern.finditer(line):
                yield f"{relative(path)}:{number}", match


def test_nothing_is_left_to_do() -> None:
    wrong = [place for place, _ in lines_with(LEFT_TO_DO, CODE)]
    assert not wrong, f"finish it or write an issue: {wrong}"


def test_no_path_of_a_machine_is_named() -> None:
    # A package of others is carried as its authors wrote it.
    files = [path for path in tracked_files() if path.parent.name != "sqlite"]
    wrong = [place for place, _ in lines_with(MACHINE_PATH, files)]
    assert not wrong, f"an absolute path of somebody's machine: {wrong}"


def test_addresses_lead_to_papers_and_standards_only() -> None:
    # Texts of licences and packages of others are copied as they are, and nobody may change them.
    others = ("licences", "fonts", "sqlite")
    files = [path for path in tracked_files() if path.parent.name not in others]
    wrong = [
        f"{place} {match[1]}"
        for pattern in (WITH_SCHEME, HOST)
        for place, match in lines_with(pattern, files)
        if match[1] not in HOSTS
    ]
    assert not wrong, f"hosts outside {sorted(HOSTS)}: {wrong}"


GROUPED_FORMAT = re.compile(r":[<>^]?\d*,(?:\.\d+)?[dfg]?\}")
GROUPED_NUMBER = re.compile(r"(?<![\d.,\w/])\d{1,3}(?:,\d{3})+(?!\d|,\d)")


def test_digits_are_grouped_by_narrow_spaces() -> None:
    """A comma is a decimal sign to half of the readers (core.numbers)."""
    formatter = ROOT / "core" / "numbers.py"
    code = [path for path in SOURCES if path != formatter]
    wrong = [place for place, _ in lines_with(GROUPED_FORMAT, code)]
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    texts = [path for path in pages if path.name != "benchmarks.md"]  # as it was measured
    texts += (ROOT / "resources" / "studies").glob("*.toml")
    wrong += [place for place, _ in lines_with(GROUPED_NUMBER, texts)]
    assert not wrong, f"use whole_text, or a narrow space from five digits on: {wrong}"


def test_machine_paths_are_found() -> None:
    for folder in ("work", "root", "home"):
        for text in ("cd /{}/me", "'/{}'", "path=/{}/x", "(/{})"):
            assert MACHINE_PATH.search(text.format(folder)), text
        for text in ("up/{}/me", "./{}", "/{}er", "/usr/{}", "$PWD/{}"):
            assert not MACHINE_PATH.search(text.format(folder)), text


def test_scripts_can_be_executed() -> None:
    for name in ("run", "qt-libraries"):
        assert os.access(ROOT / ".ci" / name, os.X_OK), f".ci/{name} is not executable"
