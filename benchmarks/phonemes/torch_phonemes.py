# benchmarks/phonemes/torch_phonemes.py: the network of examples/phonemes in PyTorch, eager, with the package's weights.
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn

width, begin, end, longest = 256, 2, 3, 20
alphabet = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 3)}
names = {"letters": "enc_emb", "sounds": "dec_emb", "head": "fc_w"}


class Network(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.letters, self.sounds = nn.Embedding(29, width), nn.Embedding(74, width)
        self.reader, self.speaker = nn.GRU(width, width), nn.GRUCell(width, width)
        self.head = nn.Linear(width, 74)
        copied = {f"{name}.weight": weights[array] for name, array in names.items()}
        copied["head.bias"] = weights["fc_b"]
        for part in ("w_ih", "w_hh", "b_ih", "b_hh"):
            full = part.replace("w_", "weight_").replace("b_", "bias_")
            copied[f"reader.{full}_l0"], copied[f"speaker.{full}"] = weights[f"enc_{part}"], weights[f"dec_{part}"]
        self.load_state_dict({name: torch.from_numpy(array) for name, array in copied.items()})

    def say(self, words):
        """The sounds of words whose letters [time, words] are given."""
        known = self.reader(self.letters(words))[1][0]
        said, sound = [[] for _ in range(words.shape[1])], torch.full((words.shape[1],), begin)
        has_ended = [False] * len(said)
        for _ in range(longest):
            known = self.speaker(self.sounds(sound), known)
            sound = self.head(known).argmax(1)
            for number, last in enumerate(sound.tolist()):
                has_ended[number] = has_ended[number] or last == end
                if not has_ended[number]:
                    said[number].append(last)
            if all(has_ended):
                break
        return said


@torch.inference_mode()
def say_words(net, words, batch):
    """The sounds of words, at most `batch` of the same length at once."""
    by_length, said = {}, [[] for _ in words]
    for place, word in enumerate(words):
        by_length.setdefault(len(word), []).append(place)
    for places in by_length.values():
        for first in range(0, len(places), batch):
            some = places[first:first + batch]
            letters = torch.tensor([[alphabet.get(letter, 1) for letter in words[place]] + [2] for place in some])
            for place, sounds in zip(some, net.say(letters.T.contiguous())):
                said[place] = sounds
    return said
