// tests/support/catch.hpp: Catch2, version 2 or 3.
// Debian 12 ships version 2 and Debian 13 version 3; tests use only what both have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
