#!/usr/bin/python3
"""Whether two files of prepared reviews hold the same, in whatever order.

    compare_prepared.py ONE OTHER

Compares the words and the rows of /train with their labels. Prints an object: "equal", "rows",
and where they are not equal, the "difference".
"""
import json
import sys

import h5py
import numpy


def read(path):
    """The words, and each row with its label as bytes, in the order of these."""
    with h5py.File(path, "r") as file:
        words = [word.rstrip(b"\0") for word in file["vocabulary"][:].tolist()]
        ids = file["train/ids"][:].astype(numpy.uint32)
        labels = file["train/labels"][:].astype(numpy.uint32)
    if len(ids) != len(labels):
        sys.exit(f"{path} has {len(ids)} rows and {len(labels)} labels")
    return words, sorted(row.tobytes() for row in numpy.column_stack((ids, labels)))


def difference(one, other):
    (words, rows), (other_words, other_rows) = one, other
    if words != other_words:
        unequal = sum(a != b for a, b in zip(words, other_words))
        return f"{len(words)} and {len(other_words)} words, {unequal} of them differ"
    if len(rows) != len(other_rows):
        return f"{len(rows)} and {len(other_rows)} rows"
    unequal = sum(a != b for a, b in zip(rows, other_rows))
    return f"{unequal} of {len(rows)} rows differ" if unequal else ""


def main():
    one, other = read(sys.argv[1]), read(sys.argv[2])
    found = difference(one, other)
    report = {"equal": not found, "rows": len(one[1])}
    if found:
        report["difference"] = found
    print(json.dumps(report))


main()
