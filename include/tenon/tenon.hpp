// tenon/tenon.hpp: door 2: expressions, gradients and layers.
// What programs that run networks include; training, data and files are behind train.hpp.
// Floor 8: may include base, core, device, expr, plan, host, kernels, contraction, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>  // first, so that what a compiler lacks is told from here

#include <tenon/nn/layer.hpp>  // first, so that its assertions are told from here

#include <tenon/algorithms.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expr/random_exponential.hpp>
#include <tenon/expressions.hpp>
#include <tenon/grad/jvp.hpp>
#include <tenon/grad/traced_functions.hpp>
#include <tenon/grad/traced_list.hpp>
#include <tenon/grad/value_and_gradient.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/arena.hpp>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/bilinear.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/ctc_loss.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/embedding_bag.hpp>
#include <tenon/nn/fuse.hpp>
#include <tenon/nn/fused_layers.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/initial.hpp>
#include <tenon/nn/likelihood_loss.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/loss.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/margin_loss.hpp>
#include <tenon/nn/max_unpool.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/padding.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/probability_loss.hpp>
#include <tenon/nn/quantise.hpp>
#include <tenon/nn/quantised_layers.hpp>
#include <tenon/nn/resampling.hpp>
#include <tenon/nn/reshaping.hpp>
#include <tenon/nn/rnn.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/nn/summary.hpp>
#include <tenon/nn/transformer.hpp>
#include <tenon/products.hpp>

#if TENON_COMPILED != 0
#include <tenon/nn/engines.hpp>
#endif
