"""Modules, functions, methods, classes and signals have names that say what they do or are.

Parameters and variables of functions have no vague words. Names of files' keys, of fields and local
functions are not examined.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEFINITION = re.compile(
    r"^( *)(?:(?:async )?(def|class) (\w+)[(:]|(\w+)(?:: Signal)? = Signal\()", re.MULTILINE
)

# Words of conversation and housekeeping, which say little of what the program does.
VAGUE = re.compile(
    "looks?|looked|looking|tells?|told|asks?|asked|asking|says?|said|keeps?|kept|keeping|begins?"
    "|begun|news|deeds?|comes?|came|dear|heat|mends?|mended|quick"
)
# Words that are vague for a variable, beside these: a noun says what was found, shown or left.
VARIABLE = re.compile(
    "ahead|all_|apart|beside|both|done|drawn|everything|found|given|gone|here|known|lost|made|many"
    "|most|moved|nothing|old|others|rest|same|seen|shown|spent|started|still|taken|there|used"
    "|wanted|what|which|whole|why|written"
)
# Keywords of the package that users write, and parameters in its help.
PUBLIC_PARAMETERS = {
    ("marginscope/_engine/margins.py", "which"),
    ("marginscope/_engine/run.py", "which"),
    ("marginscope/_engine/showing.py", "shown"),
}
# Bare participles, adverbs and prepositions: a verb and its object, or a noun, is missing.
INCOMPLETE = re.compile(
    "above|across|after|again|ahead|alike|all|alone|along|also|always|anew|another|any|anywhere"
    "|apart|around|aside|at|away|back|backward|before|behind|below|beside|between|beyond|both|down"
    "|drawn|during|each|earlier|either|elsewhere|ends?|ending|enough|every|everywhere|forward|found"
    "|from|further|given|gone|held|here|hidden|how|in|inside|into|known|later|least|left|less|like"
    "|longest|lost|made|many|meanwhile|more|most|moved|near|nearest|nothing|now|of|off|on|once|others|out"
    "|outside|over|put|same|seen|shown|since|spent|still|stuck|swept|taken|then|there|through"
    "|throughout|to|together|under|understood|unlike|unmet|until|up|upon|usual|what|when|where"
    "|whether|which|while|whole|why|with|within|without|woken|written"
)
PARTICIPLE = re.compile(r"(?!embed|feed|need|seed|shed|speed)\w+ed")
# Signals that are named as Qt names those of its own classes, after which the object is clear.
SIGNALS = re.compile(
    "accepted|cancelled|changed|clicked|closed|dragged|dropped|finished|hovered|opened|painted"
    "|resized|restored|submitted|toggled|zoomed"
)
KIND = "class of a kind beside Standard, Logistic and the like, named by an adjective as they are"
# Path and qualified name -> why the name stays.
EXCEPTIONS = {
    "core/compiled": "package of the compiled code: kernels, and what builds and stores them",
    "core/losses.py:Squared": KIND,
    "core/network/normalised_network.py:Normalised": KIND,
    "core/network/recorded_network.py:Recorded": KIND,
}


def test_names_are_verbs_or_nouns() -> None:
    wrong = []
    for package in ("app", "core", "marginscope"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for name, is_signal in names_of(path.read_text(encoding="utf-8")):
                why = objection(name.rpartition(".")[2], is_signal)
                if why and f"{place}:{name}" not in EXCEPTIONS:
                    wrong.append(f"{place}: {name} {why}")
    assert not wrong, "\n".join(wrong)


def test_modules_are_nouns() -> None:
    wrong = []
    for package in ("app", "core", "marginscope", "tests"):
        for path in (ROOT / package).rglob("*.py"):
            module = path.parent if path.stem == "__init__" else path.with_suffix("")
            place = module.relative_to(ROOT).as_posix()
            why = objection(module.name.removeprefix("_"), is_signal=False)
            if why and place not in EXCEPTIONS:
                wrong.append(f"{place} {why}")
    assert not wrong, "\n".join(wrong)


def test_variables_have_no_vague_words() -> None:
    wrong = []
    for package in ("app", "core", "marginscope"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for line, name in variables_of(path.read_text(encoding="utf-8")):
                if is_vague(name) and (place, name) not in PUBLIC_PARAMETERS:
                    wrong.append(f"{place}:{line}: {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "line",
    [
        "def f(told): ...",
        "def f(*, keep_pool=False): ...",
        "def f():\n    asked = 1",
        "def f():\n    kept, x = 1, 2",
        "class A:\n    def f(self):\n        for drawn in (): ...",
        "def f():\n    return lambda given: 1",
        "def f():\n    with a as beside: ...",
        "def f():\n    known = {}",
        "def f(most): ...",
        "def f():\n    return [found for found in ()]",
        "def f():\n    if (shown := g()): ...",
    ],
)
def test_vague_variables_are_found(line: str) -> None:
    assert any(is_vague(name) for _, name in variables_of(line))


@pytest.mark.parametrize(
    "line",
    [
        "told = 1",
        "def f(known_names, n_done, max_count, is_shown): ...",
        "def f(reply, thread): ...",
        "class A:\n    drawn: int = 1\n    def f(self): ...",
    ],
)
def test_other_variables_pass(line: str) -> None:
    assert not any(is_vague(name) for _, name in variables_of(line))


def test_exceptions_are_needed() -> None:
    for place in EXCEPTIONS:
        path, _, name = place.partition(":")
        if not name:
            assert (ROOT / path).exists(), place
            assert objection(Path(path).name, is_signal=False), place
            continue
        found = dict(names_of((ROOT / path).read_text(encoding="utf-8")))
        assert name in found, place
        assert objection(name.rpartition(".")[2], found[name]), place


@pytest.mark.parametrize(
    "line",
    [
        "def told(): ...",
        "def _beside(): ...",
        "def ask_size(): ...",
        "def renormalised(): ...",
        "class Kept: ...",
        "class Taken: ...",
        "class A:\n    def look_again(self): ...",
        "class A:\n    @property\n    def closed(self): ...",
        "class A:\n    asked = Signal(str)",
        "class A:\n    moved: Signal = Signal(int)",
        "if True:\n    def until(): ...",
    ],
)
def test_vague_and_incomplete_names_are_found(line: str) -> None:
    assert [name for name, signal in names_of(line) if objection(name.rpartition(".")[2], signal)]


@pytest.mark.parametrize(
    "line",
    [
        "def margins(): ...",
        "def is_closed(): ...",
        "def on_row_moved(): ...",
        "def find_seed(): ...",
        "class TrialResult: ...",
        "class A:\n    run_finished = Signal()",
        "class A:\n    finished = Signal()",
        "def outer():\n    def named(): ...",
        "class A:\n    def outer(self):\n        def named(): ...",
    ],
)
def test_verbs_and_nouns_pass(line: str) -> None:
    assert not [
        name for name, signal in names_of(line) if objection(name.rpartition(".")[2], signal)
    ]


def names_of(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the qualified name of each definition outside functions, and True for signals."""
    around: list[tuple[int, str, str]] = []  # indent, keyword and name of enclosing definitions
    for match in DEFINITION.finditer(source):
        indent, keyword, name, signal = len(match[1]), match[2], match[3], match[4]
        while around and around[-1][0] >= indent:
            around.pop()
        if not any(kind == "def" for _, kind, _ in around):
            yield ".".join([*(outer for _, _, outer in around), name or signal]), bool(signal)
        if keyword:
            around.append((indent, keyword, name))


def variables_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each parameter, and of each variable that a function assigns."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.arg):
                    yield node.lineno, node.arg
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.lineno, node.id


def is_vague(name: str) -> bool:
    """Return True if a variable has a vague word, or is one."""
    words = re.findall("[a-z0-9]+", name.lower())
    return bool(VARIABLE.fullmatch(name)) or any(VAGUE.fullmatch(word) for word in words)


def objection(name: str, is_signal: bool) -> str:
    """Return what is wrong with a name; "" for a good one."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)]
    vague = [word for word in words if VAGUE.fullmatch(word)]
    if vague:
        return f"has the vague word {vague[0]}"
    if name.startswith("__") or len(words) != 1 or (is_signal and SIGNALS.fullmatch(words[0])):
        return ""
    if INCOMPLETE.fullmatch(words[0]) or PARTICIPLE.fullmatch(words[0]):
        return "is incomplete: what is done, and to what?"
    return ""
