// A tree of positions in a node pool of its own. It may be a graph, in which edges share nodes that are found by a key;
// no line of it may return to a node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "search/node.h"
#include "search/node_pool.h"
#include "search/value_bias.h"

namespace tengen {

// One move of a simulation: edge `edge` of `node`. Not a pointer: edges are moved when their list grows.
struct Step {
    Node* node;
    int edge;
    EdgeStats& stats() const { return node->edges[edge]; }
};

class Tree {
  public:
    // `bias_freed`: the share of its ValueBias that a node takes with it; nothing where there is none. An eighth of the
    // memory is kept for each of the two tables, of the keys of a graph and of the value bias.
    explicit Tree(std::size_t memory, TreeForm form = {}, std::optional<float> bias_freed = {})
        : pool_(memory - (form.graph ? memory / 8 : 0) - (bias_freed ? memory / 8 : 0)),
          form_(form),
          bias_freed_(bias_freed),
          max_keys_(memory / 8 / kKeyBytes),
          bias_(memory / 8 / kBiasBytes) {}
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    EdgeStats& root() { return root_; }
    const EdgeStats& root() const { return root_; }
    std::size_t nodes() const { return nodes_; }
    std::size_t bytes() const { return pool_.used(); }
    std::size_t held() const { return pool_.held(); }

    // Both fail, with nullptr and false, where the memory at its bound has no block that is large enough. Where that
    // was needed for a node or its first edge, full() is true from then on until memory comes back.
    Node* make_node(std::span<const Point> moves);  // priors 0, not ready
    bool add_edge(Node& node);                      // for the first move that has none
    bool full() const { return full_; }
    bool has_amaf() const { return form_.amaf; }
    bool is_graph() const { return form_.graph; }

    // Joins a node to the entry of a key, in a tree with value bias.
    void join_bias(Node& node, std::uint64_t key) { node.stats().bias = bias_.take(key); }
    // Keeps the ownership of a node; false where the memory is at its bound.
    bool keep_ownership(Node& node, std::span<const float> ownership);

    // Of a graph: the node of a key, or null; the key that a new node is known by, and the hash of its stones. The
    // table must hold all nodes.
    Node* known(std::uint64_t key) const;
    void enter(std::uint64_t key, std::uint64_t stones, Node& node);
    void forget(std::uint64_t key) { table_.erase(key); }
    std::uint64_t stones(const Node& node) const;

    // Keeps the first moves of a node without edges and frees the memory of the others.
    void keep_moves(Node& node, int count);
    // Makes an untried move the one that the next add_edge() is for.
    void bring_forward(Node& node, int edge);

    // The visits of the position below an edge, by all lines that lead there. Where nodes do not count them, a finished
    // game has those of the edge.
    std::uint32_t node_visits(const EdgeStats& edge) const;

    void drop_node(Node* node);  // a node without edges
    void clear();
    // Makes the position after `moves` the root and frees all else; false, and an empty tree, if it was never reached.
    bool descend(std::span<const Point> moves);

  private:
    static constexpr std::size_t kKeyBytes = 64;  // of an entry of the table, with its share of the buckets
    static constexpr std::size_t kBiasBytes = 80;

    void write_stones(Node& node, std::uint64_t stones);
    void free_below(Node* top);
    void keep_below(Node* top);
    void free_node(Node* node);
    std::size_t bytes_of(const Node& node) const { return Node::bytes(node.move_count, form_); }

    NodePool pool_;
    TreeForm form_;
    std::optional<float> bias_freed_;
    std::size_t max_keys_, ownership_bytes_ = 0;
    ValueBiasTable bias_;
    std::unordered_map<std::uint64_t, Node*> table_;
    EdgeStats root_;
    std::size_t nodes_ = 0;
    bool full_ = false;
};

}  // namespace tengen
