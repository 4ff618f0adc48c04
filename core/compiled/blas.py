"""Matrix products by BLAS, without the code that np.dot adds to a kernel.

SciPy's BLAS through numba's own call, and so without the GIL. np.dot returns an array, which needs
numba's reference counts, and checks shapes and alignment with code that is larger than the loops
here and is compiled for every kernel.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.linalg import call_xxgemm, ensure_blas


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
