# examples/beside_pytorch/start.py: parameters and inputs by formula: both languages start from the same numbers.
# The same as start.hpp.
# SPDX-License-Identifier: Apache-2.0
import math

import torch

SONNET = ("Shall I compare thee to a summer's day? Thou art more lovely and more temperate: "
        "Rough winds do shake the darling buds of May, And summer's lease hath all too short a date; "
        "Sometime too hot the")


def waves(*shape, number=0):
    """Numbers between -1 and 1: sin(1 + number + 0.37 * i * i)."""
    at = torch.arange(math.prod(shape), dtype=torch.float64)
    return torch.sin(1 + number + 0.37 * (at * at)).float().reshape(shape)


def classes(count, *shape):
    """Labels from 0 to count - 1."""
    at = torch.arange(math.prod(shape))
    return ((7 * at * at + 3 * at) % 11 % count).reshape(shape)


def characters(first, *shape):
    """Characters of a text as numbers, from number `first` on; 0 is the one with the least code."""
    letters = sorted(set(SONNET))
    numbers = torch.tensor([letters.index(letter) for letter in SONNET])
    return numbers[first : first + math.prod(shape)].reshape(shape)


@torch.no_grad()
def start(net):
    """Gives every parameter its first value, by its place in the order of names."""
    for number, (name, value) in enumerate(sorted(net.named_parameters())):
        if value.dim() > 1:
            value.copy_(waves(*value.shape, number=number) / math.sqrt(value.numel() / len(value)))
        else:
            value.fill_(1.0 if name.endswith("weight") else 0.0)
