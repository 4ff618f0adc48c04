"""From numba's typed code to LLVM's: numba's own way for most of it, and a short one for the rest.

What kernels are made of is written out here with as few instructions as it takes: elements, rows
and slices of arrays (core.compiled.views), tuples, arithmetic of two numbers of one type, and calls
of one kernel by another. A variable that is assigned once is a value, not a place in memory, and
what numba does for variables that own memory, or for functions that raise, is left out: kernels do
neither. What LLVM makes of it is the same, in a third of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, final

from llvmlite import ir as llvm
from numba.core import ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import rename_labels
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.core.types.containers import BaseNamedTuple, BaseTuple
from numba.core.types.misc import SliceType, unliteral

from core.compiled.arithmetic import instruction
from core.compiled.ranges import Loop, Range
from core.compiled.views import INDEX, Packed, View, flattened, is_plain, packed, taken_from

END = 2**63 - 1  # of an open slice
# What has a loop is called, and made into machine code once: a call costs nothing beside a loop.
# But these are for the innermost loops, whose own ones are short.
WITHIN = ("dot", "shift", "reach")
# Loops of fifty operations a number, which vectors of 512 bits do a third faster. LLVM takes 256
# where both are there, since the others cost more than they bring to short loops.
WIDE = ("smoothed",)
EXTREMES = {max: ">", min: "<"}
# A tuple of what follows, an array, a range, a loop over one, or a value of LLVM's.
Tree = Any


@final
class KernelLower(Lower):  # type: ignore[misc]
    """numba's lowering of one function, where a variable may be a View or a tuple of such."""

    def init(self) -> None:
        """See numba: find the variables that are assigned once; their blocks come before others."""
        self.blocks: dict[int, Any] = rename_labels(self.func_ir.blocks)
        self.firstblk = min(self.blocks)
        assigned = Counter(
            inst.target.name
            for block in self.blocks.values()
            for inst in block.find_insts(ir.Assign)
        )
        self._once = {name for name, count in assigned.items() if count == 1}
        self._known: dict[str, Tree] = {}
        self._slots: dict[Any, Any] = {}
        self._forms: dict[str, Callable[[Any, Any], Tree]] = {
            "getitem": self._item,
            "static_getitem": self._item,
            "build_tuple": self._tuple,
            "exhaust_iter": self._unpacked,
            "getattr": self._attribute,
            "call": self._call,
            "binop": self._operation,
            "inplace_binop": self._operation,
            "cast": self._same,
            "getiter": self._begin,
            "iternext": self._next,
            "pair_first": self._half,
            "pair_second": self._half,
        }

    # ------------------------------------------------------------------------- variables

    def pre_block(self, block: Any) -> None:
        """See numba: nothing is to be freed or caught."""

    def setup_function(self, fndesc: Any) -> None:
        """See numba."""
        super().setup_function(fndesc)
        if self.func_ir.func_id.func_name in WIDE:
            # llvmlite knows no attributes with values, but writes what is in the set.
            set.add(self.function.attributes, '"prefer-vector-width"="512"')

    def extract_function_arguments(self) -> None:
        """Take the arguments apart as `packer` has put them together."""
        given = iter(self.call_conv.get_arguments(self.function))
        self.fnargs = [self._argument(kind, given) for kind in self.fndesc.argtypes]

    def _argument(self, kind: Any, given: Iterator[Any]) -> Tree:
        if isinstance(kind, BaseNamedTuple):
            return Packed(kind, next(given))
        if isinstance(kind, BaseTuple):
            return tuple(self._argument(one, given) for one in kind)
        if is_plain(kind):
            return View(kind, next(given), tuple(next(given) for _ in range(kind.ndim)))
        model = self.context.data_model_manager[kind]
        return model.from_argument(self.builder, taken_from(given, model.get_argument_type()))

    def tree(self, name: str) -> Tree:
        """The value of a variable."""
        if name in self._known:
            return self._known[name]
        return self._taken(self.typeof(name), self.builder.load(self._place(name)))

    def _taken(self, kind: Any, value: Any) -> Tree:
        """What numba has made, as a tree."""
        if is_plain(kind) and not isinstance(value, View):
            return View.of(self.builder, kind, value)
        if isinstance(kind, BaseTuple) and not isinstance(value, tuple | Packed):
            extract = self.builder.extract_value
            return tuple(self._taken(one, extract(value, i)) for i, one in enumerate(kind))
        return value

    def loadvar(self, name: str) -> Any:
        """See numba: the value of a variable as one value of LLVM's."""
        return self._whole(self.typeof(name), self.tree(name))

    def _whole(self, kind: Any, tree: Tree) -> Any:
        if isinstance(tree, View):
            return tree.structure(self.context, self.builder)
        if isinstance(tree, Packed):
            tree = tree.fields(self.builder)
        if isinstance(tree, tuple):
            parts = [self._whole(one, part) for one, part in zip(kind, tree, strict=True)]
            return self.context.make_tuple(self.builder, kind, parts)
        return tree

    def _place(self, name: str) -> Any:
        if name not in self.varmap:
            assert name not in self._once, f"{name} is used before it is assigned"
            self.varmap[name] = self._new_place(self.context.get_value_type(self.typeof(name)))
        return self.varmap[name]

    def _new_place(self, kind: Any) -> Any:
        with self.builder.goto_entry_block():
            return self.builder.alloca(kind)

    def storevar(self, value: Tree, name: str, argidx: Any = None) -> None:
        """See numba: assign to a variable."""
        if name in self._once:
            self._known[name] = self._taken(self.typeof(name), value)
        else:
            self.builder.store(self._whole(self.typeof(name), value), self._place(name))

    def _cast(self, name: str, kind: Any) -> Tree:
        own = self.typeof(name)
        if own == kind:
            return self.tree(name)
        made = self.context.cast(self.builder, self.loadvar(name), own, kind)
        return self._taken(kind, made)

    # ------------------------------------------------------------------------ statements

    def lower_block(self, block: Any) -> None:
        """See numba: all statements of a block."""
        for inst in block.body:
            self.loc = inst.loc
            self.lower_inst(inst)

    def lower_inst(self, inst: Any) -> None:
        """See numba: one statement."""
        if isinstance(inst, ir.Assign):
            self._assign(inst.target.name, inst)
        elif isinstance(inst, ir.Jump):
            self.builder.branch(self.blkmap[inst.target])
        elif isinstance(inst, ir.Branch):
            met = self._cast(inst.cond.name, types.boolean)
            self.builder.cbranch(met, self.blkmap[inst.truebr], self.blkmap[inst.falsebr])
        elif not (isinstance(inst, ir.SetItem | ir.StaticSetItem) and self._set(inst)):
            super().lower_inst(inst)

    def _assign(self, target: str, inst: Any) -> None:
        value, kind = inst.value, self.typeof(target)
        made: Tree = None
        if isinstance(value, ir.Var):
            made = self._cast(value.name, kind)
        elif isinstance(value, ir.Arg):
            own = self.fndesc.argtypes[value.index]
            if own == kind:
                made = self.fnargs[value.index]
        elif isinstance(value, ir.Expr) and value.op in self._forms:
            made = self._forms[value.op](kind, value)
        self.storevar(self.lower_assign(kind, inst) if made is None else made, target)

    def _set(self, inst: Any) -> bool:
        kind = self.typeof(inst.target.name)
        if not is_plain(kind):
            return False
        index = inst.index if isinstance(inst, ir.StaticSetItem) else inst.index.name
        if not isinstance(self.typeof(inst.value.name), types.Number | types.Boolean):
            return False
        value = self._cast(inst.value.name, kind.dtype)
        array = self.tree(inst.target.name)
        if index == slice(None):
            array.fill(self.builder, value)
            return True
        places = self._places(array, index)
        if places is None or len(places) != kind.ndim:
            return False
        self.builder.store(value, array.pointer(self.builder, places))
        return True

    # ----------------------------------------------------------------------- expressions

    def _item(self, kind: Any, expr: Any) -> Tree:
        own, index = self.typeof(expr.value.name), expr.index
        static = expr.op == "static_getitem"
        if isinstance(own, BaseTuple):
            return self._parts(expr.value.name)[index] if static else None
        if not is_plain(own):
            return None
        array, index = self.tree(expr.value.name), index if static else index.name
        ends = self._ends(index)
        if ends is not None:
            return array.sliced(self.builder, kind, *ends) if is_plain(kind) else None
        places = self._places(array, index)
        if places is None:
            return None
        if len(places) < own.ndim:
            return array.part(self.builder, kind, places) if is_plain(kind) else None
        value = self.builder.load(array.pointer(self.builder, places))
        return self.context.cast(self.builder, value, own.dtype, kind)

    def _places(self, array: View, index: Any) -> tuple[Any, ...] | None:
        """Indices of an array from 0 on, by the name of a variable or as constants."""
        if isinstance(index, str):
            kind, tree = self.typeof(index), self.tree(index)
            kinds = tuple(kind) if isinstance(kind, BaseTuple) else (kind,)
            if not all(isinstance(one, types.Integer) for one in kinds):
                return None
            given = tree if isinstance(tree, tuple) else (tree,)
            cast, builder = self.context.cast, self.builder
            return tuple(
                cast(builder, value, one, types.intp)
                for value, one in zip(given, kinds, strict=True)
            )
        constants = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(one, int) and one >= 0 for one in constants):
            return None
        return tuple(llvm.Constant(INDEX, one) for one in constants)

    def _ends(self, index: Any) -> tuple[Any, Any] | None:
        """Where a slice by steps of one begins and ends, if it is one."""
        if isinstance(index, str):
            kind = self.typeof(index)
            if not isinstance(kind, SliceType) or kind.has_step:
                return None
            value = self.loadvar(index)
            return self.builder.extract_value(value, 0), self.builder.extract_value(value, 1)
        if not isinstance(index, slice) or index.step is not None:
            return None
        first, last = index.start or 0, END if index.stop is None else index.stop
        if first < 0 or last < 0:
            return None
        return llvm.Constant(INDEX, first), llvm.Constant(INDEX, last)

    def _tuple(self, kind: Any, expr: Any) -> Tree:
        return tuple(self._cast(one.name, to) for one, to in zip(expr.items, kind, strict=True))

    def _unpacked(self, kind: Any, expr: Any) -> Tree:
        own = self.typeof(expr.value.name)
        return self._parts(expr.value.name) if isinstance(own, BaseTuple) else None

    def _parts(self, name: str) -> Any:
        """The values of a tuple."""
        tree = self.tree(name)
        return tree.fields(self.builder) if isinstance(tree, Packed) else tree

    def _same(self, kind: Any, expr: Any) -> Tree:
        return self._cast(expr.value.name, kind)

    def _attribute(self, kind: Any, expr: Any) -> Tree:
        own = self.typeof(expr.value.name)
        if isinstance(own, BaseNamedTuple):
            tree, place = self.tree(expr.value.name), own.fields.index(expr.attr)
            return tree.field(self.builder, place) if isinstance(tree, Packed) else tree[place]
        if not is_plain(own):
            return None
        if expr.attr == "size":
            return self.tree(expr.value.name).size(self.builder)
        if expr.attr == "shape":
            return self.tree(expr.value.name).shape
        if expr.attr == "reshape":  # what `_call` reshapes
            return self.tree(expr.value.name)
        return None

    def _operation(self, kind: Any, expr: Any) -> Tree:
        function = expr.fn if expr.op == "binop" else expr.immutable_fn
        signature = self.fndesc.calltypes[expr]
        number, other = map(unliteral, signature.args)
        real = isinstance(number, types.Float)
        if number != other or not (real or number == types.int64):
            return None
        made = instruction(self.builder, function, real)
        if made is None:
            return None
        made = made(self._cast(expr.lhs.name, number), self._cast(expr.rhs.name, number))
        return self.context.cast(self.builder, made, signature.return_type, kind)

    # ------------------------------------------------------------------------------ loops

    def _begin(self, kind: Any, expr: Any) -> Tree:
        tree = self.tree(expr.value.name)
        if not isinstance(tree, Range):
            return None
        if self.func_ir.func_id.func_name not in WITHIN:
            self.function.attributes.add("noinline")
        place = self._new_place(INDEX)
        self.builder.store(tree.start, place)
        return Loop(place, tree.stop, tree.step)

    def _next(self, kind: Any, expr: Any) -> Tree:
        loop = self.tree(expr.value.name)
        if not isinstance(loop, Loop):
            return None
        number = self.builder.load(loop.place)
        self.builder.store(self.builder.add(number, loop.step, flags=["nsw"]), loop.place)
        return number, self.builder.icmp_signed("<", number, loop.stop)

    def _half(self, kind: Any, expr: Any) -> Tree:
        tree = self.tree(expr.value.name)
        return tree[expr.op == "pair_second"] if isinstance(tree, tuple) else None

    # ------------------------------------------------------------------------------ calls

    def _call(self, kind: Any, expr: Any) -> Tree:
        function, signature = self.typeof(expr.func.name), self.fndesc.calltypes[expr]
        if isinstance(function, types.Dispatcher):
            made = self._result(function.dispatcher.overloads[signature.args], expr.args)
            return self.context.cast(self.builder, made, signature.return_type, kind)
        if isinstance(function, types.BoundFunction) and function.typing_key == "array.reshape":
            shape = tuple(self._cast(one.name, types.intp) for one in expr.args)
            return View(kind, self.tree(expr.func.name).data, shape)
        key = getattr(function, "typing_key", None)
        if key in EXTREMES and len(expr.args) > 1:
            return self._extreme(kind, EXTREMES[key], expr)
        if key is range and kind == types.range_state64_type:
            return Range.of(*(self._cast(one.name, types.intp) for one in expr.args))
        return None

    def _extreme(self, kind: Any, comparison: str, expr: Any) -> Tree:
        """max or min, as Python finds it among numbers, NaN included."""
        extreme, *others = (self._cast(one.name, kind) for one in expr.args)
        real = isinstance(kind, types.Float)
        compare = self.builder.fcmp_ordered if real else self.builder.icmp_signed
        for other in others:
            extreme = self.builder.select(compare(comparison, other, extreme), other, extreme)
        return extreme

    def _result(self, part: Any, given: list[Any]) -> Any:
        """What a kernel returns for arguments; it raises nothing."""
        self.library.add_linking_library(part.library)
        function = self.context.declare_function(self.module, part.fndesc)
        arguments: list[Any] = []
        for variable, kind in zip(given, part.fndesc.argtypes, strict=True):
            arguments += self._flat(kind, self._cast(variable.name, kind))
        place, state = function.args[0], self.function.args[1]
        kind = place.type.pointee
        if kind not in self._slots:
            self._slots[kind] = self._new_place(kind)
        self.builder.call(function, [self._slots[kind], state, *arguments])
        if part.fndesc.restype == types.none:
            return self.context.get_dummy_value()
        value = self.builder.load(self._slots[kind])
        return self.context.get_returned_value(self.builder, part.fndesc.restype, value)

    def _flat(self, kind: Any, tree: Tree) -> list[Any]:
        if isinstance(tree, View):
            return [tree.data, *tree.shape]
        if isinstance(tree, Packed):
            return [tree.pointer]
        if isinstance(kind, BaseNamedTuple):
            return [packed(self.builder, kind, self._whole(kind, tree))]
        if isinstance(tree, tuple):
            parts = zip(kind, tree, strict=True)
            return [value for one, part in parts for value in self._flat(one, part)]
        return flattened(self.context.data_model_manager[kind].as_argument(self.builder, tree))


@register_pass(mutates_CFG=True, analysis_only=False)
@final
class LowerKernel(BaseNativeLowering):  # type: ignore[misc]
    """Lower by KernelLower."""

    _name = "lower_kernel"

    @property
    def lowering_class(self) -> Any:
        """See numba."""
        return KernelLower
