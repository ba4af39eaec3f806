// expect: tenon: to run scans include <tenon/algorithms/scan.hpp> or <tenon/tenon.hpp>
// tests/compile_fail/scan_without_runner.cpp: a scan that is named, but whose loops are not included.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/scan.hpp>
#ifndef MISUSE
#include <tenon/algorithms/scan.hpp>
#endif

auto statement(const tenon::tensor<double, tenon::rank<1>>& x) { return tenon::cumsum(x, tenon::axis<0>); }
