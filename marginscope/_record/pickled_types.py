"""Which types the pickle in a checkpoint needs, found without unpickling anything.

torch.load refuses all but tensors (weights_only), in a page of text; users need one sentence.
"""

from __future__ import annotations

import json
import pickletools
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from core.errors import InputError
from core.run_files.meta import printable
from marginscope._record.limits import MOST_PICKLE

# What torch.load makes with weights_only: its _weights_only_unpickler has the list.
PLAIN = re.compile(
    r"torch\.(\w+|_utils\.\w+|storage\.\w+|_tensor\.\w+|nn\.parameter\.Parameter"
    r"|serialization\._get_layout)|collections\.(OrderedDict|Counter)"
    r"|(builtins|__builtin__)\.(set|complex|bytearray)|_codecs\.encode"
)
MODULE = re.compile(r"torch\.nn\.modules\.")
PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
GETS = ("GET", "BINGET", "LONG_BINGET")
MOST_TYPES = 1000
LONGEST = 100  # characters of a type's name in a sentence


def other_types(file: IO[bytes], count: int = 1) -> list[str]:
    """Return the types other than tensors that the next pickles of a file need.

    Parameters
    ----------
    file : IO[bytes]
        Open at the first pickle; read until the last, or until what is no pickle.
    count : int
        Number of pickles.

    Returns
    -------
    list of str
        Full names, each once, in the order of the file.
    """
    found: dict[str, None] = {}
    try:
        for _ in range(count):
            for name in islice(_globals(file), MOST_TYPES):
                if not PLAIN.fullmatch(name):
                    found[name] = None
    except Exception:  # damaged: whatever comes first says so
        pass
    return list(found)


def _globals(file: IO[bytes]) -> Iterator[str]:
    """Yield what a pickle imports: "module.name"."""
    texts: list[Any] = ["", ""]  # the last two values of the stack, as far as they are texts
    memo: dict[int, Any] = {}
    start = file.tell()
    for code, argument, _ in pickletools.genops(file):
        if file.tell() - start > MOST_PICKLE:
            return
        if code.name in ("GLOBAL", "INST"):
            yield str(argument).replace(" ", ".")
        elif code.name == "STACK_GLOBAL":
            yield ".".join(str(text) for text in texts)
        elif code.name == "MEMOIZE":
            memo[len(memo)] = texts[-1]
        elif code.name in PUTS:
            memo[int(argument or 0)] = texts[-1]
        elif code.name in GETS:
            texts = [texts[-1], memo.get(int(argument or 0), "")]
        elif isinstance(argument, str):
            texts = [texts[-1], argument]


def refusal(path: Path, types: list[str], torch: bool = True) -> InputError:
    """Return the error for a pickle of these types: which is in the way, and what to do.

    `torch` says whether `torch.save` wrote the file.
    """
    first = printable(types[0])[:LONGEST].replace("\n", " ")
    others = f" and {len(types) - 1} more" if len(types) > 1 else ""
    if torch:
        whole = any(MODULE.match(name) for name in types)
        part = ".state_dict()" if whole else "[KEY]"
        fresh = path.with_name(f"{path.stem}-weights.pt")
        old, new = (json.dumps(str(one), ensure_ascii=False) for one in (path, fresh))
        code = f"import torch; torch.save(torch.load({old}, weights_only=False){part}, {new})"
        key = "" if whole else ", with the KEY of the weights in it"
        how = f"with python -c {shlex.quote(code)}{key}"
    else:
        how = "with numpy.savez(NAME, **arrays)"
    return InputError(
        f"The checkpoint {path} holds more than arrays: to read {first}{others} can run any code, "
        f"and nothing was read; if you trust its author, save the weights alone, {how}."
    )
