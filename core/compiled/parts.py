"""How kernels that other kernels call are compiled: typed and lowered, and left to the caller.

numba optimises every function by itself, with all that it calls linked in, and makes machine code
of it: in a tree of calls the leaves go through LLVM once for each level above them, which is most
of the time that compiling takes. A part is only lowered; what is called from Python optimises the
whole tree below it, once.
"""

from __future__ import annotations

from typing import Any, final

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NoPythonSupportedFeatureValidation


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
class PartCompiler(CompilerBase):  # type: ignore[misc]
    """numba's pipeline, but for the library."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(MakePartLibrary, NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]
