// tenon/data/combinators.hpp: data sets made of others: a part, parts at random, one behind another.
// A data set that has a name is held by reference and must outlive the combination; a temporary one is kept.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <tenon/data/dataset.hpp>
#include <tenon/data/sampler.hpp>
#include <tuple>

namespace tenon::data {

namespace detail {

template <class Dataset>
struct kept_dataset {
  using type = Dataset;
};
template <class Dataset>
struct kept_dataset<Dataset&> {
  using type = const std::remove_const_t<Dataset>&;
};

}  // namespace detail

/// How a combination holds a data set: by reference where the data set has a name, else by value.
template <class Dataset>
using kept_dataset = typename detail::kept_dataset<Dataset>::type;

/// A data set of some examples of another one: those with these numbers, in this order.
/// throws    index_error naming the first number that the other data set does not have
/// example   const data::subset first_thousand(examples, numbers);
template <class Whole>
class subset {
 public:
  using batch_type = typename std::remove_cvref_t<Whole>::batch_type;

  subset(Whole whole, std::vector<index> numbers) : whole_(std::forward<Whole>(whole)), numbers_(std::move(numbers)) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] >= 0 && numbers_[i] < whole_.size()) continue;
      throw index_error(compose_text("subset: number ", i, ": example ", numbers_[i],
                                     ", expected at least 0 and below ", whole_.size()));
    }
  }
  index size() const { return static_cast<index>(numbers_.size()); }
  batch_type make_batch(index count) const { return whole_.make_batch(count); }
  void copy_example(example_id id, batch_type& batch, index place) const {
    whole_.copy_example(example_id(numbers_[static_cast<std::size_t>(id.number)], id.epoch), batch, place);
  }
  const std::vector<index>& numbers() const { return numbers_; }

 private:
  Whole whole_;
  std::vector<index> numbers_;
};
template <class Whole>
subset(Whole&&, std::vector<index>) -> subset<kept_dataset<Whole>>;

/// The examples of several data sets whose batches have one type, those of the first one first.
template <class... Parts>
class concatenated {
 public:
  using batch_type = typename std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Parts...>>>::batch_type;
  static_assert((std::is_same_v<typename std::remove_cvref_t<Parts>::batch_type, batch_type> && ...),
                "tenon: data sets that are concatenated have batches of one type");

  explicit concatenated(Parts... parts) : parts_(std::forward<Parts>(parts)...) {}

  index size() const {
    return std::apply([](const auto&... part) { return (index{0} + ... + part.size()); }, parts_);
  }
  batch_type make_batch(index count) const { return std::get<0>(parts_).make_batch(count); }
  void copy_example(example_id id, batch_type& batch, index place) const {
    index first = 0;
    const auto copy_where_it_is = [&](const auto& part) {
      const index number = id.number - first, count = part.size();
      first += count;
      if (number >= 0 && number < count) part.copy_example(example_id(number, id.epoch), batch, place);
    };
    std::apply([&](const auto&... part) { (copy_where_it_is(part), ...); }, parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};
template <class... Parts>
concatenated(Parts&&...) -> concatenated<kept_dataset<Parts>...>;

namespace detail {

/// How many examples each share gets. Where rounded fractions leave some over, the first shares get one more each.
template <class Number>
std::vector<index> counts_of_shares(index size, const Number* shares, std::size_t count) {
  std::vector<index> counts(count);
  index total = 0;
  double sum = 0;
  bool is_sound = true;
  for (std::size_t i = 0; i < count; ++i) {
    is_sound = is_sound && shares[i] >= Number(0);
    sum += static_cast<double>(shares[i]);
    counts[i] = std::is_integral_v<Number>
                    ? static_cast<index>(shares[i])
                    : static_cast<index>(static_cast<double>(size) * static_cast<double>(shares[i]));
    total += counts[i];
  }
  if constexpr (std::is_integral_v<Number>) is_sound = is_sound && total == size;
  else is_sound = is_sound && std::abs(sum - 1) < 1e-6;
  if (!is_sound) {
    throw shape_error(compose_text("random_split: shares that sum to ", sum, ", expected at least 0 each, and ",
                                   std::is_integral_v<Number> ? size : 1, " together"));
  }
  for (std::size_t i = 0; total < size; ++i, ++total) ++counts[i % count];
  return counts;
}

}  // namespace detail

/// Splits a data set at random: every example goes to one part. Shares are numbers of examples, or fractions of all.
/// throws    shape_error when the shares do not add up to the whole
/// source    torch.utils.data.random_split
/// example   const auto [training, validation] = data::random_split(examples, {0.9, 0.1}, 7);
template <class Number, std::size_t Count, dataset Dataset>
std::array<subset<const Dataset&>, Count> random_split(const Dataset& examples, const Number (&shares)[Count],
                                                       std::uint64_t seed = 0) {
  const auto counts = detail::counts_of_shares(examples.size(), shares, Count);
  const auto order = shuffled_order(examples.size(), seed, ~std::uint64_t{0});
  auto from = order.begin();
  const auto next = [&](std::size_t part) {
    const auto first = from;
    from += static_cast<std::ptrdiff_t>(counts[part]);
    return subset<const Dataset&>(examples, std::vector<index>(first, from));
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<subset<const Dataset&>, Count>{next(I)...};
  }(std::make_index_sequence<Count>{});
}
/// A temporary, which would be gone before its examples are read, does not compile.
template <class Number, std::size_t Count, dataset Dataset>
auto random_split(const Dataset&& temporary, const Number (&shares)[Count], std::uint64_t seed = 0) {
  static_assert(must_hold<Dataset>,
                "tenon: parts read their data set later; give the data set a name that outlives them");
  return random_split(temporary, shares, seed);
}

}  // namespace tenon::data
