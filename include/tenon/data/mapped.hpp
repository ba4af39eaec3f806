// tenon/data/mapped.hpp: examples changed by a function of expressions.
// What the function returns is evaluated straight into the batch: a chain of transforms is one loop for an example.
// Floor 6: may include base, core, expr, plan, evaluate, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <tenon/data/batch.hpp>
#include <tenon/data/combinators.hpp>
#include <tenon/evaluate.hpp>
#include <vector>

namespace tenon::data {

namespace detail {

/// Results as a tuple, also where a function returns a single expression.
template <class Result>
std::tuple<Result> as_results(Result result) {
  return {std::move(result)};
}
template <class... Results>
std::tuple<Results...> as_results(std::tuple<Results...> results) {
  return results;
}

/// The tensors of a batch as a tuple: its own, what its `tensors()` gives, or the tensor that it is.
template <class Batch>
auto tensors_of(const Batch& batch) {
  if constexpr (requires { std::tuple_size<Batch>::value; }) {
    return std::apply([](const auto&... each) { return std::tie(each...); }, batch);
  } else if constexpr (requires { batch.tensors(); }) {
    return batch.tensors();
  } else {
    static_assert(
        tensor_operand<Batch> || must_hold<Batch>,
        "tenon: data::mapped changes batches that are tensors or tuples of them, or whose tensors() gives one");
    return std::tie(batch);
  }
}

/// Calls a function with the views of one example, and with its random draws first where it takes them.
template <class Function, class Batch>
auto results_of_example(const Function& function, const Batch& batch, random_draws& draws) {
  return std::apply(
      [&](const auto&... each) {
        if constexpr (requires { function(draws, example_at(each, 0)...); }) {
          return as_results(function(draws, example_at(each, 0)...));
        } else {
          return as_results(function(example_at(each, 0)...));
        }
      },
      tensors_of(batch));
}

/// The type of a batch whose examples are these results.
template <class Results>
struct batch_of_results;
template <class... Results>
struct batch_of_results<std::tuple<Results...>> {
  template <class Result>
  using node = node_of<const Result&>;
  using type = std::tuple<batch_tensor<typename node<Results>::element, typename node<Results>::shape_type>...>;
  using extents = std::tuple<typename node<Results>::shape_type...>;
};

}  // namespace detail

/// The examples of a data set whose batches are tensors, tuples of tensors, or have a function `tensors()` that gives
/// such a tuple, changed by `function(draws, x, y, ...)` or `function(x, y, ...)`: from views of an example's tensors
/// to an expression, or a std::tuple of expressions. `draws` depend on the seed, the epoch and the example's number, so
/// that workers and resuming change nothing. Expressions may refer to the views and to what outlives the data set, but
/// to no variable of the function.
/// extents   those of the first example's results, which all others must have
/// throws    shape_error naming the extents of an example that has others
/// cost      a copy of the example, then one statement for each result
/// example   const auto augmented = data::mapped(images, [](auto& draws, const auto& image, const auto& label) {
///             return std::tuple(data::random_flip(data::unit_floats(image), draws), label);
///           }, 7);
template <class Inner, class Function>
class mapped {
  using inner_batch = typename std::remove_cvref_t<Inner>::batch_type;
  using results = decltype(detail::results_of_example(
      std::declval<const Function&>(), std::declval<const inner_batch&>(), std::declval<random_draws&>()));
  using extents_type = typename detail::batch_of_results<results>::extents;

 public:
  using batch_type = typename detail::batch_of_results<results>::type;

  mapped(Inner inner, Function function, std::uint64_t seed = 0)
      : inner_(std::forward<Inner>(inner)), function_(std::move(function)), seed_(seed) {
    if (inner_.size() == 0) return;
    with_results(
        0, [&](const auto& found) { for_each([&](auto i) { std::get<i>(extents_) = std::get<i>(found).shape(); }); });
  }

  index size() const { return inner_.size(); }
  batch_type make_batch(index count) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return batch_type(
          make_batch_tensor<typename std::tuple_element_t<I, batch_type>::element>(count, std::get<I>(extents_))...);
    }(std::make_index_sequence<std::tuple_size_v<batch_type>>{});
  }
  void copy_example(example_id id, batch_type& batch, index place) const {
    with_results(id, [&](const auto& found) {
      for_each([&](auto i) {
        const auto to = example_at(std::get<i>(batch), place);
        if (!(std::get<i>(found).shape() == to.shape())) refuse(i, std::get<i>(found).shape(), to.shape());
        to = std::get<i>(found);
      });
    });
  }

 private:
  /// Batches of one example of the inner data set, one for each thread that needs one at a time.
  struct scratch {
    std::mutex mutex;
    std::vector<inner_batch> idle;
  };

  template <class Body>
  static void for_each(Body&& body) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (body(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<std::tuple_size_v<results>>{});
  }
  template <class Body>
  void with_results(example_id id, Body&& body) const {
    inner_batch one = take_scratch();
    inner_.copy_example(id, one, 0);
    random_draws draws(seed_, id);
    body(detail::results_of_example(function_, std::as_const(one), draws));
    const std::lock_guard lock(scratch_->mutex);
    scratch_->idle.push_back(std::move(one));
  }
  inner_batch take_scratch() const {
    const std::lock_guard lock(scratch_->mutex);
    if (scratch_->idle.empty()) return inner_.make_batch(1);
    inner_batch found = std::move(scratch_->idle.back());
    scratch_->idle.pop_back();
    return found;
  }
  template <class Given, class Expected>
  [[noreturn]] static void refuse(std::size_t number, const Given& given, const Expected& expected) {
    throw shape_error(compose_text("mapped: result ", number, ": extents ", given.to_array(), ", expected ",
                                   expected.to_array(), " as of the first example"));
  }

  Inner inner_;
  Function function_;
  std::uint64_t seed_;
  extents_type extents_{};
  std::shared_ptr<scratch> scratch_ = std::make_shared<scratch>();
};
template <class Inner, class Function>
mapped(Inner&&, Function, std::uint64_t = 0) -> mapped<kept_dataset<Inner>, Function>;

}  // namespace tenon::data
