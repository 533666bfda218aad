// The nodes and edges of a tree: about 1.5 KB for a position with all moves of a 19x19 board.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "board/types.h"

namespace tengen {

// A probability in 16 bits: the upper bits of a float, shifted so that 5 bits of exponent reach from 2^-31 to 1 and 11
// bits of fraction stay. Relative error under 2^-12; below 2^-31 is 0.
class Prior {
  public:
    constexpr Prior() = default;
    constexpr explicit Prior(float p)
        : bits_(p < 0x1p-31f ? 0 : (std::bit_cast<std::uint32_t>(p) - kLowest + 0x800) >> 12) {}
    constexpr float value() const {
        return bits_ ? std::bit_cast<float>((std::uint32_t{bits_} << 12) + kLowest) : 0.0f;
    }

    friend constexpr auto operator<=>(const Prior&, const Prior&) = default;

  private:
    static constexpr std::uint32_t kLowest = std::uint32_t{127 - 31} << 23;
    std::uint16_t bits_ = 0;
};

inline constexpr float kMinPrior = 0x1p-32f;  // for the logarithm of a prior that a node keeps as 0

struct MovePrior {
    Point point;
    Prior prior;
};

// All-moves-as-first statistics of a move: the mean utility, for the player who makes it, of the playouts and lines
// below the position in which that player was the first to play there. In float, since RAVE keeps one for each move of
// each node: beyond some 2^20 visits the mean hardly moves, which then counts for little beside the move's own visits.
struct Amaf {
    float utility = 0, visits = 0;

    void add(float u) { utility += (u - utility) / ++visits; }
};

// Means of results for one side, or a single result: utility, value, probability of no result, score and lead.
struct Moments {
    float utility = 0, utility_square = 0, value = 0, no_result = 0, score = 0, score_square = 0, lead = 0;

    void add(const Moments& other, float weight) {
        utility += weight * other.utility, utility_square += weight * other.utility_square;
        value += weight * other.value, no_result += weight * other.no_result, lead += weight * other.lead;
        score += weight * other.score, score_square += weight * other.score_square;
    }
    void scale(float factor) {
        const Moments all = *this;
        *this = {};
        add(all, factor);
    }
    // The same for the other side.
    Moments operator-() const { return {-utility, utility_square, -value, no_result, -score, score_square, -lead}; }
};

// What the nodes of a tree keep beside their moves: an Amaf for each move; NodeStats, without Amaf, in a tree that
// counts by weights; the hash of the stones in a graph, where edges may share nodes.
struct TreeForm {
    bool amaf = false, weighted = false, graph = false;
};

struct ValueBias;

// What a node of a tree that counts by weights keeps beside its moves, for its side to move (weights.h).
struct NodeStats {
    Moments own, mean;                           // its own evaluation; the weighted mean of it and of all below
    float value_error = -1, score_error = -1;    // of the evaluation; negative where the network does not predict them
    float weight = 0, weight_square = 0;         // sums of the weights in the mean and of their squares
    std::uint32_t visits = 0;                    // by all edges that lead here
    float bias_weight = 0, bias_difference = 0;  // what it added to its entry
    ValueBias* bias = nullptr;
    std::int16_t* ownership = nullptr;  // by point, in 1/32767, where the tree keeps it
};

struct Node;

// The statistics of a move that was tried: means for the player who makes it. They are doubles, as steps of a mean of a
// million results are below the precision of a float, and the mean would drift.
struct EdgeStats {
    Node* node = nullptr;
    std::uint32_t visits = 0;
    std::uint32_t pending = 0;       // simulations through here that have not been counted yet
    double utility = 0, square = 0;  // mean of the utility and of its square
    double value = 0, score = 0;

    void add(double u, double v, double s) { add_sums(1, u, u * u, v, s); }
    // Adds several visits at once, given by their sums.
    void add_sums(std::uint32_t count, double u, double squares, double v, double s) {
        if (count == 0) return;
        const double k = count, n = visits += count;
        utility += (u - k * utility) / n;
        square += (squares - k * square) / n;
        value += (v - k * value) / n;
        score += (s - k * score) / n;
    }
};

// A position that is evaluated or waits for its evaluation. All its moves follow the node in memory; edge i belongs to
// move i. The moves without an edge are sorted in the order in which they will be tried, so that a simulation reads
// only the next one. RAVE reads all moves: there an Amaf for each move follows the moves.
struct Node {
    EdgeStats* edges = nullptr;
    std::uint16_t move_count = 0, edge_count = 0, edge_capacity = 0;
    bool ready : 1 = false;      // has its value
    bool terminal : 1 = false;   // the game is over here
    bool counted : 1 = false;    // and its value is that of a count
    float value = 0, score = 0;  // for the side to move

    MovePrior* moves() { return reinterpret_cast<MovePrior*>(this + 1); }
    const MovePrior* moves() const { return reinterpret_cast<const MovePrior*>(this + 1); }
    // The index of a move; move_count where there is none.
    int find(Point p) const {
        int i = 0;
        while (i < move_count && moves()[i].point != p) ++i;
        return i;
    }
    Amaf* amaf() { return reinterpret_cast<Amaf*>(moves() + move_count); }
    const Amaf* amaf() const { return reinterpret_cast<const Amaf*>(moves() + move_count); }
    // In trees that count by weights; such trees have no Amaf.
    NodeStats& stats() {
        return *reinterpret_cast<NodeStats*>(reinterpret_cast<std::byte*>(this) + to_stats(move_count));
    }
    const NodeStats& stats() const { return const_cast<Node*>(this)->stats(); }
    // The hash of the stones lies behind all else.
    static std::size_t bytes(std::size_t move_count, TreeForm form) {
        const std::size_t moves =
            form.weighted ? to_stats(move_count) + sizeof(NodeStats)
                          : sizeof(Node) + move_count * (sizeof(MovePrior) + (form.amaf ? sizeof(Amaf) : 0));
        return moves + (form.graph ? sizeof(std::uint64_t) : 0);
    }
    static std::size_t to_stats(std::size_t move_count) {
        constexpr std::size_t kAlign = alignof(NodeStats);
        return (sizeof(Node) + move_count * sizeof(MovePrior) + kAlign - 1) / kAlign * kAlign;
    }

    // The statistics of the position for its side to move: its own evaluation, of this utility, and all visits below.
    EdgeStats sum(float own_utility) const;
};

static_assert(sizeof(MovePrior) == 4 && sizeof(Amaf) == 8 && sizeof(MovePrior) % alignof(Amaf) == 0 &&
              sizeof(EdgeStats) == 48 && sizeof(Node) == 24);

}  // namespace tengen
