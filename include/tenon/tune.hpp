// tenon/tune.hpp: measures in which tiles the products of a statement are computed fastest.
// What was found serves every later product of the same extents on the same kind of device; files keep it.
// Floor 6: may include base, device, contraction, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <sstream>
#include <tenon/contraction/choice.hpp>
#include <tenon/contraction/execute.hpp>
#include <tenon/device/host_clock.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon {

/// What `tune` found for one product.
struct tuned_product {
  product_key key;
  product_choice choice;
  double usual_seconds, seconds;  ///< of the whole statement, by the usual choice and by this one
};

namespace detail {

/// The choices worth a measurement: both tiles, and powers of two of parts of at least two steps.
inline std::vector<product_choice> product_choices(const asked_product& product) {
  constexpr int most_parts = 64, least_steps = 2;
  std::vector<product_choice> choices{product.usual};
  for (const int tile : {0, 1}) {
    for (int parts = 1; parts <= most_parts; parts *= 2) {
      const product_choice each{tile, parts};
      const bool is_long = parts == 1 || product.key.size.steps(product.tiles[tile]) >= least_steps * parts;
      if (is_long && is_possible(each, product.key.size, product.tiles) && !(each == product.usual)) {
        choices.push_back(each);
      }
    }
  }
  return choices;
}

/// The least time of some runs, after one that counts for nothing.
template <class Space, class Run>
double least_seconds(const Run& run) {
  constexpr int repetitions = 5;
  const launch_clock* const own = clock_of_launches<Space>();
  const launch_clock& clock = own == nullptr ? host_launch_clock() : *own;
  double least = 0;
  for (int i = 0; i <= repetitions; ++i) {
    const std::uint64_t start = clock.mark();
    run();
    const double seconds = clock.seconds(start, clock.mark());
    least = i <= 1 || seconds < least ? seconds : least;
  }
  return least;
}

/// Tries choices for a product. At its end the process uses the best so far, also where a trial failed.
struct tuning_scope {
  tuned_product best;

  explicit tuning_scope(const asked_product& product) : best{product.key, product.usual, 0, 0} {}
  tuning_scope(const tuning_scope&) = delete;
  tuning_scope& operator=(const tuning_scope&) = delete;
  ~tuning_scope() { tuned_products::of_process().set(best.key, best.choice); }
};

inline constexpr const char* tuned_heading = "tenon tuned products 1";

}  // namespace detail

/// Evaluates `expression` with every choice of tiles, and of blocks that share one, for each of its products in turn.
/// The fastest one serves later products of the same kernel, element type and extents on devices of the same
/// architecture and count of multiprocessors. Other results may round differently: a tile shared by several blocks is
/// added in another order. Products of the host, and those on Hopper's warpgroups, have nothing to choose.
/// returns   a line for each product that has
/// cost      about a hundred evaluations
/// example   tenon::tune(relu(matmul(x, w) + bias)); y = relu(matmul(x, w) + bias);
template <tensor_operand Expression>
std::vector<tuned_product> tune(const Expression& expression) {
  using space = typename node_of<Expression>::space;
  product_listener listener;
  auto result = evaluated_tensor(expression);
  std::vector<tuned_product> found;
  for (const auto& product : std::vector(listener.asked)) {
    detail::tuning_scope scope(product);
    auto& best = scope.best;
    for (const auto& choice : detail::product_choices(product)) {
      tuned_products::of_process().set(product.key, choice);
      const double seconds = detail::least_seconds<space>([&] { result = expression; });
      if (choice == product.usual) best.usual_seconds = best.seconds = seconds;
      if (seconds < best.seconds) best.choice = choice, best.seconds = seconds;
    }
    found.push_back(best);
  }
  return found;
}

/// Writes what `tune` has found in this process, and what was loaded, to a file of text.
/// throws    file_error
/// example   save_tuned("products.txt");
inline void save_tuned(const std::filesystem::path& path) {
  std::ostringstream text;
  text << detail::tuned_heading << '\n';
  for (const auto& [key, choice] : tuned_products::of_process().entries()) {
    const auto& [rows, columns, depth, batches] = key.size;
    text << key.kernel << ' ' << key.element << ' ' << key.architecture << ' ' << key.multiprocessors << ' ' << rows
         << ' ' << columns << ' ' << depth << ' ' << batches << ' ' << choice.tile << ' ' << choice.parts << '\n';
  }
  const std::string bytes = text.str();
  const std::span<const std::uint8_t> parts[] = {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
  io::write_bytes("save_tuned", path, parts);
}

namespace detail {

/// Whether a product can be what a line says of it. Blocks that share a tile have a step of its depth each, or more.
inline bool is_conceivable(const product_key& key, const product_choice& choice) {
  const auto& [rows, columns, depth, batches] = key.size;
  const index least = std::min({rows, columns, depth, batches});
  return least >= 0 && key.architecture >= 0 && key.multiprocessors >= 0 && (choice.tile == 0 || choice.tile == 1) &&
         choice.parts >= 1 && (choice.parts == 1 || choice.parts <= depth);
}

/// The choices of a file of `save_tuned`.
inline std::vector<std::pair<product_key, product_choice>> parse_tuned(const std::filesystem::path& path,
                                                                       std::span<const std::uint8_t> bytes) {
  constexpr int most_lines = 10000;  // each is compared with those before it
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::string line;
  if (!std::getline(text, line) || line != tuned_heading) {
    io::refuse("load_tuned", path, compose_text("line 1 is not '", tuned_heading, "'"));
  }
  std::vector<std::pair<product_key, product_choice>> entries;
  for (int number = 2; std::getline(text, line); ++number) {
    if (number > most_lines) io::refuse("load_tuned", path, compose_text("more than ", most_lines, " lines"));
    std::istringstream words(line);
    auto& [key, choice] = entries.emplace_back();
    auto& [rows, columns, depth, batches] = key.size;
    words >> key.kernel >> key.element >> key.architecture >> key.multiprocessors >> rows >> columns >> depth >>
        batches >> choice.tile >> choice.parts;
    std::string rest;
    if (words.fail() || !is_conceivable(key, choice) || words >> rest) {
      io::refuse("load_tuned", path, compose_text("line ", number, " is no choice: '", line, "'"));
    }
  }
  return entries;
}

}  // namespace detail

/// Adds the choices in a file of `save_tuned`. They replace what is known of the same products.
/// throws    file_error, which names the line, or where memory is too small; nothing is added then
/// example   load_tuned("products.txt");
inline void load_tuned(const std::filesystem::path& path) {
  const auto bytes = io::read_bytes("load_tuned", path);
  const auto entries =
      io::within_memory("load_tuned", path, bytes.size(), [&] { return detail::parse_tuned(path, bytes); });
  for (const auto& [key, choice] : entries) tuned_products::of_process().set(key, choice);
}

}  // namespace tenon
