#include "pool/selfplay_game.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "search/leaf.h"

namespace tengen {

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kFractionScale = 10000;  // the sum of weights that are recorded where they are no whole numbers
constexpr float kLargest = 65535;        // that a target holds
constexpr float kSampled = 0.1f;         // temperature below which Gumbel search plays what it chose

// KL(target || policy) in nats, of weights by point.
float surprise(std::span<const float> weights, std::span<const float> policy) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (std::size_t move = 0; move < weights.size(); ++move) {
        const double p = weights[move] / total;
        if (p > 0) sum += p * std::log(p / policy[move]);
    }
    return std::max(static_cast<float>(sum), 0.0f);
}

}  // namespace

SelfPlayGame::SelfPlayGame(const PlayParams& params) : params_(params), search_(params.full, 0) {
    search_.change(params.cheap);  // so that a contradiction is known at once
}

// --- The game ---

void SelfPlayGame::begin(const GamePlan& plan) {
    over_ = false;
    game_ = start_of(plan);
    game_->set_move_limit(params_.max_moves ? params_.max_moves : 2 * plan.size * plan.size);
    search_.restart(plan.seed);
    random_ = Random(hash64(plan.seed ^ 0x5e1f91a7ULL));
    may_resign_ = plan.may_resign && params_.resign_winrate > 0 && params_.resign_turns > 0;
    opening_left_ = plan.opening_moves;
    losing_turns_ = {};
    winning_turns_ = {};
    played_ = {};
    played_.index = plan.index;
    played_.size = plan.size;
    played_.given = static_cast<int>(plan.start.size());
    played_.moves = plan.start;
    played_.targets.resize(plan.start.size());
    played_.root_values.assign(plan.start.size(), kNone);
    played_.surprises.assign(plan.start.size(), kNone);
    next_turn();
}

PlayedGame SelfPlayGame::take() {
    over_ = false;
    game_.reset();
    search_.clear();
    return std::exchange(played_, {});
}

void SelfPlayGame::play(Point point) {
    played_.moves.push_back(stored({point, game_->to_play()}));
    game_->play(point);
    next_turn();
}

// Ends the game where it is over (its start alone may have as many moves as are allowed), else begins a turn. Games are
// counted as their searches count them.
void SelfPlayGame::next_turn() {
    if (const auto end = game_end(*game_, {params_.settle, false, params_.full.dead_stones()}))
        finish(*end);
    else
        begin_turn();
}

void SelfPlayGame::finish(const GameEnd& end) {
    over_ = true;
    played_.ending = name(end.reason);
    played_.score = end.score;
    const bool draw = end.counted && end.winner == Color::empty;
    played_.winner = draw ? 2 : end.winner == Color::empty ? -1 : index(end.winner);
    if (!end.counted) return;
    for (int p = 0; p < game_->board().points(); ++p)
        played_.ownership.push_back(static_cast<std::uint8_t>(index(end.owners[p])));
}

// --- A turn ---

void SelfPlayGame::begin_turn() {
    if (opening_left_ > 0) {
        --opening_left_;
        turn_ = Turn::opening;
    } else {
        const float share =
            is_decided() ? std::max(params_.cheap_share, params_.decided_cheap_share) : params_.cheap_share;
        turn_ = random_.uniform() < share ? Turn::cheap : Turn::full;
    }
    const SearchParams& search = turn_ == Turn::full ? params_.full : params_.cheap;
    search_.change(search);
    if (!params_.reuse) search_.clear();
    set_root();
    const std::uint32_t had = search_.root_visits();
    goal_ = turn_ == Turn::opening ? 1 : turn_ == Turn::full ? params_.visits : params_.cheap_visits;
    // A kept root has its own evaluation already.
    if (search.selection == Selection::gumbel && had > 0 && turn_ != Turn::opening) goal_ += had - 1;
    search_.plan(static_cast<int>(goal_ > had ? goal_ - had : 1));
}

// An opening move is a pass only where nothing else is legal.
void SelfPlayGame::set_root() {
    const Point pass = game_->board().pass();
    std::vector<Point> avoid, moves;
    if (params_.pass_policy == PassPolicy::no_useful_move) {
        const PointSet useful = useful_moves(*game_, params_.full.dead_stones());
        candidate_moves(*game_, false, moves);
        std::ranges::copy_if(moves, std::back_inserter(avoid),
                             [&](Point p) { return p == pass ? !useful.empty() : !useful.contains(p); });
    } else if (turn_ == Turn::opening || params_.pass_policy == PassPolicy::no_legal_move) {
        candidate_moves(*game_, turn_ == Turn::opening, moves);
        if (moves.size() > 1) avoid.push_back(pass);
    }
    const MoveRestriction avoided{game_->to_play(), false, 1, to_move_set(avoid)};
    search_.set_root(*game_, {&avoided, 1});
}

bool SelfPlayGame::gather(const PlaneSet& set, int edge, const LeafArrays& out) {
    if (waiting()) throw std::logic_error("a position of the game still waits for the results of the last gather");
    for (play_on(); playing(); play_on()) {
        if (search_.gather(set, edge, out.planes, out.scalars, out.mask, 1) > 0) return true;
    }
    return false;
}

void SelfPlayGame::scatter(const LeafResults& results, int edge) {
    search_.scatter(results, edge);
    ++played_.evaluations;
    play_on();
}

void SelfPlayGame::play_on() {
    while (playing() && !waiting() && search_.root_visits() >= goal_) end_turn();
}

void SelfPlayGame::end_turn() {
    const std::vector<float> weights = weights_for_policy();
    const bool searched = turn_ != Turn::opening;
    const float value = std::clamp(search_.root_value(), -1.0f, 1.0f);
    if (searched && resigns(value)) {
        game_->resign(game_->to_play());
        return next_turn();
    }
    if (searched) note_winner(value);
    played_.root_values.push_back(searched ? value : kNone);
    const bool teaches = turn_ == Turn::full && !weights.empty();
    played_.targets.emplace_back();
    played_.surprises.push_back(teaches ? surprise(weights, raw_policy()) : kNone);
    if (teaches) record_target(weights);
    play(searched ? choose(weights) : draw_from_priors(params_.opening_temperature));
}

std::vector<std::uint32_t> packed_target(std::span<const float> weights, bool whole) {
    const float largest = std::ranges::max(weights);
    const float scale = !whole               ? kFractionScale / std::accumulate(weights.begin(), weights.end(), 0.0f)
                        : largest > kLargest ? kLargest / largest
                                             : 1;
    std::vector<std::uint32_t> packed;
    for (std::size_t point = 0; point < weights.size(); ++point) {
        const auto weight = static_cast<std::uint32_t>(std::lround(weights[point] * scale));
        if (weight) packed.push_back(static_cast<std::uint32_t>(point) | weight << 16);
    }
    return packed;
}

// Empty where no move has a visit, and for a cheap move by the raw policy, whatever was kept of the tree.
std::vector<float> SelfPlayGame::weights_for_policy() const {
    if (turn_ == Turn::opening || search_.root_visits() < 2) return {};
    if (turn_ == Turn::cheap && params_.cheap_visits == 1) return {};
    std::vector<float> weights = search_.policy_weights();
    if (!(std::accumulate(weights.begin(), weights.end(), 0.0f) > 0)) weights.clear();
    return weights;
}

void SelfPlayGame::record_target(std::span<const float> weights) {
    // An improved policy is a probability, the weights of visits and visits that symmetric moves share are fractions.
    const SearchParams& params = params_.full;
    const bool whole = params.selection != Selection::gumbel && !params.is_weighted() && !params.merge_symmetric;
    played_.targets.back() = packed_target(weights, whole);
}

// Whether the side to move gives up, whose root has this value.
bool SelfPlayGame::resigns(float value) {
    int& turns = losing_turns_[index(game_->to_play())];
    turns = (value + 1) / 2 < params_.resign_winrate ? turns + 1 : 0;
    return may_resign_ && turns >= params_.resign_turns;
}

void SelfPlayGame::note_winner(float value) {
    for (const Color color : {Color::black, Color::white}) {
        const float winrate = ((color == game_->to_play() ? value : -value) + 1) / 2;
        int& turns = winning_turns_[index(color)];
        turns = winrate >= params_.decided_winrate ? turns + 1 : 0;
    }
}

bool SelfPlayGame::is_decided() const {
    return params_.decided_turns > 0 && std::max(winning_turns_[0], winning_turns_[1]) >= params_.decided_turns;
}

// --- The move ---

float SelfPlayGame::temperature() const {
    const auto moves = static_cast<float>(game_->moves().size());
    const float half_lives = moves / (params_.temperature_halflife * static_cast<float>(game_->board().size()));
    return params_.temperature_late + (params_.temperature - params_.temperature_late) * std::pow(0.5f, half_lives);
}

Point SelfPlayGame::choose(std::span<const float> weights) {
    const float t = temperature();
    if (weights.empty()) return draw_from_priors(t);
    const bool gumbel = (turn_ == Turn::full ? params_.full : params_.cheap).selection == Selection::gumbel;
    if (gumbel && t >= kSampled) return draw(weights, t);
    const Point chosen = search_.choose(gumbel ? 0 : t);
    return chosen == kNoPoint ? draw_from_priors(t) : chosen;
}

// By point the policy as the network gave it, which the search may have flattened. Powers are of shares of the largest
// prior, so that not all of them become 0; where all priors are, as of a network that is sure of a forbidden move, all
// moves are alike.
std::vector<float> SelfPlayGame::raw_policy() const {
    const SearchParams& params = turn_ == Turn::full ? params_.full : params_.cheap;
    const float power = params.priors == "network" ? params.policy_temperature : 1;
    const Node& root = *search_.tree().root().node;
    std::vector<float> policy(game_->board().points() + 1, 0.0f);
    float largest = 0;
    for (int i = 0; i < root.move_count; ++i) largest = std::max(largest, root.moves()[i].prior.value());
    const float unit = power == 1 ? 1 : largest;
    double total = 0;
    for (int i = 0; i < root.move_count; ++i) {
        const MovePrior move = root.moves()[i];
        total += policy[move.point] = largest > 0 ? std::pow(move.prior.value() / unit, power) : 1;
    }
    for (int i = 0; i < root.move_count; ++i) {
        float& p = policy[root.moves()[i].point];
        p = std::max(static_cast<float>(p / total), kMinPrior);
    }
    return policy;
}

Point SelfPlayGame::draw_from_priors(float temperature) {
    std::vector<float> priors = raw_policy();
    for (std::size_t move = 0; move < priors.size(); ++move)
        if (!search_.may_play(static_cast<Point>(move))) priors[move] = 0;
    return draw(priors, temperature);
}

// `weights` by point.
Point SelfPlayGame::draw(std::span<const float> weights, float temperature) {
    const std::vector<double> exact(weights.begin(), weights.end());
    const int chosen = draw_by_weight(exact, temperature, random_);
    if (chosen < 0) throw std::logic_error("the root of a self-play game has no move to draw");
    return static_cast<Point>(chosen);
}

std::size_t SelfPlayGame::bytes() const {
    std::size_t record = played_.moves.capacity() * 2 + played_.root_values.capacity() * 8;
    for (const auto& target : played_.targets) record += sizeof target + target.capacity() * 4;
    return sizeof *this + search_.bytes() + record;
}

}  // namespace tengen
