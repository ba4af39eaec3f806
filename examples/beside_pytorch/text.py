# examples/beside_pytorch/text.py: LSTM layers read a text by characters; states are carried from part to part. Adam.
# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F
from torch import nn

from start import characters, start


class CharLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(34, 16)
        self.lstm = nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, 34)

    def forward(self, x, h, c):
        sequence, (h, c) = self.lstm(self.embedding(x), (h, c))
        return self.head(sequence), h, c


def train():
    x, y = characters(0, 4, 12, 4), characters(1, 4, 12, 4)  # four passages in twelve parts of four characters
    net = CharLSTM()
    start(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    h, c = torch.zeros(2, 4, 32), torch.zeros(2, 4, 32)
    losses = []
    for part in range(12):
        scores, h, c = net(x[:, part], h, c)
        h, c = h.detach(), c.detach()
        loss = F.cross_entropy(scores.transpose(1, 2), y[:, part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
