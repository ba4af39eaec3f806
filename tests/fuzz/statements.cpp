// tests/fuzz/statements.cpp: random expression trees on random extents and strides against an interpreter in double.
// A tree is a type, grown from a number; each type is tried on many random operands. Failures print tree, seed.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/device/emulated.hpp>
#include <tenon/tenon.hpp>
#include <utility>

#include "support/catch.hpp"
#include "support/random.hpp"

using tenon_test::random_source;

namespace {

/// Numbers under extents, as the interpreter has them: row-major, in double.
template <int Rank>
struct dense {
  tenon::array<tenon::index, Rank> extents;
  std::vector<double> values;

  explicit dense(const tenon::array<tenon::index, Rank>& shape) : extents(shape) {
    tenon::index count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= shape[axis];
    values.resize(static_cast<std::size_t>(count));
  }
  /// The number at a position; axes of extent 1 repeat.
  double& at(const tenon::array<tenon::index, Rank>& position) {
    tenon::index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) {
      offset = offset * extents[axis] + (extents[axis] == 1 ? 0 : position[axis]);
    }
    return values[static_cast<std::size_t>(offset)];
  }
};

/// Calls `body(position)` for all positions, in row-major order.
template <int Rank, class Body>
void for_positions(const tenon::array<tenon::index, Rank>& extents, const Body& body) {
  tenon::array<tenon::index, Rank> position{};
  for (int axis = 0; axis < Rank; ++axis) {
    if (extents[axis] == 0) return;
  }
  while (true) {
    body(position);
    int axis = Rank - 1;
    while (axis >= 0 && ++position[axis] == extents[axis]) position[axis--] = 0;
    if (axis < 0) return;
  }
}

/// One operand twice: elements somewhere in a buffer, at random strides, and the same numbers for the interpreter.
template <int Rank, class Space>
struct operand {
  tenon::tensor<float, tenon::rank<1>, Space> buffer;
  tenon::view<float, tenon::rank<Rank>, Space> elements;
  dense<Rank> numbers;
};

/// Axes lie in memory in a random order, with gaps and backwards now and then.
template <int Rank, class Space>
operand<Rank, Space> make_operand(const tenon::array<tenon::index, Rank>& extents, random_source& random) {
  tenon::array<int, Rank> order{};
  for (int axis = 0; axis < Rank; ++axis) order[axis] = axis;
  for (int axis = Rank - 1; axis > 0; --axis) std::swap(order[axis], order[static_cast<int>(random.below(axis + 1))]);
  if (random.below(2) == 0) {
    for (int axis = 0; axis < Rank; ++axis) order[axis] = axis;  // half of them as they mostly are
  }
  tenon::array<tenon::index, Rank> strides{};
  tenon::index size = 1, first = random.below(3);
  for (int place = Rank - 1; place >= 0; --place) {
    const int axis = order[place];
    const tenon::index gap = random.below(4) == 0 ? 1 + random.below(3) : 1;
    strides[axis] = size * gap;
    size *= gap * (extents[axis] == 0 ? 1 : extents[axis]);
    if (extents[axis] > 1 && random.below(5) == 0) {
      first += strides[axis] * (extents[axis] - 1);
      strides[axis] = -strides[axis];
    }
  }
  tenon::tensor<float, tenon::rank<1>, tenon::host> values({size + first + 1});
  for (tenon::index i = 0; i < values.size(); ++i) values(i) = static_cast<float>(random.uniform(-1, 1));
  dense<Rank> numbers(extents);
  for_positions<Rank>(extents, [&](const auto& position) {
    tenon::index offset = first;
    for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * strides[axis];
    numbers.at(position) = static_cast<double>(values(offset));
  });
  auto buffer = values.template to<Space>();
  const tenon::view<float, tenon::rank<Rank>, Space> elements(buffer.data() + first, tenon::rank<Rank>(extents),
                                                              strides);
  return {std::move(buffer), elements, std::move(numbers)};
}

constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t salt) {
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15u + salt * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 29)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 32);
}

template <int Rank, class Function>
dense<Rank> map_numbers(dense<Rank> x, const Function& function) {
  for (double& each : x.values) each = function(each);
  return x;
}

template <int Rank, class Function>
dense<Rank> zip_numbers(dense<Rank> x, dense<Rank> y, const Function& function) {
  auto extents = x.extents;
  for (int axis = 0; axis < Rank; ++axis) extents[axis] = extents[axis] == 1 ? y.extents[axis] : extents[axis];
  dense<Rank> result(extents);
  for_positions<Rank>(extents, [&](const auto& p) { result.at(p) = function(x.at(p), y.at(p)); });
  return result;
}

/// `combine(total, value)` over one axis, which stays with extent 1.
template <int Rank, class Combine>
dense<Rank> fold_numbers(dense<Rank> x, int axis, double identity, const Combine& combine) {
  auto extents = x.extents;
  extents[axis] = 1;
  dense<Rank> result(extents);
  for (double& each : result.values) each = identity;
  for_positions<Rank>(x.extents, [&](const auto& p) { result.at(p) = combine(result.at(p), x.at(p)); });
  return result;
}

/// What types know of the extents of leaves: nothing where `Seed` is 0.
template <int Rank, std::uint64_t Seed>
struct known_extents {
  /// 2 to 5 or unknown; leaves other than the first have 1 in its place now and then.
  static constexpr tenon::index of(std::size_t leaf, int axis) {
    const auto salt = static_cast<std::uint64_t>(axis);
    if (Seed == 0 || mix(Seed, salt) % 3 == 0) return tenon::dyn;
    if (leaf != 0 && mix(Seed, 100 + 10 * leaf + salt) % 3 == 0) return 1;
    return 2 + static_cast<tenon::index>(mix(Seed, 1000 + salt) % 4);
  }
  template <std::size_t Leaf, class Space>
  static auto view_of(const tenon::view<float, tenon::rank<Rank>, Space>& elements) {
    return [&]<int... Axis>(std::integer_sequence<int, Axis...>) {
      using extents = tenon::shape<of(Leaf, Axis)...>;
      return tenon::view<float, extents, Space>(elements.data(), extents(elements.shape().to_array()),
                                                elements.strides());
    }(std::make_integer_sequence<int, Rank>{});
  }
};

/// A tree grown from `Seed`: what it composes and what it means. No operation makes numbers, or their errors, greater.
template <int Rank, std::uint64_t Seed, int Depth, class Known>
struct tree {
  using known = Known;
  static constexpr int choice = Depth == 0 ? 0 : static_cast<int>(mix(Seed, 1) % 21);
  static constexpr int axis = static_cast<int>(mix(Seed, 2) % Rank);
  static constexpr std::size_t leaf = mix(Seed, 3) % 4;
  using first = tree<Rank, mix(Seed, 4), Depth - 1, Known>;
  using second = tree<Rank, mix(Seed, 5), Depth - 1, Known>;

  template <class Operands>
  static auto compose(const Operands& operands) {
    if constexpr (choice == 0) {
      return tenon::as_node(Known::template view_of<leaf>(operands[leaf].elements));
    } else if constexpr (choice <= 7) {
      return compose_two(first::compose(operands), second::compose(operands));
    } else {
      return compose_one(first::compose(operands));
    }
  }
  template <class Operands>
  static dense<Rank> interpret(const Operands& operands) {
    if constexpr (choice == 0) {
      return operands[leaf].numbers;
    } else if constexpr (choice <= 7) {
      return interpret_two(first::interpret(operands), second::interpret(operands));
    } else {
      return interpret_one(first::interpret(operands));
    }
  }

 private:
  template <class X, class Y>
  static auto compose_two(const X& x, const Y& y) {
    if constexpr (choice == 1) return (x + y) * 0.5f;
    else if constexpr (choice == 2) return (x - y) / 2;
    else if constexpr (choice == 3) return x * y;
    else if constexpr (choice == 4) return tenon::minimum(x, y);
    else if constexpr (choice == 5) return tenon::maximum(-x, y);
    else if constexpr (choice == 6) return tenon::lerp(x, y, 0.25f);
    else return tenon::fma(x, y, 1.0f) * 0.5f;
  }
  static dense<Rank> interpret_two(const dense<Rank>& x, const dense<Rank>& y) {
    return zip_numbers<Rank>(x, y, [](double a, double b) {
      switch (choice) {
        case 1:
          return (a + b) / 2;
        case 2:
          return (a - b) / 2;
        case 3:
          return a * b;
        case 4:
          return std::fmin(a, b);
        case 5:
          return std::fmax(-a, b);
        case 6:
          return a + (b - a) / 4;
        default:
          return (a * b + 1) / 2;
      }
    });
  }
  template <class X>
  static auto compose_one(const X& x) {
    if constexpr (choice == 8) return tenon::sin(x);
    else if constexpr (choice == 9) return tenon::tanh(x);
    else if constexpr (choice == 10) return tenon::exp(-tenon::abs(x));
    else if constexpr (choice == 11) return tenon::mean(x, tenon::axis<axis>);
    else if constexpr (choice == 12) return tenon::max(x, tenon::axis<axis>);
    else if constexpr (choice == 13) return tenon::sum(x * 0.125f, tenon::axis<axis>);
    else if constexpr (choice == 14) return tenon::flip(x, tenon::axis<axis>);
    else if constexpr (choice == 15) return x - tenon::min(x, tenon::axis<axis>) / 2;
    else if constexpr (choice == 16) return tenon::variance(x, tenon::axis<axis>);
    else return compose_places(x, x.shape().extent(axis));
  }
  /// Elements at places that are computed.
  template <class X>
  static auto compose_places(const X& x, tenon::index extent) {
    if constexpr (choice == 17) {
      return tenon::roll(x, 3, tenon::axis<axis>);
    } else if constexpr (choice == 18) {
      tenon::array<tenon::padding, Rank> widths{};
      widths[axis] = 1;
      return tenon::narrow(tenon::pad(x, widths, tenon::replicate), tenon::axis<axis>, 0, extent);
    } else if constexpr (choice == 19) {
      return tenon::narrow(tenon::concatenate(tenon::axis<axis>, x, x * 0.5f), tenon::axis<axis>, 1, extent);
    } else {
      const auto backwards = tenon::flip(tenon::iota<int>(tenon::rank<1>(extent)), tenon::axis<0>);
      return tenon::take(x, tenon::trusted(backwards), tenon::axis<axis>);
    }
  }
  /// Where the element at a place comes from, and what it is multiplied with.
  static std::pair<tenon::index, double> source_of(tenon::index place, tenon::index extent) {
    if (choice == 17) return {(place - 3 % extent + extent) % extent, 1};
    if (choice == 18) return {place == 0 ? 0 : place - 1, 1};
    if (choice == 19) return {(place + 1) % extent, place + 1 < extent ? 1 : 0.5};
    return {extent - 1 - place, 1};
  }
  static dense<Rank> interpret_one(const dense<Rank>& x) {
    const auto count = static_cast<double>(x.extents[axis]);
    const auto plus = [](double a, double b) { return a + b; };
    if constexpr (choice == 8) return map_numbers<Rank>(x, [](double a) { return std::sin(a); });
    else if constexpr (choice == 9) return map_numbers<Rank>(x, [](double a) { return std::tanh(a); });
    else if constexpr (choice == 10) return map_numbers<Rank>(x, [](double a) { return std::exp(-std::fabs(a)); });
    else if constexpr (choice == 11) {
      return map_numbers<Rank>(fold_numbers<Rank>(x, axis, 0, plus), [&](double a) { return a / count; });
    } else if constexpr (choice == 12) {
      return fold_numbers<Rank>(x, axis, -HUGE_VAL, [](double a, double b) { return std::fmax(a, b); });
    } else if constexpr (choice == 13) {
      return fold_numbers<Rank>(map_numbers<Rank>(x, [](double a) { return a / 8; }), axis, 0, plus);
    } else if constexpr (choice == 16) {
      const auto difference = [](double a, double b) { return a - b; };
      const auto mean = map_numbers<Rank>(fold_numbers<Rank>(x, axis, 0, plus), [&](double a) { return a / count; });
      const auto squares = map_numbers<Rank>(zip_numbers<Rank>(x, mean, difference), [](double a) { return a * a; });
      return map_numbers<Rank>(fold_numbers<Rank>(squares, axis, 0, plus), [&](double a) { return a / count; });
    } else if constexpr (choice != 15) {
      dense<Rank> source = x, result(x.extents);
      for_positions<Rank>(x.extents, [&](auto p) {
        double& value = result.at(p);
        const auto [place, factor] = source_of(p[axis], x.extents[axis]);
        p[axis] = place;
        value = source.at(p) * factor;
      });
      return result;
    } else {
      const auto least = fold_numbers<Rank>(x, axis, HUGE_VAL, [](double a, double b) { return std::fmin(a, b); });
      return zip_numbers<Rank>(x, least, [](double a, double b) { return a - b / 2; });
    }
  }
};

/// Whether what a destination holds is near the interpreter's numbers; "" or the first difference.
template <int Rank, class Space>
std::string difference(const tenon::view<float, tenon::rank<Rank>, Space>& found, dense<Rank> expected) {
  tenon::tensor<float, tenon::rank<Rank>, Space> copy;
  copy = found;
  const auto values = copy.template to<tenon::host>();
  std::string text;
  tenon::index at = 0;
  for_positions<Rank>(expected.extents, [&](const auto& position) {
    const double wanted = expected.at(position), value = static_cast<double>(values.data()[at++]);
    if (text.empty() && !(std::fabs(value - wanted) <= 1e-5 * std::fmax(1.0, std::fabs(wanted)))) {
      text = tenon::compose_text("at ", position, " of ", expected.extents, ": ", value, ", expected ", wanted);
    }
  });
  return text;
}

/// One statement on random operands: into a new tensor, through strides, or over one of its own operands.
template <class Tree, int Rank, class Space>
std::string try_tree(std::uint64_t seed) {
  random_source random(seed);
  tenon::array<tenon::index, Rank> extents{};
  const tenon::index greatest = Rank == 1 ? 200 : Rank == 2 ? 24 : 9;
  using known = typename Tree::known;
  for (int axis = 0; axis < Rank; ++axis) {
    extents[axis] = known::of(0, axis) == tenon::dyn ? 1 + random.below(greatest) : known::of(0, axis);
  }
  std::vector<operand<Rank, Space>> operands;
  for (int i = 0; i < 4; ++i) {
    auto own = extents;
    for (int axis = 0; axis < Rank; ++axis) {
      const tenon::index extent = known::of(static_cast<std::size_t>(i), axis);
      own[axis] = extent != tenon::dyn ? extent : i != 0 && random.below(6) == 0 ? 1 : own[axis];
    }
    operands.push_back(make_operand<Rank, Space>(own, random));
  }
  auto expected = Tree::interpret(operands);
  const auto statement = Tree::compose(operands);
  switch (random.below(3)) {
    case 0: {
      tenon::tensor<float, tenon::rank<Rank>, Space> result;
      result = statement;
      return difference<Rank, Space>(result.write_view(), expected);
    }
    case 1: {
      const auto result = make_operand<Rank, Space>(expected.extents, random);
      result.elements = statement;
      return difference<Rank, Space>(result.elements, expected);
    }
    default: {
      const auto& target = operands[0].elements;  // it has the full extents; a smaller result repeats over it
      target = statement;
      dense<Rank> repeated(extents);
      for_positions<Rank>(extents, [&](const auto& position) { repeated.at(position) = expected.at(position); });
      return difference<Rank, Space>(target, repeated);
    }
  }
}

/// `count` cases of each of the trees `Numbers` of a rank; returns how many were tried.
template <class Space, int Rank, int... Numbers>
int try_trees(int count, std::integer_sequence<int, Numbers...>) {
  const auto try_one = [count]<int Number>(tenon::constant<Number>) {
    using known = known_extents<Rank, Number % 2 == 0 ? 0 : mix(Number, 78)>;
    using grown = tree<Rank, mix(Number, 77), 4, known>;
    for (int round = 0; round < count; ++round) {
      const auto seed = mix(static_cast<std::uint64_t>(round), Number);
      const auto text = try_tree<grown, Rank, Space>(seed);
      if (!text.empty()) FAIL_CHECK("tree " << Number << " of rank " << Rank << ", seed " << seed << ": " << text);
    }
    return count;
  };
  return (0 + ... + try_one(tenon::constant<Numbers>{}));
}

}  // namespace

TEST_CASE("random statements on the host mean what their interpretation says", "[statements]") {
  int tried = try_trees<tenon::host, 1>(1250, std::make_integer_sequence<int, 3>{});
  tried += try_trees<tenon::host, 2>(1250, std::make_integer_sequence<int, 6>{});
  tried += try_trees<tenon::host, 3>(1250, std::make_integer_sequence<int, 7>{});
  CHECK(tried == 20'000);
}

TEST_CASE("random statements on the emulated device mean what their interpretation says", "[statements]") {
  int tried = try_trees<tenon::emulated, 2>(40, std::make_integer_sequence<int, 3>{});
  tried += try_trees<tenon::emulated, 3>(40, std::make_integer_sequence<int, 2>{});
  CHECK(tried == 200);
}
