// tests/nn/phonemes.cpp: the network of examples/phonemes, with weights that the test draws and writes as an NPZ file.
// Expected sounds are those of a recurrence in double, one word after another.
// SPDX-License-Identifier: Apache-2.0
#include "../../examples/phonemes/words.hpp"

#include <cmath>

#include "support/stored_archive.hpp"
#include "support/text_of.hpp"

using tenon_test::bytes;
using tenon_test::scratch_file;

namespace {

/// Arrays as numpy.savez writes them: a ZIP archive of NPY files, each read by its name alone.
struct drawn_arrays {
  struct array {
    std::vector<tenon::index> extents;
    std::vector<float> elements;
  };
  std::map<std::string, array> all;

  explicit drawn_arrays(std::uint64_t seed) {
    const auto draw = [&](const std::string& name, std::vector<tenon::index> extents, float bound) {
      tenon::index count = 1;
      for (const tenon::index extent : extents) count *= extent;
      const tenon::tensor<float, tenon::rank<1>> drawn =
          tenon::uniform<float>(tenon::rank<1>(count), ++seed, -bound, bound);
      all[name] = {std::move(extents), {drawn.data(), drawn.data() + count}};
    };
    draw("enc_emb", {29, 256}, 2), draw("dec_emb", {74, 256}, 2), draw("fc_w", {74, 256}, 1), draw("fc_b", {74}, 1);
    for (const std::string part : {"enc_", "dec_"}) {
      draw(part + "w_ih", {768, 256}, 0.1f), draw(part + "w_hh", {768, 256}, 0.1f);
      draw(part + "b_ih", {768}, 0.5f), draw(part + "b_hh", {768}, 0.5f);
    }
  }

  bytes file() const {
    bytes content, directory;
    for (const auto& [name, each] : all) {
      const bytes stored = npy_of(each);
      const std::string member = name + ".npy";
      const std::uint32_t checksum = tenon::io::crc32(stored);
      const std::uint64_t local = content.size();
      const auto append_facts = [&](bytes& to) {
        tenon_test::append_number(to, checksum, 4);
        tenon_test::append_number(to, stored.size(), 4), tenon_test::append_number(to, stored.size(), 4);
        tenon_test::append_number(to, member.size(), 2);
      };
      tenon_test::append_number(content, 0x04034b50, 4), tenon_test::append_number(content, 0, 10);
      append_facts(content), tenon_test::append_number(content, 0, 2);
      content = tenon_test::joined(tenon_test::joined(std::move(content), tenon_test::bytes_of(member)), stored);
      tenon_test::append_number(directory, 0x02014b50, 4), tenon_test::append_number(directory, 0, 12);
      append_facts(directory), tenon_test::append_number(directory, 0, 12);
      tenon_test::append_number(directory, local, 4);
      directory = tenon_test::joined(std::move(directory), tenon_test::bytes_of(member));
    }
    bytes end;
    tenon_test::append_number(end, 0x06054b50, 4), tenon_test::append_number(end, 0, 4);
    tenon_test::append_number(end, all.size(), 2), tenon_test::append_number(end, all.size(), 2);
    tenon_test::append_number(end, directory.size(), 4), tenon_test::append_number(end, content.size(), 4);
    tenon_test::append_number(end, 0, 2);
    return tenon_test::joined(tenon_test::joined(std::move(content), directory), end);
  }
  const float* data(const std::string& name) const { return all.at(name).elements.data(); }

 private:
  static bytes npy_of(const array& from) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (const tenon::index extent : from.extents) header += std::to_string(extent) + ", ";
    header += "), }\n";
    bytes all = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    tenon_test::append_number(all, header.size(), 2);
    all = tenon_test::joined(std::move(all), tenon_test::bytes_of(header));
    for (const float element : from.elements) {
      tenon_test::append_number(all, std::bit_cast<std::uint32_t>(element), 4);
    }
    return all;
  }
};

using numbers = std::vector<double>;

/// matrix * x + bias, in double.
numbers linear_in_double(const drawn_arrays& arrays, const std::string& matrix, const std::string& bias,
                         const numbers& x) {
  numbers y(arrays.data(bias), arrays.data(bias) + arrays.all.at(bias).elements.size());
  const float* weight = arrays.data(matrix);
  const double* const begin = x.data();
  const double* const end = begin + x.size();
  for (double& sum : y) {
    for (const double* each = begin; each != end; ++each, ++weight) sum += static_cast<double>(*weight) * *each;
  }
  return y;
}

/// A state after another step, whose input is a row of a table.
numbers step_in_double(const drawn_arrays& arrays, const std::string& part, int row, const numbers& state) {
  const float* const begin = arrays.data(part + "emb") + row * 256;
  const numbers of_input = linear_in_double(arrays, part + "w_ih", part + "b_ih", numbers(begin, begin + 256));
  const numbers of_state = linear_in_double(arrays, part + "w_hh", part + "b_hh", state);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  numbers after(256);
  for (std::size_t i = 0; i < 256; ++i) {
    const double reset = sigmoid(of_input[i] + of_state[i]), kept = sigmoid(of_input[i + 256] + of_state[i + 256]);
    after[i] = (1 - kept) * std::tanh(of_input[i + 512] + reset * of_state[i + 512]) + kept * state[i];
  }
  return after;
}

std::vector<int> said_in_double(const drawn_arrays& arrays, const std::string& word) {
  numbers state(256);
  for (const int letter : phonemes::letters_of(word)) state = step_in_double(arrays, "enc_", letter, state);
  std::vector<int> said;
  for (int sound = phonemes::begin_of_sounds; said.size() < 20;) {
    state = step_in_double(arrays, "dec_", sound, state);
    const numbers scores = linear_in_double(arrays, "fc_w", "fc_b", state);
    sound = static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (sound == phonemes::end_of_sounds) break;
    said.push_back(sound);
  }
  return said;
}

template <class Error>
std::string refused_weights(const drawn_arrays& arrays) {
  const scratch_file file("weights.npz");
  file.write(arrays.file());
  const std::string text = tenon_test::text_of<Error>([&] { (void)phonemes::load(file.path); });
  return text.substr(std::min(text.size(), text.find("weights.npz")));
}

}  // namespace

TEST_CASE("words sound as by a recurrence in double, alone and in batches", "[phonemes]") {
  drawn_arrays arrays(31);
  arrays.all.at("fc_b").elements[phonemes::end_of_sounds] += 6;  // some words end, others go on to the last step
  const scratch_file file("phonemes.npz");
  file.write(arrays.file());
  phonemes::network net = phonemes::load(file.path);
  const std::vector<std::string> words = {"tenon", "a", "dowel", "", "it's", "s\xc3\xa4gen"};
  std::vector<std::vector<int>> expected;
  std::size_t ended = 0;
  for (const std::string& word : words) {
    expected.push_back(said_in_double(arrays, word));
    ended += expected.back().size() < 20 ? 1 : 0;
  }
  CHECK(ended > 0);
  CHECK(ended < words.size());
  CHECK(phonemes::say_words(net, words, 1) == expected);
  CHECK(phonemes::say_words(net, words, 2) == expected);
  CHECK(phonemes::say_words(net, words, 32) == expected);
  CHECK(phonemes::say_words(net, {}, 32).empty());
}

TEST_CASE("weights of another network are refused", "[phonemes]") {
  drawn_arrays arrays(7);
  arrays.all.at("fc_w").extents = {37, 512};
  CHECK(refused_weights<tenon::shape_error>(arrays) == "weights.npz: fc_w: axis 0: extent 37, expected 74");
  arrays.all.erase("fc_w");
  CHECK(refused_weights<tenon::file_error>(arrays).find("there is no array fc_w; there are dec_b_hh, ") !=
        std::string::npos);
  arrays.all["fc_w"] = {{74 * 256}, std::vector<float>(74 * 256)};
  CHECK(refused_weights<tenon::file_error>(arrays).find("1 axes, expected 2 (extents [18944])") != std::string::npos);
}

TEST_CASE("texts are words, and words are letters", "[phonemes]") {
  using words = std::vector<std::string>;
  CHECK(phonemes::words_of("Hello, world-wide 42 'tis!") == words{"hello", "world", "wide", "'tis"});
  CHECK(phonemes::words_of("").empty());
  CHECK(phonemes::words_of(" '' 7 \xc3\xa9 ").empty());
  CHECK(phonemes::words_of("Caf\xc3\xa9\n'n'") == words{"caf\xc3\xa9", "'n'"});
  CHECK(phonemes::letters_of("aZ'\xc3\xa9") == std::vector<int>{3, 28, 1, 1, 2});
  CHECK(phonemes::letters_of("") == std::vector<int>{2});
  CHECK(phonemes::names_of({37, 10, 46, 51}) == "HH AH0 L OW1");
  CHECK(phonemes::names_of({}).empty());
}
