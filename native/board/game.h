// A game: a board, its rules and komi, the side to play and the whole history.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "board/board.h"
#include "board/rules.h"

namespace tengen {

struct Move {
    Point point;
    Color color;
    friend bool operator==(const Move&, const Move&) = default;
};

// A stored move: the point, with a bit set for White.
inline constexpr std::uint16_t kWhiteBit = 0x8000;
constexpr std::uint16_t stored(Move move) {
    return static_cast<std::uint16_t>(move.point | (move.color == Color::white ? kWhiteBit : 0));
}
constexpr Color move_color(std::uint16_t code) { return code & kWhiteBit ? Color::white : Color::black; }
constexpr Point move_point(std::uint16_t code) { return static_cast<Point>(code & (kWhiteBit - 1)); }

// How far back a game keeps the stones of past positions, in moves.
inline constexpr int kPastBoards = 7;

// Why a move may not be played.
enum class Legality : std::uint8_t { legal, off_board, occupied, ko, superko, suicide };

std::string_view reason(Legality value);  // "occupied", "superko" ...; "" for legal

// Why a game is over. The last two are decided by game_end() (game_end.h), not by the game itself.
enum class Ending : std::uint8_t { none, passes, resignation, move_limit, long_cycle, settled, sure_win };

std::string_view name(Ending value);  // "passes", "resignation", "move limit", "long cycle" ...; "" for none

// What is declared when the limit of moves is reached.
enum class AtLimit : std::uint8_t { count, no_result };

// The encore, with which games under territory scoring end in the rules of KataGo's networks. The passes that would end
// the game begin its first phase, in which both sides may capture dead stones or defend, and the next ones the second,
// whose end is counted (encore_owners in score.h). Stones of the second phase cost nothing, and those that stand there
// from its start count. A stone that takes a ko is blocked: the other side may take it back after a pass for ko, a move
// at the stone or at the ko, which changes no stone. The same capture in the same position is allowed once a phase.
// Source: KataGo's boardhistory.cpp.
struct Encore {
    struct KoCapture {
        std::uint64_t stones;  // hash of the board before it
        Move move;
    };
    int phase = 0;          // 0 before the encore, then 1 and 2
    std::size_t start = 0;  // moves before the phase
    PointSet blocked{};
    std::vector<KoCapture> ko_captures{};    // of the phase
    std::array<PointSet, 2> first_stones{};  // of the second phase, by color: on the board at its start
    std::array<int, 2> placed_before{};      // Game::placed_stones() then
};

// Points are trusted to lie on the board or to be pass, as in Board, but for legality().
class Game {
  public:
    // Throws std::invalid_argument on a size out of range or a komi that is no finite number.
    Game(int size, const Rules& rules, float komi);

    // The position before the first move. All three throw std::invalid_argument once a move was played; setup() also
    // where Board::place() and remove() do (Color::empty removes), and keeps the game as it was.
    void setup(Point p, Color color);
    void set_to_play(Color color);
    void set_komi(float komi);  // at any time; throws std::invalid_argument unless finite

    const Board& board() const { return board_; }
    const Rules& rules() const { return rules_; }
    float komi() const { return komi_; }
    Color to_play() const { return to_play_; }
    const std::vector<Move>& moves() const { return moves_; }
    const std::vector<Move>& setup_stones() const { return setup_; }
    Color first_to_play() const { return first_; }
    // Stones 1..kPastBoards moves ago. Passes count as moves. Empty where the game has fewer moves: setup stones are
    // part of the position before the first move and of no earlier one.
    const PointSet& past_stones(Color color, int back) const;

    // Moves may be played out of turn; the ko then binds only the side that it was made for. A game that is over may be
    // played on. legality() takes any number for a point.
    Legality legality(int p, Color color) const;
    bool is_legal(Point p) const { return is_legal(p, to_play_); }
    bool is_legal(Point p, Color color) const;
    void play(Point p) { play(p, to_play_); }
    void play(Point p, Color color);
    bool undo();  // the resignation, else the last move, by replay; false if there is neither

    // The end of a game, by the first of these that holds: a resignation, a long cycle, passes (two in a row or a
    // repeated one), the limit of moves.
    // The next move takes a resignation back.
    void resign(Color color) { resigned_ = color; }
    Color resigned() const { return resigned_; }  // Color::empty without a resignation
    // The game is over with this many moves, passes included; 0 for no limit. At any time; throws std::invalid_argument
    // on a negative number.
    void set_move_limit(int moves, AtLimit declared = AtLimit::count);
    int move_limit() const { return move_limit_; }
    AtLimit at_limit() const { return at_limit_; }
    Ending ending() const;
    bool is_no_result() const;  // over without winner or count

    int passes() const { return passes_; }  // at the end, in a row, without the one that took the button
    // A player who passes where he passed before, with the same stones, ends the game under simple ko: this ends
    // cycles with passes in them, such as sending two returning one.
    bool is_repeated_pass() const { return repeated_pass_; }
    bool pass_ends() const;  // whether a pass of to_play() ends the game, or a phase where the encore is played
    // Under territory scoring passes from here on lead to the encore, not to the end of the game, and no limit of moves
    // holds there. Other scoring has none. At any time; where it is played already, set_encore(true) changes nothing.
    void set_encore(bool played) {
        if (played != encore_from_.has_value()) encore_from_ = played ? std::optional(moves_.size()) : std::nullopt;
    }
    std::optional<std::size_t> encore_from() const { return encore_from_; }  // moves made before set_encore(true)
    const Encore& encore() const { return encore_; }
    bool is_pass_for_ko(Point p, Color color) const;  // p: any empty or taken point, or pass
    // The button of the rules: the color that took it, Color::empty while nobody has.
    Color button() const { return button_; }
    bool button_left() const { return rules_.button && button_ == Color::empty; }
    // The same stones with the same side to play for the third time since the last pass, under simple ko: no result.
    bool is_long_cycle() const { return long_cycle_; }
    bool is_over() const {
        return passes_ >= 2 || repeated_pass_ || long_cycle_ || resigned_ != Color::empty || limit_reached();
    }
    // Whether superko forbids to make these stones with this side to play (0 or more moves on from here); `stones` is
    // the hash of a board.
    bool was_there(std::uint64_t stones, Color to_play) const;
    // What only superko forbids to to_play(); in the encore the captures of kos that it has made in this position,
    // which legality() calls superko too.
    PointSet superko_bans() const;

    int captures(Color by) const { return captures_[index(by)]; }  // stones of the other side; suicides count for it
    // Stones that a color has placed, set-up ones included, without those of the second phase of the encore.
    int placed_stones(Color color) const;
    // Stones that Black has before White's first, setup and moves in a row, if two or more and White has no setup
    // stone. Moves in a row count unless White then also moves twice in a row.
    int handicap() const;
    float white_bonus() const;  // points that the rules give White: for the handicap, and half of one for the button
    // Komi, bonus, and a button that is left, which at the end goes to the side to play.
    float white_compensation() const;

  private:
    std::uint64_t position_key(std::uint64_t stones, Color to_play) const;
    bool repeats(Point p, Color color) const;
    bool may_repeat(Point p, Color color) const;
    bool passed_here(Color color) const;
    bool superko_is_off() const { return rules_.ko == Ko::simple || encore_.phase > 0; }
    Point blocked_ko(Point p, Color color) const;
    bool play_in_encore(Move move);
    void begin_phase();
    bool limit_reached() const {
        return move_limit_ && !encore_.phase && moves_.size() >= static_cast<std::size_t>(move_limit_);
    }
    void reset_history();
    void refuse_after_moves() const;

    Board board_;
    Rules rules_;
    float komi_;
    Color first_ = Color::black;
    Color to_play_ = Color::black;
    int passes_ = 0;
    bool long_cycle_ = false;
    bool repeated_pass_ = false;
    Color button_ = Color::empty;
    std::array<int, 2> captures_{};
    std::size_t since_pass_ = 0;  // index of the first entry of history_ that a long cycle may count
    // Of the first that may not be repeated: taking the button makes all positions new, as does a phase of the encore.
    std::size_t first_repeatable_ = 0;
    std::optional<std::size_t> encore_from_;
    Encore encore_;
    std::array<PointSet, 2> ever_occupied_;  // where a color ever had a stone
    std::vector<Move> setup_, moves_;
    std::array<std::array<PointSet, 2>, kPastBoards> past_;  // by color, before move n at n % kPastBoards
    std::vector<std::uint64_t> history_;                     // key of every position, the first one included
    int move_limit_ = 0;
    AtLimit at_limit_ = AtLimit::count;
    Color resigned_ = Color::empty;
};

}  // namespace tengen
