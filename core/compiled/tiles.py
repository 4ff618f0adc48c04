"""Small matrix products at the machine's rate: tiles that stay in vector registers.

Compilers turn the plain loops of core.compiled.kernel_loops into vector code that loads and stores
each element of the result once for every four terms, and checks before each loop that arrays do not
overlap; at Figure 1's sizes that costs half the time. Here the vector instructions of one tile are
written out: four rows by two vectors (eight sums in registers) at a time.

A last tile that would exceed the matrix is moved back over the previous one, and computes the same
again. Vectors have 256 bits; elsewhere the compiler splits them.
"""

from __future__ import annotations

from typing import Any, final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from core.compiled.jit import compile_kernel

Array = NDArray[Any]
ROWS = 4
VECTOR_BYTES = 32
CACHE_BYTES = 32_768
INDEX = ir.IntType(64)
LANE = ir.IntType(32)


@final
class Lanes:
    """Emitter of operations on vectors of one element type."""

    def __init__(self, builder: Any, bits: int) -> None:
        self.builder, self.size = builder, 8 * VECTOR_BYTES // bits
        self.bytes = bits // 8
        self.type = ir.VectorType(ir.FloatType() if bits == 32 else ir.DoubleType(), self.size)
        name = f"llvm.fmuladd.v{self.size}f{bits}"
        function = ir.FunctionType(self.type, [self.type] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, function, name)
        self.zero = ir.Constant(self.type, [0.0] * self.size)

    def pointer(self, start: Any, offset: Any) -> Any:
        """Return a pointer to start + offset in an array, as that of a vector."""
        return self.builder.bitcast(self.builder.gep(start, [offset]), self.type.as_pointer())

    def load(self, start: Any, offset: Any) -> Any:
        """Load the vector at start + offset; rows need not be aligned."""
        loaded = self.builder.load(self.pointer(start, offset))
        loaded.align = self.bytes
        return loaded

    def store(self, value: Any, start: Any, offset: Any) -> None:
        """Write a vector at start + offset; rows need not be aligned.

        Parameters
        ----------
        value : LLVM value
            Vector of `size` elements.
        start : LLVM value
            Pointer to the first element of an array.
        offset : LLVM value
            Integer, in elements.
        """
        self.builder.store(value, self.pointer(start, offset)).align = self.bytes

    def spread(self, value: Any) -> Any:
        """Return a number in every lane."""
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(LANE, 0))
        chosen = ir.Constant(ir.VectorType(LANE, self.size), [0] * self.size)
        return self.builder.shuffle_vector(first, undefined, chosen)

    def add_product(self, place: Any, left: Any, right: Any) -> None:
        """Emit *place += left * right.

        Parameters
        ----------
        place : LLVM value
            Pointer to a vector, updated in place.
        left, right : LLVM value
            Vectors; the addition may be fused with the product, with one rounding.
        """
        total = self.builder.call(self._fma, [left, right, self.builder.load(place)])
        self.builder.store(total, place)


def _matrix(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """Return the start of a matrix, and the length of its rows."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape, 2)[1]


def _rows(builder: Any, start: Any, length: Any, first: Any, count: int) -> list[Any]:
    """Return the starts of consecutive rows."""
    numbers = [builder.add(first, ir.Constant(INDEX, r)) for r in range(count)]
    return [builder.gep(start, [builder.mul(row, length)]) for row in numbers]


def _product_tile(rows: int, vectors: int) -> Any:
    """Return an intrinsic for some rows and vectors of columns of C = A B."""

    def tile(typing: Any, A: Any, B: Any, C: Any, j: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            lanes = Lanes(builder, signature.args[0].dtype.bitwidth)
            (a, inner), (b, columns), (c, _) = (
                _matrix(context, builder, kind, value)
                for kind, value in zip(signature.args[:3], args[:3], strict=True)
            )
            first, column = args[3:]
            a_rows = _rows(builder, a, inner, first, rows)
            offsets = [
                builder.add(column, ir.Constant(INDEX, v * lanes.size)) for v in range(vectors)
            ]
            places = [
                [cgutils.alloca_once_value(builder, lanes.zero) for _ in offsets] for _ in a_rows
            ]
            with cgutils.for_range(builder, inner) as loop:
                row = builder.gep(b, [builder.mul(loop.index, columns)])
                terms = [lanes.load(row, offset) for offset in offsets]
                for start, sums in zip(a_rows, places, strict=True):
                    factor = lanes.spread(builder.load(builder.gep(start, [loop.index])))
                    for place, term in zip(sums, terms, strict=True):
                        lanes.add_product(place, factor, term)
            c_rows = _rows(builder, c, columns, first, rows)
            for start, sums in zip(c_rows, places, strict=True):
                for place, offset in zip(sums, offsets, strict=True):
                    lanes.store(builder.load(place), start, offset)
            return context.get_dummy_value()

        return types.void(A, B, C, types.intp, types.intp), emit

    return intrinsic(tile)


_wide_tile, _narrow_tile, _tall_tile = (
    _product_tile(rows, vectors) for rows, vectors in ((ROWS, 2), (ROWS, 1), (2 * ROWS, 1))
)


@compile_kernel
def fits(A: Array, B: Array) -> bool:
    """Return True if `product` can do A B, with B in the first cache, as it must be to be fast."""
    columns = B.shape[1]
    wide = columns * B.itemsize >= VECTOR_BYTES
    return A.shape[0] >= ROWS and wide and B.size * B.itemsize <= CACHE_BYTES


@compile_kernel
def product(A: Array, B: Array, C: Array) -> None:
    """Write A B, for operands that `fits` accepts.

    Parameters
    ----------
    A, B : array (m, K), array (K, n)
        Operands.
    C : array (m, n)
        Product, written in place.
    """
    m, n = C.shape
    width = VECTOR_BYTES // C.itemsize
    i = 0
    while n - i >= 2 * width:
        for row in range(0, m, ROWS):
            _wide_tile(A, B, C, min(row, m - ROWS), i)
        i += 2 * width
    while i < n:
        column = min(i, n - width)
        if m >= 2 * ROWS:
            for row in range(0, m, 2 * ROWS):
                _tall_tile(A, B, C, min(row, m - 2 * ROWS), column)
        else:
            for row in range(0, m, ROWS):
                _narrow_tile(A, B, C, min(row, m - ROWS), column)
        i += width
