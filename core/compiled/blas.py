"""Matrix products by BLAS and eigenvectors by LAPACK, without the code that NumPy's names add.

SciPy's BLAS through numba's own call, and so without the GIL. np.dot returns an array, which needs
numba's reference counts, and checks shapes and alignment with code that is larger than the loops
here and is compiled for every kernel. np.linalg.eigh returns arrays as well.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.linalg import (
    call_xxgemm,
    ensure_blas,
    ensure_lapack,
    get_blas_kind,
    intp_t,
    ll_char,
    ll_void_p,
)


def _product(typing: Any, A: Any, B: Any, C: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands: list[Any] = []
        for kind, value in zip(signature.args, args, strict=True):
            array = context.make_array(kind)(context, builder, value)
            operands += [kind, cgutils.unpack_tuple(builder, array.shape), array.data]
        call_xxgemm(context, builder, *operands)
        return context.get_dummy_value()

    ensure_blas()
    return types.void(A, B, C), emit


# C = A B for A (m, K), B (K, n) and C (m, n), each with contiguous rows or columns.
gemm = intrinsic(_product)


def _eigenvectors(typing: Any, A: Any, w: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, builder, args[0])
        values = context.make_array(signature.args[1])(context, builder, args[1])
        size = cgutils.unpack_tuple(builder, matrix.shape)[0]
        parameters = [ll_char, ll_char, ll_char, intp_t, ll_void_p, intp_t, ll_void_p]
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(32), parameters), "numba_ez_xxxevd"
        )
        letters = [
            ir.Constant(ll_char, ord(letter)) for letter in (get_blas_kind(A.dtype), "V", "L")
        ]
        pointers = [builder.bitcast(one.data, ll_void_p) for one in (matrix, values)]
        status = builder.call(function, (*letters, size, pointers[0], size, pointers[1]))
        return builder.sext(status, ir.IntType(64))

    ensure_lapack()
    return types.int64(A, w), emit


# Status of A (n, n), symmetric with contiguous rows: rows of A become eigenvectors, w (n,) their
# eigenvalues in increasing order. 0 if LAPACK has found them.
eigh = intrinsic(_eigenvectors)
