// The allocator of a tree: blocks cut from large chunks and reused by size, within a fixed limit.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tengen {

class NodePool {
  public:
    // `limit`: maximum of the bytes held, counted in chunks.
    explicit NodePool(std::size_t limit);

    // A block of at least `bytes`, aligned to 16; nullptr at the limit.
    void* take(std::size_t bytes);
    // Takes back a block of take(bytes).
    void give(void* block, std::size_t bytes);
    // Takes back the end of a block of take(before), which is then one of take(after) for after <= before.
    void trim(void* block, std::size_t before, std::size_t after);
    // Joins free blocks that lie side by side, so that larger ones can be taken from them.
    void join_free();
    // Takes back everything and frees the chunks, so that the next tree grows as the first one did.
    void clear();

    std::size_t used() const { return used_; }  // bytes in blocks that are out
    std::size_t held() const { return held_; }  // bytes in chunks, never more than the limit

  private:
    struct Free {
        Free* next;
    };
    struct Chunk {
        std::unique_ptr<std::byte[]> memory;
        std::size_t size;
    };

    void* from_free_list(std::size_t first_class, std::size_t last_class, std::size_t wanted);
    bool add_chunk(std::size_t bytes);
    void release(std::byte* block, std::size_t bytes);
    void release_parts(std::byte* block, std::size_t bytes);

    std::size_t limit_;
    std::size_t used_ = 0, held_ = 0;
    std::byte* next_ = nullptr;  // the unused rest of the last chunk
    std::size_t rest_ = 0;
    std::vector<Chunk> chunks_;
    std::vector<Free*> free_;  // by block size in granules
};

}  // namespace tengen
