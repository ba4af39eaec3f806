# examples/phonemes/make_expected.py: writes expected.txt, the phonemes that the package itself makes of its words.
# Words stay; what stands behind them is made anew. The network needs none of what the package imports besides NumPy.
# usage: pip install numpy && pip install --no-deps g2p_en && python3 make_expected.py
# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
from unittest import mock

for name in ("nltk", "nltk.corpus", "nltk.tokenize", "inflect"):
    sys.modules[name] = mock.MagicMock()  # dictionaries and parts of speech

import g2p_en

place = pathlib.Path(__file__).parent / "expected.txt"
words = [line.split(" ")[0] for line in place.read_text(encoding="utf-8").splitlines()]
package = g2p_en.G2p()
place.write_text("".join(" ".join([word, *package.predict(word)]) + "\n" for word in words), encoding="utf-8")
