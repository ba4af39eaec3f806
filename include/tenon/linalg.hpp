// tenon/linalg.hpp: small linear algebra: factors, systems, inverses, determinants, eigenvalues, singular values.
// A door for those who need these beside expressions; in no other door.
// Floor 8: may include base, core, device, expr, plan, host, kernels, contraction, algorithms, evaluate, grad, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>  // first, so that what a compiler lacks is told from here

#include <tenon/linalg/shapes.hpp>  // first, so that its assertions are told from here

#include <tenon/expressions.hpp>
#include <tenon/linalg/expm.hpp>
#include <tenon/linalg/gradients.hpp>
#include <tenon/linalg/least_squares.hpp>
#include <tenon/linalg/solve.hpp>
#include <tenon/linalg/tridiagonal.hpp>
#include <tenon/products.hpp>
