#include "search/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace tengen {

namespace {

std::string vertex(Point p, int size) {
    if (p == size * size) return "pass";
    return "ABCDEFGHJKLMNOPQRST"[p % size] + std::to_string(size - p / size);
}

void write(std::string& out, const Node& node, int size, int level, int depth, std::uint32_t min_visits) {
    std::vector<int> order(node.link_count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return node.links[a].visits > node.links[b].visits; });
    for (const int i : order) {
        const Link& link = node.links[i];
        if (link.visits < min_visits || level > depth) break;
        char line[96];
        std::snprintf(line, sizeof line, "%*s%s %u %+.3f %.4f\n", 2 * level, "",
                      vertex(node.edges()[i].move, size).c_str(), link.visits, link.value,
                      node.edges()[i].prior.value());
        out += line;
        if (link.node) write(out, *link.node, size, level + 1, depth, min_visits);
    }
}

}  // namespace

std::string tree_text(const Tree& tree, int size, int depth, std::uint32_t min_visits) {
    char line[64];
    std::snprintf(line, sizeof line, "root %u %+.3f\n", tree.root().visits, -tree.root().value);
    std::string out = line;
    if (tree.root().node) write(out, *tree.root().node, size, 1, depth, min_visits);
    return out;
}

}  // namespace tengen
