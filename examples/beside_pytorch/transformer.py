# examples/beside_pytorch/transformer.py: a transformer predicts characters; its head is the embedding's weight again.
# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F
from torch import nn

from start import characters, start


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.feed(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(34, 32)
        self.positions = nn.Parameter(torch.zeros(24, 32))
        self.blocks = nn.ModuleList(Block(32, 4) for _ in range(2))
        self.norm = nn.LayerNorm(32)
        self.register_buffer("mask", torch.ones(24, 24, dtype=torch.bool).triu(1))

    def forward(self, x):  # [batch, length]
        h = self.embedding(x) + self.positions
        for block in self.blocks:
            h = block(h, self.mask)
        return self.norm(h) @ self.embedding.weight.T


def train():
    x, y = characters(0, 8, 24), characters(1, 8, 24)
    net = Transformer()
    start(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    losses = []
    for step in range(10):
        loss = F.cross_entropy(net(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
