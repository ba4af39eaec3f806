// tests/golden/loss.cpp: losses and their gradients in every input that PyTorch gives one for.
// Those of rows keep the axis that they reduce, so what goes back to them is reshaped.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/gradient.hpp>
#include <tenon/nn/ctc_loss.hpp>
#include <tenon/nn/probability_loss.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

constexpr const char* name_of(nn::to_mean) { return "mean"; }
constexpr const char* name_of(nn::to_sum) { return "sum"; }
constexpr const char* name_of(nn::unreduced) { return "none"; }

/// Evaluates a loss of named inputs, and its gradients in them.
template <class Space, int Rank, class Loss, class... Names>
result run_loss(const golden_case& given, const Loss& loss, Names... names) {
  constexpr auto count = static_cast<int>(sizeof...(Names));
  const auto inputs = tn::make_tuple_of(tensor_of<float, Space, Rank>(given.inputs.at(names))...);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto value = loss(tn::variable<I>(tn::get<I>(inputs))...);
    using shape_type = typename decltype(value)::shape_type;
    const auto& seed = given.grad_outputs.at("output");
    array reshaped = seed;
    const auto extents = value.shape().to_array();
    reshaped.extents.assign(extents.begin(), extents.end());
    const auto back = tensor_of<float, Space, shape_type::rank>(reshaped);

    result found;
    array output = copied(tn::evaluated_tensor(value));
    output.extents = given.outputs.at("output").extents;
    found.outputs["output"] = output;
    const auto gradients = tn::vjp(value, back, tn::wrt(tn::variable<I>(tn::get<I>(inputs))...));
    ((found.gradients[names] = copied(tn::evaluated_tensor(tn::get<I>(gradients)))), ...);
    return found;
  }(std::make_integer_sequence<int, count>{});
}

/// Calls `run` with the case's reduction, which must be one of these.
template <class... Reductions, class Run>
result with_reduction(const golden_case& given, const Run& run) {
  const std::string wanted = given.attributes.text("reduction", "mean");
  result found;
  const auto try_one = [&]<class Reduction>(Reduction reduction) {
    if (wanted != name_of(reduction)) return false;
    found = run(reduction);
    return true;
  };
  if (!(try_one(Reductions{}) || ...)) throw std::runtime_error("reduction " + wanted + ": no case had it");
  return found;
}

/// A loss of an input and a target of floats, written once for all of these reductions.
template <class Space, class... Reductions, class Function>
layer of_floats(const Function& function) {
  return [=](const golden_case& given) {
    const auto target = tensor_of<float, Space, 2>(given.inputs.at("target"));
    return with_reduction<Reductions...>(given, [&](auto reduction) {
      return run_loss<Space, 2>(given, [&](const auto& x) { return function(reduction, given, x, target); }, "input");
    });
  };
}

/// A loss of scores and labels.
template <class Space, int Rank, class... Reductions, class Function>
result of_labels(const golden_case& given, const Function& function) {
  const auto labels = tensor_of<std::int64_t, Space, Rank - 1>(given.inputs.at("target"));
  const auto ignored = given.attributes.integer("ignore_index", -100);
  return with_reduction<Reductions...>(given, [&](auto reduction) {
    return run_loss<Space, Rank>(
        given, [&](const auto& x) { return function(reduction, x, labels, ignored); }, "input");
  });
}

template <class Space>
result run_bce_with_logits(const golden_case& given) {
  const auto target = tensor_of<float, Space, 2>(given.inputs.at("target"));
  if (given.buffers.contains("pos_weight")) {
    const auto weight = tensor_of<float, Space, 1>(given.buffers.at("pos_weight"));
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return nn::bce_with_logits_loss(x, target, weight); }, "input");
  }
  if (given.buffers.contains("weight")) {
    const auto weight = tensor_of<float, Space, 1>(given.buffers.at("weight"));
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return tn::mean(weight * nn::bce_with_logits_loss<nn::unreduced>(x, target)); },
        "input");
  }
  return with_reduction<nn::to_mean, nn::to_sum, nn::unreduced>(given, [&]<class Reduction>(Reduction) {
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return nn::bce_with_logits_loss<Reduction>(x, target); }, "input");
  });
}

template <class Space>
result run_nll(const golden_case& given) {
  if (given.buffers.contains("weight")) {
    const auto weight = tensor_of<float, Space, 1>(given.buffers.at("weight"));
    return of_labels<Space, 2, nn::to_sum>(
        given, [&]<class Reduction>(Reduction, const auto& x, const auto& labels, std::int64_t ignored) {
          return nn::nll_loss<Reduction>(x, labels, weight, ignored);
        });
  }
  return of_labels<Space, 2, nn::to_mean, nn::unreduced>(
      given, [&]<class Reduction>(Reduction, const auto&... all) { return nn::nll_loss<Reduction>(all...); });
}

template <class Space>
result run_cross_entropy(const golden_case& given) {
  const double smoothing = given.attributes.number("label_smoothing", 0);
  const bool is_weighed = given.buffers.contains("weight");
  if (given.inputs.at("target").dtype == "float32") {
    const auto target = tensor_of<float, Space, 2>(given.inputs.at("target"));
    return run_loss<Space, 2>(given, [&](const auto& x) { return nn::cross_entropy_loss(x, target); }, "input");
  }
  if (given.inputs.at("input").rank() == 4) {
    return of_labels<Space, 4, nn::to_mean>(given, []<class Reduction>(Reduction, const auto&... all) {
      return nn::cross_entropy_loss<Reduction>(all...);
    });
  }
  if (is_weighed) {
    const auto weight = tensor_of<float, Space, 1>(given.buffers.at("weight"));
    const auto labels = tensor_of<std::int64_t, Space, 1>(given.inputs.at("target"));
    if (smoothing == 0) {
      return run_loss<Space, 2>(
          given, [&](const auto& x) { return nn::cross_entropy_loss(x, labels, weight); }, "input");
    }
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return nn::smoothed_cross_entropy_loss(x, labels, smoothing, weight); }, "input");
  }
  if (smoothing != 0) {
    const auto labels = tensor_of<std::int64_t, Space, 1>(given.inputs.at("target"));
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return nn::smoothed_cross_entropy_loss(x, labels, smoothing); }, "input");
  }
  return of_labels<Space, 2, nn::to_mean, nn::to_sum, nn::unreduced>(
      given, []<class Reduction>(Reduction, const auto&... all) { return nn::cross_entropy_loss<Reduction>(all...); });
}

template <class Space>
result run_kl_div(const golden_case& given) {
  const auto target = tensor_of<float, Space, 2>(given.inputs.at("target"));
  if (given.attributes.flag("log_target", false)) {
    return run_loss<Space, 2>(
        given, [&](const auto& x) { return nn::kl_div_log_loss<nn::to_sum>(x, target); }, "input");
  }
  const auto rows = static_cast<double>(target.extent(0));  // batchmean
  return run_loss<Space, 2>(
      given, [&](const auto& x) { return nn::kl_div_loss<nn::to_sum>(x, target) / rows; }, "input");
}

template <class Space>
result run_ctc(const golden_case& given) {
  const auto x = tensor_of<float, Space, 3>(given.inputs.at("log_probs"));
  const auto targets = tensor_of<std::int64_t, Space, 2>(given.inputs.at("targets"));
  const auto times = tensor_of<std::int64_t, Space, 1>(given.inputs.at("input_lengths"));
  const auto counts = tensor_of<std::int64_t, Space, 1>(given.inputs.at("target_lengths"));
  const nn::ctc_options options{.blank = given.attributes.integer("blank", 0),
                                .zero_infinity = given.attributes.flag("zero_infinity", false)};
  const auto back = tensor_of<float, Space, 0>(given.grad_outputs.at("output"));
  return with_reduction<nn::to_mean, nn::to_sum>(given, [&]<class Reduction>(Reduction) {
    const auto [loss, gradient] = nn::ctc_loss_and_gradient<Reduction>(x, targets, times, counts, options);
    result found;
    found.outputs["output"] = copied(tn::evaluated_tensor(loss));
    found.outputs["output"].extents.clear();
    found.gradients["log_probs"] = copied(tn::evaluated_tensor(gradient * back));
    return found;
  });
}

template <class Space>
void fill_losses(layer_table& table) {
  table["MSELoss"] = of_floats<Space, nn::to_mean, nn::to_sum, nn::unreduced>(
      []<class Reduction>(Reduction, const golden_case&, const auto&... all) {
        return nn::mse_loss<Reduction>(all...);
      });
  table["L1Loss"] = of_floats<Space, nn::to_mean, nn::unreduced>(
      []<class Reduction>(Reduction, const golden_case&, const auto&... all) {
        return nn::l1_loss<Reduction>(all...);
      });
  table["HuberLoss"] = of_floats<Space, nn::to_mean, nn::unreduced>(
      []<class Reduction>(Reduction, const golden_case& given, const auto&... all) {
        return nn::huber_loss<Reduction>(all..., given.attributes.number("delta", 1));
      });
  table["SmoothL1Loss"] = of_floats<Space, nn::to_mean, nn::to_sum>(
      []<class Reduction>(Reduction, const golden_case& given, const auto&... all) {
        return nn::smooth_l1_loss<Reduction>(all..., given.attributes.number("beta", 1));
      });
  table["BCELoss"] = of_floats<Space, nn::to_mean, nn::unreduced>(
      []<class Reduction>(Reduction, const golden_case&, const auto&... all) {
        return nn::bce_loss<Reduction>(all...);
      });
  table["BCEWithLogitsLoss"] = run_bce_with_logits<Space>;
  table["KLDivLoss"] = run_kl_div<Space>;
  table["NLLLoss"] = run_nll<Space>;
  table["CrossEntropyLoss"] = run_cross_entropy<Space>;
  table["CTCLoss"] = run_ctc<Space>;
  table["CosineEmbeddingLoss"] = [](const golden_case& given) {
    const auto target = tensor_of<std::int64_t, Space, 1>(given.inputs.at("target"));
    const auto loss = [&](const auto& x, const auto& y) { return nn::cosine_embedding_loss(x, y, target); };
    return run_loss<Space, 2>(given, loss, "input1", "input2");
  };
  table["TripletMarginLoss"] = [](const golden_case& given) {
    const auto loss = [](const auto&... rows) { return nn::triplet_margin_loss(rows...); };
    return run_loss<Space, 2>(given, loss, "anchor", "positive", "negative");
  };
}

}  // namespace

void add_loss(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) { fill_losses<Space>(table); });
}

}  // namespace golden
