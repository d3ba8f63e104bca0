"""Write the breast cancer data set of scikit-learn as breast_cancer.csv, beside this file."""

import csv
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

cancer = load_breast_cancer()
path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "breast_cancer.csv")
with open(path, "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow([*cancer.feature_names, "diagnosis"])
    for features, target in zip(cancer.data.tolist(), cancer.target, strict=True):
        writer.writerow([*features, cancer.target_names[target]])
print(f"{path}: {len(cancer.target)} rows")
