"""All uses of numba's internals (numba 0.68.1, pinned), each with its reason.

PartCompiler and PartLibrary: numba optimises each function by itself, with all that it calls, and
makes machine code of it: in a tree of calls the leaves go through LLVM once for each level above
them. Figure 1's flow takes 84 s of CPU that way, and all in float64 143 s. A part is typed
and lowered by numba's own passes, and optimised only within the kernel that Python calls.

StoredCode: numba's own cache ends with a traceback where a file is damaged (UnpicklingError), runs
damaged machine code where that still unpickles, and reads files that other users may write.

as_matrix: numba's own `reshape` calls a function of its C library, which takes 40 ns: with the six
calls of a small network's step, a tenth of it.

PartLibrary.attributes: numba has no option for LLVM's "noinline" and "prefer-vector-width".

These can go once numba links functions without compiling each of them, and checks its cache.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, final

from numba import types
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.serialize import dumps
from numba.core.untyped_passes import FixupArgs
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from core.compiled import kernel_groups, store

# smooth_activation: fifty operations per number, a third faster with vectors of 512 bits. LLVM
# chooses 256 bits where both exist, since wide vectors slow down short loops.
# one_pass: if inlined, its first call, which moves nothing, becomes a separate loop. Its sums round
# differently, and a continued run would differ from an uninterrupted one.
ATTRIBUTES = {
    "smooth_activation": ("noinline", '"prefer-vector-width"="512"'),
    "one_pass": ("noinline",),
}


@final
class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a part including its own parts, without optimisation."""

    attributes: tuple[str, ...] = ()

    def add_ir_module(self, module: Any) -> None:
        """Add a module of llvmlite's, after giving its functions the part's attributes."""
        for function in module.functions:
            if not function.is_declaration:
                # llvmlite's `add` rejects attributes with values; `set.update` bypasses
                # the check, and they are written unchanged.
                set.update(function.attributes, self.attributes)
        super().add_ir_module(module)

    def finalize(self) -> None:
        """Link the parts that are called, without optimisation and machine code."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: a part has no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """Ignore numba's setting of the environment, which has no address yet."""
        return SimpleNamespace(set_env=lambda *_: None)


@register_pass(mutates_CFG=False, analysis_only=False)
@final
class MakePartLibrary(FunctionPass):  # type: ignore[misc]
    """Pass that makes the following passes lower into a PartLibrary."""

    _name = "make_part_library"

    def __init__(self) -> None:  # numba declares it abstract
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Return True: the state was changed."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.attributes = ATTRIBUTES.get(state.func_id.func_name, ())
        state.library.enable_object_caching()
        return True


@final
class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiler with numba's own passes, into a PartLibrary."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's pipeline with one pass more."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(MakePartLibrary, FixupArgs)
        passes.finalize()
        return [passes]


@final
class StoredCode(_Cache):  # type: ignore[misc]
    """Machine code of one kernel in `core.compiled.store`, as numba's dispatchers request it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.rpartition(".")[2]
        self._kernel = f"{module}.{function.__qualname__}"

    def name_for(self, sig: Any) -> str:
        """Return the file of the code for argument types."""
        return store.name_for(self._kernel, str(sig))

    @property
    def cache_path(self) -> str:
        """Folder of the files."""
        return str(store.folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return numba's compile result, or None to have the kernel compiled."""
        target_context.refresh()
        content = store.load(self.name_for(sig))
        if content is None:
            kernel_groups.report_compiling(self._kernel)
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(content))

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Save a compile result, and connect the environments of its parts."""
        for env in cres._find_referenced_environments():
            cres.library.codegen.set_env(env.env_name, env)
        store.save(self.name_for(sig), dumps(cres._reduce()))

    def _do_nothing(self) -> None:
        """Do nothing: the cache is always enabled, and holds nothing in memory."""

    enable = disable = flush = _do_nothing  # the interface of numba's caches


def with_stored_code(dispatcher: Any, code: StoredCode) -> Any:
    """Return the dispatcher, which loads and saves its machine code by `code` from now on."""
    dispatcher._cache = code
    return dispatcher


def _matrix(typing: Any, flat: Any, rows: Any, columns: Any) -> Any:
    kind = flat.copy(ndim=2, layout="C")

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(flat)(context, builder, args[0])
        matrix = context.make_array(kind)(context, builder)
        width = source.itemsize
        populate_array(
            matrix,
            data=source.data,
            shape=list(args[1:]),
            strides=[builder.mul(args[2], width), width],
            itemsize=width,
            meminfo=source.meminfo,
        )
        return matrix._getvalue()

    return kind(flat, types.intp, types.intp), emit


# as_matrix(flat, rows, columns): view of flat (rows * columns,) as a matrix.
as_matrix = intrinsic(_matrix)
