// tenon/algorithms.hpp: scans, sorting, searching, selection, scattering, counting.
// A door beside expressions.hpp, which it does not bring; tenon.hpp brings both.
// Floor 6: may include base, core, device, expr, plan, host, kernels, algorithms, evaluate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>  // first, so that what a compiler lacks is told from here

#include <tenon/algorithms/lines.hpp>  // first, so that its assertions are told from here

#include <tenon/algorithms/histogram.hpp>
#include <tenon/algorithms/quantile.hpp>
#include <tenon/algorithms/scan.hpp>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/algorithms/scatter_nd.hpp>
#include <tenon/algorithms/search.hpp>
#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/algorithms/unique.hpp>
#include <tenon/evaluate.hpp>
