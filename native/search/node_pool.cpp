#include "search/node_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "board/types.h"
#include "search/node.h"

namespace tengen {

namespace {

constexpr std::size_t kGranule = 16;
constexpr std::size_t kMinChunk = std::size_t{32} << 10, kMaxChunk = std::size_t{1} << 20;

constexpr std::size_t granules(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule; }

// The edges of all moves, which are the largest block of a tree.
constexpr std::size_t kLargestClass = granules((kMaxSize * kMaxSize + 1) * sizeof(EdgeStats));
static_assert(sizeof(MovePrior) + sizeof(Amaf) < sizeof(EdgeStats));

}  // namespace

NodePool::NodePool(std::size_t limit) : limit_(limit), free_(kLargestClass + 1, nullptr) {}

void* NodePool::take(std::size_t bytes) {
    const std::size_t wanted = granules(bytes), size = wanted * kGranule;
    void* block = from_free_list(wanted, wanted, wanted);
    if (!block && (rest_ >= size || add_chunk(size))) {
        block = next_;
        next_ += size;
        rest_ -= size;
    }
    if (!block) block = from_free_list(wanted + 1, kLargestClass, wanted);
    if (block) used_ += size;
    return block;
}

void NodePool::give(void* block, std::size_t bytes) {
    const std::size_t size = granules(bytes) * kGranule;
    used_ -= size;
    release(static_cast<std::byte*>(block), size);
}

void NodePool::trim(void* block, std::size_t before, std::size_t after) {
    const std::size_t kept = granules(after) * kGranule, rest = granules(before) * kGranule - kept;
    if (rest == 0) return;
    used_ -= rest;
    release(static_cast<std::byte*>(block) + kept, rest);
}

void NodePool::join_free() {
    std::vector<std::pair<std::byte*, std::size_t>> blocks;
    for (std::size_t size = 1; size < free_.size(); ++size)
        for (Free* block = std::exchange(free_[size], nullptr); block; block = block->next)
            blocks.emplace_back(reinterpret_cast<std::byte*>(block), size * kGranule);
    std::ranges::sort(blocks);
    // Chunk by chunk, in the order in which they came: where the system puts them changes nothing.
    for (const Chunk& chunk : chunks_) {
        std::byte* start = nullptr;
        std::size_t joined = 0;
        auto at = std::ranges::lower_bound(blocks, std::pair{chunk.memory.get(), std::size_t{0}});
        for (; at != blocks.end() && at->first < chunk.memory.get() + chunk.size; ++at) {
            if (at->first != start + joined) {
                release_parts(start, joined);
                start = at->first;
                joined = 0;
            }
            joined += at->second;
        }
        release_parts(start, joined);
    }
}

void NodePool::clear() {
    std::fill(free_.begin(), free_.end(), nullptr);
    chunks_.clear();
    used_ = held_ = rest_ = 0;
    next_ = nullptr;
}

// The first free block of the given sizes; what it has over `wanted` goes back to the lists.
void* NodePool::from_free_list(std::size_t first_class, std::size_t last_class, std::size_t wanted) {
    for (std::size_t size = first_class; size <= last_class; ++size) {
        Free* const block = free_[size];
        if (!block) continue;
        free_[size] = block->next;
        auto* const start = reinterpret_cast<std::byte*>(block);
        if (size > wanted) release(start + wanted * kGranule, (size - wanted) * kGranule);
        return block;
    }
    return nullptr;
}

bool NodePool::add_chunk(std::size_t bytes) {
    const std::size_t wanted = std::clamp(held_, kMinChunk, kMaxChunk);  // small trees stay small, large ones grow
    const std::size_t size = std::min(wanted, limit_ - held_) / kGranule * kGranule;
    if (size < bytes) return false;
    release_parts(next_, rest_);  // what is left of the old chunk serves smaller blocks
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    held_ += size;
    next_ = chunks_.back().memory.get();
    rest_ = size;
    return true;
}

void NodePool::release(std::byte* block, std::size_t bytes) {
    Free*& list = free_[bytes / kGranule];
    list = new (block) Free{list};
}

// The same for any number of bytes, whose last ones may be too few for a block.
void NodePool::release_parts(std::byte* block, std::size_t bytes) {
    for (std::size_t part; bytes >= kGranule; block += part, bytes -= part) {
        part = std::min(bytes / kGranule, kLargestClass) * kGranule;
        release(block, part);
    }
}

}  // namespace tengen
