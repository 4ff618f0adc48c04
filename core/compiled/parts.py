"""How kernels are compiled: each as a part, typed and lowered, and left to what calls it.

numba optimises every function by itself, with all that it calls linked in, and makes machine code
of it: in a tree of calls the leaves go through LLVM once for each level above them, which is most
of the time that compiling takes. A part is only lowered. What Python calls is a part too, with an
entry for Python beside it; the whole tree below that is optimised, once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar, final

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.types.misc import unliteral
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

from core.compiled.hurry import hurried
from core.compiled.lowering import LowerKernel
from core.compiled.views import handed_on

BEFORE_LOWERING = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
)
LOWERING = (LowerKernel, NoPythonBackend)


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
        return SimpleNamespace(set_env=lambda *_: None)


def connect(result: Any) -> None:
    """Give the parts in a compiled kernel their environments, which hold what they may raise."""
    for env in result._find_referenced_environments():
        result.library.codegen.set_env(env.env_name, env)


@register_pass(mutates_CFG=False, analysis_only=False)
@final
class MakePartLibrary(FunctionPass):  # type: ignore[misc]
    """Lower into a PartLibrary."""

    _name = "make_part_library"

    def __init__(self) -> None:  # abstract in numba's passes
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


@final
class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what kernels call, into a PartLibrary."""

    def __init__(self, *arguments: Any) -> None:
        *others, flags, local_types = arguments
        super().__init__(*others, KernelFlags(flags), local_types)

    def define_pipelines(self) -> list[Any]:
        """numba's passes without those that kernels have no use for, which are half of them.

        Kernels have no closures, raise nothing, and write their loops out: there is nothing to
        lift, to prune by literal arguments or to fuse.
        """
        passes = PassManager("kernel")
        for kind in (*BEFORE_LOWERING, MakePartLibrary, *LOWERING):
            passes.add_pass(kind, kind.__name__)
        passes.finalize()
        return [passes]


@final
class Part(CPUDispatcher):  # type: ignore[misc]
    """A kernel as others call it: compiled once for a type, whatever constants are handed to it."""

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """See numba's dispatchers; a literal 2 would be a type of its own."""
        return super().get_call_template(tuple(map(unliteral, args)), kws)


@final
class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel with all its parts, as it is run.

    numba goes through LLVM's passes twice, since the first time brings counts of references
    together: kernels have none. Nor is there anything for straight code to be vectorised: the
    vectors of kernels are in loops and in tiles.
    """

    def _optimize_final_module(self) -> None:
        tuning = create_pipeline_tuning_options(speed_level=int(config.OPT))
        tuning.loop_vectorization = bool(config.LOOP_VECTORIZE)
        tuning.slp_vectorization = False
        builder = create_pass_builder(self._codegen._tm, tuning)
        builder.getModulePassManager().run(self._final_module, builder)


@final
class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what Python calls: its part, and the entry for Python."""

    parts: ClassVar[dict[Callable[..., Any], Part]] = {}

    def __init__(self, typing: Any, target: Any, *arguments: Any) -> None:
        super().__init__(typing, target, *arguments)
        self._contexts = typing, target

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """See numba's compilers: the result for a function."""
        part, state = self.parts[func], self.state
        targets = handed_on(self._contexts[1], state.targetctx)
        with global_compiler_lock, hurried(*self._contexts), targets:
            part.compile(state.args)
            return _with_entry(part.overloads[state.args], state)


def _with_entry(part: Any, state: Any) -> Any:
    """The result of compiling a part, with machine code that Python can call."""
    target, described = state.targetctx, part.fndesc
    library = KernelLibrary(target.codegen(), described.qualname)
    library.enable_object_caching()
    library.add_linking_library(part.library)
    with target.push_code_library(library):
        target.create_cpython_wrapper(
            library,
            described,
            part.environment,
            part.call_helper,
            release_gil=state.flags.release_gil,
        )
    return compile_result(
        typing_context=state.typingctx,
        target_context=target,
        typing_error=None,
        objectmode=False,
        entry_point=target.get_executable(library, described, part.environment),
        type_annotation=part.type_annotation,
        library=library,
        call_helper=part.call_helper,
        signature=part.signature,
        lifted=(),
        fndesc=described,
        environment=part.environment,
        metadata={},
        reload_init=part.reload_init,
    )
