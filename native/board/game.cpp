#include "board/game.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace tengen {

namespace {

constexpr std::uint64_t kWhiteToPlay = 0x5bd1e995c0ffee11ULL;  // any constant with no relation to the stones' keys

// What the button is worth to White when this color has it.
float button_points(Color color) { return color == Color::white ? 0.5f : color == Color::black ? -0.5f : 0.0f; }

}  // namespace

std::string_view reason(Legality value) {
    static constexpr std::array<std::string_view, 6> kReasons = {"",   "off the board", "occupied",
                                                                 "ko", "superko",       "suicide"};
    return kReasons[static_cast<int>(value)];
}

std::string_view name(Ending value) {
    static constexpr std::array<std::string_view, 7> kNames = {"",           "passes",  "resignation", "move limit",
                                                               "long cycle", "settled", "sure win"};
    return kNames[static_cast<int>(value)];
}

Game::Game(int size, const Rules& rules, float komi) : board_(size), rules_(rules), komi_(0) {
    set_komi(komi);
    reset_history();
}

void Game::set_komi(float komi) {
    if (!std::isfinite(komi)) throw std::invalid_argument("komi must be a finite number");
    komi_ = komi;
}

void Game::refuse_after_moves() const {
    if (!moves_.empty()) throw std::invalid_argument("the position can be set up only before the first move");
}

void Game::setup(Point p, Color color) {
    refuse_after_moves();
    if (color == Color::empty) {
        board_.remove(p);
        std::erase_if(setup_, [p](const Move& stone) { return stone.point == p; });
    } else {
        board_.place(p, color);
        setup_.push_back({p, color});
    }
    reset_history();
}

void Game::set_to_play(Color color) {
    refuse_after_moves();
    first_ = color;
    reset_history();
}

// Makes the position on the board the first of the game.
void Game::reset_history() {
    moves_.clear();
    to_play_ = first_;
    resigned_ = Color::empty;
    passes_ = 0;
    long_cycle_ = repeated_pass_ = false;
    button_ = Color::empty;
    captures_ = {};
    since_pass_ = first_repeatable_ = 0;
    encore_ = {};
    ever_occupied_ = {board_.stones(Color::black), board_.stones(Color::white)};
    history_ = {position_key(board_.hash(), to_play_)};
}

// What a repetition must equal: under positional superko the stones, else also the side to play, and in the encore what
// is blocked.
std::uint64_t Game::position_key(std::uint64_t stones, Color to_play) const {
    if (!encore_.blocked.empty()) stones ^= encore_.blocked.hash();
    const bool by_side = rules_.ko != Ko::positional || encore_.phase > 0;
    return by_side && to_play == Color::white ? stones ^ kWhiteToPlay : stones;
}

// A position with a stone of this color here can have been before only if such a stone ever stood here. This spares
// nearly all searches of the history: it leaves points of captured stones, and suicides.
bool Game::may_repeat(Point p, Color color) const {
    return ever_occupied_[index(color)].contains(p) || board_.is_suicide(p, color);
}

bool Game::repeats(Point p, Color color) const {
    if (encore_.phase)
        return std::ranges::any_of(encore_.ko_captures, [&](const Encore::KoCapture& capture) {
            return capture.stones == board_.hash() && capture.move == Move{p, color};
        });
    if (rules_.ko == Ko::simple || p == board_.pass() || !may_repeat(p, color)) return false;
    return was_there(board_.hash_after(p, color), opponent(color));
}

bool Game::was_there(std::uint64_t stones, Color to_play) const {
    if (superko_is_off()) return false;
    const auto end = history_.rend() - static_cast<std::ptrdiff_t>(first_repeatable_);
    return std::find(history_.rbegin(), end, position_key(stones, to_play)) != end;
}

// Whether the color has passed with these stones on the board before, under simple ko and in the encore.
bool Game::passed_here(Color color) const {
    if (!superko_is_off()) return false;
    for (std::size_t i = first_repeatable_; i < moves_.size(); ++i)
        if (moves_[i].point == board_.pass() && moves_[i].color == color && history_[i] == history_.back()) return true;
    return false;
}

bool Game::pass_ends() const { return !button_left() && (passes_ >= 1 || passed_here(to_play_)); }

bool Game::is_legal(Point p, Color color) const {
    return (board_.is_legal(p, color, rules_.suicide) && !repeats(p, color)) || is_pass_for_ko(p, color);
}

// The blocked stone that this move is a pass for, or kNoPoint. It has one liberty, the ko.
Point Game::blocked_ko(Point p, Color color) const {
    if (encore_.blocked.empty() || p == board_.pass()) return kNoPoint;
    const auto is_blocked = [&](Point stone) {
        return encore_.blocked.contains(stone) && board_.at(stone) == opponent(color) &&
               board_.chain_size(stone) == 1 && board_.liberties(stone) == 1;
    };
    if (board_.at(p) != Color::empty) return is_blocked(p) ? p : kNoPoint;
    // A capture of a ko: the other side is all around, and one stone of it can be taken.
    Point taken = kNoPoint;
    for (const Point n : board_.neighbors(p)) {
        if (board_.at(n) != opponent(color) || (board_.liberties(n) == 1 && taken != kNoPoint)) return kNoPoint;
        if (board_.liberties(n) == 1) taken = n;
    }
    return taken != kNoPoint && is_blocked(taken) ? taken : kNoPoint;
}

bool Game::is_pass_for_ko(Point p, Color color) const { return blocked_ko(p, color) != kNoPoint; }

Legality Game::legality(int p, Color color) const {
    if (p == board_.pass()) return Legality::legal;
    if (p < 0 || p > board_.pass()) return Legality::off_board;
    const auto point = static_cast<Point>(p);
    if (is_pass_for_ko(point, color)) return Legality::legal;
    if (board_.at(point) != Color::empty) return Legality::occupied;
    if (!board_.is_legal(point, color, rules_.suicide))
        return point == board_.ko() && color == board_.ko_color() ? Legality::ko : Legality::suicide;
    return repeats(point, color) ? Legality::superko : Legality::legal;
}

// A move on the board, or a pass for ko: then false. Simple ko plays no part here: what took a ko is blocked.
bool Game::play_in_encore(Move move) {
    const Point for_ko = blocked_ko(move.point, move.color);
    if (for_ko != kNoPoint) {
        encore_.blocked.remove(for_ko);
        return false;
    }
    const std::uint64_t before = board_.hash();
    board_.play(move.point, move.color);
    if (board_.ko() != kNoPoint) {
        encore_.blocked.add(move.point);
        encore_.ko_captures.push_back({before, move});
        board_.play(board_.pass(), move.color);  // clears the ko
    }
    encore_.blocked = encore_.blocked.minus(board_.empty_points());
    return true;
}

// A phase of the encore, after passes.
void Game::begin_phase() {
    Encore next{.phase = encore_.phase + 1, .start = moves_.size()};
    if (next.phase == 2) {
        next.first_stones = {board_.stones(Color::black), board_.stones(Color::white)};
        next.placed_before = {placed_stones(Color::black), placed_stones(Color::white)};
    }
    encore_ = std::move(next);
    passes_ = 0;
    repeated_pass_ = false;
    first_repeatable_ = history_.size();
}

void Game::play(Point p, Color color) {
    const bool pass = p == board_.pass(), takes_button = pass && button_left();
    repeated_pass_ = pass && !takes_button && passed_here(color);
    const Color other = opponent(color);
    const int own_before = board_.stones(color).count(), others_before = board_.stones(other).count();
    past_[moves_.size() % kPastBoards] = {board_.stones(Color::black), board_.stones(Color::white)};
    bool places = !pass;
    if (encore_.phase && !pass)
        places = play_in_encore({p, color});
    else
        board_.play(p, color);
    moves_.push_back({p, color});
    to_play_ = other;
    resigned_ = Color::empty;
    passes_ = pass && !takes_button ? passes_ + 1 : 0;
    const bool to_encore = encore_from_ && moves_.size() > *encore_from_ && rules_.scoring == Scoring::territory;
    if (to_encore && encore_.phase < 2 && (passes_ >= 2 || repeated_pass_)) begin_phase();
    const auto key = position_key(board_.hash(), to_play_);
    history_.push_back(key);
    if (pass) {
        long_cycle_ = false;
        since_pass_ = history_.size() - 1;
        if (takes_button) button_ = color, first_repeatable_ = since_pass_;
        return;
    }
    const int lost = own_before + places - board_.stones(color).count();
    captures_[index(color)] += others_before - board_.stones(other).count();
    captures_[index(other)] += lost;
    // Stones return only where there were some before, or by a suicide.
    const bool returns = ever_occupied_[index(color)].contains(p) || lost || encore_.phase;
    ever_occupied_[index(color)].add(p);
    long_cycle_ = returns && superko_is_off() && std::count(history_.begin() + since_pass_, history_.end(), key) >= 3;
}

const PointSet& Game::past_stones(Color color, int back) const {
    static constexpr PointSet kNone;
    const auto number = static_cast<int>(moves_.size()) - back;
    return number < 0 ? kNone : past_[static_cast<std::size_t>(number) % kPastBoards][index(color)];
}

bool Game::undo() {
    if (resigned_ != Color::empty) {
        resigned_ = Color::empty;
        return true;
    }
    if (moves_.empty()) return false;
    const std::vector<Move> kept(moves_.begin(), moves_.end() - 1);
    if (encore_from_) encore_from_ = std::min(*encore_from_, kept.size());
    board_ = Board(board_.size());
    for (const auto [point, color] : setup_) board_.place(point, color);
    reset_history();
    for (const auto [point, color] : kept) play(point, color);
    return true;
}

void Game::set_move_limit(int moves, AtLimit declared) {
    if (moves < 0)
        throw std::invalid_argument("a limit of moves must be 0 (none) or more, not " + std::to_string(moves));
    move_limit_ = moves;
    at_limit_ = declared;
}

Ending Game::ending() const {
    if (resigned_ != Color::empty) return Ending::resignation;
    if (long_cycle_) return Ending::long_cycle;
    if (passes_ >= 2 || repeated_pass_) return Ending::passes;
    return limit_reached() ? Ending::move_limit : Ending::none;
}

bool Game::is_no_result() const {
    const Ending end = ending();
    return end == Ending::long_cycle || (end == Ending::move_limit && at_limit_ == AtLimit::no_result);
}

PointSet Game::superko_bans() const {
    PointSet bans;
    if (encore_.phase) {
        for (const Encore::KoCapture& capture : encore_.ko_captures)
            if (repeats(capture.move.point, to_play_)) bans.add(capture.move.point);
        return bans;
    }
    if (rules_.ko == Ko::simple) return bans;
    board_.empty_points().for_each([&](Point p) {
        if (repeats(p, to_play_) && board_.is_legal(p, to_play_, rules_.suicide)) bans.add(p);
    });
    return bans;
}

int Game::handicap() const {
    int stones = 0;
    for (const auto& stone : setup_) {
        if (stone.color == Color::white) return 0;
        ++stones;
    }
    int moves = 0;
    while (moves < static_cast<int>(moves_.size()) && moves_[moves].color == Color::black &&
           moves_[moves].point != board_.pass())
        ++moves;
    // Two moves of White in a row after them: a front end has set up a position by moves, one color after the other.
    const auto white = [this](int at) {
        return at < static_cast<int>(moves_.size()) && moves_[at].color == Color::white;
    };
    if (!(white(moves) && white(moves + 1))) stones += moves;
    return stones >= 2 ? stones : 0;
}

int Game::placed_stones(Color color) const {
    if (encore_.phase == 2) return encore_.placed_before[index(color)];
    return board_.stones(color).count() + captures_[index(opponent(color))];
}

float Game::white_bonus() const {
    const float taken = button_points(button_);
    const int stones = handicap();
    if (rules_.handicap_bonus == HandicapBonus::none || stones == 0) return taken;
    return taken + static_cast<float>(rules_.handicap_bonus == HandicapBonus::n ? stones : stones - 1);
}

float Game::white_compensation() const { return komi_ + white_bonus() + (button_left() ? button_points(to_play_) : 0); }

}  // namespace tengen
