"""scipy, given tensors."""

import io

import numpy as np

from .matrix import TABLES, VECTORS, Matrix

program = Matrix(__name__, "scipy")
if not program.skip:
    from scipy import (
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        spatial,
        special,
        stats,
    )
    from scipy import io as files


def _saved(x):
    file = io.BytesIO()
    files.savemat(file, {"x": x})
    return files.loadmat(file)["x"]


program.rows(
    VECTORS,
    expit=lambda x: special.expit(x),
    softmax=lambda x: special.softmax(x),
    logsumexp=lambda x: special.logsumexp(x),
    erf=lambda x: special.erf(x),
    gammaln=lambda x: special.gammaln(x),
    cdf=lambda x: stats.norm.cdf(x),
    logpdf=lambda x: stats.norm.logpdf(x),
    rank=lambda x: stats.rankdata(x),
    spearman=lambda x: stats.spearmanr(x, [1, 3, 2, 4])[0],
    pearson=lambda x: stats.pearsonr(x, [1, 3, 2, 4])[0],
    t_test=lambda x: stats.ttest_1samp(x, 1).statistic,
    kl_divergence=lambda x: stats.entropy(x, x + 1),
    convolve=lambda x: signal.convolve(x, x),
    correlate=lambda x: signal.correlate(x, [1.0, 2.0]),
    filtered=lambda x: signal.lfilter([1.0, 0.5], [1.0], x),
    smoothed=lambda x: signal.savgol_filter(x, 3, 1),
    peaks=lambda x: signal.find_peaks(x)[0],
    gaussian=lambda x: ndimage.gaussian_filter1d(x, 1.0),
    fft=lambda x: fft.fft(x),
    dct=lambda x: fft.dct(x),
    trapezoid=lambda x: integrate.trapezoid(x),
    interpolated=lambda x: interpolate.interp1d(x, [1.0, 2.0, 3.0, 4.0])(2.0),
    spline=lambda x: interpolate.CubicSpline([0, 1, 2, 3], x)(0.5),
    toeplitz=lambda x: linalg.toeplitz(x),
    euclidean=lambda x: spatial.distance.euclidean(x, [0, 0, 0, 0]),
    cosine=lambda x: spatial.distance.cosine(x, x),
    minimum=lambda x: optimize.rosen(x),
    discounted=lambda x: signal.lfilter([1], [1, -0.9], x[::1], axis=0),
    saved=_saved,
)
program.rows(
    TABLES,
    sparse_rows=lambda x: sparse.csr_matrix(x).toarray(),
    sparse_entries=lambda x: sparse.coo_matrix(x).data,
    assignment=lambda x: list(optimize.linear_sum_assignment(x)),
    distances=lambda x: spatial.distance.cdist(x, x),
    pairwise=lambda x: spatial.distance.pdist(x),
    tree=lambda x: spatial.cKDTree(x).query([1.0, 1.0, 1.0])[1],
    zoom=lambda x: ndimage.zoom(x, 2, order=0),
    rotated=lambda x: ndimage.rotate(x, 90),
    convolved=lambda x: signal.convolve2d(x, x),
    singular_values=lambda x: linalg.svdvals(x),
    norm=lambda x: linalg.norm(x),
    pinv=lambda x: linalg.pinv(x),
    blocks=lambda x: linalg.block_diag(x, [[1.0]]),
    z_scores=lambda x: stats.zscore(x),
    multivariate=lambda x: stats.multivariate_normal(np.zeros(3)).logpdf(x),
    saved_table=_saved,
)
