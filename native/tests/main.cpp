// Runs all tests of the native core, or those whose name contains the first argument.
#include "tests/check.h"

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "";
    int ran = 0;
    for (const auto& test : tengen::test::tests()) {
        if (test.name.find(wanted) == std::string::npos) continue;
        test.body();
        ++ran;
    }
    std::cout << ran << " tests, " << tengen::test::failures() << " failed checks\n";
    return tengen::test::failures() || !ran ? 1 : 0;
}
