// The Python module tengen._native: one register function a subject, conversion only.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, m) {
    m.doc() = "Tengen's native core: rules, features, playouts and search.";
}
