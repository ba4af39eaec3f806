// tenon/contraction/choice.hpp: in which tiles a product is computed, and by how many blocks each.
// The choice follows from extents and device, unless one has been measured for them.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <tenon/contraction/tile.hpp>
#include <tenon/device/workspace.hpp>
#include <utility>
#include <vector>

namespace tenon {

/// How a product is shared among blocks.
struct product_choice {
  int tile;   ///< 0: large tiles, 1: small ones
  int parts;  ///< blocks that share the depth of a tile
  bool operator==(const product_choice&) const = default;
};

/// The extents that a choice depends on.
struct product_size {
  index rows, columns, depth, batches;
  bool operator==(const product_size&) const = default;

  constexpr index tiles(const array<int, 3>& tile) const {
    return (rows + tile[0] - 1) / tile[0] * ((columns + tile[1] - 1) / tile[1]) * batches;
  }
  constexpr index steps(const array<int, 3>& tile) const { return (depth + tile[2] - 1) / tile[2]; }
  /// Results that are computed, those outside the matrix included.
  constexpr index covered(const array<int, 3>& tile) const { return tiles(tile) * tile[0] * tile[1]; }
};

/// What a choice is made for: a kernel, the elements that it multiplies, extents, and a kind of device.
struct product_key {
  product_size size;
  int architecture, multiprocessors;
  std::string kernel, element;
  bool operator==(const product_key&) const = default;
};

/// Rows, columns and depth of the large tiles and of the small ones.
using tile_extents = array<array<int, 3>, 2>;

template <class Tiles>
constexpr tile_extents extents_of_tiles() {
  using large_tile = typename Tiles::large_tile;
  using small_tile = typename Tiles::small_tile;
  return {{{{large_tile::rows, large_tile::columns, large_tile::depth}},
           {{small_tile::rows, small_tile::columns, small_tile::depth}}}};
}

/// Large tiles where they occupy every multiprocessor and cover little more than small tiles would. Where not even
/// small tiles occupy them all, several blocks share a tile; each has eight steps at least.
inline product_choice usual_product_choice(const product_size& size, const tile_extents& tiles, int multiprocessors) {
  constexpr index least_steps = 8;
  const bool fits = 4 * size.covered(tiles[0]) <= 5 * size.covered(tiles[1]);
  if (fits && size.tiles(tiles[0]) >= multiprocessors) return {0, 1};
  const index count = size.tiles(tiles[1]);
  if (count == 0 || count > workspace_counters) return {1, 1};
  const index fitting = multiprocessors / count, most = size.steps(tiles[1]) / least_steps;
  const index parts = fitting < most ? fitting : most;
  return {1, parts < 1 ? 1 : static_cast<int>(parts)};
}

/// Whether the kernel takes a choice: blocks that share tiles count themselves in a workspace.
inline bool is_possible(const product_choice& choice, const product_size& size, const tile_extents& tiles) {
  if (choice.tile < 0 || choice.tile > 1 || choice.parts < 1) return false;
  const auto& extents = tiles[choice.tile];
  return choice.parts == 1 || (choice.parts <= size.steps(extents) && size.tiles(extents) <= workspace_counters);
}

/// The choices that the process has measured or loaded; any thread may ask and tell.
class tuned_products {
 public:
  static tuned_products& of_process() {
    static tuned_products products;
    return products;
  }
  /// The choice for `key`, `otherwise` where there is none.
  product_choice find(const product_key& key, const product_choice& otherwise) const {
    if (!is_used_.load(std::memory_order_acquire)) return otherwise;
    const std::lock_guard lock(mutex_);
    for (const auto& [known, choice] : entries_) {
      if (known == key) return choice;
    }
    return otherwise;
  }
  void set(const product_key& key, const product_choice& choice) {
    const std::lock_guard lock(mutex_);
    is_used_.store(true, std::memory_order_release);
    for (auto& [known, current] : entries_) {
      if (known == key) return static_cast<void>(current = choice);
    }
    entries_.emplace_back(key, choice);
  }
  std::vector<std::pair<product_key, product_choice>> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  /// Forgets all of them.
  void clear() {
    const std::lock_guard lock(mutex_);
    is_used_.store(false, std::memory_order_release);
    entries_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> is_used_ = false;
  std::vector<std::pair<product_key, product_choice>> entries_;
};

/// A product that a statement asked a choice for.
struct asked_product {
  product_key key;
  tile_extents tiles;
  product_choice usual;
};

/// Notes what the calling thread's statements ask for while it lives.
class product_listener {
 public:
  product_listener() : outer_(std::exchange(current(), this)) {}
  product_listener(const product_listener&) = delete;
  product_listener& operator=(const product_listener&) = delete;
  ~product_listener() { current() = outer_; }

  static product_listener*& current() {
    thread_local product_listener* listener = nullptr;
    return listener;
  }
  /// Each product once, in the order of their first statements.
  std::vector<asked_product> asked;

 private:
  product_listener* outer_;
};

/// The choice for a product: the measured one, else the usual one.
inline product_choice choose_product(const product_key& key, const tile_extents& tiles) {
  const auto usual = usual_product_choice(key.size, tiles, key.multiprocessors);
  if (product_listener* const listener = product_listener::current()) {
    bool is_new = true;
    for (const auto& each : listener->asked) is_new = is_new && !(each.key == key);
    if (is_new) listener->asked.push_back({key, tiles, usual});
  }
  const auto tuned = tuned_products::of_process().find(key, usual);
  return is_possible(tuned, key.size, tiles) ? tuned : usual;
}

}  // namespace tenon
