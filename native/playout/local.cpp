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

    Point choose(Board& board, Color color, Point last, Point before, Candidates& candidates) {
        if (last != kNoPoint && last != board.pass())
            if (const Point p = answer(board, color, last); p != kNoPoint) return p;
        if (before != kNoPoint && before != board.pass())
            if (const Point p = go_on(board, color, before); p != kNoPoint) return p;
        return candidates.draw(board, color, random_, [&](Point p) {
            return !is_self_atari(board, p, color) || is_useful_self_atari(board, p, color) ||
                   !chance(params_.refuse_self_atari);
        });
    }

  private:
    bool chance(float share) { return static_cast<float>(random_.next() >> 40) < share * 0x1p24f; }

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
        if (chance(params_.nakade)) {
            for (const Point n : board.neighbors(last)) {
                if (board.at(n) != Color::empty) continue;
                const Point p = vital_point(board, n);
                if (p != kNoPoint && board.is_legal(p, color, false)) return p;
            }
        }
        return chance(params_.pattern) ? pattern_near(board, color, last) : kNoPoint;
    }

    Point go_on(const Board& board, Color color, Point before) {
        if (chance(params_.capture_before)) {
            Choices choices;
            for (const Point n : board.neighbors(before)) {
                if (board.at(n) != opponent(color) || !in_atari(board, n)) continue;
                const Point p = last_liberty(board, n);
                if (board.is_legal(p, color, false)) choices.add(p);
            }
            if (!choices.empty()) return pick(choices);
        }
        return chance(params_.pattern_before) ? pattern_near(board, color, before) : kNoPoint;
    }

    Point pattern_near(const Board& board, Color color, Point last) {
        Choices choices;
        for (const Point p : around_.points(last)) {
            if (board.at(p) != Color::empty || !matches_3x3(around_.code(board, p), color)) continue;
            if (board.is_legal(p, color, false) && !is_self_atari(board, p, color)) choices.add(p);
        }
        return pick(choices);
    }

    const LocalParams& params_;
    const Neighborhoods& around_;
    SplitMix64& random_;
};

}  // namespace

int LocalPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                      PlayoutTrace* trace) const {
    Player player(params_, board, random);
    const Point earlier = before.size() < 2 ? kNoPoint : before[before.size() - 2].point;
    Point last = last_point(before), last_but_one = earlier;
    return play_out(board, to_play, trace, [&](Color color, Candidates& candidates) {
        const Point p = player.choose(board, color, last, last_but_one, candidates);
        last_but_one = std::exchange(last, p);
        return p;
    });
}

void LocalPolicy::weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                        std::span<float> weights) const {
    const LocalPrior prior(board, to_play, before);
    for (std::size_t i = 0; i < moves.size(); ++i) weights[i] = prior.weight(moves[i]);
}

}  // namespace tengen
