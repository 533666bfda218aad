#include "playout/uniform.h"

#include "playout/candidates.h"

namespace tengen {

int UniformPolicy::play(Board& board, Color to_play, std::span<const Move>, SplitMix64& random,
                        PlayoutTrace* trace) const {
    return play_out(board, to_play, trace,
                    [&](Color color, Candidates& candidates) { return candidates.draw(board, color, random); });
}

}  // namespace tengen
