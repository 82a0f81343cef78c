#!/usr/bin/python3
"""Softmax regression on MNIST with PyTorch's DistributedDataParallel: two processes of one
thread each, joined by Gloo over loopback. The peer of `paceline train mnist`.

    ddp_mnist.py DIR BATCH EPOCHS RATE [--pin]

BATCH is global: each process computes half of it. --pin keeps process i on its own core.
Prints {"examples_per_second": …, "seconds": …, "accuracy": …}; the time is that of the
epochs alone, after some steps to warm up.
"""

import argparse
import ctypes
import gzip
import json
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

WORLD = 2
WARM_UP_STEPS = 50


def read_idx(directory, name):
    """The bytes of an IDX file, plain or gzipped, as a tensor [examples, …]."""
    path = os.path.join(directory, name)
    opener, path = (open, path) if os.path.exists(path) else (gzip.open, path + ".gz")
    with opener(path, "rb") as file:
        content = bytearray(file.read())
    dimensions = content[3]
    shape = [int.from_bytes(content[4 + 4 * d : 8 + 4 * d], "big") for d in range(dimensions)]
    return torch.frombuffer(content, dtype=torch.uint8, offset=4 + 4 * dimensions).view(shape)


def read_split(directory, prefix):
    images = read_idx(directory, prefix + "-images-idx3-ubyte")
    labels = read_idx(directory, prefix + "-labels-idx1-ubyte")
    return images.view(len(images), -1), labels.long()


class Trainer:
    def __init__(self, rank, images, labels, options):
        self.rank, self.images, self.labels = rank, images, labels
        self.batch, self.share = options.batch, options.batch // WORLD
        self.linear = torch.nn.Linear(images.shape[1], 10)
        torch.nn.init.zeros_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)
        # One bucket, gradients in place in it, no buffers to broadcast: the least DDP can do.
        self.model = DistributedDataParallel(
            self.linear,
            broadcast_buffers=False,
            gradient_as_bucket_view=True,
            static_graph=True,
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=options.rate)

    def gradient(self, examples):
        inputs = self.images.index_select(0, examples).float().div_(255)
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(inputs), self.labels.index_select(0, examples)).backward()

    def warm_up(self):
        for _ in range(WARM_UP_STEPS):
            self.gradient(torch.arange(self.share))

    def epoch(self, number):
        # The same permutation in both processes, of which each takes its part.
        order = torch.randperm(len(self.images), generator=torch.Generator().manual_seed(number))
        for first in range(self.rank * self.share, len(order), self.batch):
            self.gradient(order[first : first + self.share])
            self.optimizer.step()

    def accuracy(self, images, labels):
        with torch.no_grad():
            predicted = self.linear(images.float().div_(255)).argmax(1)
        return (predicted == labels).float().mean().item()


def run(rank, rendezvous, options, train, test):
    die_with_parent()
    if options.pin:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=WORLD)
    trainer = Trainer(rank, *train, options)
    trainer.warm_up()
    dist.barrier()
    start = time.perf_counter()
    for number in range(options.epochs):
        trainer.epoch(number)
    seconds = time.perf_counter() - start
    if rank == 0:
        report = {
            "examples_per_second": options.epochs * len(train[0]) / seconds,
            "seconds": seconds,
            "accuracy": trainer.accuracy(*test),
        }
        print(json.dumps(report), flush=True)
    dist.destroy_process_group()


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("batch", type=int)
    parser.add_argument("epochs", type=int)
    parser.add_argument("rate", type=float)
    parser.add_argument("--pin", action="store_true")
    options = parser.parse_args()
    if options.batch % WORLD:
        sys.exit(f"ddp_mnist: {WORLD} processes cannot share a batch of {options.batch}")
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as ours does
    train = read_split(options.directory, "train")
    test = read_split(options.directory, "t10k")
    with tempfile.TemporaryDirectory() as folder:
        arguments = (os.path.join(folder, "rendezvous"), options, train, test)
        # Forked, the processes share the data and need not import torch again.
        mp.start_processes(run, arguments, nprocs=WORLD, start_method="fork")


if __name__ == "__main__":
    main()
