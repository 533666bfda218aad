#include "board/diagram.h"

#include <stdexcept>
#include <vector>

namespace tengen {

namespace {

constexpr std::string_view kLetters = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

std::string letters(int size) {
    std::string line = "   ";
    for (int column = 0; column < size; ++column) line.append({' ', kLetters[column]});
    return line + "\n";
}

std::string number(int value) {
    const std::string digits = std::to_string(value);
    return std::string(2 - digits.size(), ' ') + digits;
}

char symbol(const Board& board, Point p) {
    if (board.at(p) == Color::empty) return is_star_point(p, board.size()) ? '+' : '.';
    return board.at(p) == Color::black ? 'X' : 'O';
}

// The first sign of a line, 0 where it is blank. The letters above and below the board begin with an A.
char first_sign(std::string_view line) {
    const auto start = line.find_first_not_of(" \t\r");
    return start == std::string_view::npos ? '\0' : line[start];
}

// The points of one line of a diagram; empty for a blank line and for the letters.
std::vector<Color> parse_line(std::string_view line) {
    std::vector<Color> row;
    if (const char first = first_sign(line); !first || first == 'A') return row;
    for (const char c : line) {
        switch (c) {
            case 'X':
            case 'x':
            case '#':
                row.push_back(Color::black);
                break;
            case 'O':
            case 'o':
                row.push_back(Color::white);
                break;
            case '.':
            case '+':
                row.push_back(Color::empty);
                break;
            default:
                if (std::string_view(" \t\r()0123456789").find(c) == std::string_view::npos)
                    throw std::invalid_argument(
                        "diagram: " + (c > ' ' && c < 127 ? "'" + std::string(1, c) + "'" : "a sign") +
                        " is none of X O . +");
        }
    }
    return row;
}

}  // namespace

bool is_star_point(Point p, int size) {
    if (size < 7) return p == size * size / 2 && size % 2;
    const int line = size < 13 ? 2 : 3;
    const auto on = [&](int at) {
        return at == line || at == size - 1 - line || (size % 2 && size >= 9 && at == size / 2);
    };
    const int row = p / size, column = p % size;
    const bool corner_or_center = (row == size / 2) == (column == size / 2);
    return on(row) && on(column) && (size > 9 || corner_or_center);
}

std::string diagram(const Board& board, Point last) {
    const int size = board.size();
    std::string text = letters(size);
    for (int row = 0; row < size; ++row) {
        text += number(size - row) + ' ';
        for (int column = 0; column < size; ++column) {
            const auto p = static_cast<Point>(row * size + column);
            const bool after_last = column > 0 && p - 1 == last;
            text += p == last ? '(' : after_last ? ')' : ' ';
            text += symbol(board, p);
        }
        text += last == row * size + size - 1 ? ')' : ' ';
        text += number(size - row) + "\n";
    }
    return text + letters(size);
}

std::string vertex_name(Point move, int size) {
    if (move == size * size) return "pass";
    return kLetters[move % size] + std::to_string(size - move / size);
}

Board parse_diagram(std::string_view text) {
    std::vector<std::vector<Color>> rows;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (auto row = parse_line(text.substr(0, end)); !row.empty())
            rows.push_back(std::move(row));
        else if (!rows.empty() && first_sign(text.substr(0, end)) == 'A')
            break;  // what follows the board is no part of it
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    Board board(static_cast<int>(rows.size()));
    for (int r = 0; r < board.size(); ++r) {
        if (rows[r].size() != rows.size())
            throw std::invalid_argument("diagram: row " + std::to_string(r + 1) + " has " +
                                        std::to_string(rows[r].size()) + " points, but there are " +
                                        std::to_string(rows.size()) + " rows");
        for (int c = 0; c < board.size(); ++c)
            if (rows[r][c] != Color::empty) board.place(static_cast<Point>(r * board.size() + c), rows[r][c]);
    }
    return board;
}

}  // namespace tengen
