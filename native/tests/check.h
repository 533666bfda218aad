// The whole of our C++ test kit: named tests that register themselves, and a check that says where it failed.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace tengen::test {

struct Test {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

inline void check(bool ok, const char* text, const char* file, int line) {
    if (ok) return;
    ++failures();
    std::cerr << file << ":" << line << ": failed: " << text << "\n";
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* text, const char* file, int line) {
    if (a == b) return;
    check(false, text, file, line);
    if constexpr (requires { std::cerr << a << b; }) std::cerr << "    " << a << " is not " << b << "\n";
}

}  // namespace tengen::test

// TEST(name) { ... } anywhere in native/tests/*.cpp runs in the one test program.
#define TEST(name)                                                           \
    static void test_##name();                                               \
    static const tengen::test::Register register_##name{#name, test_##name}; \
    static void test_##name()
#define CHECK(condition) tengen::test::check((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(a, b) tengen::test::check_equal((a), (b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_THROWS(expression)                                                \
    do {                                                                        \
        bool threw = false;                                                     \
        try {                                                                   \
            (void)(expression);                                                 \
        } catch (const std::exception&) {                                       \
            threw = true;                                                       \
        }                                                                       \
        tengen::test::check(threw, "throws: " #expression, __FILE__, __LINE__); \
    } while (false)
