// The Python module tengen._native, or _native25 for boards to 25x25: one register function a subject, conversion only.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_attention(nb::module_& m);
void register_board(nb::module_& m);
void register_convolution(nb::module_& m);
void register_features(nb::module_& m);
void register_linear(nb::module_& m);
void register_playout(nb::module_& m);
void register_search(nb::module_& m);
void register_pool(nb::module_& m);
void register_selfplay(nb::module_& m);

NB_MODULE(TENGEN_MODULE, m) {
    // Games that are alive when the interpreter ends are no leak, and the last line of a test run is not ours.
    nb::set_leak_warnings(false);
    m.doc() = "Tengen's native core: rules, features, playouts and search.";
    register_board(m);
    register_convolution(m);
    register_attention(m);
    register_features(m);
    register_search(m);
    register_pool(m);
    register_selfplay(m);
    register_playout(m);
    register_linear(m);
}
