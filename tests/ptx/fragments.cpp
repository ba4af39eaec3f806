// tests/ptx/fragments.cpp: wmma. Which lane holds which element is not specified, so it is drawn by the seed:
// a kernel that relies on a layout of its own fails.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "ptx/decode.hpp"
#include "ptx/products.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

/// A matrix that 32 lanes hold: its extents, its type, its part in the product and its order in memory.
struct fragment {
  int rows, columns;
  element type;
  char role;
  bool is_by_rows;
  int registers;

  int register_bytes() const { return type == element::f64 ? 8 : 4; }
  int elements_of_register() const { return register_bytes() / bytes_of(type); }
  auto operator<=>(const fragment&) const = default;
};

/// The element of the matrix at each place of the lanes' registers. Where there are more places than elements, several
/// lanes hold the same one.
const std::vector<int>& elements_at(fragment of) {
  static std::map<fragment, std::vector<int>> known;
  if (of.role == 'c' || of.role == 'd') of.role = 'c', of.is_by_rows = true;
  std::vector<int>& order = known[of];
  if (!order.empty()) return order;
  order.resize(static_cast<std::size_t>(of.registers * of.elements_of_register() * warp_lanes));
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int>(i % static_cast<std::size_t>(of.rows * of.columns));
  const char* const seed = std::getenv("TENON_PTX_SEED");
  std::mt19937 random(static_cast<unsigned>(seed == nullptr ? 1 : std::atoi(seed)) +
                      static_cast<unsigned>(known.size()));
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// What a decoded instruction knows of its fragments: load and store one, mma three.
struct shapes {
  fragment left, right, sums;
};
std::vector<shapes>& known_shapes() {
  static std::vector<shapes> known;
  return known;
}

template <class Visit>
void each_place(const fragment& of, Visit visit) {
  const std::vector<int>& order = elements_at(of);
  std::size_t at = 0;
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < of.registers; ++i)
      for (int j = 0; j < of.elements_of_register(); ++j) visit(lane, i, j, order[at++]);
}

std::uint64_t bits_at(const warp& w, const fragment& of, std::uint32_t first, int lane, int i, int j) {
  const slot where = w.code.lists[first + static_cast<unsigned>(i)];
  if (of.register_bytes() == 8) return w.at<std::uint64_t>(where)[lane];
  return w.at<std::uint32_t>(where)[lane] >> (8 * bytes_of(of.type) * j);
}
void set_bits(const warp& w, const fragment& of, std::uint32_t first, int lane, int i, int j, std::uint64_t bits) {
  const slot where = w.code.lists[first + static_cast<unsigned>(i)];
  if (of.register_bytes() == 8) {
    w.at<std::uint64_t>(where)[lane] = bits;
    return;
  }
  const int size = 8 * bytes_of(of.type);
  const std::uint32_t mask = (size == 32 ? ~0u : (1u << size) - 1) << (size * j);
  std::uint32_t& word = w.at<std::uint32_t>(where)[lane];
  word = (word & ~mask) | (static_cast<std::uint32_t>(bits << (size * j)) & mask);
}

/// Where an element lies in memory: all lanes name the same address and the same distance of lines.
unsigned char* place_of(warp& w, const instruction& in, const fragment& of, int which, use how, int lane) {
  const std::uint32_t leading = w.at<std::uint32_t>(in.b)[0];
  const int row = which / of.columns, column = which % of.columns;
  const auto distance = static_cast<std::uint32_t>(of.is_by_rows ? row : column) * leading +
                        static_cast<std::uint32_t>(of.is_by_rows ? column : row);
  const std::uint32_t bytes = distance * static_cast<std::uint32_t>(bytes_of(of.type));
  const std::uint32_t address = w.at<std::uint32_t>(in.a)[0] + static_cast<std::uint32_t>(in.offset);
  if (address % 32 != 0) throw fault("wmma: an address that is no multiple of 32 bytes");
  if (leading * static_cast<std::uint32_t>(bytes_of(of.type)) % 16 != 0)
    throw fault("wmma: lines that are no multiples of 16 bytes apart");
  return checked_shared(w, address + bytes, bytes_of(of.type), how, lane);
}

void load_fragment(warp& w, const instruction& in, lane_set) {
  const fragment& of = known_shapes()[in.target].left;
  each_place(of, [&](int lane, int i, int j, int which) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, place_of(w, in, of, which, use::read, lane), static_cast<std::size_t>(bytes_of(of.type)));
    set_bits(w, of, in.first, lane, i, j, bits);
  });
}

void store_fragment(warp& w, const instruction& in, lane_set) {
  const fragment& of = known_shapes()[in.target].left;
  each_place(of, [&](int lane, int i, int j, int which) {
    const std::uint64_t bits = bits_at(w, of, in.first, lane, i, j);
    std::memcpy(place_of(w, in, of, which, use::write, lane), &bits, static_cast<std::size_t>(bytes_of(of.type)));
  });
}

void read_matrix(const warp& w, const fragment& of, std::uint32_t first, double* into) {
  each_place(of, [&](int lane, int i, int j, int which) {
    into[which] = number_of(of.type, bits_at(w, of, first, lane, i, j));
  });
}

void multiply_fragments(warp& w, const instruction& in, lane_set) {
  const auto& [left, right, sums] = known_shapes()[in.target];
  double a[256], b[256], c[256];
  std::uint32_t first = in.first + static_cast<std::uint32_t>(sums.registers);
  read_matrix(w, left, first, a);
  read_matrix(w, right, first += static_cast<std::uint32_t>(left.registers), b);
  read_matrix(w, sums, first + static_cast<std::uint32_t>(right.registers), c);
  multiply(sums.rows, sums.columns, left.columns, a, b, c);
  w.in.of.done.tensor_operations += static_cast<std::uint64_t>(2 * sums.rows * sums.columns * left.columns);
  each_place(sums, [&](int lane, int i, int j, int which) {
    set_bits(w, sums, in.first, lane, i, j, bits_of_sum(sums.type, c[which]));
  });
}

/// The extents of m16n16k8.
bool read_shape(std::string_view text, int (&extents)[3]) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    if (at == end || *at != "mnk"[i]) return false;
    at = std::from_chars(at + 1, end, extents[i]).ptr;
  }
  return true;
}

fragment make_fragment(char role, const int (&extents)[3], element type, bool is_by_rows, std::size_t registers) {
  const auto& [m, n, k] = extents;
  return {.rows = role == 'b' ? k : m,
          .columns = role == 'a' ? k : n,
          .type = type,
          .role = role,
          .is_by_rows = is_by_rows,
          .registers = static_cast<int>(registers)};
}

void keep_shapes(decoder& d, const shapes& made) {
  d.made.then = flow::collective;
  d.made.target = static_cast<std::uint32_t>(known_shapes().size());
  known_shapes().push_back(made);
}

/// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 and wmma.store.d likewise.
bool decode_transfer(decoder& d) {
  const bool is_load = d.part(1) == "load";
  const element type = element_of(d.part(8));
  int extents[3]{};
  if (!read_shape(d.part(6), extents) || d.part(7).substr(0, 6) != "shared" || type == element::none) return false;
  const std::size_t list = is_load ? 0 : 1;
  const fragment made = make_fragment(d.part(2)[0], extents, type, d.part(5) == "row", d.at(list).parts.size());
  d.made.run = is_load ? &load_fragment : &store_fragment;
  d.address(is_load ? 1 : 0);
  d.made.b = d.source(2, 4);
  d.add_list(list, made.register_bytes(), is_load);
  keep_shapes(d, {made, made, made});
  return !d.made.is_wide_address;
}

/// wmma.mma.sync.aligned.row.col.m16n16k16, then the types: of d and c where a and b are halves, else of d, a, b, c.
bool decode_fragment_product(decoder& d) {
  int extents[3]{};
  if (!read_shape(d.part(6), extents)) return false;
  const bool is_half = d.part(9).empty();
  const element sum_type = element_of(d.part(7)), type = is_half ? element::f16 : element_of(d.part(8));
  if (type == element::none || (sum_type != element::f32 && sum_type != element::s32 && sum_type != element::f64))
    return false;
  const auto registers = [&](std::size_t i) { return d.at(i).parts.size(); };
  const shapes made{make_fragment('a', extents, type, d.part(4) == "row", registers(1)),
                    make_fragment('b', extents, type, d.part(5) == "row", registers(2)),
                    make_fragment('c', extents, sum_type, true, registers(0))};
  d.made.run = &multiply_fragments;
  d.add_list(0, made.sums.register_bytes(), true);
  d.add_list(1, made.left.register_bytes(), false);
  d.add_list(2, made.right.register_bytes(), false);
  d.add_list(3, made.sums.register_bytes(), false);
  keep_shapes(d, made);
  return true;
}

}  // namespace

bool decode_fragments(decoder& d) { return d.part(1) == "mma" ? decode_fragment_product(d) : decode_transfer(d); }

}  // namespace tenon_test::ptx
