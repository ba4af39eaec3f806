// tenon/train/checkpoint.hpp: the state of a network, to and from safetensors files.
// Names and shapes are PyTorch's, so a state_dict of the same layers loads without renaming, buffers included.
// Floor 8: may include base, core, nn, io, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <tenon/core/kept_text.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/nn/state.hpp>

namespace tenon::train {

/// How a file is loaded.
struct load_options {
  bool strict = true;       // whether all names of file and network must be the same
  bool run_sample = true;   // whether the network must answer the file's sample, if any, as it did when it was saved
  double tolerance = 1e-3;  // of that answer, relative to its greatest magnitude
  std::string prefix = {};  // of the file's names that are read, without which they are the network's: "encoder."
};

/// The names that a network has and a file lacks (`missing`), and those of the file alone (`unexpected`).
struct state_differences {
  std::vector<std::string> missing, unexpected;
};

/// Something that runs a network, such as nn::pass.
template <class Pass>
concept network_pass = requires(Pass& pass, const typename std::remove_cvref_t<Pass>::input_type& input) {
  pass.network();
  pass.forward(input.view());
};

/// A network and what its training remembers besides, such as an optimizer: saved and loaded as one, so that training
/// goes on bit for bit. Names of an optimizer's state begin with `optim.`, as PyTorch has no word for them in one file,
/// and those of what the random numbers of layers hang on with `random.`. Parts of one kind are numbered from the
/// second on: `average.`, `average2.`.
/// throws    by saving and loading, error for an optimizer that was made with another network
/// example   train::training all(net, optimizer, average); train::save_state(all, "training.safetensors");
template <class Network, class... Parts>
class training {
 public:
  explicit training(Network& net, Parts&... parts) : net_(net), parts_(make_tuple_of(&parts...)) {}

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    net_.visit_parameters(visitor);
  }
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    if constexpr (requires { net_.visit_buffers(visitor); }) net_.visit_buffers(visitor);
    const auto visit_random = [&](const std::string& name, auto& number) { visitor("random." + name, number); };
    if constexpr (requires { net_.visit_random_state(visit_random); }) net_.visit_random_state(visit_random);
    std::map<std::string, int> counts;
    for_each_index<static_cast<int>(sizeof...(Parts))>([&](auto i) {
      auto& part = *get<i.value>(parts_);
      std::string prefix = part.state_prefix;
      const int number = ++counts[prefix];
      if (number > 1) prefix.insert(prefix.find_last_not_of('.') + 1, std::to_string(number));
      part.visit_state(net_, [&](const std::string& name, auto& value) { visitor(prefix + name, value); });
    });
  }

 private:
  Network& net_;
  tuple<Parts*...> parts_;
};

namespace detail {

inline const std::string sample_input = "tenon.sample.input", sample_output = "tenon.sample.output";

/// A part of a network's state as a tensor on the host; `Value` is a tensor in any space, or a number.
template <class Value>
auto state_on_host(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) return tensor<Value, shape<>>(shape<>{}, {value});
  else if constexpr (is_kept_number<Value>) return state_on_host(value.number());
  else return value.template to<host>();
}

template <class Network>
void add_state(io::safetensors_writer& writer, Network& net) {
  if constexpr (nn::has_parameters<Network>) {
    net.visit_parameters([](const std::string& name, const auto& parameter) {
      nn::detail::must_be_written("save_state", name, parameter.value);
    });
  }
  nn::visit_state(net, [&](const std::string& name, const auto& value) { writer.add(name, state_on_host(value)); });
}

/// Whether a file must have it.
template <class Value>
bool is_needed(const Value& value) {
  if constexpr (requires { value.is_needed(); }) return value.is_needed();
  else return true;
}

template <class Value>
auto shape_of_state(const Value& value) {
  if constexpr (is_number_of_state<Value>) return shape<>{};
  else return value.shape();
}

/// What is wrong with a number of a file; empty where it may be taken.
template <class Value>
std::string fault_of_number(const std::string& name, const Value& value, const io::safetensors_file& file) {
  auto read = state_on_host(value);
  using number = typename decltype(read)::element;
  if (std::is_integral_v<number> && file.dtype(name).find('F') != std::string::npos) {
    return compose_text("; ", name, " is a number of ", file.dtype(name), ", expected a whole one");
  }
  file.read(name, read);
  if constexpr (is_kept_number<Value>) {
    const auto [least, most] = value.bounds();
    const number given = read.data()[0];
    const bool is_open = most == std::numeric_limits<number>::max(), is_one = least == most;
    if (!(given >= least && given <= most)) {
      return compose_text("; ", name, " is ", given, ", expected ", is_open ? "at least " : "", least,
                          is_open || is_one ? std::string() : compose_text(" to ", most));
    }
  }
  return {};
}

/// What a file holds in place of a text; empty where it is the same.
TENON_IF_CALLED std::string fault_of_text(const std::string& name, const kept_text& value,
                                          const io::safetensors_file& file) {
  constexpr index most = 80;  // that a sentence can hold
  const auto& extents = file.extents(name);
  if (extents.size() != 1 || extents[0] > most || file.dtype(name) != "U8") {
    return compose_text("; ", name, " has extents ", extents, " of ", file.dtype(name), ", expected ", value.text());
  }
  tensor<std::uint8_t, rank<1>> read({extents[0]});
  file.read(name, read);
  const std::string given(read.data(), read.data() + read.size());
  return given == value.text() ? "" : compose_text("; ", name, " is ", given, ", expected ", value.text());
}

/// Compares names, extents, numbers and texts of a network with those of a file.
/// throws    file_error that lists all that does not fit
template <class Network>
state_differences compare_state(Network& net, const io::safetensors_file& file, const load_options& options) {
  state_differences names;
  const auto has_prefix = [&](const std::string& name) { return name.starts_with(options.prefix); };
  if (!options.prefix.empty() && std::ranges::none_of(file.names(), has_prefix)) {
    io::refuse("load_state", file.path(), "none of its names begins with " + options.prefix);
  }
  std::map<std::string, bool> known{{sample_input, true}, {sample_output, true}};
  std::string facts;
  nn::visit_state(net, [&](const std::string& own, const auto& value) {
    const std::string name = options.prefix + own;
    known[name] = true;
    const auto expected = shape_of_state(value);
    if (!file.contains(name)) {
      if (is_needed(value)) names.missing.push_back(name);
    } else if constexpr (requires { value.text(); }) {
      facts += fault_of_text(name, value, file);
    } else if (!file.fits(name, expected)) {
      facts += compose_text("; ", name, " has extents ", file.extents(name), ", expected ", expected.to_array());
    } else if constexpr (is_number_of_state<std::remove_cvref_t<decltype(value)>>) {
      facts += fault_of_number(name, value, file);
    }
  });
  for (const auto& name : file.names()) {
    if (has_prefix(name) && !known.contains(name)) names.unexpected.push_back(name);
  }
  if (options.strict) {
    const bool is_whole = facts.empty() && names.missing.empty() && !names.unexpected.empty();
    for (const auto& name : names.missing) facts += "; " + name + " is missing";
    for (const auto& name : names.unexpected) facts += "; " + name + " is unexpected";
    if (is_whole) facts += "; all that the network has is there: {.strict = false} leaves the rest";
  }
  if (!facts.empty()) io::refuse("load_state", file.path(), "it does not fit the network" + facts);
  return names;
}

/// Reads what a file has of a network. The network takes it when all of the steps are run, which allocate nothing: of
/// numbers and tensors they hold the place, of what stands for others, such as a part of an optimizer, a copy.
template <class Network>
std::vector<std::function<void()>> read_state(Network& net, const io::safetensors_file& file,
                                              const std::string& prefix) {
  std::vector<std::function<void()>> steps;
  nn::visit_state(net, [&](const std::string& own_name, auto& value) {
    const std::string name = prefix + own_name;
    if (!file.contains(name)) return;
    auto read = state_on_host(value);
    file.read(name, read);
    using value_type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<value_type>) {
      steps.push_back([&value, given = read.data()[0]] { value = given; });
    } else if constexpr (is_kept_number<value_type>) {
      steps.push_back([value, given = read.data()[0]]() mutable { value = given; });
    } else if constexpr (requires { value.reset(); }) {
      steps.push_back([&value, own = std::move(read)] { value.copy_from(own); });
    } else {
      steps.push_back([value, own = std::move(read)] { value.copy_from(own); });
    }
  });
  return steps;
}

/// Whether a file carries a sample that is to be run: that of a whole network, where parts have a prefix.
TENON_IF_CALLED bool runs_sample(const io::safetensors_file& file, const load_options& options) {
  return options.run_sample && options.prefix.empty() && file.contains(sample_input);
}

TENON_IF_CALLED void take_state(const std::vector<std::function<void()>>& steps) {
  for (const auto& step : steps) step();
}

/// What a network says to an input when it is used, not trained; the network stays as it is.
template <class Pass>
auto output_for(typename Pass::network_type net, const typename Pass::input_type& input) {
  net.eval();
  Pass pass(net);
  return evaluated_tensor<typename Pass::input_type::space>(pass.forward(input.view())).template to<host>();
}

/// throws    file_error when a network does not answer the file's sample as the file says
template <class Pass>
void check_sample(const typename Pass::network_type& net, const io::safetensors_file& file, double tolerance) {
  using input_type = typename Pass::input_type;
  const auto& extents = file.extents(sample_input);
  if (extents.size() != static_cast<std::size_t>(input_type::rank)) {
    io::refuse("load_state", file.path(),
               compose_text("its sample has extents ", extents, ", which the pass does not take"));
  }
  array<index, input_type::rank> given{};
  std::copy(extents.begin(), extents.end(), given.begin());
  tensor<typename input_type::element, typename input_type::shape_type> sample{typename input_type::shape_type(given)};
  file.read(sample_input, sample);
  const auto answer = output_for<Pass>(net, sample.template to<typename input_type::space>());
  auto expected = answer;
  file.read(sample_output, expected);
  double difference = 0, magnitude = 0;
  for (index i = 0; i < answer.size(); ++i) {
    const auto found = static_cast<double>(answer.data()[i]), wanted = static_cast<double>(expected.data()[i]);
    const double here = std::isnan(found) && std::isnan(wanted) ? 0 : std::fabs(found - wanted);
    difference = here <= difference ? difference : here;  // NaN stays
    magnitude = std::fmax(magnitude, std::fabs(wanted));
  }
  if (!(difference <= tolerance * magnitude)) {
    io::refuse("load_state", file.path(),
               compose_text("the network answers its sample by up to ", difference, " otherwise, expected within ",
                            tolerance * magnitude, "; is it the model that was saved?"));
  }
}

}  // namespace detail

/// Writes every parameter and buffer of a network, in any space, to a safetensors file, by PyTorch's names. A
/// train::training in place of the network writes the optimizer's state, too. The old file is replaced whole, or stays.
/// throws    file_error when the file cannot be written; error for a network with a parameter that nobody wrote
/// example   train::save_state(net, "model.safetensors");
template <class Network>
void save_state(Network&& net, const std::filesystem::path& path) {
  static_assert(nn::has_parameters<std::remove_reference_t<Network>> || must_hold<Network>,
                "tenon: what is saved is a network that is not const, or a train::training of a network and its "
                "optimizer");
  io::safetensors_writer writer;
  detail::add_state(writer, net);
  writer.save(path);
}

/// The same, with a sample input and what the network, in use, answers; loading asks again. Other programs see two more
/// tensors, tenon.sample.input and tenon.sample.output.
template <network_pass Pass>
void save_state(Pass&& pass, const std::filesystem::path& path,
                const typename std::remove_cvref_t<Pass>::input_type& sample) {
  io::safetensors_writer writer;
  detail::add_state(writer, pass.network());
  writer.add(detail::sample_input, sample.template to<host>());
  writer.add(detail::sample_output, detail::output_for<std::remove_cvref_t<Pass>>(pass.network(), sample));
  writer.save(path);
}

/// Reads every parameter and buffer of a network in any space, converting element types; the network keeps its memory.
/// Without `strict`, what the file lacks stays as it is, and both lists of names are the result. With a `prefix` only
/// names of the file that begin with it are read, as those of a part of another network; a sample is not run then.
/// throws    file_error that lists all missing, unexpected and misshapen tensors together, and numbers that cannot be,
///           such as a position behind the end of an epoch, when no name has the prefix, and when the file carries a
///           sample, which takes a pass. Whatever is thrown, nothing is changed
/// example   train::load_state(net, io::safetensors_file(bytes_of_the_program));
template <class Network>
state_differences load_state(Network& net, const io::safetensors_file& file, const load_options& options = {}) {
  static_assert(nn::has_parameters<Network> || must_hold<Network>,
                "tenon: what is loaded is a network that is not const, or a train::training of a network and its "
                "optimizer");
  if (detail::runs_sample(file, options)) {
    io::refuse("load_state", file.path(),
               "it carries a sample; load it by a pass, which runs it, or with run_sample = false");
  }
  const auto differences = detail::compare_state(net, file, options);
  detail::take_state(detail::read_state(net, file, options.prefix));
  nn::note_change(net);
  return differences;
}

/// The same for the network of a pass, which runs the sample that the file may carry.
/// throws    file_error when the network's answer is another one than the file's; nothing is changed then
template <network_pass Pass>
state_differences load_state(Pass& pass, const io::safetensors_file& file, const load_options& options = {}) {
  const auto differences = detail::compare_state(pass.network(), file, options);
  if (detail::runs_sample(file, options)) {
    auto loaded = pass.network();
    detail::take_state(detail::read_state(loaded, file, options.prefix));
    try {
      detail::check_sample<Pass>(loaded, file, options.tolerance);
    } catch (const shape_error& failure) {
      io::refuse("load_state", file.path(), compose_text("its sample does not fit the pass: ", failure.what()));
    }
  }
  detail::take_state(detail::read_state(pass.network(), file, options.prefix));
  nn::note_change(pass.network());
  return differences;
}

/// The same of the file at a path.
/// example   train::load_state(net, "model.safetensors", {.strict = false}).missing
///           train::load_state(net.encoder, "model.safetensors", {.prefix = "encoder."});
template <class Network>
state_differences load_state(Network& net, const std::filesystem::path& path, const load_options& options = {}) {
  return load_state(net, io::safetensors_file(path), options);
}

}  // namespace tenon::train
