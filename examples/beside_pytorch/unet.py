# examples/beside_pytorch/unet.py: a class for every pixel, by a network shaped as a U: down, up, and across.
# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F
from torch import nn

from start import classes, start, waves


class DoubleConv(nn.Module):
    def __init__(self, inputs, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = DoubleConv(1, 8)
        self.down2 = DoubleConv(8, 16)
        self.bottom = DoubleConv(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join2 = DoubleConv(32, 16)
        self.up1 = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join1 = DoubleConv(16, 8)
        self.head = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        h = self.up2(self.bottom(self.pool(b)))
        h = self.up1(self.join2(torch.cat([b, h], dim=1)))
        return self.head(self.join1(torch.cat([a, h], dim=1)))


def train():
    images, labels = waves(4, 1, 16, 16), classes(3, 4, 16, 16)
    net = UNet()
    start(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    losses = []
    for step in range(10):
        loss = F.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
