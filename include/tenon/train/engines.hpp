// tenon/train/engines.hpp: what the library tenon::compiled holds of optimizers.
// Parameters of float on the host, moved by the rules that most programs use.
// Floor 8: may include base, core, device, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/adam.hpp>
#include <tenon/train/sgd.hpp>

namespace tenon::train {

TENON_ENGINE(class optimizer<adam_options, host, float, float>)
TENON_ENGINE(class optimizer<adamw_options, host, float, float>)
TENON_ENGINE(class optimizer<sgd_options, host, float, float>)
TENON_ENGINE(void parameter_table<float, host, float, false>::allocate(int))
TENON_ENGINE(void run_sweep<host>(const sweep<detail::norm_rule<float>, float, float>&))
TENON_ENGINE(void run_sweep<host>(const sweep<detail::found_inf_rule<float>, float, float>&))
TENON_ENGINE(void run_sweep<host>(const sweep<adam_options::rule<float>, float, float>&))
TENON_ENGINE(void run_sweep<host>(const sweep<sgd_options::rule<float>, float, float>&))

}  // namespace tenon::train
