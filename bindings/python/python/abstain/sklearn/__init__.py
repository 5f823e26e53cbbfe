"""Selective classification for scikit-learn.

>>> from sklearn.datasets import load_digits
>>> from sklearn.ensemble import RandomForestClassifier
>>> from abstain.sklearn import SelectiveClassifier
>>> X, y = load_digits(return_X_y=True)
>>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
>>> classifier = SelectiveClassifier(forest, target_accuracy=0.98).fit(X[:1200], y[:1200])
>>> predictions = classifier.predict(X[1200:])
>>> bool((predictions == -1).any())                              # it abstains
True
"""

from __future__ import annotations

try:
    import sklearn.frozen  # noqa: F401  (there since version 1.6)
except ImportError as error:
    raise ImportError(
        "abstain.sklearn needs scikit-learn 1.6 or later: pip install -U scikit-learn"
    ) from error

from ._classifier import SelectiveClassifier
from ._scorer import scorer

__all__ = ["SelectiveClassifier", "scorer"]
