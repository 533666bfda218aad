#include "board/pass_policy.h"

#include "board/names.h"
#include "board/pass_alive.h"

namespace tengen {

namespace {

constexpr Named<PassPolicy> kPassPolicies[] = {{PassPolicy::free, "free"},
                                               {PassPolicy::no_legal_move, "no-legal-move"},
                                               {PassPolicy::no_useful_move, "no-useful-move"}};

constexpr Named<DeadStones> kDeadStones[] = {{DeadStones::pass_alive, "pass-alive"}, {DeadStones::none, "none"}};

}  // namespace

std::string_view name(PassPolicy value) { return row_of(kPassPolicies, value).name; }

std::string_view name(DeadStones value) { return row_of(kDeadStones, value).name; }

void parse(std::string_view text, PassPolicy& value) { value = parse_name(kPassPolicies, "pass policy", text); }

void parse(std::string_view text, DeadStones& value) { value = parse_name(kDeadStones, "dead-stone rule", text); }

std::vector<std::string> names(PassPolicy) { return all_names(kPassPolicies); }

std::vector<std::string> names(DeadStones) { return all_names(kDeadStones); }

PointSet true_eyes(const Board& board, Color color) {
    PointSet eyes;
    board.empty_points().for_each([&](Point p) {
        if (board.is_true_eye(p, color)) eyes.add(p);
    });
    return eyes;
}

PointSet useful_moves(const Game& game, DeadStones dead_stones) {
    const Board& board = game.board();
    const PointSet settled = dead_stones == DeadStones::none ? PointSet() : settled_area(game);
    PointSet moves;
    board.empty_points().minus(settled).for_each([&](Point p) {
        if (!board.is_true_eye(p, game.to_play()) && game.is_legal(p)) moves.add(p);
    });
    return moves;
}

PointSet allowed_moves(const Game& game, PassPolicy policy, DeadStones dead_stones) {
    if (policy == PassPolicy::no_useful_move) return useful_moves(game, dead_stones);
    PointSet moves;
    game.board().empty_points().for_each([&](Point p) {
        if (game.is_legal(p)) moves.add(p);
    });
    return moves;
}

PointSet settled_area(const Game& game) {
    const auto [black, white] = pass_alive_areas(game.board(), game.rules().suicide);
    return black | white;
}

}  // namespace tengen
