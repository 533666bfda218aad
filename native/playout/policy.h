// Playout policies by name: how a game is played out from a position to its end.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "board/game.h"
#include "board/random.h"

namespace tengen {

// What happened in a playout, for those who learn from it.
struct PlayoutTrace {
    // Who played each point first; empty where nobody did.
    std::array<Color, kMaxPoints> first;
    std::array<int, 2> stones;  // moves that were no passes, by color

    void clear() {
        first.fill(Color::empty);
        stones = {};
    }
    void note(Point p, Color color) {
        if (first[p] == Color::empty) first[p] = color;
        ++stones[index(color)];
    }
};

// Stateless between playouts, so that threads may share one.
class PlayoutPolicy {
  public:
    virtual ~PlayoutPolicy() = default;

    // Plays both sides until both pass, or as the policy has it, and 3 * points() moves at the most; returns the number
    // of moves. `before` are the moves that led to `board`, oldest first. What is played is added to `trace` unless it
    // is null.
    virtual int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                     PlayoutTrace* trace) const = 0;

    // How likely the policy holds each of `moves` (legal; pass may be among them) to be played next: weights of 0 or
    // more, one a move, of any scale. Here: all the same.
    virtual void weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                       std::span<float> weights) const;

    // How the end of a playout is counted, black first. Here: final_area() (ownership.h).
    virtual std::array<PointSet, 2> area(const Board& board) const;
};

// The policy of a name, shared by all who ask. "linear:PATH" is the linear policy with the weights of a file; `linear`
// itself has those that set_linear_path() names (linear.h), and is no known name before. Throws std::invalid_argument
// that lists the names there are. A temperature is the linear policy's (linear.h); the others ignore it.
std::shared_ptr<const PlayoutPolicy> playout_policy(std::string_view name, float temperature = 1);
std::span<const std::string_view> playout_policies();

}  // namespace tengen
