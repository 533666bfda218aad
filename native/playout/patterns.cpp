#include "playout/patterns.h"

#include <bitset>
#include <utility>
#include <vector>

namespace tengen {

namespace {

constexpr unsigned kBlack = 0, kWhite = 1, kEmpty = 2, kOff = 3;
constexpr int kCodes = 1 << 16;

// The shapes of Gelly, Wang, Munos and Teytaud (2006), "Modification of UCT with Patterns in Monte-Carlo Go", figures 2
// to 5, with the additions that later programs made.
constexpr std::array<Pattern3x3, 14> kPatterns = {{
    {"hane that encloses", {"XOX", "...", "???"}},
    {"hane without a cut", {"XO.", "...", "?.?"}},
    {"turn", {"XO?", "X..", "o.?"}},
    {"hane on two stones", {"XOO", "...", "?.?"}, true},
    {"diagonal attachment", {".O.", "X..", "..."}},
    {"cut", {"XO?", "O.x", "?x?"}},
    {"cut that was peeped at", {"XO?", "O.X", "???"}},
    {"push between", {"?X?", "O.O", "xxx"}},
    {"cut of a knight's move", {"OX?", "x.O", "???"}, true},
    {"chase at the side", {"X.?", "O.?", "###"}},
    {"block of a cut at the side", {"OX?", "X.O", "###"}},
    {"block of a connection at the side", {"?X?", "o.O", "###"}},
    {"descent", {"?XO", "o.o", "###"}, true},
    {"cut at the side", {"?OX", "X.O", "###"}},
}};

// For each of the eight symmetries, which cell of a pattern (rows of three) comes to lie on each of the eight
// neighbours.
std::array<std::array<int, 8>, 8> symmetries() {
    std::array<std::array<int, 8>, 8> maps;
    for (int symmetry = 0; symmetry < 8; ++symmetry) {
        int at = 0;
        for (int cell = 0; cell < 9; ++cell) {
            if (cell == 4) continue;
            int row = cell / 3, column = cell % 3;
            if (symmetry & 1) row = 2 - row;
            if (symmetry & 2) column = 2 - column;
            if (symmetry & 4) std::swap(row, column);
            maps[symmetry][at++] = row * 3 + column;
        }
    }
    return maps;
}

bool allows(char symbol, unsigned what, unsigned own) {
    const unsigned other = own ^ 1;
    switch (symbol) {
        case 'X':
            return what == own;
        case 'O':
            return what == other;
        case '.':
            return what == kEmpty;
        case '#':
            return what == kOff;
        case 'x':
            return what != own;
        case 'o':
            return what != other;
        default:
            return true;
    }
}

// Marks all codes that agree with the pattern from neighbour `at` on.
void mark(std::bitset<kCodes>& matches, const Pattern3x3& pattern, const std::array<int, 8>& cells, unsigned own,
          unsigned code, int at) {
    if (at == 8) {
        matches.set(code);
        return;
    }
    const char symbol = pattern.rows[cells[at] / 3][cells[at] % 3];
    for (const unsigned what : {kBlack, kWhite, kEmpty, kOff})
        if (allows(symbol, what, own)) mark(matches, pattern, cells, own, code | what << (2 * at), at + 1);
}

const std::array<std::bitset<kCodes>, 2>& table() {
    static const auto built = [] {
        auto matches = std::array<std::bitset<kCodes>, 2>{};
        for (const Pattern3x3& pattern : kPatterns) {
            for (const auto& cells : symmetries()) {
                for (const unsigned mover : {kBlack, kWhite}) {
                    mark(matches[mover], pattern, cells, mover, 0, 0);
                    if (!pattern.mover_only) mark(matches[mover], pattern, cells, mover ^ 1, 0, 0);
                }
            }
        }
        return matches;
    }();
    return built;
}

}  // namespace

Neighborhoods::Neighborhoods(int size) {
    for (int row = 0; row < size; ++row) {
        for (int column = 0; column < size; ++column) {
            Place& place = places_[row * size + column];
            int shift = 0;
            for (int cell = 0; cell < 9; ++cell) {
                if (cell == 4) continue;
                const int r = row + cell / 3 - 1, c = column + cell % 3 - 1;
                if (r >= 0 && r < size && c >= 0 && c < size) {
                    place.points[place.count] = static_cast<Point>(r * size + c);
                    place.shifts[place.count++] = static_cast<std::uint8_t>(shift);
                } else {
                    place.edge |= static_cast<std::uint16_t>(kOff << shift);
                }
                shift += 2;
            }
        }
    }
}

const Neighborhoods& neighborhoods(int size) {
    static const std::vector<Neighborhoods> built = [] {
        std::vector<Neighborhoods> tables;
        for (int s = kMinSize; s <= kMaxSize; ++s) tables.emplace_back(s);
        return tables;
    }();
    return built[size - kMinSize];
}

std::span<const Pattern3x3> patterns_3x3() { return kPatterns; }

bool matches_3x3(std::uint16_t code, Color color) {
    static const auto& built = table();
    return built[index(color)][code];
}

}  // namespace tengen
