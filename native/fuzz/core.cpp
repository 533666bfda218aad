// The fuzz target of the core: bytes become sizes, rules, moves, texts and rows of a store, right or wrong. It must
// refuse what is wrong with std::invalid_argument and keep its books straight: after every change chains, liberties and
// hash are counted again from the stones. With clang this is a libFuzzer target; random_bytes.cpp drives it elsewhere.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "board/diagram.h"
#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"
#include "board/symmetry.h"
#include "features/encode.h"
#include "features/rows.h"
#include "playout/policy.h"

using namespace tengen;

namespace {

#define REQUIRE(condition)                                                                 \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            std::fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                  \
        }                                                                                  \
    } while (false)

class Bytes {
  public:
    explicit Bytes(std::span<const std::uint8_t> data) : data_(data) {}
    bool empty() const { return at_ >= data_.size(); }
    int byte() { return empty() ? 0 : data_[at_++]; }
    int word() { return byte() << 8 | byte(); }
    std::string rest() {
        std::string text;
        while (!empty()) text.push_back(static_cast<char>(byte()));
        return text;
    }

  private:
    std::span<const std::uint8_t> data_;
    std::size_t at_ = 0;
};

// The value of f, or nothing where it throws std::invalid_argument, which must say something.
template <class F>
auto unless_refused(F f) -> std::optional<decltype(f())> {
    try {
        return f();
    } catch (const std::invalid_argument& error) {
        REQUIRE(std::string_view(error.what()).size() > 3);
        return std::nullopt;
    }
}

void check_chain(const Board& board, Point stone) {
    const Color color = board.at(stone);
    PointSet chain, liberties;
    std::vector<Point> open{stone};
    chain.add(stone);
    while (!open.empty()) {
        const Point p = open.back();
        open.pop_back();
        for (const Point n : board.neighbors(p)) {
            if (board.at(n) == Color::empty) liberties.add(n);
            if (board.at(n) != color || chain.contains(n)) continue;
            chain.add(n);
            open.push_back(n);
        }
    }
    int walked = 0;
    board.for_each_stone(stone, [&](Point s) { walked += chain.contains(s) ? 1 : kMaxPoints; });
    REQUIRE(!liberties.empty());
    REQUIRE(walked == chain.count() && board.chain_size(stone) == walked);
    REQUIRE(board.liberty_set(stone) == liberties && board.liberties(stone) == liberties.count());
}

// Counts everything again that the board keeps.
void check(const Board& board) {
    Board again(board.size());
    for (Point p = 0; p < board.points(); ++p) {
        const Color color = board.at(p);
        for (const Color c : {Color::black, Color::white}) REQUIRE(board.stones(c).contains(p) == (c == color));
        REQUIRE(board.empty_points().contains(p) == (color == Color::empty));
        if (color == Color::empty) continue;
        if (board.chain(p) == p) check_chain(board, p);
        REQUIRE(board.at(board.chain(p)) == color);
        again.place(p, color);
    }
    REQUIRE(again.hash() == board.hash());
    REQUIRE(board.ko() == kNoPoint || board.at(board.ko()) == Color::empty);
}

Rules rules_of(int bits) {
    return {Ko(bits % 3),       bits / 3 % 2 ? Scoring::area : Scoring::territory,
            bits / 6 % 2 == 1,  HandicapBonus(bits / 12 % 3),
            Tax(bits / 36 % 3), bits / 108 % 2 == 1};
}

// A move that is legal keeps what the board foretold of it, and undo brings everything back.
void play(Game& game, Point p, Color color) {
    const Board before = game.board();
    const Color other = opponent(color);
    const bool stone = p != before.pass();
    const std::uint64_t hash = stone ? before.hash_after(p, color) : before.hash();
    const int captures = stone ? before.capture_size(p, color) : 0;
    const int room = stone ? before.liberties_after(p, color) : 0;
    Board board = before;
    Board::Undo record;
    board.play(p, color, record);
    REQUIRE(board.hash() == hash);
    REQUIRE(before.stones(other).count() - board.stones(other).count() == captures);
    if (stone && board.at(p) == color) REQUIRE(board.liberties(p) == room);
    if (stone && board.at(p) != color) REQUIRE(room == 0 && game.rules().suicide);
    check(board);
    board.undo(record);
    REQUIRE(board.hash() == before.hash() && board.ko() == before.ko() && board.ko_color() == before.ko_color());
    check(board);
    game.play(p, color);
    REQUIRE(game.board().hash() == hash && game.to_play() == other);
}

// Questions that must leave the game as it is and agree with each other.
void ask(const Game& game, Bytes& in) {
    Board board = game.board();
    const Ladders ladders = read_ladders(board, game.to_play());
    REQUIRE(board.hash() == game.board().hash());
    check(board);
    (ladders.captures | ladders.escapes).for_each([&](Point p) { REQUIRE(board.is_legal(p, game.to_play(), false)); });
    const PointSet black = pass_alive(board, Color::black, game.rules().suicide).area();
    const PointSet white = pass_alive(board, Color::white, game.rules().suicide).area();
    REQUIRE(!black.intersects(white));
    PointSet dead;
    for (int n = in.byte() % 4; n > 0; --n) dead.add(static_cast<Point>(in.word() % board.points()));
    const float points = score(game, dead) + game.white_compensation();
    REQUIRE(points >= -4.0f * kMaxPoints && points <= 4.0f * kMaxPoints);
    REQUIRE(parse_diagram(diagram(board)).hash() == board.hash());
    game.superko_bans().for_each([&](Point p) { REQUIRE(game.legality(p, game.to_play()) == Legality::superko); });
}

void play_out(const Game& game, Bytes& in) {
    const auto names = playout_policies();
    const auto policy = playout_policy(names[static_cast<std::size_t>(in.byte()) % names.size()]);
    Board board = game.board();
    SplitMix64 random(static_cast<std::uint64_t>(in.byte()));
    PlayoutTrace trace;
    trace.clear();
    const int moves = policy->play(board, game.to_play(), game.moves(), random, &trace);
    REQUIRE(moves >= 0 && moves <= 3 * board.points());
    check(board);
}

void encode_position(const Game& game, Bytes& in) {
    const PlaneSet& set = plane_set("tengen");
    const int edge = game.board().size() + in.byte() % 3;
    const auto area = static_cast<std::size_t>(edge * edge);
    std::vector<float> planes(set.planes.size() * area), scalars(set.scalars.size()), mask(area);
    encode(set, game, in.byte() % kSymmetries, edge, planes.data(), scalars.data(), mask.data());
    float covered = 0;
    for (const float value : mask) covered += value;
    REQUIRE(covered == static_cast<float>(game.board().points()));
}

void fuzz_game(Bytes& in) {
    const int size = in.byte() % (kMaxSize + 5);
    const Rules rules = rules_of(in.byte());
    const float komi = in.byte() == 255 ? std::numeric_limits<float>::quiet_NaN() : (in.byte() - 128) / 2.0f;
    auto made = unless_refused([&] { return Game(size, rules, komi); });
    REQUIRE(made.has_value() == (size >= kMinSize && size <= kMaxSize && komi == komi));
    if (!made) return;
    Game& game = *made;
    const int points = game.board().points();
    while (!in.empty()) {
        const int action = in.byte();
        const Color color = action & 16 ? opponent(game.to_play()) : game.to_play();
        // Most moves go to a corner, where few of them take many stones.
        const int near = in.byte();
        const int p = action & 32 ? in.word() - 30000 : near % 16 == 15 ? points : near / 16 % 5 * size + near % 5;
        const bool first = game.moves().empty();
        switch (action % 16) {
            case 10:
                REQUIRE(game.undo() || first);
                break;
            case 11:
                if (p >= 0 && p < points)
                    unless_refused([&] { return game.setup(static_cast<Point>(p), Color(near % 3)), true; });
                check(game.board());
                break;
            case 12:
                REQUIRE(unless_refused([&] { return game.set_to_play(color), true; }).has_value() == first);
                break;
            case 13:
                ask(game, in);
                break;
            case 14:
                play_out(game, in);
                break;
            case 15:
                encode_position(game, in);
                break;
            default:
                if (game.legality(p, color) == Legality::legal) play(game, static_cast<Point>(p), color);
        }
    }
    ask(game, in);
}

void fuzz_texts(Bytes& in) {
    const std::string text = in.rest();
    if (const auto rules = unless_refused([&] { return Rules::parse(text); }))
        REQUIRE(Rules::parse(rules->text()) == *rules);
    if (const auto board = unless_refused([&] { return parse_diagram(text); })) {
        check(*board);
        REQUIRE(parse_diagram(diagram(*board)).hash() == board->hash());
    }
    unless_refused([&] { return playout_policy(text) != nullptr; });
    unless_refused([&] { return plane_set(text).planes.size(); });
}

// One row of a store with numbers as they come, its lists as long as they say.
void fuzz_row(Bytes& in) {
    const auto number = [&] {  // small ones are the likeliest to fit
        const int value = in.byte();
        return static_cast<std::uint16_t>(value < 16 ? in.word() : value);
    };
    const auto list = [&](int most) {
        std::vector<std::uint16_t> values(static_cast<std::size_t>(in.byte() % most));
        for (auto& value : values) value = number();
        return values;
    };
    const std::uint8_t size = static_cast<std::uint8_t>(in.byte() % (kMaxSize + 5)),
                       first = static_cast<std::uint8_t>(in.byte() % 4);
    const std::int16_t rules = static_cast<std::int16_t>(in.byte() % 4 - 1);
    const std::int8_t winner = static_cast<std::int8_t>(in.byte() % 5 - 1);
    const float komi = static_cast<float>(in.byte()) / 2, points = static_cast<float>(in.byte()), weight = 1;
    const auto moves = list(60), black = list(5), white = list(5);
    const std::vector<std::uint8_t> owners(static_cast<std::size_t>(in.byte() % 100), 0xe4);
    const auto span = [](std::size_t length) {
        return std::array<std::int32_t, 2>{0, static_cast<std::int32_t>(length)};
    };
    const auto move_ends = span(moves.size()), black_ends = span(black.size()), white_ends = span(white.size()),
               owner_ends = span(owners.size());
    // A list of visits for every move: none, or one entry that need not lie on the board.
    std::vector<std::uint32_t> visits;
    std::vector<std::int32_t> visit_ends{0};
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (in.byte() % 2) visits.push_back(in.word() | static_cast<std::uint32_t>(in.byte()) << 16);
        visit_ends.push_back(static_cast<std::int32_t>(visits.size()));
    }
    const auto visit_rows = span(in.byte() % 4 ? moves.size() : 0);
    GameColumns games;
    games.visits = {{visits, visit_ends}, visit_rows};
    games.moves = {moves, move_ends};
    games.black_stones = {black, black_ends};
    games.white_stones = {white, white_ends};
    games.ownership = {owners, owner_ends};
    games.size = {&size, 1}, games.first = {&first, 1}, games.rules = {&rules, 1}, games.winner = {&winner, 1};
    games.komi = {&komi, 1}, games.score = {&points, 1}, games.weight = {&weight, 1};
    games.rule_sets = {Rules::parse("chinese"), Rules::parse("japanese")};

    const PlaneSet& set = plane_set(in.byte() % 2 ? "tengen" : "_test");
    const int edge = kMaxSize + in.byte() % 3;
    const auto area = static_cast<std::size_t>(edge * edge);
    std::vector<float> planes(set.planes.size() * area), scalars(set.scalars.size()), mask(area), ownership(area),
        target(area + 1), reply(area + 1);
    std::int64_t policy = 0;
    float value = 0, told_score = 0, told_weight = 0;
    const Sample sample{&games,
                        0,
                        static_cast<int>(in.word() % (moves.size() + 1)),
                        in.byte() % kSymmetries,
                        {in.byte() % 2 == 1, static_cast<float>(in.byte() % 9 - 4)}};
    unless_refused([&] {
        encode_rows(set, std::span(&sample, 1), edge,
                    {planes.data(), scalars.data(), mask.data(), &policy, &value, &told_score, ownership.data(),
                     &told_weight, target.data(), reply.data()},
                    1);
        return true;
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes in({data, size});
    const int kind = in.byte() % 8;
    if (kind == 0)
        fuzz_texts(in);
    else if (kind <= 2)
        fuzz_row(in);
    else
        fuzz_game(in);
    return 0;
}
