// tenon/nn/packed_sequence.hpp: sequences of different lengths without what fills up the shorter ones.
// Rows of the first time step, then those of the second, ..., the longest sequence first in each: PyTorch's order.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <numeric>
#include <tenon/expressions.hpp>
#include <tenon/grad/traced_functions.hpp>
#include <vector>

namespace tenon::nn {

/// How sequences were packed.
template <memory_space Space>
struct packed_layout {
  std::vector<index> lengths;                      ///< of the sequences as they were given
  std::vector<index> batch_sizes;                  ///< rows of each time step, never more than of the one before
  tensor<index, rank<1>, Space> sorted, unsorted;  ///< which sequence is k-th by length; which place has a sequence
  std::vector<index> places;                       ///< `unsorted` on the host
};

/// Rows [sum of lengths, features], and how they were packed. Layers of single rows are called with `rows`.
template <class Rows>
struct packed_sequence {
  using space = typename Rows::space;

  Rows rows;
  std::shared_ptr<const packed_layout<space>> layout;
};

/// Options of packing and unpacking, with PyTorch's defaults.
struct packing {
  bool batch_first = false;    ///< padded sequences are [batch, time, features], else [time, batch, features]
  bool enforce_sorted = true;  ///< lengths must descend
  double padding_value = 0;    ///< what stands behind the end of a sequence
  index total_length = 0;      ///< time steps of what is unpacked; 0: those of the longest sequence
};

namespace detail {

template <memory_space Space>
tensor<index, rank<1>, Space> tensor_of_numbers(const std::vector<index>& numbers) {
  tensor<index, rank<1>, Space> result({static_cast<index>(numbers.size())});
  Space::copy_from_host(result.data(), numbers.data(), numbers.size() * sizeof(index));
  return result;
}

TENON_IF_CALLED void check_lengths(const std::vector<index>& lengths, index batch, index time, bool enforce_sorted) {
  const auto refuse = [](auto... text) { throw shape_error(compose_text("pack_padded_sequence: lengths: ", text...)); };
  const auto count = static_cast<index>(lengths.size());
  if (count != batch) refuse(count, " of them, expected ", batch, " as sequences in the batch");
  for (const index length : lengths) {
    if (length < 1 || length > time) refuse(length, ", expected at least 1 and at most the ", time, " time steps");
  }
  if (enforce_sorted && !std::is_sorted(lengths.rbegin(), lengths.rend())) {
    refuse("do not descend; pass {.enforce_sorted = false} to sort them");
  }
}

template <memory_space Space>
std::shared_ptr<const packed_layout<Space>> make_packed_layout(const std::vector<index>& lengths) {
  auto layout = std::make_shared<packed_layout<Space>>();
  std::vector<index> sorted(lengths.size());
  std::iota(sorted.begin(), sorted.end(), index{0});
  const auto length_of = [&](index sequence) { return lengths[static_cast<std::size_t>(sequence)]; };
  std::sort(sorted.begin(), sorted.end(), [&](index a, index b) {  // equal ones stay in order
    return length_of(a) != length_of(b) ? length_of(a) > length_of(b) : a < b;
  });
  layout->lengths = lengths;
  layout->places.resize(lengths.size());
  for (std::size_t place = 0; place < sorted.size(); ++place) {
    layout->places[static_cast<std::size_t>(sorted[place])] = static_cast<index>(place);
  }
  for (index time = 0; !lengths.empty() && time < length_of(sorted[0]); ++time) {
    layout->batch_sizes.push_back(
        std::count_if(lengths.begin(), lengths.end(), [time](index length) { return length > time; }));
  }
  layout->sorted = tensor_of_numbers<Space>(sorted);
  layout->unsorted = tensor_of_numbers<Space>(layout->places);
  return layout;
}

/// Calls `visit(padded row, packed row)` for every row.
template <memory_space Space, class Visit>
void for_each_packed_row(const packed_layout<Space>& layout, index time, bool batch_first, Visit&& visit) {
  const auto batch = static_cast<index>(layout.lengths.size());
  for (index sequence = 0; sequence < batch; ++sequence) {
    index first = 0;
    for (index step = 0; step < layout.lengths[static_cast<std::size_t>(sequence)]; ++step) {
      const index padded = batch_first ? sequence * time + step : step * batch + sequence;
      visit(padded, first + layout.places[static_cast<std::size_t>(sequence)]);
      first += layout.batch_sizes[static_cast<std::size_t>(step)];
    }
  }
}

/// The numbers on the memory space of a sequence; they live as long as a value that was made by them.
template <memory_space Space>
traced<index, rank<1>, Space> kept_numbers(const std::vector<index>& numbers) {
  return tensor_of_numbers<Space>(numbers);
}

/// How packed rows and padded sequences follow from each other.
template <memory_space Space>
struct row_exchange {
  std::shared_ptr<const packed_layout<Space>> layout;
  index time;
  bool batch_first;

  index batch() const { return static_cast<index>(layout->lengths.size()); }
  rank<3> extents(index features) const {
    return batch_first ? rank<3>(batch(), time, features) : rank<3>(time, batch(), features);
  }
  template <class Padded>
  auto packed(const Padded& padded) const {
    std::vector<index> sources(
        static_cast<std::size_t>(std::accumulate(layout->lengths.begin(), layout->lengths.end(), index{0})));
    for_each_packed_row(*layout, time, batch_first,
                        [&](index from, index to) { sources[static_cast<std::size_t>(to)] = from; });
    const auto rows = reshape(padded, rank<2>(batch() * time, padded.shape().extent(2)));
    return take(rows, trusted(kept_numbers<Space>(sources)), axis<0>);
  }
  template <class Rows>
  auto padded(const Rows& rows, double value) const {
    using element = typename node_of<const Rows&>::element;
    std::vector<index> sources(static_cast<std::size_t>(batch() * time), -1);
    for_each_packed_row(*layout, time, batch_first,
                        [&](index to, index from) { sources[static_cast<std::size_t>(to)] = from; });
    const rank<3> whole = extents(1);
    const auto source = reshape(kept_numbers<Space>(sources), rank<2>(whole.extent(0), whole.extent(1)));
    return where(new_axis<-1>(source) >= 0, take(rows, trusted(maximum(source, index{0})), axis<0>),
                 static_cast<compute_type<element>>(value));
  }
};

/// A value of an operand, whose gradient is `gradient_of(seed)`; nothing is kept for it where none is traced.
template <class Operand, class Value, class Gradient>
auto exchanged(const Operand& operand, const Value& value_of, const Gradient& gradient_of) {
  using node_type = node_of<const Operand&>;
  if constexpr (tenon::detail::holds_traced<node_type>) {
    const traced input(operand);
    return with_gradient(value_of(as_node(input)), input, gradient_of);
  } else {
    return traced(value_of(as_node(operand)));
  }
}

}  // namespace detail

/// The rows of padded sequences [time, batch, features] that lie within their lengths: traced values.
/// throws    shape_error unless there is a length from 1 to time for each sequence, in descending order where enforced
/// cost      one kernel, and one for the gradient; the numbers of the rows are copied to the memory space
/// example   const auto packed = nn::pack_padded_sequence(x, lengths); const auto [out, hidden] = gru(packed);
template <tensor_operand Operand>
auto pack_padded_sequence(const Operand& padded, const std::vector<index>& lengths, const packing& options = {}) {
  using node_type = node_of<const Operand&>;
  using space = tenon::detail::concrete_space<typename node_type::space>;
  static_assert(tenon::detail::is_kept_by_steps<const Operand&> || must_hold<Operand>,
                "tenon: nn::inference takes no packed sequences; call the network itself, under no_grad");
  static_assert(node_type::shape_type::rank == 3, "tenon: padded sequences have three axes");
  const auto extents = padded.shape();
  const index time = extents.extent(options.batch_first ? 1 : 0);
  detail::check_lengths(lengths, extents.extent(options.batch_first ? 0 : 1), time, options.enforce_sorted);
  const detail::row_exchange<space> rows{detail::make_packed_layout<space>(lengths), time, options.batch_first};
  const auto packed = detail::exchanged(
      padded, [&](const auto& whole) { return rows.packed(whole); },
      [rows](const auto& seed) { return rows.padded(seed, 0); });
  return packed_sequence<std::remove_const_t<decltype(packed)>>{packed, rows.layout};
}

/// The same of lengths of another type.
template <tensor_operand Operand, std::integral Number>
auto pack_padded_sequence(const Operand& padded, const std::vector<Number>& lengths, const packing& options = {}) {
  return pack_padded_sequence(padded, std::vector<index>(lengths.begin(), lengths.end()), options);
}

/// Padded sequences, and their lengths.
template <class Sequences>
struct padded_sequence {
  Sequences sequences;
  std::vector<index> lengths;
};

/// The opposite of `pack_padded_sequence`; behind the end of a sequence stands `padding_value`.
/// throws    shape_error when `total_length` is given and less than the time steps of the longest sequence
/// cost      as of pack_padded_sequence
template <class Rows>
auto pad_packed_sequence(const packed_sequence<Rows>& packed, const packing& options = {}) {
  const index longest = static_cast<index>(packed.layout->batch_sizes.size());
  const index time = options.total_length == 0 ? longest : options.total_length;
  if (time < longest) {
    throw shape_error(compose_text("pad_packed_sequence: total_length: ", time, ", expected at least ", longest,
                                   ", the time steps of the longest sequence"));
  }
  const detail::row_exchange<typename Rows::space> rows{packed.layout, time, options.batch_first};
  const auto padded = detail::exchanged(
      packed.rows, [&](const auto& each) { return rows.padded(each, options.padding_value); },
      [rows](const auto& seed) { return rows.packed(seed); });
  return padded_sequence<std::remove_const_t<decltype(padded)>>{padded, packed.layout->lengths};
}

}  // namespace tenon::nn
