"""Another program's training loop, in a separate process that follows commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
# Without this program but for what records: told by lines how many frames are to come.
LOOP = """
import json, sys
import numpy as np
import marginscope as ms

path, settings = sys.argv[1], json.loads(sys.argv[2])
k = settings.pop("k", 1)
rng = np.random.default_rng(3)
x = rng.choice([-1.0, 1.0], (12, 4))
y = x[:, 0] * x[:, 1] if k == 1 else np.arange(12) % k
V, a = rng.standard_normal((6, 4)), rng.standard_normal((k, 6) if k > 1 else 6)
fixed = settings.pop("fixed", False)
if fixed:
    settings["a_fixed"] = np.sign(a) / 6**0.5
a = None if fixed else a
loss = "logistic" if k == 1 else "cross_entropy"
with ms.record(path, x, y, loss=loss, V0=V, a0=a, strict=True, **settings) as r:
    print(r.path, flush=True)
    t = 0
    for line in sys.stdin:
        for _ in range(int(line)):
            t += 1
            V = V + 0.05 * rng.standard_normal(V.shape)
            r.frame(t, V=V, a=a)
        print(t, flush=True)
"""


class LoopProcess:
    """Loop: `frames(n)` records n more, `stop()` ends the recording, `kill()` kills the process."""

    def __init__(self, path: Path, **settings: object) -> None:
        import json

        self._process = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(path), json.dumps(settings)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.path = Path(self._read_line())

    def _read_line(self) -> str:
        line = self._process.stdout.readline()
        assert line, "the loop has failed"
        return line.rstrip("\n")

    def frames(self, count: int) -> int:
        """Record more frames; return their number, the start included."""
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        return int(self._read_line()) + 1

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        assert self._process.wait(60) == 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(60)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
