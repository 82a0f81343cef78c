#!/usr/bin/python3
"""Learns made-up clicks with LIBLINEAR's programs, on one core.

    liblinear_clicks.py DIR

Runs `liblinear-train -s 0 -c 0.1` on DIR/train.svm, then predicts DIR/test.svm. Prints an object:
the seconds of the training program, and the loss on the test rows.
"""
import json
import math
import subprocess
import sys
import tempfile
import time

folder = sys.argv[1]
with tempfile.TemporaryDirectory() as place:
    begun = time.perf_counter()
    subprocess.run(["liblinear-train", "-q", "-s", "0", "-c", "0.1", folder + "/train.svm",
                    place + "/model"], check=True)
    seconds = time.perf_counter() - begun
    subprocess.run(["liblinear-predict", "-b", "1", folder + "/test.svm", place + "/model",
                    place + "/said"], check=True, stdout=subprocess.DEVNULL)
    with open(place + "/said") as said, open(folder + "/test.svm") as rows:
        order = next(said).split()[1:]
        positive = 1 + order.index("1")
        losses = []
        for line, row in zip(said, rows):
            chance = float(line.split()[positive])
            chance = chance if row[0] == "1" else 1 - chance
            losses.append(-math.log(max(chance, 1e-15)))
print(json.dumps({"seconds": seconds, "test_loss": sum(losses) / len(losses)}))
