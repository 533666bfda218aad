#include "search/tree.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>

namespace tengen {

namespace {

Link* find(Link* from, Point move) {
    Node* const node = from->node;
    if (!node) return nullptr;
    for (int i = 0; i < node->link_count; ++i)
        if (node->edges()[i].move == move) return &node->links[i];
    return nullptr;
}

}  // namespace

Node* Tree::make_node(std::span<const Point> moves) {
    void* const memory =
        graph_ && table_.size() >= most_keys_ ? nullptr : arena_.take(Node::bytes(moves.size(), amaf_, graph_));
    if (!memory) {
        full_ = true;
        return nullptr;
    }
    Node* const node = new (memory) Node;
    node->edge_count = static_cast<std::uint16_t>(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) new (node->edges() + i) Edge{moves[i], Prior()};
    if (amaf_) std::uninitialized_fill_n(node->amaf(), moves.size(), Amaf());
    ++nodes_;
    return node;
}

bool Tree::make_link(Node& node) {
    if (node.link_count == node.link_capacity) {
        const int capacity = std::min<int>(node.link_capacity ? 2 * node.link_capacity : 1, node.edge_count);
        auto* const links = static_cast<Link*>(arena_.take(capacity * sizeof(Link)));
        if (!links) {
            full_ = true;
            return false;
        }
        std::uninitialized_copy_n(node.links, node.link_count, links);
        if (node.links) arena_.give(node.links, node.link_capacity * sizeof(Link));
        node.links = links;
        node.link_capacity = static_cast<std::uint16_t>(capacity);
    }
    new (node.links + node.link_count++) Link;
    return true;
}

void Tree::keep_edges(Node& node, int count) {
    const std::size_t before = bytes_of(node);
    const std::uint64_t hash = graph_ ? stones(node) : 0;
    node.edge_count = static_cast<std::uint16_t>(count);
    if (amaf_) std::uninitialized_fill_n(node.amaf(), count, Amaf());
    if (graph_) write_stones(node, hash);
    arena_.trim(&node, before, bytes_of(node));
}

void Tree::bring_forward(Node& node, int edge) {
    std::swap(node.edges()[edge], node.edges()[node.link_count]);
    if (amaf_) std::swap(node.amaf()[edge], node.amaf()[node.link_count]);
}

void Tree::drop_node(Node* node) {
    arena_.give(node, bytes_of(*node));
    --nodes_;
    full_ = false;
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
    arena_.clear();
    table_.clear();
    root_ = {};
    nodes_ = 0;
    full_ = false;
}

bool Tree::descend(std::span<const Point> moves) {
    Link* link = &root_;
    for (const Point move : moves)
        if (link) link = find(link, move);
    if (!link || !link->node || link->node->terminal) {
        clear();
        return false;
    }
    if (link == &root_) return true;
    const Link kept = *link;
    if (graph_) {
        keep_below(kept.node);
    } else {
        link->node = nullptr;
        free_below(root_.node);
    }
    root_ = kept;
    full_ = false;
    return true;
}

void Tree::free_node(Node* node) {
    if (node->links) arena_.give(node->links, node->link_capacity * sizeof(Link));
    drop_node(node);
}

// Frees a tree.
void Tree::free_below(Node* top) {
    std::vector<Node*> open{top};
    while (!open.empty()) {
        Node* const node = open.back();
        open.pop_back();
        for (int i = 0; i < node->link_count; ++i)
            if (node->links[i].node) open.push_back(node->links[i].node);
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
        for (int i = 0; i < node->link_count; ++i)
            if (Node* const next = node->links[i].node; next && reached.insert(next).second) open.push_back(next);
    }
    std::erase_if(table_, [&](const auto& entry) {
        if (reached.contains(entry.second)) return false;
        free_node(entry.second);
        return true;
    });
}

Link Node::sum(float own_utility) const {
    Link total;
    total.add(own_utility, value, score);
    for (int i = 0; i < link_count; ++i) {
        const Link& link = links[i];
        if (!link.visits) continue;
        total.visits += link.visits;
        const float share = static_cast<float>(link.visits) / static_cast<float>(total.visits);
        total.utility += (link.utility - total.utility) * share;
        total.square += (link.square - total.square) * share;
        total.value += (link.value - total.value) * share;
        total.score += (link.score - total.score) * share;
        total.pending += link.pending;
    }
    return total;
}

}  // namespace tengen
