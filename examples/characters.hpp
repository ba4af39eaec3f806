// examples/characters.hpp: what models of characters share: windows of a text, and the alphabet that weights belong to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <filesystem>
#include <string>
#include <tenon/train.hpp>

#include "errors.hpp"

namespace example {

/// throws    shape_error for a text without a batch of windows to learn from and one to test
inline void check_windows(std::size_t bytes, const tenon::data::token_windows& training,
                          const tenon::data::token_windows& validation, tenon::index length, tenon::index batch) {
  if (training.size() >= batch && validation.size() != 0) return;
  throw tenon::shape_error(tenon::compose_text("text: ", bytes, " bytes give ", training.size(), " and ",
                                               validation.size(), " windows of ", length,
                                               " characters, expected at least ", batch, " and 1"));
}

/// The bytes that a network's rows stand for. They are saved with its weights: those of another text are of no use.
/// example   alphabet own(characters); tenon::train::training all(net, own); tenon::train::save_state(all, path);
class alphabet {
 public:
  static constexpr const char* state_prefix = "text.";

  explicit alphabet(const tenon::data::vocabulary& characters) : bytes_({characters.size()}) {
    for (tenon::index i = 0; i < characters.size(); ++i) {
      bytes_.data()[i] = static_cast<std::uint8_t>(characters.decode(i)[0]);
    }
  }
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    visitor(std::string("alphabet"), bytes_);
  }
  /// Loads weights, and an alphabet where the file has one, as those of PyTorch have none.
  /// throws    file_error where it is another one, and the network stays as it is
  template <class Network>
  void load_state(Network& net, const std::filesystem::path& path) {
    const tenon::io::safetensors_file file(path);
    if (!file.contains("text.alphabet")) return void(tenon::train::load_state(net, path));
    if (file.fits("text.alphabet", bytes_.shape())) check(path, file);  // else load_state says so
    tenon::train::training all(net, *this);
    tenon::train::load_state(all, path);
  }

 private:
  using row = tenon::tensor<std::uint8_t, tenon::rank<1>>;

  static std::string name_of(std::uint8_t byte) {
    const std::string number = std::to_string(byte);
    return std::isgraph(byte) != 0 ? "`" + std::string(1, static_cast<char>(byte)) + "` (" + number + ")" : number;
  }
  void check(const std::filesystem::path& path, const tenon::io::safetensors_file& file) const {
    row listed(bytes_.shape());
    file.read("text.alphabet", listed);
    for (tenon::index i = 0; i < bytes_.size(); ++i) {
      const std::uint8_t other = listed.data()[i], own = bytes_.data()[i];
      if (own == other) continue;
      throw tenon::file_error(path.string() + ": weights of another alphabet: character " + std::to_string(i) + " is " +
                              name_of(other) + ", expected " + name_of(own) + " as in the text");
    }
  }

  row bytes_;
};

}  // namespace example
