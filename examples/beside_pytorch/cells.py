# examples/beside_pytorch/cells.py: recurrent cells as a course writes them, of linear layers, and stacks of them.
# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F
from torch import nn

from start import start, waves


class RNNCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.i2h = nn.Linear(inputs, hidden)
        self.h2h = nn.Linear(hidden, hidden)

    def forward(self, x, h):
        return torch.tanh(self.i2h(x) + self.h2h(h))


class SimpleRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = RNNCell(3, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):  # [batch, time, inputs]
        h = torch.zeros(x.shape[0], 16)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return self.head(h)


class LSTMCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.i2h = nn.Linear(inputs, 4 * hidden)
        self.h2h = nn.Linear(hidden, 4 * hidden)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.i2h(x) + self.h2h(h)).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class StackedLSTM(nn.Module):
    def __init__(self, inputs, hidden, layers, dropout=0.0):
        super().__init__()
        self.hidden = hidden
        sizes = [inputs] + [hidden] * (layers - 1)
        self.cells = nn.ModuleList(LSTMCell(size, hidden) for size in sizes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, states=None):  # [batch, time, inputs]
        if states is None:
            zeros = torch.zeros(x.shape[0], self.hidden)
            states = [(zeros, zeros) for _ in self.cells]
        states, outputs = list(states), []
        for t in range(x.shape[1]):
            out = x[:, t]
            for layer, cell in enumerate(self.cells):
                states[layer] = cell(out, states[layer])
                out = self.dropout(states[layer][0])
            outputs.append(out)
        return torch.stack(outputs, dim=1), states


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = StackedLSTM(3, 16, 2)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        outputs, states = self.lstm(x)
        return self.head(outputs[:, -1])


def train(net):
    x, y = waves(8, 12, 3), waves(8, 3, number=1)
    start(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for step in range(10):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_rnn():
    return train(SimpleRNN())


def train_lstm():
    return train(Forecast())
