"""How kernels that other kernels call are compiled: typed and lowered, and left to the caller.

numba optimises every function by itself, with all that it calls linked in, and makes machine code
of it: in a tree of calls the leaves go through LLVM once for each level above them, which is most
of the time that compiling takes. A part is only lowered; what is called from Python optimises the
whole tree below it, once.
"""

from __future__ import annotations

from typing import Any, final

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    InlineInlinables,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

BEFORE_LOWERING = (
    TranslateByteCode, FixupArgs, IRProcessing, GenericRewrites, InlineInlinables, ReconstructSSA,
    NopythonTypeInference, PreLowerStripPhis,
)  # fmt: skip
LOWERING = (IRLegalization, NativeLowering, NoPythonBackend)


@final
class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part with that of its own parts, as it was lowered."""

    def finalize(self) -> None:
        """Link what is called, and leave it there: no optimisation and no machine code."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Only for numba's setting of the environment, which is not there: see `connect`."""
        return _Nowhere()


@final
class _Nowhere:
    """Takes environments of functions that are not in memory."""

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing."""


def connect(result: Any) -> None:
    """Give the parts in a compiled kernel their environments, which hold what they may raise."""
    for env in result._find_referenced_environments():
        result.library.codegen.set_env(env.env_name, env)


@register_pass(mutates_CFG=False, analysis_only=False)
@final
class MakePartLibrary(FunctionPass):  # type: ignore[misc]
    """Lower into a PartLibrary."""

    _name = "make_part_library"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """See numba's passes: whether the state was changed."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@final
class KernelFlags(Flags):  # type: ignore[misc]
    """numba's flags, compared without making dictionaries: that is done for every operation."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelFlags) and bool(self._values == other._values)

    def __hash__(self) -> int:
        return len(self._values)


def _kernel_flags(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a compiler with the flags, the last but one, as KernelFlags."""
    *others, flags, types = arguments
    return (*others, KernelFlags(flags), types)


def _pipeline(*library: Any) -> list[Any]:
    """numba's passes without those that kernels have no use for, which are half of them.

    Kernels have no closures, raise nothing, and write their loops out: there is nothing to lift, to
    prune by literal arguments or to fuse.
    """
    passes = PassManager("kernel")
    for kind in (*BEFORE_LOWERING, *library, *LOWERING):
        passes.add_pass(kind, kind.__name__)
    passes.finalize()
    return [passes]


@final
class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what Python calls."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*_kernel_flags(arguments))

    def define_pipelines(self) -> list[Any]:
        """See numba's compilers: the passes in their order."""
        return _pipeline()


@final
class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what kernels call, into a PartLibrary."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*_kernel_flags(arguments))

    def define_pipelines(self) -> list[Any]:
        """See numba's compilers: the passes in their order."""
        return _pipeline(MakePartLibrary)
