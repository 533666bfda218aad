// A tree of positions in an arena of its own: growing, counting visits, taking a subtree over.
#pragma once

#include <span>
#include <vector>

#include "search/arena.h"
#include "search/node.h"

namespace tengen {

// One move of a simulation: link `edge` of `node`. Not a pointer to the link, for lists of links move when they grow.
struct Step {
    Node* node;
    int edge;
    Link& link() const { return node->links[edge]; }
};

class Tree {
  public:
    // `amaf`: nodes have an Amaf for each edge.
    explicit Tree(std::size_t memory, bool amaf = false) : arena_(memory), amaf_(amaf) {}
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    Link& root() { return root_; }
    const Link& root() const { return root_; }
    std::size_t nodes() const { return nodes_; }
    std::size_t bytes() const { return arena_.used(); }
    std::size_t held() const { return arena_.held(); }

    // Both fail, with nullptr and false, when the memory is at its bound; from then on full() is true until memory
    // comes back.
    Node* make_node(std::span<const Point> moves);  // priors 0, not ready
    bool make_link(Node& node);                     // for the first edge that has none
    bool full() const { return full_; }
    bool has_amaf() const { return amaf_; }

    // Keeps the first edges of a node without links and gives the memory of the others back.
    void keep_edges(Node& node, int count);
    // Makes an edge without a link the one that the next make_link() is for.
    void bring_forward(Node& node, int edge);

    void drop_node(Node* node);  // a node without links
    void clear();
    // Makes the position after `moves` the root and frees all else; false, and an empty tree, if it was never reached.
    bool descend(std::span<const Point> moves);

  private:
    void free_below(Node* top);

    std::size_t bytes_of(const Node& node) const { return Node::bytes(node.edge_count, amaf_); }

    Arena arena_;
    bool amaf_;
    Link root_;
    std::size_t nodes_ = 0;
    bool full_ = false;
};

}  // namespace tengen
