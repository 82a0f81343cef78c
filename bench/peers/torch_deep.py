#!/usr/bin/python3
"""A training step of a deep model in plain PyTorch, on one core: the peer of deep_bench.

    torch_deep.py alexnet BATCH STEPS
    torch_deep.py lstm BATCH STEPS
    torch_deep.py translation BATCH STEPS

The models are what a user would write, in PyTorch's default memory layout. Prints
{"seconds_per_step": …, "first_loss": …, "peak_bytes": …}: the median, after two steps to
warm up, and the most memory the process has had.
"""

import json
import resource
import statistics
import sys
import time

import torch
from torch import nn

WARM_UP = 2


def alexnet_network():
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.AdaptiveAvgPool2d((6, 6)), nn.Flatten(),
        nn.Dropout(), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
        nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(inplace=True),
        nn.Linear(4096, 1000),
    )


def loss_on_images(model, batch):
    images = torch.randint(0, 256, (batch, 3, 224, 224), dtype=torch.uint8)
    labels = torch.randint(0, 1000, (batch,))
    entropy = nn.CrossEntropyLoss()
    return lambda: entropy(model(images.float().mul_(2 / 255).sub_(1)), labels)


def alexnet(batch):
    model = alexnet_network()
    return model, loss_on_images(model, batch)


def lstm(batch):
    model = nn.LSTM(128, 256)
    inputs = torch.randn(100, batch, 128, requires_grad=True)

    def loss():
        inputs.grad = None
        return model(inputs)[0].square().mean()

    return model, loss


class Translator(nn.Module):
    """Two bidirectional layers, whose last states four layers begin with."""

    def __init__(self, words=8000, embedding=128, hidden=256):
        super().__init__()
        self.source = nn.Embedding(words, embedding, padding_idx=0)
        self.encoder = nn.LSTM(embedding, hidden, 2, bidirectional=True)
        self.target = nn.Embedding(words, embedding, padding_idx=0)
        self.decoder = nn.LSTM(embedding, hidden, 4)
        self.projection = nn.Linear(hidden, words)

    def forward(self, source, target):
        _, states = self.encoder(self.source(source))
        return self.projection(self.decoder(self.target(target), states)[0])


def translation(batch):
    model = Translator()
    source = torch.randint(4, 8000, (12, batch))
    words = torch.randint(4, 8000, (12, batch))
    read = torch.cat([torch.full((1, batch), 2), words])
    said = torch.cat([words, torch.full((1, batch), 3)])
    entropy = nn.CrossEntropyLoss(ignore_index=0)
    return model, lambda: entropy(model(source, read).flatten(0, 1), said.flatten())


def main():
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as ours does
    torch.manual_seed(1)
    model, loss_of = {"alexnet": alexnet, "lstm": lstm, "translation": translation}[name](batch)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    times, first = [], None
    for step in range(steps + WARM_UP):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimizer.step()
        first = loss.item() if first is None else first
        if step >= WARM_UP:
            times.append(time.perf_counter() - begin)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds_per_step": statistics.median(times), "first_loss": first,
                      "peak_bytes": peak}))


if __name__ == "__main__":
    main()
