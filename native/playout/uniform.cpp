#include "playout/uniform.h"

#include "board/pass_alive.h"

namespace tengen {

namespace {

// The empty points of a board in no particular order, kept up to date from move to move.
class Candidates {
  public:
    explicit Candidates(const Board& board) : known_(board.empty_points()) {
        known_.for_each([this](Point p) { points_[count_++] = p; });
    }

    // A point drawn evenly from those that `color` may want to play, or pass.
    Point draw(const Board& board, Color color, SplitMix64& random) {
        for (int untried = count_; untried > 0;) {
            const auto at = random.below(untried);
            const Point p = points_[at];
            if (!board.is_true_eye(p, color) && board.is_legal(p, color, false)) {
                points_[at] = points_[--count_];
                known_.remove(p);
                return p;
            }
            std::swap(points_[at], points_[--untried]);
        }
        return board.pass();
    }

    // To be called after a drawn move was played: takes in the points of captured stones.
    void update(const Board& board) {
        if (board.empty_points() == known_) return;
        board.empty_points().minus(known_).for_each([this](Point p) { points_[count_++] = p; });
        known_ = board.empty_points();
    }

  private:
    PointSet known_;
    std::array<Point, kMaxPoints> points_;
    int count_ = 0;
};

// Adds one finished playout: stones, and empty points with neighbours of one colour only.
void tally(const Board& board, Tally& total) {
    const auto& black = board.stones(Color::black);
    const auto& white = board.stones(Color::white);
    black.for_each([&](Point p) { ++total[p]; });
    white.for_each([&](Point p) { --total[p]; });
    board.empty_points().for_each([&](Point p) {
        const auto& around = board.table().neighbor_sets[p];
        total[p] += around.minus(black).empty() - around.minus(white).empty();
    });
}

}  // namespace

int play_uniform(Board& board, Color to_play, SplitMix64& random) {
    Candidates candidates(board);
    const int limit = 3 * board.points();
    int moves = 0, passes = 0;
    for (Color color = to_play; passes < 2 && moves < limit; color = opponent(color), ++moves) {
        const Point p = candidates.draw(board, color, random);
        board.play(p, color);
        passes = p == board.pass() ? passes + 1 : 0;
        candidates.update(board);
    }
    return moves;
}

Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed) {
    Tally total{};
    SplitMix64 random(seed);
    for (int i = 0; i < playouts; ++i) {
        Board board = game.board();
        play_uniform(board, game.to_play(), random);
        tally(board, total);
    }
    return total;
}

PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed) {
    const Board& board = game.board();
    const Tally owned = tally_playouts(game, playouts, seed);
    PointSet dead;
    for (const Color color : {Color::black, Color::white}) {
        const int sign = color == Color::black ? 1 : -1;
        const PassAlive own = pass_alive(board, color, game.rules().suicide);
        const PassAlive others = pass_alive(board, opponent(color), game.rules().suicide);
        board.stones(color).for_each([&](Point p) {
            if (board.chain(p) != p) return;
            int sum = 0;
            PointSet chain;
            board.for_each_stone(p, [&](Point s) {
                sum += sign * owned[s];
                chain.add(s);
            });
            if ((sum < 0 && !own.stones.contains(p)) || others.territory.contains(p)) dead |= chain;
        });
    }
    return dead;
}

}  // namespace tengen
