"""scipy, given tensors."""

import io

import numpy as np

from .matrix import TABLES, VECTORS, Matrix

program = Matrix(__name__, "scipy")
if not program.skip:
    import scipy  # each of its packages loads when it is first used


def _saved(x):
    file = io.BytesIO()
    scipy.io.savemat(file, {"x": x})
    return scipy.io.loadmat(file)["x"]


program.rows(
    VECTORS,
    expit=lambda x: scipy.special.expit(x),
    softmax=lambda x: scipy.special.softmax(x),
    logsumexp=lambda x: scipy.special.logsumexp(x),
    erf=lambda x: scipy.special.erf(x),
    gammaln=lambda x: scipy.special.gammaln(x),
    cdf=lambda x: scipy.stats.norm.cdf(x),
    logpdf=lambda x: scipy.stats.norm.logpdf(x),
    rank=lambda x: scipy.stats.rankdata(x),
    spearman=lambda x: scipy.stats.spearmanr(x, [1, 3, 2, 4])[0],
    pearson=lambda x: scipy.stats.pearsonr(x, [1, 3, 2, 4])[0],
    t_test=lambda x: scipy.stats.ttest_1samp(x, 1).statistic,
    kl_divergence=lambda x: scipy.stats.entropy(x, x + 1),
    convolve=lambda x: scipy.signal.convolve(x, x),
    correlate=lambda x: scipy.signal.correlate(x, [1.0, 2.0]),
    filtered=lambda x: scipy.signal.lfilter([1.0, 0.5], [1.0], x),
    smoothed=lambda x: scipy.signal.savgol_filter(x, 3, 1),
    peaks=lambda x: scipy.signal.find_peaks(x)[0],
    gaussian=lambda x: scipy.ndimage.gaussian_filter1d(x, 1.0),
    fft=lambda x: scipy.fft.fft(x),
    dct=lambda x: scipy.fft.dct(x),
    trapezoid=lambda x: scipy.integrate.trapezoid(x),
    interpolated=lambda x: scipy.interpolate.interp1d(x, [1.0, 2.0, 3.0, 4.0])(2.0),
    spline=lambda x: scipy.interpolate.CubicSpline([0, 1, 2, 3], x)(0.5),
    toeplitz=lambda x: scipy.linalg.toeplitz(x),
    euclidean=lambda x: scipy.spatial.distance.euclidean(x, [0, 0, 0, 0]),
    cosine=lambda x: scipy.spatial.distance.cosine(x, x),
    minimum=lambda x: scipy.optimize.rosen(x),
    discounted=lambda x: scipy.signal.lfilter([1], [1, -0.9], x[::1], axis=0),
    saved=_saved,
)
program.rows(
    TABLES,
    sparse_rows=lambda x: scipy.sparse.csr_matrix(x).toarray(),
    sparse_entries=lambda x: scipy.sparse.coo_matrix(x).data,
    assignment=lambda x: list(scipy.optimize.linear_sum_assignment(x)),
    distances=lambda x: scipy.spatial.distance.cdist(x, x),
    pairwise=lambda x: scipy.spatial.distance.pdist(x),
    tree=lambda x: scipy.spatial.cKDTree(x).query([1.0, 1.0, 1.0])[1],
    zoom=lambda x: scipy.ndimage.zoom(x, 2, order=0),
    rotated=lambda x: scipy.ndimage.rotate(x, 90),
    convolved=lambda x: scipy.signal.convolve2d(x, x),
    singular_values=lambda x: scipy.linalg.svdvals(x),
    norm=lambda x: scipy.linalg.norm(x),
    pinv=lambda x: scipy.linalg.pinv(x),
    blocks=lambda x: scipy.linalg.block_diag(x, [[1.0]]),
    z_scores=lambda x: scipy.stats.zscore(x),
    multivariate=lambda x: scipy.stats.multivariate_normal(np.zeros(3)).logpdf(x),
    saved_table=_saved,
)
