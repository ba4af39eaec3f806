// tenon/data/engines.hpp: what the library tenon::compiled holds of the loading of data.
// Images with labels, as MNIST's files hold them.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/data/loader.hpp>
#include <tenon/data/tensor_dataset.hpp>

namespace tenon::data {

TENON_ENGINE(class loader<labelled_images>)
TENON_ENGINE(class epoch_range<labelled_images>)

}  // namespace tenon::data
