"""Linear algebra on matrices and batches of matrices, under the names of ``torch.linalg``.

Functions work on ``[..., m, n]``, batches of matrices, and have derivatives of any order.
"""

from tinynet.core.declaration.composite import called as _called
from tinynet.errors import LinAlgError as LinAlgError
from tinynet.ops.linalg import least_squares as least_squares
from tinynet.ops.linalg import older as older
from tinynet.ops.linalg.factors import cholesky as cholesky
from tinynet.ops.linalg.factors import cholesky_ex as cholesky_ex
from tinynet.ops.linalg.factors import ldl_factor as ldl_factor
from tinynet.ops.linalg.factors import ldl_factor_ex as ldl_factor_ex
from tinynet.ops.linalg.factors import ldl_solve as ldl_solve
from tinynet.ops.linalg.factors import qr as qr
from tinynet.ops.linalg.inverses import inv as inv
from tinynet.ops.linalg.inverses import inv_ex as inv_ex
from tinynet.ops.linalg.inverses import solve as solve
from tinynet.ops.linalg.inverses import solve_ex as solve_ex
from tinynet.ops.linalg.inverses import tensorinv as tensorinv
from tinynet.ops.linalg.inverses import tensorsolve as tensorsolve
from tinynet.ops.linalg.least_squares import lstsq as lstsq
from tinynet.ops.linalg.least_squares import matrix_rank as matrix_rank
from tinynet.ops.linalg.least_squares import pinv as pinv
from tinynet.ops.linalg.lu import lu as lu
from tinynet.ops.linalg.lu import lu_factor as lu_factor
from tinynet.ops.linalg.lu import lu_factor_ex as lu_factor_ex
from tinynet.ops.linalg.lu import lu_solve as lu_solve
from tinynet.ops.linalg.lu import solve_triangular as solve_triangular
from tinynet.ops.linalg.matrix_functions import linalg_det as _det
from tinynet.ops.linalg.matrix_functions import linalg_slogdet as _slogdet
from tinynet.ops.linalg.matrix_functions import matrix_exp as matrix_exp
from tinynet.ops.linalg.matrix_functions import matrix_power as _matrix_power
from tinynet.ops.linalg.norms import cond as cond
from tinynet.ops.linalg.norms import linalg_norm as _norm
from tinynet.ops.linalg.norms import matrix_norm as matrix_norm
from tinynet.ops.linalg.norms import vector_norm as vector_norm
from tinynet.ops.linalg.spectra import eig as eig
from tinynet.ops.linalg.spectra import eigh as eigh
from tinynet.ops.linalg.spectra import eigvals as eigvals
from tinynet.ops.linalg.spectra import eigvalsh as eigvalsh
from tinynet.ops.linalg.spectra import svd as svd
from tinynet.ops.linalg.spectra import svdvals as svdvals
from tinynet.ops.linalg.vectors import diagonal as diagonal
from tinynet.ops.linalg.vectors import householder_product as householder_product
from tinynet.ops.linalg.vectors import linalg_cross as _cross
from tinynet.ops.linalg.vectors import vander as vander
from tinynet.ops.linalg.vectors import vecdot as vecdot
from tinynet.ops.products.matmul import matmul as matmul
from tinynet.ops.products.tensordot import multi_dot as multi_dot

matrix_power = _called(_matrix_power, out=True)  # outside linalg it is also a method, without out=
cross, det, norm, slogdet = _cross, _det, _norm, _slogdet  # public to type checkers, too
