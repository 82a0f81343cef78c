#!/usr/bin/python3
"""Learns made-up clicks with scikit-learn's SGDClassifier, on one core.

    sgd_clicks.py DIR

Reads DIR/train.svm and DIR/test.svm. For each of some strengths of regularization it passes over
the rows until the loss on the test rows no longer falls. Prints an object: how long loading took,
the rows per second of a pass, the best test loss, and the seconds of loading and passes until
then, for the strength that reached it.
"""
import json
import sys
import time

import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

FEATURES = 33_762_577 + 1
folder = sys.argv[1]
begun = time.perf_counter()
rows, labels = load_svmlight_file(folder + "/train.svm", n_features=FEATURES, dtype=numpy.float64)
load_seconds = time.perf_counter() - begun
test_rows, test_labels = load_svmlight_file(folder + "/test.svm", n_features=FEATURES)

best = None
fastest = float("inf")
for alpha in (1e-7, 1e-6, 1e-5):
    model = SGDClassifier(loss="log_loss", alpha=alpha, random_state=1)
    seconds = 0.0
    last = float("inf")
    for number in range(1, 11):
        begun = time.perf_counter()
        model.partial_fit(rows, labels, classes=[0, 1])
        took = time.perf_counter() - begun
        seconds += took
        fastest = min(fastest, took)
        loss = log_loss(test_labels, model.predict_proba(test_rows)[:, 1])
        if best is None or loss < best["test_loss"]:
            best = {"test_loss": loss, "alpha": alpha, "passes": number,
                    "seconds": load_seconds + seconds}
        if loss > last:
            break
        last = loss
best["load_seconds"] = load_seconds
best["rows_per_second"] = rows.shape[0] / fastest
print(json.dumps(best))
