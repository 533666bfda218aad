#include "playout/local.h"

#include "playout/candidates.h"
#include "playout/patterns.h"
#include "playout/prior.h"
#include "playout/tactics.h"

namespace tengen {

namespace {

// The moves of one playout.
class Player {
  public:
    Player(const LocalParams& params, const Board& board, SplitMix64& random)
        : params_(params), around_(neighborhoods(board.size())), random_(random) {}

    Point choose(Board& board, Color color, Point last, Candidates& candidates) {
        if (last != kNoPoint && last != board.pass())
            if (const Point p = answer(board, color, last); p != kNoPoint) return p;
        return candidates.draw(board, color, random_, [&](Point p) {
            return !is_self_atari(board, p, color) || is_useful_self_atari(board, p, color) ||
                   !chance(params_.refuse_self_atari);
        });
    }

  private:
    bool chance(float share) { return random_.uniform_float() < share; }

    Point pick(const Choices& choices) {
        return choices.empty() ? kNoPoint : choices[static_cast<int>(random_.below(choices.size()))];
    }

    Point answer(Board& board, Color color, Point last) {
        Choices choices;
        if (board.at(last) == opponent(color) && in_atari(board, last) && chance(params_.capture)) {
            const Point p = last_liberty(board, last);
            if (board.is_legal(p, color, false)) return p;
        }
        bool weak = false;
        for (const Point n : board.neighbors(last)) weak = weak || (board.at(n) == color && in_atari(board, n));
        if (weak && chance(params_.save)) {
            for (const Point n : board.neighbors(last))
                if (board.at(n) == color && in_atari(board, n)) add_saves(board, n, params_.ladder_nodes, choices);
            if (!choices.empty()) return pick(choices);
        }
        return chance(params_.pattern) ? pattern_near(board, color, last) : kNoPoint;
    }

    // Drawn evenly from the patterns around a point; legality is looked at last, since it costs more than the table.
    Point pattern_near(const Board& board, Color color, Point last) {
        std::array<Point, 8> found;
        std::uint32_t count = 0;
        for (const Point p : around_.points(last))
            if (board.at(p) == Color::empty && matches_3x3(around_.code(board, p), color)) found[count++] = p;
        while (count) {
            const std::uint32_t at = random_.below(count);
            const Point p = found[at];
            if (board.is_legal(p, color, false) && !is_self_atari(board, p, color)) return p;
            found[at] = found[--count];
        }
        return kNoPoint;
    }

    const LocalParams& params_;
    const Neighborhoods& around_;
    SplitMix64& random_;
};

}  // namespace

int LocalPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                      PlayoutTrace* trace) const {
    Player player(params_, board, random);
    Point last = last_point(before);
    return play_out(board, to_play, trace, [&](Color color, Candidates& candidates) {
        return last = player.choose(board, color, last, candidates);
    });
}

Point LocalPolicy::choose(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random) const {
    Candidates candidates(board);
    return Player(params_, board, random).choose(board, to_play, last_point(before), candidates);
}

void LocalPolicy::weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                        std::span<float> weights) const {
    const LocalPrior prior(board, to_play, before);
    for (std::size_t i = 0; i < moves.size(); ++i) weights[i] = prior.weight(moves[i]);
}

}  // namespace tengen
