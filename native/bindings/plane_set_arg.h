// The plane set argument of a gather: the name of a native set, or a recorder for a set written in Python.
#pragma once

#include <nanobind/stl/variant.h>

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "features/encode.h"
#include "features/rows.h"

namespace tengen::bindings {

// A feature context that owns its game.
struct OwnedContext {
    Game game;
    FeatureContext context;

    OwnedContext(const Game& played, Color own, const Ranks& ranks) : game(played), context(game, own, ranks) {}
    explicit OwnedContext(const Sample& sample) : game(replay(sample)), context(context_of(sample, game)) {}
    OwnedContext(const OwnedContext&) = delete;
};

// Keeps the positions that a gather encodes. Its plane set has one plane, the number of each point of the board, from
// which Python takes the symmetry, and one scalar, the number of the position in `contexts`.
class PositionRecorder {
  public:
    PositionRecorder() : set_(plane_set("_points")) {
        set_.scalars.push_back({"position", [this](FeatureContext& f) {
                                    auto kept = std::make_unique<OwnedContext>(f.game, f.own, f.ranks);
                                    kept->context.hidden_moves = f.hidden_moves;
                                    kept->context.draw_points = f.draw_points;
                                    kept->context.pass_goes_on = f.pass_goes_on;
                                    const std::lock_guard lock(mutex_);
                                    contexts_.push_back(std::move(kept));
                                    return static_cast<float>(contexts_.size() - 1);
                                }});
    }
    PositionRecorder(const PositionRecorder&) = delete;

    const PlaneSet& set() const { return set_; }
    std::vector<std::unique_ptr<OwnedContext>> take() { return std::move(contexts_); }

  private:
    PlaneSet set_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<OwnedContext>> contexts_;
};

using PlaneSetArg = std::variant<std::string, PositionRecorder*>;

// Throws std::invalid_argument for an unknown name.
inline const PlaneSet& to_plane_set(const PlaneSetArg& arg) {
    if (const auto* name = std::get_if<std::string>(&arg)) return plane_set(*name);
    const auto* recorder = std::get<PositionRecorder*>(arg);
    if (!recorder) throw std::invalid_argument("plane_set must be a name or a PositionRecorder, not None");
    return recorder->set();
}

}  // namespace tengen::bindings
