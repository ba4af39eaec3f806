// tests/package/optimised.cpp: small tensors, which compilers at full optimisation have nothing to say about.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using tenon::shape;
using tenon::tensor;

tensor<float, shape<10>> filled(float number) { return tenon::full<float>(shape<10>{}, number); }
tensor<float, shape<10>> zeros() { return tenon::zeros<float>(shape<10>{}); }
tensor<float, shape<3, 5>> ones() { return tenon::ones<float>(shape<3, 5>{}); }
tensor<float, shape<7>> sum(const tensor<float, shape<7>>& x, const tensor<float, shape<7>>& y) { return x + y; }
