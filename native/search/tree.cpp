#include "search/tree.h"

#include <algorithm>
#include <memory>

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
    void* const memory = arena_.take(Node::bytes(moves.size(), amaf_));
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
    node.edge_count = static_cast<std::uint16_t>(count);
    if (amaf_) std::uninitialized_fill_n(node.amaf(), count, Amaf());
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

void Tree::clear() {
    arena_.clear();
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
    link->node = nullptr;
    free_below(root_.node);
    root_ = kept;
    full_ = false;
    return true;
}

void Tree::free_below(Node* top) {
    std::vector<Node*> open{top};
    while (!open.empty()) {
        Node* const node = open.back();
        open.pop_back();
        for (int i = 0; i < node->link_count; ++i)
            if (node->links[i].node) open.push_back(node->links[i].node);
        if (node->links) arena_.give(node->links, node->link_capacity * sizeof(Link));
        drop_node(node);
    }
}

}  // namespace tengen
