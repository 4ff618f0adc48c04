"""Arrays within kernels: where they begin and how long they are, which is all that kernels need.

numba's arrays have nine numbers for a matrix, reached through memory, and its indices may be
negative or of any kind: thirty instructions for one element, all of which are made, written as
text, parsed and cleaned up again. Kernels take arrays whose elements lie one after another, index
them with numbers from 0 on and slice them by their first axis: three instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import ArgPacker, DataModelManager, default_manager
from numba.core.datamodel.models import ArrayModel, TupleModel
from numba.core.types.containers import BaseNamedTuple, NamedTuple, NamedUniTuple

INDEX = ir.IntType(64)
PLACE = ir.IntType(32)  # of a field in a structure
FIRST = PLACE(0)
# Places in numba's structure of an array.
COUNT, BYTES, DATA, SHAPE, STRIDES = 2, 3, 4, 5, 6


def is_plain(kind: Any) -> bool:
    """Whether an array can be a View: numbers one after another, rows whole."""
    return (
        isinstance(kind, types.Array)
        and kind.layout == "C"
        and kind.ndim > 0
        and kind.aligned
        and isinstance(kind.dtype, types.Float | types.Integer)
    )


@final
@dataclass(frozen=True, slots=True)
class View:
    """An array of numba's type `kind`: a pointer to its first element and its shape."""

    kind: Any
    data: Any
    shape: tuple[Any, ...]

    @classmethod
    def of(cls, builder: Any, kind: Any, value: Any) -> View:
        """What numba's structure of an array says."""
        shape = tuple(builder.extract_value(value, [SHAPE, axis]) for axis in range(kind.ndim))
        return cls(kind, builder.extract_value(value, DATA), shape)

    def structure(self, context: Any, builder: Any) -> Any:
        """numba's structure of the array; nobody owns its memory."""
        kind = context.get_value_type(self.kind)
        size = context.get_abi_sizeof(context.get_data_type(self.kind.dtype))
        width = ir.Constant(INDEX, size)
        fields = [ir.Constant(one, None) for one in kind.elements]
        fields[BYTES] = width
        last = [ir.Constant(INDEX, 0)] * (self.kind.ndim - 1)
        fields[STRIDES] = ir.Constant(kind.elements[STRIDES], [*last, width])
        value = builder.insert_value(ir.Constant(kind, fields), self.data, DATA)
        stride: Any = width
        for axis in reversed(range(self.kind.ndim)):
            value = builder.insert_value(value, self.shape[axis], [SHAPE, axis])
            if axis < self.kind.ndim - 1:
                stride = builder.mul(self.shape[axis + 1], stride)
                value = builder.insert_value(value, stride, [STRIDES, axis])
        return builder.insert_value(value, self.size(builder), COUNT)

    def size(self, builder: Any) -> Any:
        """The number of elements."""
        total = self.shape[0]
        for length in self.shape[1:]:
            total = builder.mul(total, length)
        return total

    def pointer(self, builder: Any, indices: Iterable[Any]) -> Any:
        """The first element that begins with these indices."""
        place: Any = None
        given = list(indices)
        for axis, length in enumerate(self.shape):
            if place is not None:
                place = builder.mul(place, length)
            if axis < len(given):
                place = given[axis] if place is None else builder.add(place, given[axis])
        return builder.gep(self.data, [place])

    def part(self, builder: Any, kind: Any, indices: tuple[Any, ...]) -> View:
        """The array of what begins with these indices: a row of a matrix."""
        return View(kind, self.pointer(builder, indices), self.shape[len(indices) :])

    def sliced(self, builder: Any, kind: Any, first: Any, last: Any) -> View:
        """Along the first axis, from `first` until `last`, or the end where that comes before."""
        first, last = (smaller(builder, one, self.shape[0]) for one in (first, last))
        length = builder.sub(last, first)
        return View(kind, self.pointer(builder, (first,)), (length, *self.shape[1:]))

    def fill(self, builder: Any, value: Any) -> None:
        """Every element becomes `value`."""
        with cgutils.for_range(builder, self.size(builder)) as loop:
            builder.store(value, builder.gep(self.data, [loop.index]))


def smaller(builder: Any, one: Any, other: Any) -> Any:
    """The smaller of two integers."""
    return builder.select(builder.icmp_signed("<", one, other), one, other)


# ------------------------------------------------------------------------------- as arguments


@final
class ViewModel(ArrayModel):  # type: ignore[misc]
    """How an array is handed from kernel to kernel: its pointer and its shape."""

    def get_argument_type(self) -> Any:
        """See numba's data models."""
        if not is_plain(self._fe_type):
            return super().get_argument_type()
        return (self.get_value_type().elements[DATA], *[INDEX] * self._fe_type.ndim)

    def as_argument(self, builder: Any, value: Any) -> Any:
        """See numba's data models."""
        if not is_plain(self._fe_type):
            return super().as_argument(builder, value)
        view = View.of(builder, self._fe_type, value)
        return (view.data, *view.shape)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """See numba's data models."""
        raise AssertionError("core.compiled.lowering takes arguments apart")


@final
class PackedModel(TupleModel):  # type: ignore[misc]
    """How a named tuple is handed from kernel to kernel: as one pointer, see Packed."""

    def get_argument_type(self) -> Any:
        """See numba's data models."""
        return form(self._fe_type).as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """See numba's data models."""
        return packed(builder, self._fe_type, value)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """See numba's data models."""
        raise AssertionError("core.compiled.lowering takes arguments apart")


_manager = DataModelManager().chain(default_manager)
_manager.register(types.Array, ViewModel)
_manager.register(NamedTuple, PackedModel)
_manager.register(NamedUniTuple, PackedModel)


@contextmanager
def handed_on(*targets: Any) -> Iterator[None]:
    """Compile meanwhile with these contexts of numba, which hand arguments on as views."""
    for target in targets:
        target.get_arg_packer = lambda kinds: ArgPacker(_manager, kinds)
    try:
        yield
    finally:
        for target in targets:
            del target.get_arg_packer


def taken_from(given: Iterator[Any], form: Any) -> Any:
    """The next arguments, as many and within each other as `form` is."""
    if isinstance(form, tuple | list):
        return tuple(taken_from(given, one) for one in form)
    return next(given)


def flattened(values: Any) -> list[Any]:
    """The arguments that a data model of numba makes of a value, one after another."""
    if isinstance(values, tuple | list):
        return [value for one in values for value in flattened(one)]
    return [values]


# ------------------------------------------------------------------------------- named tuples


@final
@dataclass(frozen=True, slots=True)
class Packed:
    """A named tuple of numba's type `kind`: a pointer to its fields, which nobody changes.

    A call hands on one pointer in place of a hundred numbers, and a field is loaded where it is
    used.
    """

    kind: Any
    pointer: Any

    def field(self, builder: Any, index: int) -> Any:
        """A field by its place: a View, a Packed within this one, or a value of LLVM's."""
        own = list(self.kind)[index]
        place = builder.gep(self.pointer, [FIRST, PLACE(index)], inbounds=True)
        if isinstance(own, BaseNamedTuple):
            return Packed(own, place)
        if is_plain(own):
            count = range(own.ndim + 1)
            pointers = (builder.gep(place, [FIRST, PLACE(i)], inbounds=True) for i in count)
            data, *shape = (_loaded(builder, one) for one in pointers)
            return View(own, data, tuple(shape))
        return _manager[own].from_argument(builder, _loaded(builder, place))

    def fields(self, builder: Any) -> tuple[Any, ...]:
        """All of them."""
        return tuple(self.field(builder, index) for index in range(len(self.kind)))


def _loaded(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def form(kind: Any) -> Any:
    """LLVM's type for a field of a Packed, or for all of them."""
    if isinstance(kind, BaseNamedTuple):
        return ir.LiteralStructType([form(one) for one in kind])
    own = _manager[kind].get_argument_type()
    return ir.LiteralStructType(own) if isinstance(own, tuple) else own


def packed(builder: Any, kind: Any, value: Any) -> Any:
    """A pointer to the fields of numba's structure of a named tuple."""
    place = cgutils.alloca_once(builder, form(kind))
    _pack(builder, kind, value, place)
    return place


def _pack(builder: Any, kind: Any, value: Any, place: Any) -> None:
    for index, own in enumerate(kind):
        part = builder.extract_value(value, index)
        to = builder.gep(place, [FIRST, PLACE(index)], inbounds=True)
        if isinstance(own, BaseNamedTuple):
            _pack(builder, own, part, to)
            continue
        made = _manager[own].as_argument(builder, part)
        if not isinstance(made, tuple):
            builder.store(made, to)
            continue
        for i, number in enumerate(made):
            builder.store(number, builder.gep(to, [FIRST, PLACE(i)], inbounds=True))
