#include "playout/tactics.h"

#include "board/ladder.h"

namespace tengen {

namespace {

// Of a small connected set of points: how many of its points each one touches.
struct Shape {
    std::array<Point, 6> points;
    std::array<std::uint8_t, 6> degree;
    int size = 0, edges = 0, highest = 0;

    void measure(const Board& board, const PointSet& set) {
        for (int i = 0; i < size; ++i) {
            degree[i] = 0;
            for (const Point n : board.neighbors(points[i])) degree[i] += set.contains(n);
            edges += degree[i];
            highest = std::max<int>(highest, degree[i]);
        }
        edges /= 2;
    }

    // The shapes with one point that decides between one eye and two: three in a row or bent, four as a T, five as a
    // cross or a square with a tail, six as a square with two neighbouring tails (its vital point touches four).
    bool has_vital_point() const {
        switch (size) {
            case 3:
                return true;
            case 4:
                return highest == 3;
            case 5:
                return highest == 4 || (edges == 5 && highest == 3);
            case 6:
                return edges == 6 && highest == 4;
            default:
                return false;
        }
    }

    Point vital_point() const {
        for (int i = 0; i < size; ++i)
            if (degree[i] == highest) return points[i];
        return kNoPoint;
    }
};

}  // namespace

bool is_self_atari(const Board& board, Point p, Color color) {
    int open = 0;
    for (const Point n : board.neighbors(p)) open += board.at(n) == Color::empty;
    if (open >= 2) return false;
    for (const Point n : board.neighbors(p))
        if (board.at(n) == color && board.liberties(n) > 2) return false;
    return board.liberties_after(p, color) < 2;
}

bool is_useful_self_atari(const Board& board, Point p, Color color) {
    Shape shape;
    PointSet joined;
    const auto enter = [&](Point s) {
        if (shape.size < 6) shape.points[shape.size] = s;
        ++shape.size;
        joined.add(s);
    };
    enter(p);
    PointSet liberties = board.table().neighbor_sets[p] & board.empty_points();
    for (const Point n : board.neighbors(p)) {
        if (board.at(n) == opponent(color) && in_atari(board, n)) return true;
        if (board.at(n) != color || joined.contains(n)) continue;
        if (shape.size + board.chain_size(n) > 6) return false;
        board.for_each_stone(n, enter);
        liberties |= board.liberty_set(n);
    }
    liberties.remove(p);
    const Point last = liberties.first();
    if (last == kNoPoint) return false;
    for (const Point n : board.neighbors(last))
        if (board.at(n) != opponent(color) && !joined.contains(n)) return false;
    if (shape.size <= 2) return true;
    shape.measure(board, joined);
    return shape.has_vital_point() || (shape.size == 4 && shape.edges == 4);
}

void add_saves(Board& board, Point stone, int nodes, Choices& choices) {
    const Color color = board.at(stone);
    const auto enter = [&](Point p) {
        if (board.is_legal(p, color, false)) choices.add(p);
    };
    board.for_each_stone(stone, [&](Point s) {
        for (const Point n : board.neighbors(s))
            if (board.at(n) == opponent(color) && in_atari(board, n)) enter(last_liberty(board, n));
    });
    const Point p = last_liberty(board, stone);
    const int room = board.liberties_after(p, color);
    if (room < 2 || !board.is_legal(p, color, false)) return;
    if (room == 2 && nodes > 0) {
        Board::Undo record;
        board.play(p, color, record);
        const bool caught = captured_in_ladder(board, p, nullptr, nodes);
        board.undo(record);
        if (caught) return;
    }
    choices.add(p);
}

Point vital_point(const Board& board, Point p) {
    Shape shape;
    PointSet region;
    Color border = Color::empty;
    const auto enter = [&](Point s) {
        region.add(s);
        if (shape.size < 6) shape.points[shape.size] = s;
        return ++shape.size <= 6;
    };
    enter(p);
    for (int i = 0; i < shape.size; ++i) {
        for (const Point n : board.neighbors(shape.points[i])) {
            const Color color = board.at(n);
            if (color == Color::empty) {
                if (!region.contains(n) && !enter(n)) return kNoPoint;
            } else if (border == Color::empty) {
                border = color;
            } else if (border != color) {
                return kNoPoint;
            }
        }
    }
    if (shape.size < 3) return kNoPoint;
    shape.measure(board, region);
    return shape.has_vital_point() ? shape.vital_point() : kNoPoint;
}

}  // namespace tengen
