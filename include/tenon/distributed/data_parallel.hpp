// tenon/distributed/data_parallel.hpp: ranks that train one network, each on its part of every batch.
// Gradients go into buckets as the backward pass leaves them; full ones are summed while earlier layers still work.
// Floor 8: may include base, core, evaluate, nn, distributed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/kept_number.hpp>
#include <tenon/distributed/communicator.hpp>
#include <tenon/distributed/gradient_layout.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/nn/state.hpp>
#include <vector>

namespace tenon::distributed {

namespace detail {

/// Whether all ranks have the state of rank 0 by its extents.
/// throws    shape_error on a rank that has not
template <class Network, communicator Communicator>
void check_same_state(Network& net, Communicator& all) {
  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  nn::visit_state(net, [&](const std::string& name, auto& value) {
    names.push_back(name);
    if constexpr (requires { value.size(); }) sizes.push_back(value.size());
    else sizes.push_back(1);
  });
  const auto refuse = [&](const auto&... what) {
    throw shape_error(compose_text("broadcast_state: rank ", all.rank(), ": ", what..., "; ranks train one network"));
  };
  std::int64_t count = std::ssize(sizes);
  all.broadcast(&count, sizeof(count));
  if (count != std::ssize(sizes)) refuse(sizes.size(), " tensors, on rank 0 ", count);
  auto first = sizes;
  all.broadcast(first.data(), first.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != first[i]) refuse(names[i], " has ", sizes[i], " elements, on rank 0 ", first[i]);
  }
}

}  // namespace detail

/// Copies the state of rank 0's network to every rank: parameters, buffers and, of a train::training, all its parts.
/// throws    shape_error where a rank has other tensors, or of other sizes
template <class Network, communicator Communicator>
void broadcast_state(Network& net, Communicator& all) {
  if (all.size() == 1) return;
  detail::check_same_state(net, all);
  nn::visit_state(net, [&](const std::string&, auto& value) {
    using value_type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<value_type>) {
      all.broadcast(&value, sizeof(value));
    } else if constexpr (is_kept_number<value_type>) {
      auto number = value.number();
      all.broadcast(&number, sizeof(number));
      if (all.rank() != 0) value = number;
    } else {
      auto copy = value.template to<host>();
      all.broadcast(copy.data(), static_cast<std::size_t>(copy.size()) * sizeof(*copy.data()));
      if (all.rank() != 0) value.copy_from(copy);
    }
  });
}

/// A rank's part of a batch, or the sum of all parts; the loss is the mean over the examples.
struct batch_part {
  index examples;
  double loss = 0;             ///< mean over the examples
  bool wants_to_stop = false;  ///< of all parts: whether any does, so that all ranks stop at the same step
};

/// Options of data_parallel: how many bytes of gradients are summed at once.
struct data_parallel_options {
  index bucket_bytes = 1 << 20;  ///< of gradients that are summed at once
};

/// Trains a network on all ranks of a communicator: parameters begin as rank 0's, and after each backward pass every
/// rank has the gradient of the mean loss over the examples of all. Ranks that start and step alike stay alike, bit for
/// bit. Buffers such as the statistics of batch norm are each rank's own.
/// cost      on one rank nothing; else a copy of the gradients there and back, their sum over ranks, and its memory
/// source    Li and others 2020: PyTorch distributed, experiences on accelerating data parallel training
/// example   distributed::data_parallel parallel(net, all);
///           const traced loss = mean(nn::cross_entropy(net(images), labels));
///           const auto whole = parallel.backward(loss, images.extent(0));  // of all ranks
///           optimizer.step();
template <class Network, communicator Communicator, dtype T = float>
class data_parallel {
  using space = typename Communicator::space;

 public:
  data_parallel(Network& net, Communicator& all, const data_parallel_options& options = {})
      : net_(net),
        all_(all),
        facts_(facts_of_part + parameters_of(net).size()),
        layout_(parameters_of(net), options.bucket_bytes / static_cast<index>(sizeof(T)), std::ssize(facts_)),
        requests_(layout_.buckets().size()) {
    broadcast_state(net, all);
    nn::clear_gradients(net, false);
  }

  /// Adds the gradients of a part of this rank's batch to what the next `backward` makes: for batches that do not fit
  /// into memory. Parameters must not move between. Whatever is thrown, nothing is added, and it may be tried again.
  /// cost      the memory of all gradients once more, and a copy of them in each part
  template <class Pass, class Input, class Gradient>
  void accumulate(Pass& pass, const Input& input, const Gradient& gradient, const batch_part& part) {
    pass.backward(input, gradient);
    is_traced_ = false;
    keep(part);
  }
  /// The same of a traced loss: the mean over the examples of the part, whose number is all that is asked for.
  template <class Shape, class Space>
  void accumulate(const traced<T, Shape, Space>& loss, index examples) {
    keep({examples, go_back(loss)});
  }
  /// The backward pass of this rank's examples: `gradient` is that of the mean loss over them. Leaves in every
  /// parameter the gradient of the mean over the examples of all ranks, accumulated ones included.
  /// throws    communication_error when a rank is lost; whatever is thrown, gradients are then of no use, and what was
  ///           accumulated is kept. It may be tried again unless sums over ranks have begun, which is when the last
  ///           layers are done: the others then wait for sums that this rank has left
  template <class Pass, class Input, class Gradient>
  batch_part backward(Pass& pass, const Input& input, const Gradient& gradient, const batch_part& part) {
    if (all_.size() == 1 && !has_accumulated_) return pass.backward(input, gradient), part;
    is_traced_ = false;
    return sum_over_ranks(part, [&](const auto& done) {
      if constexpr (requires { pass.backward(input, gradient, done); }) pass.backward(input, gradient, done);
      else pass.backward(input, gradient);
    });
  }
  /// The same of a traced loss: the mean over this rank's examples, whose number is all that is asked for.
  /// cost      sums begin when the whole backward pass is done
  /// throws    error when gradients are there that other calls of backward left: these would be lost
  template <class Shape, class Space>
  batch_part backward(const traced<T, Shape, Space>& loss, index examples, bool wants_to_stop = false) {
    const batch_part part{examples, go_back(loss), wants_to_stop};
    return all_.size() == 1 && !has_accumulated_ ? part : sum_over_ranks(part, [](const auto&) {});
  }

 private:
  // Sums that travel in front of the first bucket: of batch_part, then how often each parameter had a gradient.
  static constexpr std::size_t facts_of_part = 3;

  static std::vector<sized_parameter> parameters_of(Network& net) {
    std::vector<sized_parameter> result;
    net.visit_parameters([&](const std::string& name, auto& parameter) {
      static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(parameter.value)>::element, T>,
                    "tenon: data_parallel trains parameters of one element type");
      result.push_back({name, parameter.value.size()});
    });
    return result;
  }
  /// Leaves the gradients of a loss in place of those that this object left before. Returns its value.
  template <class Shape, class Space>
  double go_back(const traced<T, Shape, Space>& loss) {
    static_assert(Shape::rank == 0 || must_hold<Shape>,
                  "tenon: data_parallel takes a loss without axes, the mean over examples; mean(...) of this one?");
    bool has_others = false;
    net_.visit_parameters([&](const auto&, auto& parameter) {
      has_others = has_others || (parameter.has_gradient && !has_left_gradients_);
    });
    if (has_others) {
      throw error(
          "data_parallel: the network has gradients that the ranks have not summed; add a part of the batch by "
          "accumulate(loss, examples), or clear them by zero_grad()");
    }
    nn::clear_gradients(net_, false);
    is_traced_ = has_left_gradients_ = true;
    loss.backward();
    return static_cast<double>(static_cast<T>(loss));
  }
  /// Keeps the gradients of a part until the next `backward`.
  void keep(const batch_part& part) {
    begin(part);
    pack_until(gradient_place::no_layer);
    std::swap(memory_, accumulated_);
    accumulated_facts_ = facts_;
    has_accumulated_ = true;
  }
  /// Sums the gradients that `run(done)` leaves, where it calls `done(layer)` as pass does.
  template <class Run>
  batch_part sum_over_ranks(const batch_part& part, const Run& run) {
    begin(part);
    space::copy_from_host(memory_.data(), facts_.data(), facts_.size() * sizeof(T));
    const auto done = [this](int layer) { pack_until(layer), start_full_buckets(); };
    run(done);
    done(gradient_place::no_layer);
    const batch_part whole = collect();
    has_accumulated_ = false;
    return whole;
  }
  /// The sums at elements of all gradients.
  view<T, rank<1>, space> sums_of(index first, index count) { return {memory_.data() + first, rank<1>(count)}; }

  /// A part begins with what was accumulated; nothing of its own is packed.
  /// throws    error for a negative number of examples
  void begin(const batch_part& part) {
    if (part.examples < 0) {
      throw error(compose_text("data_parallel: ", part.examples, " examples, expected at least 0"));
    }
    if (has_accumulated_) {
      memory_ = accumulated_, facts_ = accumulated_facts_;
    } else {
      if (memory_.count() == 0) memory_ = storage<T, space>(layout_.elements());
      sums_of(0, memory_.count()) = T{0}, facts_.assign(facts_.size(), T{0});
    }
    examples_ = static_cast<T>(part.examples);
    facts_[0] += examples_;
    if (part.examples != 0) facts_[1] += static_cast<T>(part.loss) * examples_;  // a mean of none is NaN
    facts_[2] += static_cast<T>(part.wants_to_stop);
    std::size_t number = facts_of_part;
    net_.visit_parameters([&](const auto&, auto& parameter) {
      facts_[number++] += static_cast<T>(!is_traced_ || parameter.has_gradient);
    });
    packed_ = started_ = 0;
  }
  /// Calls `body(gradient, sums)` for the parameter at a place, where this backward pass left a gradient.
  template <class Body>
  void with_gradient(const gradient_place& place, const Body& body) {
    int number = 0;
    net_.visit_parameters([&](const auto&, auto& parameter) {
      if (number++ != place.parameter || parameter.gradient.size() != place.size) return;
      if (is_traced_ && !parameter.has_gradient) return;
      using gradient_space = typename std::remove_cvref_t<decltype(parameter.gradient)>::space;
      body(view<T, rank<1>, gradient_space>(parameter.gradient.data(), rank<1>(place.size)),
           sums_of(place.first, place.size));
    });
  }
  /// Adds the gradients of layers from `layer` on that are not yet there.
  void pack_until(int layer) {
    const auto& places = layout_.places();
    for (; packed_ < places.size() && places[packed_].layer >= layer; ++packed_) {
      with_gradient(places[packed_], [&]<class Space>(const view<T, rank<1>, Space>& gradient, const auto& sums) {
        if constexpr (std::is_same_v<Space, space>) sums = sums + gradient * examples_;
        else sums = sums + tensor<T, rank<1>, Space>(gradient).template to<space>() * examples_;
      });
    }
  }
  /// Those under way get on, too.
  void start_full_buckets() {
    for (std::size_t i = 0; i < started_; ++i) all_.advance(requests_[i]);
    const auto& buckets = layout_.buckets();
    for (; started_ < buckets.size() && buckets[started_].places <= packed_; ++started_) {
      requests_[started_] =
          all_.start_sum(memory_.data() + buckets[started_].first, static_cast<std::size_t>(buckets[started_].count));
    }
  }
  /// Waits for one bucket after the other, and hands out what it holds.
  batch_part collect() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      all_.wait(requests_[i]);
      if (i == 0) take_facts();
      const T share = facts_[0] > 0 ? T{1} / facts_[0] : T{0};  // of no examples at all, gradients are 0
      for (; at < layout_.buckets()[i].places; ++at) unpack(layout_.places()[at], share);
    }
    return {static_cast<index>(facts_[0]), static_cast<double>(facts_[1] / facts_[0]), facts_[2] > 0};
  }
  /// A parameter that a loss of any rank reached has a gradient on every rank.
  void take_facts() {
    space::copy_to_host(facts_.data(), memory_.data(), facts_.size() * sizeof(T));
    std::size_t number = facts_of_part;
    net_.visit_parameters([&](const auto&, auto& parameter) {
      if (facts_[number++] == T{0} || !is_traced_) return;
      parameter.has_gradient = true;
      using parameter_space = typename std::remove_cvref_t<decltype(parameter)>::space;
      if (parameter.gradient.is_empty()) parameter.gradient = zeros<T, parameter_space>(parameter.shape());
    });
  }
  void unpack(const gradient_place& place, T share) {
    with_gradient(place, [&]<class Space>(const view<T, rank<1>, Space>& gradient, const auto& sums) {
      if constexpr (std::is_same_v<Space, space>) gradient = sums * share;
      else gradient = evaluated_tensor<space>(sums * share).template to<Space>();
    });
  }

  Network& net_;
  Communicator& all_;
  std::vector<T> facts_, accumulated_facts_;
  gradient_layout layout_;
  std::vector<typename Communicator::request> requests_;  // of each bucket
  storage<T, space> memory_, accumulated_;
  T examples_ = 0;                        // of the part under way
  std::size_t packed_ = 0, started_ = 0;  // places and buckets
  bool has_accumulated_ = false, has_left_gradients_ = false;
  bool is_traced_ = false;  // whether the part under way is a loss, which may leave parameters aside
};

}  // namespace tenon::distributed
