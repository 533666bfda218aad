#include "search/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "board/diagram.h"

namespace tengen {

namespace {

void write(std::string& out, const Node& node, int size, int level, int depth, std::uint32_t min_visits) {
    std::vector<int> order(node.edge_count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return node.edges[a].visits > node.edges[b].visits; });
    for (const int i : order) {
        const EdgeStats& stats = node.edges[i];
        if (stats.visits < min_visits || level > depth) break;
        char line[96];
        std::snprintf(line, sizeof line, "%s %u %+.3f %.4f\n", vertex_name(node.moves()[i].point, size).c_str(),
                      stats.visits, stats.value, node.moves()[i].prior.value());
        out.append(2 * static_cast<std::size_t>(level), ' ');
        out += line;
        if (stats.node) write(out, *stats.node, size, level + 1, depth, min_visits);
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
