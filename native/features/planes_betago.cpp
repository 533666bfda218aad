// The plane set `betago7` of BetaGo: stones of both colors by liberties, and simple ko.
#include "features/plane_parts.h"

namespace tengen {

PlaneSet betago_planes() {
    return {
        "betago7",
        {
            {"own_1_liberty", with_liberties(kOwn, 1)},
            {"own_2_liberties", with_liberties(kOwn, 2)},
            {"own_3_liberties", with_at_least(kOwn, 3)},
            {"opponent_1_liberty", with_liberties(kOpponent, 1)},
            {"opponent_2_liberties", with_liberties(kOpponent, 2)},
            {"opponent_3_liberties", with_at_least(kOpponent, 3)},
            {"ko", own_simple_ko},
        },
        komi_scalar(),
    };
}

}  // namespace tengen
