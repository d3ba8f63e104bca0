"""scikit-learn, given tensors."""

import numpy as np

from tests.tools.libraries import Library

from .matrix import TABLES, VECTORS, Matrix

program = Matrix(__name__, "sklearn")
cluster = Library("sklearn.cluster")
decomposition = Library("sklearn.decomposition")
linear_model = Library("sklearn.linear_model")
metrics = Library("sklearn.metrics")
model_selection = Library("sklearn.model_selection")
neighbors = Library("sklearn.neighbors")
preprocessing = Library("sklearn.preprocessing")
sklearn, utils = Library("sklearn"), Library("sklearn.utils")

LABELS = [0, 1, 1, 0]

program.rows(
    VECTORS,
    accuracy=lambda x: metrics.accuracy_score(x > 1, LABELS),
    accuracy_of_itself=lambda x: metrics.accuracy_score(x, x),
    f1=lambda x: metrics.f1_score(LABELS, x > 1),
    confusion_matrix=lambda x: metrics.confusion_matrix(x > 1, LABELS),
    roc_auc=lambda x: metrics.roc_auc_score(LABELS, x),
    average_precision=lambda x: metrics.average_precision_score(LABELS, x),
    precision_recall=lambda x: list(metrics.precision_recall_curve(LABELS, x)),
    roc_curve=lambda x: list(metrics.roc_curve(LABELS, x)),
    squared_error=lambda x: metrics.mean_squared_error(x, x + 1),
    absolute_error=lambda x: metrics.mean_absolute_error(x, LABELS),
    r2=lambda x: metrics.r2_score(LABELS, x),
    report=lambda x: metrics.classification_report(LABELS, x > 1),
    mutual_information=lambda x: metrics.normalized_mutual_info_score(LABELS, x > 1),
    rand_score=lambda x: metrics.adjusted_rand_score(x > 1, LABELS),
    binarize=lambda x: preprocessing.label_binarize(x > 1, classes=[0, 1]),
    encode=lambda x: preprocessing.LabelEncoder().fit_transform(x),
    shuffle=lambda x: utils.shuffle(x, random_state=0),
    split=lambda x: model_selection.train_test_split(x, random_state=0),
    folds=lambda x: [[*map(int, test)] for _, test in model_selection.KFold(2).split(x)],
    resample=lambda x: utils.resample(x, random_state=0),
    targets=lambda x: linear_model.LinearRegression().fit([[1], [2], [3], [4]], x).coef_,
    class_targets=lambda x: (
        linear_model.LogisticRegression().fit([[1], [2], [3], [4]], x > 1).classes_
    ),
    column_or_1d=lambda x: utils.column_or_1d(x),
)
program.rows(
    TABLES,
    scaled=lambda x: preprocessing.StandardScaler().fit_transform(x),
    min_max=lambda x: preprocessing.MinMaxScaler().fit_transform(x),
    components=lambda x: np.abs(decomposition.PCA(1).fit_transform(x)),
    clusters=lambda x: cluster.KMeans(1, n_init=1, random_state=0).fit(x).cluster_centers_,
    regression=lambda x: linear_model.LinearRegression().fit(x, [0, 1]).predict(x),
    neighbours=lambda x: neighbors.KNeighborsClassifier(1).fit(x, [0, 1]).predict(x),
    distances=lambda x: metrics.pairwise_distances(x),
    cosines=lambda x: metrics.pairwise.cosine_similarity(x),
    checked=lambda x: utils.check_array(x),
    top_k=lambda x: metrics.top_k_accuracy_score([0, 1], x, k=2, labels=[0, 1, 2]),
    indexed=lambda x: sklearn.utils._safe_indexing(x, [0]),
)
