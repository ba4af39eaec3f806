# examples/onnx/make_networks.py: ten networks of PyTorch as ONNX models, with an input and the output of each.
# python make_networks.py FOLDER [--legacy] [NAME ...]; needs torch, onnx and onnxscript.
# SPDX-License-Identifier: Apache-2.0
import argparse
import pathlib

import numpy
import torch
import torch.nn.functional as F
from torch import nn


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.fc1, self.fc2 = nn.Linear(16 * 7 * 7, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class BasicBlock(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or inputs != channels:
            conv = nn.Conv2d(inputs, channels, 1, stride, bias=False)
            self.downsample = nn.Sequential(conv, nn.BatchNorm2d(channels))

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + kept)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        sizes = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        for number, (inputs, channels, stride) in enumerate(sizes, 1):
            blocks = BasicBlock(inputs, channels, stride), BasicBlock(channels, channels, 1)
            setattr(self, f"layer{number}", nn.Sequential(*blocks))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        layers = []
        if expand != 1:
            layers += [nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6()]
        layers += [nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False)]
        layers += [nn.BatchNorm2d(hidden), nn.ReLU6()]
        layers += [nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.conv, self.is_same = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.conv(x) if self.is_same else self.conv(x)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6())]
        inputs = 32
        for expand, channels, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
            for number in range(count):
                layers.append(InvertedResidual(inputs, channels, stride if number == 0 else 1, expand))
                inputs = channels
        layers.append(nn.Sequential(nn.Conv2d(320, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class DoubleConv(nn.Module):
    def __init__(self, inputs, channels):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(inputs, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = DoubleConv(1, 8), DoubleConv(8, 16), DoubleConv(16, 32)
        self.up2, self.join2 = nn.ConvTranspose2d(32, 16, 2, 2), DoubleConv(32, 16)
        self.up1, self.join1 = nn.Upsample(scale_factor=2), DoubleConv(24, 8)
        self.head = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.join2(torch.cat([b, self.up2(self.bottom(F.max_pool2d(b, 2)))], 1))
        return self.head(self.join1(torch.cat([a, self.up1(c)], 1)))


class LstmClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(48, 3)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0][:, -1])


class GruClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(6, 24), nn.Linear(24, 4)

    def forward(self, x):  # [length, batch, features]
        return self.head(self.gru(x.transpose(0, 1))[1][-1])


class TransformerEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(60, 32), nn.Parameter(torch.randn(12, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.encoder(self.embedding(x) + self.positions).mean(1))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.ln_1, self.ln_2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.ln_1(x)).chunk(3, -1)
        q, k, v = [each.view(batch, length, self.heads, -1).transpose(1, 2) for each in parts]
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + self.proj(attended.reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(65, 32), nn.Embedding(16, 32)
        self.blocks, self.ln_f = nn.ModuleList(GptBlock(32, 4) for _ in range(2)), nn.LayerNorm(32)

    def forward(self, x):
        h = self.wte(x) + self.wpe(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            h = block(h)
        return F.linear(self.ln_f(h), self.wte.weight)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 8), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.randn(17))
        self.register_buffer("deviation", torch.rand(17) + 0.5)
        self.actor = nn.Sequential(nn.Linear(17, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 6))

    def forward(self, x):
        return torch.tanh(self.actor(torch.clamp((x - self.mean) / self.deviation, -5, 5)))


NETWORKS = {
    "cnn": (Cnn, lambda: torch.randn(3, 1, 28, 28)),
    "resnet18": (ResNet18, lambda: torch.randn(2, 3, 64, 64)),
    "mobilenet": (MobileNet, lambda: torch.randn(2, 3, 64, 64)),
    "unet": (UNet, lambda: torch.randn(2, 1, 32, 32)),
    "lstm": (LstmClassifier, lambda: torch.randint(0, 50, (3, 7))),
    "gru": (GruClassifier, lambda: torch.randn(3, 9, 6)),
    "encoder": (TransformerEncoder, lambda: torch.randint(0, 60, (3, 12))),
    "gpt": (Gpt, lambda: torch.randint(0, 65, (3, 16))),
    "autoencoder": (Autoencoder, lambda: torch.rand(3, 784)),
    "policy": (Policy, lambda: torch.randn(3, 17)),
}


def make(name, folder, legacy):
    torch.manual_seed(1)
    kind, draw = NETWORKS[name]
    net, x = kind(), draw()
    for parameter in net.parameters():  # norms and biases begin as ones and zeros, which would hide mistakes
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    net.eval()
    names = {"input_names": ["x"], "output_names": ["y"]}
    path = str(folder / f"{name}.onnx")
    if legacy:
        torch.onnx.export(net, (x,), path, dynamo=False, dynamic_axes={"x": {0: "batch"}}, opset_version=17, **names)
    else:
        batch = ({0: torch.export.Dim("batch")},)
        torch.onnx.export(net, (x,), path, dynamo=True, dynamic_shapes=batch, external_data=False, verbose=False,
                          **names)
    numpy.save(folder / f"{name}_input.npy", x.numpy())
    with torch.no_grad():
        numpy.save(folder / f"{name}_output.npy", net(x).numpy())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--legacy", action="store_true", help="the exporter that goes by TorchScript")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NETWORKS:
        make(name, arguments.folder, arguments.legacy)
        print(name)


if __name__ == "__main__":
    main()
