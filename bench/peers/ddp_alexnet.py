#!/usr/bin/python3
"""AlexNet with PyTorch's DistributedDataParallel over Gloo: one process per host, on made-up
images. The peer of `paceline train alexnet --hosts …`.

    ddp_alexnet.py RANK SIZE MASTER BATCH STEPS [--fp16]

BATCH is that of one host. --fp16 compresses gradients with DDP's own hook. Rank 0 prints
{"seconds_per_step": …, "examples_per_second": …}, the median, after two steps to warm up.
"""

import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from torch_deep import alexnet_network, loss_on_images

WARM_UP = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rank", type=int)
    parser.add_argument("size", type=int)
    parser.add_argument("master")
    parser.add_argument("batch", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("--fp16", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as ours does
    torch.manual_seed(1)
    os.environ.update(MASTER_ADDR=options.master, MASTER_PORT="29500",
                      GLOO_SOCKET_IFNAME="eth0")
    dist.init_process_group("gloo", rank=options.rank, world_size=options.size)
    model = DistributedDataParallel(alexnet_network(), broadcast_buffers=False,
                                    gradient_as_bucket_view=True)
    if options.fp16:
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_of = loss_on_images(model, options.batch)
    times = []
    for step in range(options.steps + WARM_UP):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()
        if step >= WARM_UP:
            times.append(time.perf_counter() - begin)
    if options.rank == 0:
        median = statistics.median(times)
        print(json.dumps({"seconds_per_step": median,
                          "examples_per_second": options.size * options.batch / median}))
    dist.barrier()


main()
