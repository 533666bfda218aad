// The allocator of trees: what is free again serves larger blocks too.
#include <algorithm>
#include <cstring>

#include "search/node_pool.h"
#include "tests/check.h"

using namespace tengen;

TEST(node_pool_joins_free_blocks_that_lie_side_by_side) {
    constexpr std::size_t kSmall = 32, kRun = 64, kLarge = (kRun - 1) * kSmall;
    NodePool pool(std::size_t{1} << 17);
    std::vector<unsigned char*> blocks;
    while (void* const block = pool.take(kSmall)) blocks.push_back(static_cast<unsigned char*>(block));
    CHECK_EQ(pool.used(), pool.held());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::memset(blocks[i], 7, kSmall);
        if (i % kRun) pool.give(blocks[i], kSmall);
    }
    CHECK(!pool.take(2 * kSmall));
    pool.join_free();
    std::size_t large = 0;
    for (; void* const block = pool.take(kLarge); ++large) std::memset(block, 1, kLarge);
    CHECK_EQ(large, blocks.size() / kRun);
    CHECK_EQ(pool.used(), pool.held());
    for (std::size_t i = 0; i < blocks.size(); i += kRun)
        CHECK(std::all_of(blocks[i], blocks[i] + kSmall, [](unsigned char x) { return x == 7; }));
    pool.clear();
    CHECK(pool.take(kLarge));
}
