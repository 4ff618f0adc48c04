"""Collection: nothing is left out, and workers share the work of compiling."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.collection import DoctestFilter, compile_part


@pytest.mark.parametrize(("text", "expected"), [(">>> 1\n1\n", 2), ("a >> b\n", 1)])
def test_only_files_with_doctests_are_searched_for_them(
    text: str, expected: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = tmp_path / "example.py"
    file.write_text(f'"""Example.\n\n{text}"""\n')
    session = request.session
    module = pytest.Module.from_parent(session, path=file)
    hooks = request.config.pluginmanager.getplugin("doctest")
    doctests = hooks.pytest_collect_file(file_path=file, parent=session)
    hook = DoctestFilter().pytest_collect_file(file)
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send([module, doctests])
    assert ended.value.value == [module, doctests][:expected]


def test_each_worker_compiles_its_part(tmp_path: Path) -> None:
    files = [tmp_path / f"part{number}.py" for number in range(4)]
    for file in files:
        file.write_text("")

    def compiled() -> set[str]:
        return {file.name.partition(".")[0] for file in tmp_path.rglob("*.pyc")}

    for worker, expected in ((0, {"part0", "part2"}), (1, {"part0", "part1", "part2", "part3"})):
        names = {"workerid": f"gw{worker}", "workercount": 2}
        config = SimpleNamespace(workerinput=names, args=[str(tmp_path)])
        compile_part(cast("Any", config))
        assert compiled() == expected
