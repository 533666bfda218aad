#include "playout/uniform.h"

#include "playout/candidates.h"

namespace tengen {

int play_uniform(Board& board, Color to_play, SplitMix64& random) {
    return play_out(board, to_play, [&](const Board& now, Color color, Point, Candidates& candidates) {
        return candidates.draw(now, color, random);
    });
}

}  // namespace tengen
