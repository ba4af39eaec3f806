// expect: tenon: this takes square matrices: the last two extents are equal
// lines: 6: one check for all that take square matrices, in a header that others include
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg.hpp>

int main() {
#if defined(MISUSE)
  const tenon::tensor<float, tenon::shape<3, 4>> a;
#else
  const tenon::tensor<float, tenon::shape<3, 3>> a;
#endif
  (void)tenon::inverse(a);
}
