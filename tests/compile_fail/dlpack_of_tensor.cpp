// expect: tenon: a tensor that stays yours is exported as a view, to_dlpack(x.view()); std::move(x) gives it away
// tests/compile_fail/dlpack_of_tensor.cpp: a tensor exported without saying who keeps it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/dlpack.hpp>

void statement(tenon::tensor<float, tenon::rank<2>>& x) {
#ifdef MISUSE
  tenon::io::to_dlpack(x);
#else
  tenon::io::to_dlpack(x.view());
#endif
}
