#!/usr/bin/python3
"""Reviews to token sequences as one would write it in Python.

    prepare_reviews.py STOPWORDS IN OUT

Reads JSON lines, writes HDF5 with h5py. Prints an object: the seconds it took, without starting
Python, and how many rows there are.
"""
import collections
import json
import re
import sys
import time

import h5py
import numpy

LENGTH = 100
WORDS = 10_000
FIRST_WORD = 4


def main():
    stop_file, source, target = sys.argv[1:4]
    begun = time.perf_counter()
    with open(stop_file, encoding="utf-8") as file:
        stop = {line.strip() for line in file}
    marks = re.compile(r"[^\w]|_", re.UNICODE)
    ratings = collections.defaultdict(collections.Counter)
    with open(source, encoding="utf-8") as file:
        for line in file:
            review = json.loads(line)
            text = review["reviewText"].replace("'", "").replace("\u2019", "")
            text = " ".join(marks.sub(" ", text).lower().split())
            if text:
                ratings[text][review["overall"]] += 1
    rows = []
    counts = collections.Counter()
    for text, votes in ratings.items():
        most = max(votes.values())
        rating = min(stars for stars, count in votes.items() if count == most)
        words = [word for word in text.split() if word not in stop]
        if words:
            counts.update(words)
            rows.append((words[:LENGTH], 0 if rating <= 3 else 1))
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:WORDS]
    number = {word: i + FIRST_WORD for i, (word, _) in enumerate(best)}
    ids = numpy.zeros((len(rows), LENGTH), dtype=numpy.uint16)
    labels = numpy.zeros(len(rows), dtype=numpy.uint8)
    for i, (words, label) in enumerate(rows):
        ids[i, : len(words)] = [number.get(word, 1) for word in words]
        labels[i] = label
    with h5py.File(target, "w") as file:
        file.create_dataset("train/ids", data=ids, chunks=(min(1024, len(rows)), LENGTH),
                            compression="gzip", compression_opts=1)
        file.create_dataset("train/labels", data=labels)
        file.create_dataset("vocabulary", data=numpy.array([word.encode() for word, _ in best]))
    print(json.dumps({"seconds": time.perf_counter() - begun, "rows": len(rows)}))


main()
