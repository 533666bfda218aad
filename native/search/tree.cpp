#include "search/tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_set>
#include <vector>

namespace tengen {

namespace {

EdgeStats* find(EdgeStats* from, Point move) {
    Node* const node = from->node;
    if (!node) return nullptr;
    const int edge = node->find(move);
    return edge < node->edge_count ? &node->edges[edge] : nullptr;
}

// Its own evaluation and the visits of its moves.
std::uint32_t visits_of(const Node& node) {
    std::uint32_t total = 1;
    for (int i = 0; i < node.edge_count; ++i) total += node.edges[i].visits;
    return total;
}

}  // namespace

Node* Tree::make_node(std::span<const Point> moves) {
    void* const memory =
        form_.graph && table_.size() >= max_keys_ ? nullptr : pool_.take(Node::bytes(moves.size(), form_));
    if (!memory) {
        full_ = true;
        return nullptr;
    }
    Node* const node = new (memory) Node;
    node->move_count = static_cast<std::uint16_t>(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) new (node->moves() + i) MovePrior{moves[i], Prior()};
    if (form_.amaf) std::uninitialized_fill_n(node->amaf(), moves.size(), Amaf());
    if (form_.weighted) new (&node->stats()) NodeStats;
    ++nodes_;
    return node;
}

bool Tree::add_edge(Node& node) {
    if (node.edge_count == node.edge_capacity) {
        // Twice as many, or as many more as the free blocks have room for.
        int capacity = 0;
        EdgeStats* edges = nullptr;
        for (int more = std::max<int>(node.edge_capacity, 1); !edges && more > 0; more /= 2) {
            capacity = std::min<int>(node.edge_capacity + more, node.move_count);
            edges = static_cast<EdgeStats*>(pool_.take(capacity * sizeof(EdgeStats)));
        }
        if (!edges) {
            // Smaller blocks may be free, for new nodes and the lists of others.
            full_ = full_ || node.edge_capacity == 0;
            return false;
        }
        std::uninitialized_copy_n(node.edges, node.edge_count, edges);
        if (node.edges) pool_.give(node.edges, node.edge_capacity * sizeof(EdgeStats));
        node.edges = edges;
        node.edge_capacity = static_cast<std::uint16_t>(capacity);
    }
    new (node.edges + node.edge_count++) EdgeStats;
    return true;
}

void Tree::keep_moves(Node& node, int count) {
    const std::size_t before = bytes_of(node);
    const std::uint64_t hash = form_.graph ? stones(node) : 0;
    const NodeStats stats = form_.weighted ? node.stats() : NodeStats{};
    node.move_count = static_cast<std::uint16_t>(count);
    if (form_.weighted) new (&node.stats()) NodeStats(stats);
    if (form_.amaf) std::uninitialized_fill_n(node.amaf(), count, Amaf());
    if (form_.graph) write_stones(node, hash);
    pool_.trim(&node, before, bytes_of(node));
}

void Tree::bring_forward(Node& node, int edge) {
    std::swap(node.moves()[edge], node.moves()[node.edge_count]);
    if (form_.amaf) std::swap(node.amaf()[edge], node.amaf()[node.edge_count]);
}

bool Tree::keep_ownership(Node& node, std::span<const float> ownership) {
    ownership_bytes_ = ownership.size() * sizeof(std::int16_t);
    std::int16_t* const before = node.stats().ownership;
    auto* const kept = before ? before : static_cast<std::int16_t*>(pool_.take(ownership_bytes_));
    if (!kept) return false;
    std::ranges::transform(ownership, kept, [](float x) {
        return static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0f, 1.0f) * 32767));
    });
    node.stats().ownership = kept;
    return true;
}

void Tree::drop_node(Node* node) {
    if (form_.weighted) {
        NodeStats& stats = node->stats();
        if (stats.bias) bias_.give(*stats.bias, stats.bias_difference, stats.bias_weight, *bias_freed_);
        if (stats.ownership) pool_.give(stats.ownership, ownership_bytes_);
    }
    pool_.give(node, bytes_of(*node));
    --nodes_;
    full_ = false;
}

std::uint32_t Tree::node_visits(const EdgeStats& edge) const {
    if (!edge.node || !edge.node->ready || !form_.graph) return edge.visits;
    const std::uint32_t counted =
        form_.weighted ? edge.node->stats().visits : 0;  // 0 too where only the ownership is kept
    return counted ? counted : std::max(edge.visits, visits_of(*edge.node));
}

Node* Tree::known(std::uint64_t key) const {
    const auto found = table_.find(key);
    return found == table_.end() ? nullptr : found->second;
}

void Tree::enter(std::uint64_t key, std::uint64_t stones, Node& node) {
    table_.emplace(key, &node);
    write_stones(node, stones);
}

void Tree::write_stones(Node& node, std::uint64_t stones) {
    std::memcpy(reinterpret_cast<std::byte*>(&node) + bytes_of(node) - sizeof stones, &stones, sizeof stones);
}

std::uint64_t Tree::stones(const Node& node) const {
    std::uint64_t stones;
    std::memcpy(&stones, reinterpret_cast<const std::byte*>(&node) + bytes_of(node) - sizeof stones, sizeof stones);
    return stones;
}

void Tree::clear() {
    pool_.clear();
    table_.clear();
    bias_.clear();
    root_ = {};
    nodes_ = 0;
    full_ = false;
}

bool Tree::descend(std::span<const Point> moves) {
    EdgeStats* stats = &root_;
    for (const Point move : moves)
        if (stats) stats = find(stats, move);
    if (!stats || !stats->node || stats->node->terminal) {
        clear();
        return false;
    }
    if (stats == &root_) return true;
    const EdgeStats kept = *stats;
    const bool was_full = full_;
    if (form_.graph) {
        keep_below(kept.node);
    } else {
        stats->node = nullptr;
        free_below(root_.node);
    }
    root_ = kept;
    if (form_.graph) root_.visits = std::max(kept.visits, visits_of(*kept.node));  // other lines led there too
    full_ = false;
    if (was_full) pool_.join_free();  // the lists of its edges may need larger blocks than those of the old nodes
    return true;
}

void Tree::free_node(Node* node) {
    if (node->edges) pool_.give(node->edges, node->edge_capacity * sizeof(EdgeStats));
    drop_node(node);
}

// Frees a tree.
void Tree::free_below(Node* top) {
    std::vector<Node*> open{top};
    while (!open.empty()) {
        Node* const node = open.back();
        open.pop_back();
        for (int i = 0; i < node->edge_count; ++i)
            if (node->edges[i].node) open.push_back(node->edges[i].node);
        free_node(node);
    }
}

// Frees all nodes of a graph that are not reached from here.
void Tree::keep_below(Node* top) {
    std::unordered_set<Node*> reached{top};
    std::vector<Node*> open{top};
    while (!open.empty()) {
        Node* const node = open.back();
        open.pop_back();
        for (int i = 0; i < node->edge_count; ++i)
            if (Node* const next = node->edges[i].node; next && reached.insert(next).second) open.push_back(next);
    }
    std::erase_if(table_, [&](const auto& entry) {
        if (reached.contains(entry.second)) return false;
        free_node(entry.second);
        return true;
    });
}

EdgeStats Node::sum(float own_utility) const {
    EdgeStats total;
    total.add(own_utility, value, score);
    for (int i = 0; i < edge_count; ++i) {
        const EdgeStats& stats = edges[i];
        if (!stats.visits) continue;
        total.visits += stats.visits;
        const double share = double(stats.visits) / total.visits;
        total.utility += (stats.utility - total.utility) * share;
        total.square += (stats.square - total.square) * share;
        total.value += (stats.value - total.value) * share;
        total.score += (stats.score - total.score) * share;
        total.pending += stats.pending;
    }
    return total;
}

}  // namespace tengen
