// tenon/train/optimizer.hpp: what all optimizers do: one launch moves all parameters of a network.
// An optimizer is its options and a rule for one element; groups of parameters, clipping and state are here.
// Floor 8: may include base, core, device, expr, plan, evaluate, grad, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tenon/core/kept_text.hpp>
#include <tenon/grad/kept_blocks.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/train/sweep.hpp>

namespace tenon::train {

/// Parameters that have options of their own: those whose name `takes` accepts.
/// example   {train::begins_with("0."), {.lr = 1e-4}}
template <class Options>
struct parameter_group {
  std::function<bool(const std::string& name)> takes;
  Options options;
};

/// Takes the parameters whose names begin with a text, such as those of one layer: `train::begins_with("encoder.")`.
struct begins_with {
  std::string beginning;
  explicit begins_with(std::string text) : beginning(std::move(text)) {}
  bool operator()(const std::string& name) const { return name.starts_with(beginning); }
};
/// Takes the parameters whose names end in a text, such as all biases: `train::ends_with("bias")`.
struct ends_with {
  std::string end;
  explicit ends_with(std::string text) : end(std::move(text)) {}
  bool operator()(const std::string& name) const { return name.ends_with(end); }
};

/// Moves the parameters of a network by the rule of `Options`, in one launch for all; one more measures the norm of
/// gradients where it is clipped, and one more serves rules that adapt to norms of parameters. Nothing waits for the
/// device, and nothing is allocated after the first step. A captured step keeps its options, and counts its replays.
///
/// Parameters may be of another type, `Weight`: half or bfloat16. The optimizer then keeps their values as T, which it
/// moves, and rounds to the parameters in the same launch; and takes up values that others have given them since.
///
/// `Options` has the optimizer's `name`, which files hold, and a `rule<T>`, a sweep_rule that is made of them and names
/// its `states` by `state_name(k)`. Where it has a `second_rule`, that runs behind it.
/// example   train::adam<> optimizer({.lr = 1e-3}, {{train::ends_with("bias"), {.lr = 1e-2}}});
template <class Options, memory_space Space = host, dtype T = float, dtype Weight = T>
class optimizer {
  static_assert(std::is_floating_point_v<T> || must_hold<T>, "tenon: optimizers move parameters of float or double");

 public:
  static constexpr const char* state_prefix = "optim.";
  using rule = typename Options::template rule<T>;
  /// Whether parameters are of another type than T, whose values are kept here, or by an optimizer that is followed.
  static constexpr bool has_masters = !std::is_same_v<T, Weight>, follows = has_masters && !rule::writes_value;
  /// Whether a step changes parameters, and not only what is kept of them.
  static constexpr bool moves_parameters = rule::writes_value || requires { typename rule::second_rule; };

  /// `options` hold for all parameters that no group takes. A parameter belongs to the first group that takes it.
  [[gnu::cold]] explicit optimizer(const Options& options = {}, std::vector<parameter_group<Options>> groups = {})
      : options_{options} {
    if (groups.size() >= static_cast<std::size_t>(max_groups)) {
      throw error(compose_text("optimizer: ", groups.size(), " groups, expected fewer than ", max_groups));
    }
    for (auto& each : groups) takes_.push_back(std::move(each.takes)), options_.push_back(each.options);
    initial_ = options_;
    make_rules<rule>();  // refuses options that make no sense
  }
  /// The same for the parameters of `net`, which must outlive the optimizer and stay where it is. `step()` moves them;
  /// so does the `step()` of a copy of the optimizer.
  template <nn::has_parameters Network>
  explicit optimizer(Network& net, const Options& options = {}, std::vector<parameter_group<Options>> groups = {})
      : optimizer(options, std::move(groups)) {
    detail::must_fit<Network, Space, Weight>();
    own_ = {[&net](optimizer& self, const scaled_gradients<T>& scaled) { self.step_own(net, scaled); },
            [&net](bool fills) { nn::clear_gradients(net, fills); }, [&net](optimizer& self) { self.collect(net); },
            &net, nn::life_of(net)};
  }
  /// Several networks, a list of them, or a parameter alone.
  template <nn::has_parameters First, nn::has_parameters Second, class... Rest>
  optimizer(First&, Second&, const Rest&...) {
    detail::must_be_one_module<First, Second>();
  }
  template <nn::has_parameters First, nn::has_parameters Second>
  optimizer(First&, Second&, const Options&) {
    detail::must_be_one_module<First, Second>();
  }
  template <nn::has_parameters Network, int Count>
  explicit optimizer(const Network (&)[Count], const Options& = {}) {
    detail::must_be_one_module<Network>();
  }
  template <class Number, class Shape, class Where>
  explicit optimizer(nn::parameter<Number, Shape, Where>&, const Options& = {}) {
    detail::must_be_one_module<nn::parameter<Number, Shape, Where>>();
  }

  /// The options of group `group`, from 1 on; of all other parameters is 0. They may change between steps.
  /// throws    index_error when there is no such group
  Options& options(int group = 0) {
    if (group >= 0 && group < groups()) return options_[static_cast<std::size_t>(group)];
    throw index_error(compose_text("optimizer: options: group ", group, ", expected at least 0 and below ", groups()));
  }
  int groups() const { return static_cast<int>(options_.size()); }
  gradient_clipping& clipping() { return clipping_; }
  /// The norm of all gradients that the last step measured, as it does where it clips by norm.
  view<const T, shape<>, Space> gradient_norm() { return {table_.chunks().totals, shape<>{}}; }
  std::int64_t steps() const { return table_.steps(); }

  /// Sets the rate of every group to what a schedule makes of the one that it began with.
  /// throws    error when the step is negative, and what the schedule throws
  template <class Schedule>
  void schedule(const Schedule& rate, index step = 0) {
    check_option("optimizer.schedule", "step", step, 0);
    for (std::size_t group = 0; group < options_.size(); ++group) {
      options_[group].lr = rate(initial_[group].lr, step);
      if constexpr (requires { rate.set_momentum(options_[group], step); }) rate.set_momentum(options_[group], step);
    }
  }

  /// Moves every parameter of `net` along the gradient that the last backward pass left; those without one stay. Of the
  /// network that the optimizer was made with, once it has cleared gradients, `step(scaled)`.
  /// Of gradients of a scaled loss, one launch more looks first whether all are finite, and says so in `scaled`; where
  /// one is not, the step does nothing and is not counted.
  /// throws    error for options or bounds of clipping that make no sense, shape_error when `net` is another network
  ///           than before
  template <nn::has_parameters Network>
  void step(Network& net, const scaled_gradients<T>& scaled = {}) {
    detail::must_fit<Network, Space, Weight>();
    if (own_.is_cleared && own_.network == &net) return step_own(net, scaled);
    collect(net, no_masters{}, {.counts_changes = moves_parameters});
    move(scaled);
  }
  /// The same of a rule that changes no parameters, for those that `trained` moves: of their values as T.
  template <class Network, class Trained>
  void follow(Network& net, Trained& trained) {
    collect(net, [&](int number, index size) { return trained.master_of(net, number, size); });
    move({});
  }
  /// Moves the parameters of the network that the optimizer was made with, along the gradients of all backward passes
  /// since they were cleared. A parameter that none of them reached stays as it is.
  /// throws    error when no parameter has a gradient, or there is no such network
  void step(const scaled_gradients<T>& scaled = {}) { own_.must_be_there(), own_.step(*this, scaled); }
  /// A whole step: clears gradients, computes `loss()`, an expression without axes, and its gradients, and moves the
  /// parameters. Returns the loss, which is waited for where it is read as a number.
  /// cost      tensors that `loss` frees keep their memory until the gradients are there
  /// example   const float loss = optimizer.step([&] { return mean(nn::cross_entropy(net(x), y)); });
  template <class Loss>
    requires(!nn::has_parameters<Loss> && !tensor_operand<Loss> && std::invocable<const Loss&>)  // layers can be called
  auto step(const Loss& loss) {
    clear(false);
    const tenon::detail::later_frees until_backward;  // the loss may read tensors of its function
    static_assert(tensor_operand<std::invoke_result_t<const Loss&>> || must_hold<Loss>,
                  "tenon: the function of a step returns the loss alone, an expression without axes, and the step "
                  "computes gradients; what else the function knows it assigns to names outside");
    auto&& made = loss();
    own_.must_not_have_led_back(made);
    const auto value = backward(std::forward<decltype(made)>(made));
    step();
    return value;
  }
  template <tensor_operand Loss>
  void step(const Loss&) {
    static_assert(must_hold<optimizer, Loss>,
                  "tenon: a step comes behind backward(loss), or computes the loss, step([&] { return loss_of(x); })");
  }
  /// Clears the gradients of the network that the optimizer was made with: they are zero, and backward passes begin
  /// anew.
  void zero_grad() { clear(true); }
  /// The values as T of parameter `number`, which has `size` elements, where this keeps them.
  /// throws    shape_error when there is no such parameter
  template <class Network>
  T* master_of(Network& net, int number, index size) {
    static_assert((has_masters && !follows) || must_hold<Weight, T>,
                  "tenon: values are followed of the optimizer that keeps them, with the parameters' type");
    if (table_.parameters().empty()) visit_kept(net, [](const auto&, auto&, auto&) {});
    const auto& all = table_.parameters();
    if (static_cast<std::size_t>(number) >= all.size() || all[static_cast<std::size_t>(number)].size != size) {
      throw shape_error(compose_text("optimizer: parameter ", number, " of ", size,
                                     " elements is followed, but is not of the network that it moves"));
    }
    return table_.master_of(number);
  }

  /// Calls `visitor(name, values)` for the number of steps; for the optimizer's name, and the size and rate of each
  /// group, of which older files lack some; and for what is kept of every parameter, by PyTorch's names.
  /// throws    error when `net` is another network than that which the optimizer was made with
  template <class Network, class Visitor>
  [[gnu::cold]] void visit_state(Network& net, Visitor&& visitor) {
    must_move(net);
    visit_kept(net, [](const auto&, auto&, auto&) {});  // allocates where no step has
    constexpr std::int64_t most_steps = std::numeric_limits<std::int32_t>::max();
    kept_number steps(table_.steps(), {0, most_steps}, [this](std::int64_t given) { table_.set_steps(given); });
    visitor(std::string("step"), steps);
    if constexpr (requires { options().lr; }) {
      kept_text name(Options::name);
      visitor(std::string("name"), name);
      for (int group = 0; group < groups(); ++group) {
        auto lr = kept_within(options(group).lr, {.least = 0}, false);
        auto size = kept_fixed<std::int64_t>(std::count(group_of_.begin(), group_of_.end(), group));
        visitor(compose_text("param_groups.", group, ".lr"), lr);
        visitor(compose_text("param_groups.", group, ".size"), size);
      }
    }
    visit_kept(net, [&](const std::string& name, auto&, auto& kept) { visitor(name, kept); });
  }
  /// Gives every parameter of `net` what is kept of it as state `k`.
  template <class Network>
  void copy_state_to(Network& net, int k) {
    collect(net);
    const device_of_parameters<Space> on_device(memory_);
    take_parameters();
    for (std::size_t number = 0; number < memory_.size(); ++number) {
      const rank<1> extent(memory_[number].size);
      const view<const T, rank<1>, Space> kept(table_.state_of(static_cast<int>(number), plane_of_[k]), extent);
      view<Weight, rank<1>, Space>(memory_[number].value, extent) = cast<Weight>(kept);
    }
    nn::note_change(net);
  }
  /// Calls `body(name, parameter, values)` for what is kept of every parameter.
  template <class Network, class Body>
  [[gnu::cold]] void visit_kept(Network& net, Body&& body) {
    collect(net);
    const device_of_parameters<Space> on_device(memory_);
    take_parameters();
    const auto rules = make_rules<rule>();
    int number = 0;
    net.visit_parameters([&](const auto& name, auto& parameter) {
      using shape_type = std::remove_cvref_t<decltype(parameter.value.shape())>;
      const rule& own = rules[memory_[static_cast<std::size_t>(number)].group];
      for (int k = 0; k < rule::states; ++k) {
        if (!own.uses(k)) continue;
        kept_values<T, shape_type, Space> kept{{table_.state_of(number, plane_of_[k]), parameter.value.shape()}};
        body(std::string(name) + "." + rule::state_name(k), parameter, kept);
      }
      if constexpr (has_masters && !follows) {
        kept_values<T, shape_type, Space> kept{{table_.master_of(number), parameter.value.shape()}};
        body(std::string(name) + ".master", parameter, kept);
      }
      ++number;
    });
  }

 private:
  /// Parameters are known by where they lie: a view of the network with other names is no other network.
  template <class Network>
  void must_move(Network& net) {
    own_.must_live();
    if (own_.network == nullptr || own_.network == &net) return;
    own_.collect(*this);
    const device_of_parameters<Space> on_device(memory_);
    take_parameters();
    collect(net);
    if (memory_ == table_.parameters()) return;
    throw error("optimizer: its state is that of the network that it was made with; this is another one, or a copy");
  }
  void clear(bool fills) { own_.must_be_there(), own_.is_cleared = true, own_.clear(fills); }
  template <class Network>
  void step_own(Network& net, const scaled_gradients<T>& scaled) {
    const int reached = collect(net, no_masters{}, {.looks_at_cleared = true, .counts_changes = moves_parameters});
    if (reached != 0) return move(scaled);
    throw error(
        "optimizer: no parameter has a gradient; call backward on a loss of this network first (frozen parameters "
        "and no_grad leave none)");
  }
  void move(const scaled_gradients<T>& scaled) {
    clipping_.check_bounds();
    const device_of_parameters<Space> on_device(memory_);
    take_parameters();
    table_.note_use();
    if (scaled.found_inf != nullptr) find_infinities(scaled);
    gradient_clip<T> clip{static_cast<T>(clipping_.clip_value), static_cast<T>(clipping_.max_norm), nullptr, scaled};
    if (clips_by_norm()) run<detail::norm_rule<T>>({}, clip);
    if (clips_by_norm()) clip.norm = table_.chunks().totals;
    run(make_rules<rule>(), clip);
    clip.norm = nullptr;
    if constexpr (requires { typename rule::second_rule; }) run(make_rules<typename rule::second_rule>(), clip);
  }
  struct no_masters {
    T* operator()(int, index) const { return nullptr; }
  };
  struct collecting {
    bool looks_at_cleared = false;  ///< whether gradients that were cleared do not count
    bool counts_changes = false;    ///< whether parameters with a gradient are about to be moved
  };
  /// Returns how many parameters have a gradient.
  template <class Network, class Masters = no_masters>
  int collect(Network& net, const Masters& master_of = {}, const collecting& how = {}) {
    int count = 0;
    if (table_.parameters().empty()) start(net);
    memory_.clear();
    net.visit_parameters([&](const auto&, auto& parameter) {
      const std::size_t number = memory_.size();
      const int group = number < group_of_.size() ? group_of_[number] : 0;
      const bool has_gradient = !parameter.is_frozen && parameter.gradient.size() == parameter.value.size() &&
                                (!how.looks_at_cleared || parameter.has_gradient);
      count += has_gradient ? 1 : 0;
      if (how.counts_changes && has_gradient) parameter.version.add_change();
      const Weight* const gradient = has_gradient ? parameter.gradient.data() : nullptr;
      memory_.push_back({parameter.value.data(), rule::reads_gradient ? gradient : parameter.value.data(),
                         parameter.value.size(), group, master_of(static_cast<int>(number), parameter.value.size())});
    });
    return count;
  }
  void take_parameters() {
    const auto fill = [this](auto& fresh) { fill_state(fresh); };
    table_.take(memory_, planes_, fill, rule::writes_value ? "optimizer" : rule::name);
  }
  template <class Network>
  [[gnu::cold]] void start(Network& net) {
    std::vector<int> members(options_.size());
    group_of_.clear();
    net.visit_parameters([&](const auto& name, auto&) { ++members[add_member(name)]; });
    for (std::size_t group = 1; group < members.size(); ++group) {
      if (members[group] == 0) {
        throw error(compose_text("optimizer: group ", group, " takes no parameter of the network; do its names fit?"));
      }
    }
    planes_ = 0;
    const auto rules = make_rules<rule>();
    for (int k = 0; k < rule::states; ++k) plane_of_[k] = is_used(rules, k) ? planes_++ : -1;
  }
  /// Zero is there already.
  [[gnu::cold]] void fill_state(parameter_table<T, Space, Weight, follows>& fresh) const {
    const auto rules = make_rules<rule>();
    for (std::size_t number = 0; number < memory_.size(); ++number) {
      const rule& own = rules[memory_[number].group];
      for (int k = 0; k < rule::states; ++k) {
        if (!own.uses(k) || own.initial(k) == 0) continue;
        T* const state = fresh.state_of(static_cast<int>(number), plane_of_[k]);
        view<T, rank<1>, Space>(state, rank<1>(memory_[number].size)) = static_cast<T>(own.initial(k));
      }
    }
  }
  /// Finds the group of one more parameter. Out of line, as each parameter of a network has a call.
  [[gnu::noinline]] std::size_t add_member(const std::string& name) {
    group_of_.push_back(group_of(name));
    return static_cast<std::size_t>(group_of_.back());
  }
  int group_of(const std::string& name) const {
    for (std::size_t group = 0; group < takes_.size(); ++group) {
      if (takes_[group](name)) return static_cast<int>(group) + 1;
    }
    return 0;
  }
  template <class Rule>
  bool is_used(const array<Rule, max_groups>& rules, int state) const {
    for (int group = 0; group < groups(); ++group) {
      if (rules[group].uses(state)) return true;
    }
    return false;
  }
  bool clips_by_norm() const { return !std::isinf(clipping_.max_norm); }

  template <class Rule>
  array<Rule, max_groups> make_rules() const {
    array<Rule, max_groups> rules{};
    for (int group = 0; group < groups(); ++group) rules[group] = Rule(options_[static_cast<std::size_t>(group)]);
    return rules;
  }
  /// Of gradients divided by the scale, but not clipped.
  void find_infinities(const scaled_gradients<T>& scaled) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const gradient_clip<T> unclipped{infinity, infinity, nullptr, {scaled.scale, nullptr}};
    sweep<detail::found_inf_rule<T>, T, Weight> all{table_.chunks(), unclipped, {}, {}};
    all.list.totals = scaled.found_inf;
    run_sweep<Space>(all);
  }
  template <class Rule>
  void run(const array<Rule, max_groups>& rules, const gradient_clip<T>& clip) {
    sweep<Rule, T, Weight> all{table_.chunks(), clip, {}, rules};
    for (int k = 0; k < Rule::states; ++k) {
      all.plane_of[k] = plane_of_[k];
      if (plane_of_[k] < 0 && is_used(rules, k)) {
        throw error(compose_text("optimizer: options ask for ", rule::state_name(k),
                                 ", which the first step did not keep; set them before it"));
      }
    }
    run_sweep<Space>(all);
  }
  detail::own_network<optimizer, T> own_;
  std::vector<Options> options_, initial_;
  std::vector<std::function<bool(const std::string&)>> takes_;
  gradient_clipping clipping_;
  std::vector<int> group_of_;
  int planes_ = 0;
  array<int, rule::states == 0 ? 1 : rule::states> plane_of_{};
  parameter_table<T, Space, Weight, follows> table_;
  std::vector<typename decltype(table_)::memory> memory_;
};

template <class Options, nn::has_parameters Network>
optimizer(Network&, const Options&) -> optimizer<
    Options, typename nn::parameters_of<Network>::space,
    std::conditional_t<std::is_same_v<typename nn::parameters_of<Network>::element, double>, double, float>,
    typename nn::parameters_of<Network>::element>;

}  // namespace tenon::train
