// tenon/train.hpp: door 3: expressions, layers, training on one rank or several, data and files.
// What programs that train networks include.
// Floor 9: may include everything below.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>  // first, so that what a compiler lacks is told from here

#include <tenon/data/combinators.hpp>
#include <tenon/data/image_folder.hpp>
#include <tenon/data/loader.hpp>
#include <tenon/data/mapped.hpp>
#include <tenon/data/resize.hpp>
#include <tenon/data/space_batches.hpp>
#include <tenon/data/tensor_dataset.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/data/vocabulary.hpp>
#include <tenon/data/weighted_sampler.hpp>
#include <tenon/device/emulated.hpp>
#include <tenon/distributed/data_parallel.hpp>
#include <tenon/distributed/threads.hpp>
#include <tenon/io/csv.hpp>
#include <tenon/io/idx.hpp>
#include <tenon/io/npy.hpp>
#include <tenon/io/npz.hpp>
#include <tenon/io/pnm.hpp>
#include <tenon/io/print.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/io/write_png.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adagrad.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/adamax.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/clip_grad_norm.hpp>
#include <tenon/train/csv_log.hpp>
#include <tenon/train/early_stopping.hpp>
#include <tenon/train/interruption.hpp>
#include <tenon/train/lamb.hpp>
#include <tenon/train/lion.hpp>
#include <tenon/train/loss_plot.hpp>
#include <tenon/train/loss_scaler.hpp>
#include <tenon/train/lr_find.hpp>
#include <tenon/train/nadam.hpp>
#include <tenon/train/nan_watch.hpp>
#include <tenon/train/plateau.hpp>
#include <tenon/train/position.hpp>
#include <tenon/train/progress.hpp>
#include <tenon/train/radam.hpp>
#include <tenon/train/rmsprop.hpp>
#include <tenon/train/schedule.hpp>
#include <tenon/train/sgd.hpp>
#include <tenon/train/tensorboard_log.hpp>

#if TENON_COMPILED != 0
#include <tenon/data/engines.hpp>
#include <tenon/train/engines.hpp>
#endif
