// examples/minilm/encoder.hpp: texts to sentence embeddings: pieces, batches of like length, the network.
// Batches are sorted by length, so that little is padded; results stand in the order of the texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "model.hpp"

namespace minilm {

/// The weights of a safetensors file.
inline std::unique_ptr<network> loaded(const std::filesystem::path& file) {
  auto net = std::make_unique<network>();
  tn::train::load_state(*net, file);
  return net;
}

/// Texts as rows of 384 numbers, each row of length 1: the product of two rows is the cosine of their angle.
/// throws    file_error where the folder lacks model.safetensors or vocab.txt, or they are of another network
class encoder {
 public:
  static constexpr tn::index batch_size = 32,
                             longest_text = 256;  // in pieces; what is longer is cut off, as the package does

  explicit encoder(const std::filesystem::path& folder)
      : pieces_(folder / "vocab.txt"),
        use_(std::move(*loaded(folder / "model.safetensors")),
             tn::tensor<std::int64_t, tn::rank<2>>({batch_size, longest_text}),
             tn::tensor<float, tn::rank<2>>({batch_size, longest_text})) {}

  tn::tensor<float, tn::rank<2>> encode(const std::vector<std::string>& texts) {
    std::vector<std::vector<int>> pieces;
    for (const std::string& text : texts) pieces.push_back(pieces_.encode(text, longest_text));
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(pieces[b].size(), a) < std::pair(pieces[a].size(), b);  // the longest first
    });
    tn::tensor<float, tn::rank<2>> rows({static_cast<tn::index>(texts.size()), width});
    for (std::size_t begin = 0; begin < order.size(); begin += batch_size) {
      const std::size_t end = std::min(order.size(), begin + batch_size);
      const std::vector<std::size_t> some(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                          order.begin() + static_cast<std::ptrdiff_t>(end));
      encode_batch(pieces, some, rows);
    }
    return rows;
  }

 private:
  /// Texts of which the first is the longest.
  void encode_batch(const std::vector<std::vector<int>>& pieces, const std::vector<std::size_t>& some,
                    tn::tensor<float, tn::rank<2>>& rows) {
    const tn::rank<2> extents(static_cast<tn::index>(some.size()), static_cast<tn::index>(pieces[some[0]].size()));
    tn::tensor<std::int64_t, tn::rank<2>> numbers = tn::zeros<std::int64_t>(extents);
    tn::tensor<float, tn::rank<2>> is_there = tn::zeros<float>(extents);
    for (std::size_t row = 0; row < some.size(); ++row) {
      const std::vector<int>& text = pieces[some[row]];
      for (std::size_t place = 0; place < text.size(); ++place) {
        numbers(row, place) = text[place];
        is_there(row, place) = 1;
      }
    }
    const auto made = use_.run(numbers, is_there);
    for (std::size_t row = 0; row < some.size(); ++row) rows[some[row]] = made[row];
  }

  tokenizer pieces_;
  decltype(nn::inference(std::declval<network>(), std::declval<tn::tensor<std::int64_t, tn::rank<2>>>(),
                         std::declval<tn::tensor<float, tn::rank<2>>>())) use_;
};

}  // namespace minilm
