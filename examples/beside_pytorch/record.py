# examples/beside_pytorch/record.py: the losses of PyTorch, for losses.hpp: python record.py | clang-format > losses.hpp
# Beside them: how far the losses of 30 other runs are, each of whose parameters starts one rounding or so away.
# SPDX-License-Identifier: Apache-2.0
import torch

import cells
import digits
import resnet
import start
import text
import transformer
import unet

PROGRAMS = [("digits", digits, digits.train), ("text", text, text.train), ("cells: RNN", cells, cells.train_rnn),
            ("cells: LSTM", cells, cells.train_lstm), ("resnet", resnet, resnet.train), ("unet", unet, unet.train),
            ("transformer", transformer, transformer.train)]


@torch.no_grad()
def start_nearby(net):
    start.start(net)
    for value in net.parameters():
        value.mul_(1 + 2**-23 * torch.randn_like(value))


def distance(losses, others):
    return max(abs(loss - other) / other for loss, other in zip(losses, others))


torch.set_num_threads(1)
print(f"""// examples/beside_pytorch/losses.hpp: the losses of PyTorch {torch.__version__.split("+")[0]}, as record.py prints them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

struct recorded {{
  const char* name;
  double spread;  ///< how far losses are, relative to these, when parameters start one rounding away
  std::vector<float> losses;
}};

inline const std::vector<recorded> recorded_losses = {{""")
for name, module, train in PROGRAMS:
    losses = train()
    module.start = start_nearby
    spread = 0
    for seed in range(30):
        torch.manual_seed(seed)
        spread = max(spread, distance(train(), losses))
    module.start = start.start
    print(f'{{"{name}", {spread:.1e}, {{{", ".join(f"{loss:.9g}f" for loss in losses)}}}}},')
print("};")
