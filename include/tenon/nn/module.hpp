// tenon/nn/module.hpp: networks as structs: members are layers, `forward` says how values go through them.
// Parameters, names, modes, moves and gradients follow from that.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/nn/call.hpp>
#include <tenon/nn/hidden_parts.hpp>
#include <tenon/nn/recurrent_call.hpp>
#include <tenon/nn/several_inputs.hpp>
#include <vector>

namespace tenon::nn {

namespace detail {

template <class Named>
Named named_by(const module<Named>&);
/// Whether a struct has the base of another module, whose members its own would be taken for.
template <class Net>
concept names_another = requires(const Net& net) { named_by(net); } && !std::is_base_of_v<module<Net>, Net>;
/// Refuses such a struct.
template <class Net>
consteval void must_name_itself() {
  static_assert(!names_another<Net> || must_hold<Net>,
                "tenon: a module derives from nn::module of its own name alone: struct net : nn::module<net>");
}

/// Calls `visitor(name, member)` for a member, or for each element of a list: blocks.0, blocks.1, ...
template <class Member, class Visitor>
void visit_parts(const std::string& name, Member& member, const Visitor& visitor) {
  if constexpr (is_list<Member>) {
    for (std::size_t i = 0; i < std::size(member); ++i)
      visit_parts(dotted(name, std::to_string(i)), member[i], visitor);
  } else {
    static_assert(!hides_parts<Member> || must_hold<Member>,
                  "tenon: layers of a module are members, or elements of a std::vector or std::array");
    static_assert(!is_plain_struct_of_parts<Member> || must_hold<Member>,
                  "tenon: a struct of layers is a module, too: struct block : nn::module<block>; nobody trains others");
    static_assert(
        !is_closed_layer<Member> || must_hold<Member>,
        "tenon: a class with a forward is a module of public layers, struct block : nn::module<block>; nobody "
        "trains what others hide");
    static_assert(
        !points_to_parts<Member> || must_hold<Member>,
        "tenon: a module holds its layers, no pointers to them; what modules share is an argument of forward");
    must_name_itself<Member>();
    visitor(name, member);
  }
}

/// A module that says itself what it becomes, as layers do.
template <class To, class Module>
struct moved_module {
  using type = typename Module::template moved<To>;
};
/// A module whose space is a template argument.
template <class To, template <class...> class Module, class... Arguments>
struct moved_module<To, Module<Arguments...>> {
  template <class Argument>
  static constexpr bool is_replaced =
      memory_space<To> ? memory_space<Argument> : dtype<Argument> && is_floating<Argument>;
  using type = Module<std::conditional_t<is_replaced<Arguments>, To, Arguments>...>;
};

}  // namespace detail

/// Base of a network. Its members are layers, other modules, parameters, tensors (buffers, such as a table of
/// positions), lists of these (std::vector, std::array, C arrays), and anything else, which is left alone; other
/// containers of layers, structs of layers that are no modules, classes with a `forward` that hide theirs, and pointers
/// to layers do not compile. Names are those
/// of the members with dots between, as in PyTorch's state_dict.
///
/// `net(inputs...)` calls `forward`, whatever that takes and returns: values, or structs of them. Loops, conditions and
/// shared layers are C++; gradients follow what ran.
/// throws    what a layer does; masks and running statistics are then as they were
/// example   struct classifier : nn::module<classifier> {
///             nn::linear<784, 128> hidden;
///             nn::linear<128, 10> head;
///             auto forward(const auto& x) { return head(relu(hidden(x))); }
///           };
///           classifier net;
///           net.initialise(1);
///           const float loss = backward(mean(nn::cross_entropy(net(images), labels)));
template <class Derived>
struct module {
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) {
    static_assert(!(false || ... || tenon::detail::holds_numbered<Inputs>) || must_hold<Derived>,
                  "tenon: variable<0>(x) is for expressions without layers; call networks with v = variable(x), and "
                  "loss.backward() leaves v.gradient()");
    const auto run = [&] {
      return detail::settled(derived().forward(detail::settled_input(std::forward<Inputs>(inputs))...));
    };
    if constexpr (detail::is_kept_elsewhere<Inputs...>) return run();
    else return attempt_forward(derived(), run);
  }
  template <class... Inputs>
  auto operator()(const Inputs&...) const {
    static_assert(must_hold<Derived, Inputs...>, "tenon: a network is called by a name that is not const");
  }

  /// Draws every parameter from PyTorch's default distribution.
  void initialise(std::uint64_t seed) {
    draw_members(seed, [](auto& member, std::uint64_t own) { member.initialise(own); });
  }
  /// Draws the members that nobody wrote, with the numbers that `initialise` would give them. A module that has an
  /// `initialise` of its own is drawn as a whole, where any parameter was never written. Returns whether it drew all.
  bool initialise_unwritten(std::uint64_t seed) {
    bool all = true;
    if constexpr (has_own_initialise()) {
      visit_parameters([&](const auto&, auto& each) { all = all && !detail::is_unwritten_parameter(each); });
      if (!all) derived().initialise(seed);
      return !all;
    } else {
      draw_members(seed, [&](auto& member, std::uint64_t own) { all = detail::draw_unwritten(member, own) && all; });
      visit_members([&](const std::string&, auto& member) {
        if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(member)>>) {
          all = all && detail::is_unwritten_parameter(member);
        }
      });
      return all;
    }
  }
  /// Calls `visitor(name, member)` for every member, and for each element of one that is a list.
  template <class Visitor>
  void visit_members(const Visitor& visitor) {
    const auto members = member_pointers(derived());
    for_each_index<decltype(members)::count>([&](auto i) {
      detail::visit_parts(std::string(member_name<Derived, i.value>()), *get<i.value>(members), visitor);
    });
  }
  /// Calls `visitor(name, parameter)` for every parameter.
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visit_members([&](const std::string& name, auto& member) {
      using type = std::remove_cvref_t<decltype(member)>;
      if constexpr (detail::is_parameter<type>) visitor(name, member);
      else if constexpr (has_parameters<type>) member.visit_parameters(visitor_within(name, visitor));
    });
  }
  /// Calls `visitor(name, buffer)` for every tensor that is kept beside the parameters, such as running statistics.
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visit_members([&](const std::string& name, auto& member) {
      const auto named = visitor_within(name, visitor);
      if constexpr (tenon::detail::is_tensor<std::remove_cvref_t<decltype(member)>>) visitor(name, member);
      else if constexpr (requires { member.visit_buffers(named); }) member.visit_buffers(named);
    });
  }
  /// Calls `visitor(name, number)` for what the random numbers of layers hang on, such as masks drawn so far.
  template <class Visitor>
  void visit_random_state(Visitor&& visitor) {
    visit_members([&](const std::string& name, auto& member) {
      const auto named = visitor_within(name, visitor);
      if constexpr (requires { member.visit_random_state(named); }) member.visit_random_state(named);
    });
  }
  /// Training or use: what dropout and batch norm do hangs on it. Networks begin in training.
  void train(bool is_training = true) {
    visit_members([&](const std::string&, auto& member) {
      if constexpr (requires { member.is_training = is_training; }) member.is_training = is_training;
      else if constexpr (requires { member.train(is_training); }) member.train(is_training);
    });
  }
  void eval() { train(false); }
  /// The network in another memory space or of other elements, where these are template arguments of its type.
  /// example   template <tn::memory_space Space = tn::host> struct classifier : nn::module<classifier<Space>> { ... };
  ///           auto on_device = net.to<tn::cuda>();
  template <space_or_element To>
  auto to() const {
    typename detail::moved_module<To, Derived>::type copy;
    const auto from = member_pointers(static_cast<const Derived&>(*this));
    const auto into = member_pointers(copy);
    for_each_index<decltype(from)::count>([&](auto i) { move_member<To>(*get<i.value>(from), *get<i.value>(into)); });
    return copy;
  }

  auto forward_count() const {
    return apply_tuple([](const auto*... member) { return make_tuple_of(count_of(*member)...); },
                       member_pointers(static_cast<const Derived&>(*this)));
  }
  template <class Counts>
  void undo_forward(const Counts& counts) {
    const auto members = member_pointers(derived());
    for_each_index<Counts::count>([&](auto i) { undo(*get<i.value>(members), get<i.value>(counts)); });
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
  static constexpr bool has_own_initialise() {
    return !requires { requires std::is_same_v<decltype(&Derived::initialise), void (module::*)(std::uint64_t)>; };
  }
  /// Calls `draw(member, its seed)` for every member that can be drawn.
  template <class Draw>
  void draw_members(std::uint64_t seed, const Draw& draw) {
    const std::uint64_t own = seed != 0 ? seed : 0x9E3779B97F4A7C15u;  // so that no part draws what another does
    std::uint64_t number = 0;
    visit_members([&](const std::string&, auto& member) {
      if constexpr (requires { member.initialise(seed); }) draw(member, own * 1000003u + number++);
    });
  }

  template <class Member>
  static auto count_of(const Member& member) {
    if constexpr (detail::is_list<Member>) {
      std::vector<decltype(count_of(member[0]))> counts;
      for (const auto& each : member) counts.push_back(count_of(each));
      return counts;
    } else {
      return detail::forward_count_of(member);
    }
  }
  template <class Member, class Count>
  static void undo(Member& member, const Count& count) {
    if constexpr (detail::is_list<Member>) {
      for (std::size_t i = 0; i < count.size(); ++i) undo(member[i], count[i]);
    } else if constexpr (counts_passes<Member>) {
      member.undo_forward(count);
    }
  }
  template <class To, class From, class Into>
  static void move_member(const From& from, Into& into) {
    if constexpr (detail::is_list<From>) {
      if constexpr (requires { into.clear(); }) into.clear();
      for (std::size_t i = 0; i < std::size(from); ++i) {
        if constexpr (requires { into.emplace_back(); }) into.emplace_back();
        move_member<To>(from[i], into[i]);
      }
    } else if constexpr (detail::is_parameter<From>) {
      into = from.template to<To>();
    } else if constexpr (tenon::detail::is_tensor<From>) {
      into = moved_to<To>(from);
    } else if constexpr (has_parameters<From>) {
      into = layer_moved<To>(from);
    } else {
      into = from;
    }
  }
};

/// A network, or a layer, whose parameters are drawn from PyTorch's default distributions: equal seeds, equal networks.
/// example   auto net = nn::initialised<classifier>(1);
template <class Network>
Network initialised(std::uint64_t seed) {
  detail::must_name_itself<Network>();
  Network made{};
  made.initialise(seed);
  return made;
}
/// The same of one that is made with options or sizes.
/// example   auto net = nn::initialised(regressor{{}, {8, 32}}, 1);
template <class Network>
Network initialised(Network made, std::uint64_t seed) {
  detail::must_name_itself<Network>();
  made.initialise(seed);
  return made;
}

namespace detail {

template <class Net>
  requires std::is_base_of_v<module<Net>, Net>
inline constexpr bool tells_shape<Net> = false;

}  // namespace detail

template <class Net>
  requires std::is_base_of_v<module<Net>, Net>
struct parameters_of<Net> : parameters_of<decltype(member_pointers(std::declval<Net&>()))> {};
template <detail::names_another Net>
struct parameters_of<Net> : parameters_of<decltype(detail::named_by(std::declval<const Net&>()))> {
  static_assert((detail::must_name_itself<Net>(), true));
};
template <class... Members>
struct parameters_of<tuple<Members*...>> : first_parameters_of<Members...> {};
template <class List>
  requires detail::is_list<List>
struct parameters_of<List> : parameters_of<std::remove_cvref_t<decltype(std::declval<List&>()[0])>> {};

}  // namespace tenon::nn
