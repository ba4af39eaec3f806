# benchmarks/gpt/torch_gpt.py: the network of examples/gpt in PyTorch, eager: its training, and writing beside kept keys.
# SPDX-License-Identifier: Apache-2.0
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

width, heads, layers, context = 128, 4, 4, 128
now = time.perf_counter


class Attention(nn.Module):
    """Causal attention with the parameters of nn.MultiheadAttention, which knows no cache."""

    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x, cache):
        batch, length, _ = x.shape
        parts = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (part.view(batch, length, heads, width // heads).transpose(1, 2) for part in parts)
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            k, v = cache.append(k, v)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.out_proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention()
        self.enter, self.leave = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, cache):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.leave(F.gelu(self.enter(self.norm2(x))))


class Network(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.characters, self.places = nn.Embedding(characters, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, text, caches=None):
        first = caches[0].places if caches else 0
        x = self.characters(text) + self.places.weight[first:first + text.shape[1]]
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number] if caches else None)
        return self.norm(x) @ self.characters.weight.T


class Cache:
    """Keys and values in memory for all places; a text is read at once first, then one character a step."""

    def __init__(self):
        self.keys = torch.empty(1, heads, context, width // heads)
        self.values, self.places = torch.empty_like(self.keys), 0

    def append(self, keys, values):
        last = self.places + keys.shape[2]
        self.keys[:, :, self.places:last], self.values[:, :, self.places:last] = keys, values
        self.places = last
        return self.keys[:, :, :last], self.values[:, :, :last]


def train(net, tokens, steps, batch, rate):
    """The losses of some steps on windows in the order of the text, and characters per second."""
    stride = context // 8
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.1)
    losses, start = [], now()
    for step in range(steps):
        begins = [(step * batch + i) * stride for i in range(batch)]
        text = torch.stack([tokens[begin:begin + context] for begin in begins])
        following = torch.stack([tokens[begin + 1:begin + context + 1] for begin in begins])
        optimizer.param_groups[0]["lr"] = rate / 2 * (1 + math.cos(math.pi * step / steps))
        loss = F.cross_entropy(net(text).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimizer.step()
        losses.append(loss.item())
    return losses, steps * batch * context / (now() - start)


@torch.inference_mode()
def write(net, first, count, temperature):
    """Characters per second of writing; where no place is left, the later half of the text is read again."""
    written, start = [first], now()
    caches = [Cache() for _ in range(layers)]
    scores = net(torch.tensor([written]), caches)
    for _ in range(count):
        following = torch.multinomial(torch.softmax(scores[:, -1] / temperature, -1), 1)
        written.append(following.item())
        if caches[0].places < context:
            scores = net(following, caches)
        else:
            for cache in caches:
                cache.places = 0
            scores = net(torch.tensor([written[-(context // 2):]]), caches)
    return count / (now() - start)
