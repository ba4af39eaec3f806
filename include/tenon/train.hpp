// tenon/train.hpp: door 3: expressions, layers, training, data and files.
// What programs that train networks include.
// Floor 9: may include everything below.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/data/loader.hpp>
#include <tenon/device/emulated.hpp>
#include <tenon/io/idx.hpp>
#include <tenon/io/npy.hpp>
#include <tenon/io/print.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adagrad.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/lamb.hpp>
#include <tenon/train/lion.hpp>
#include <tenon/train/loss_scaler.hpp>
#include <tenon/train/plateau.hpp>
#include <tenon/train/progress.hpp>
#include <tenon/train/rmsprop.hpp>
#include <tenon/train/schedule.hpp>
#include <tenon/train/sgd.hpp>
