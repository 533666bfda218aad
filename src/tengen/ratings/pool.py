"""All games that are rated together, from match folders and elsewhere; different players of one name are renamed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tengen.data.sources import SourceProblem, Sources
from tengen.errors import RecipeError, SgfError, TengenError
from tengen.match import spec
from tengen.match.folder import About, read_folder
from tengen.match.length import games_left, games_that_count
from tengen.match.names import numbered_players
from tengen.match.outcome import Outcome
from tengen.match.schedule import Schedule
from tengen.match.sprt import Sprt, pair_scores
from tengen.ratings.score import Score
from tengen.sgf import SgfInfo
from tengen.sgf.grammar import first_tree
from tengen.sgf.main_line import Moves, read_record

# Fields that make two players of one name different players; time limits for commands do not.
_STRENGTH = (
    "player", "visits", "seconds", "time", "diversity", "symmetries", "batch", "preset", "search", "temperature",
    "pass_policy", "style", "precision",
)  # fmt: skip
_SPEED = ("threads", "device")  # further ones of players that think for a given time
_USUAL = {"pass_policy": "engine", "precision": "auto", "threads": 1, "device": "auto"}  # older folders lack some

_STONES = "games with handicap or set up stones"

RUN_MATCHES = "matches/rating-*/match.json"
"""The matches of a self-play run that count for ratings. Gates do not: their players meet no other player."""


@dataclass(frozen=True, order=True)
class GameRules:
    """Board size, rule set (as text), komi and handicap stones of a game."""

    size: int
    rules: str
    komi: float
    handicap: int = 0

    def __str__(self) -> str:
        even = f"{self.size}x{self.size}, {self.rules}, komi {self.komi:g}"
        return f"{even}, handicap {self.handicap}" if self.handicap else even


@dataclass(frozen=True)
class GameSet:
    """Games from one place under the same rules.

    `identities` has the identity of each player of which more than the name is known: two players of one name with
    different identities are two players. `match` and `outcomes` are those of a match folder, without games after the
    deciding one. `moves` has, where the records were read, a digest of the moves for each of the scores, which are of
    one game each then.
    """

    source: Path
    rules: GameRules
    scores: tuple[Score, ...]
    identities: Mapping[str, str] = field(default_factory=dict)
    match: About | None = None
    outcomes: tuple[Outcome, ...] = ()
    moves: tuple[bytes, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> GameSet:
        """The same games of players under other names."""
        return replace(
            self,
            scores=tuple(
                replace(score, black=names.get(score.black, score.black), white=names.get(score.white, score.white))
                for score in self.scores
            ),
            identities={names.get(name, name): known for name, known in self.identities.items()},
            match=None if self.match is None else _about_renamed(self.match, names),
            outcomes=tuple(_renamed(outcome, names) for outcome in self.outcomes),
        )

    @property
    def left(self) -> int:
        """Games of the match that are not played yet; 0 for other sources. A sequential test is ignored."""
        if self.match is None or not self.match.players:
            return 0
        pairings = Schedule.model_validate(self.match.schedule).pairings(self.match.names)
        played = {outcome.index: outcome for outcome in self.outcomes}
        return sum(1 for _ in games_left(pairings, self.match.games, self.match.more.get("within"), played))


@dataclass(frozen=True)
class Pool:
    """Game sets that are rated together; `notes` are sentences about what was renamed, joined or left out."""

    game_sets: tuple[GameSet, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, game_sets: Iterable[GameSet], same: Mapping[str, str] | None = None, notes: Iterable[str] = ()) -> Pool:
        """Join game_sets. Players of one name are one player, unless more is known of them and differs.

        `same` gives players another name, so that one player under two names can be made one. Raises RecipeError for a
        name that no player has.
        """
        renames, distinct = _disambiguated(tuple(game_sets))
        pool = cls(distinct, (*notes, *renames))
        for name in same or {}:
            if name not in pool.players:
                raise RecipeError(f"there is no player {name!r}; there are {'; '.join(pool.players) or 'no games'}")
        return replace(pool, game_sets=tuple(game_set.renamed(same) for game_set in distinct)) if same else pool

    @property
    def sizes(self) -> list[int]:
        """Board sizes of which there are games."""
        return sorted({game_set.rules.size for game_set in self.game_sets if game_set.scores})

    def at(self, size: int) -> Pool:
        """The games on boards of this size."""
        return replace(self, game_sets=tuple(game_set for game_set in self.game_sets if game_set.rules.size == size))

    @property
    def players(self) -> list[str]:
        """The players' names, sorted."""
        return sorted({name for score in self.scores for name in (score.black, score.white)})

    @property
    def scores(self) -> list[Score]:
        return [score for game_set in self.game_sets for score in game_set.scores]

    @property
    def outcomes(self) -> list[tuple[GameSet, Outcome]]:
        """The games with a known outcome, each with its game set."""
        return [(game_set, outcome) for game_set in self.game_sets for outcome in game_set.outcomes]

    @property
    def rules(self) -> dict[GameRules, float]:
        """Games under each of the rules, most frequent first."""
        games: defaultdict[GameRules, float] = defaultdict(float)
        for game_set in self.game_sets:
            games[game_set.rules] += sum(score.games for score in game_set.scores)
        return {rules: count for rules, count in sorted(games.items(), key=lambda item: -item[1]) if count}


def match_games(folder: Path) -> GameSet:
    """The games of a match folder that count (see `games_that_count`). Raises TengenError when it is none."""
    about, outcomes = read_folder(folder)
    outcomes = _counted(about, outcomes)
    conditions = about.conditions
    return GameSet(
        folder,
        GameRules(conditions["size"], conditions["rules"], conditions["komi"], conditions.get("handicap") or 0),
        tuple(_score(outcome) for outcome in outcomes),
        {player["name"]: identity(player, about.more.get("files", {})) for player in about.players},
        about,
        tuple(outcomes),
    )


def _counted(about: About, outcomes: list[Outcome]) -> list[Outcome]:
    if not outcomes:
        return outcomes
    within, sprt = about.more.get("within"), about.more.get("sprt")
    pairings = Schedule.model_validate(about.schedule).pairings(about.names)
    outcomes = [outcome for outcome in outcomes if outcome.index < about.games * len(pairings)]
    if not within and not sprt:
        return outcomes
    test = Sprt.model_validate(sprt).judge(pair_scores(outcomes, about.names[0])) if sprt else None
    return games_that_count(pairings, within, test, {outcome.index: outcome for outcome in outcomes})


def matches_in(folder: Path) -> list[GameSet]:
    """The match of this folder, those of the folders in it, or the rating matches of a self-play run."""
    if (folder / "match.json").exists():
        return [match_games(folder)]
    found = sorted(folder.glob("*/match.json")) or sorted(folder.glob(RUN_MATCHES))
    return [match_games(path.parent) for path in found]


def even_games(game_sets: Iterable[GameSet]) -> tuple[list[GameSet], list[str]]:
    """The game sets without those of handicap games, and a note on each of these.

    Stones are worth more than a first move, and ratings have one worth of it for all games.
    """
    found: list[GameSet] = []
    notes = []
    for game_set in game_sets:
        if game_set.rules.handicap:
            notes.append(f"{game_set.source}: {len(game_set.scores)} left out, {_STONES}")
        else:
            found.append(game_set)
    return found, notes


def records_beside(folder: Path) -> list[Path]:
    """The SGF files in a folder of match folders, and in other folders in it: no match has them."""
    if (folder / "match.json").exists() or next(folder.glob("*/match.json"), None) is None:
        return []
    places = [
        folder,
        *(path for path in sorted(folder.iterdir()) if path.is_dir() and not (path / "match.json").exists()),
    ]
    return [path for place in places for path in sorted(place.iterdir()) if path.suffix.lower() == ".sgf"]


def identity(player: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The fields of a player that decide its strength, as text; `files` are the digests of networks."""
    fields = (*_STRENGTH, *_SPEED) if player.get("seconds") or player.get("time") else _STRENGTH
    known = {name: player[name] for name in fields if player.get(name) and player[name] != _USUAL.get(name)}
    if word := str(player.get("player", "")):
        known["player"] = spec.identity(word, files.get(word) or files.get(word.partition(":")[2]))
    return json.dumps(known, sort_keys=True)


def sgf_games(path: Path) -> tuple[list[GameSet], list[str]]:
    """The even games with a result under this path (files, folders, archives) by their rules, and notes.

    PB and PW are the names of the players. The notes count the games that were left out, by reason. Raises SgfError
    when there are no files.
    """
    games: dict[GameRules, list[tuple[Score, bytes]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    for tree in Sources([path]).trees():
        try:
            if isinstance(tree, SourceProblem):
                raise SgfError(tree.reason)
            record = read_record(first_tree(tree.data))
            score = _score_of(record.info, bool(record.stones))
            rules = GameRules(record.size, record.info.rules_or_guess, record.info.komi_or_guess)
            games[rules].append((score, digest(record.moves)))
        except SgfError as error:
            left_out[str(error).split(":")[0]] += 1
    game_sets = [
        GameSet(path, rules, tuple(score for score, _ in found), moves=tuple(moves for _, moves in found))
        for rules, found in sorted(games.items())
    ]
    return game_sets, [f"{path}: {count} left out, {reason}" for reason, count in sorted(left_out.items())]


def _score_of(info: SgfInfo, stones: bool) -> Score:
    """Raises SgfError for a game that cannot be rated."""
    if info.handicap or stones:
        raise SgfError(_STONES)
    if not info.black or not info.white or info.black == info.white:
        raise SgfError("games without two players' names")
    if info.result.winner is None:
        raise SgfError("games without a result")
    wins, losses, draws = (float(info.result.winner == winner) for winner in (0, 1, 2))
    return Score(info.black, info.white, wins, draws, losses)


def digest(moves: Moves) -> bytes:
    """A hash of the moves; empty for a game without moves."""
    if not len(moves):
        return b""
    return hashlib.blake2b(moves.tobytes(), digest_size=8).digest()


def _score(outcome: Outcome) -> Score:
    """A game without a winner is a draw, whatever ended it."""
    if outcome.winner is None:
        return Score(outcome.black, outcome.white, draws=1)
    if outcome.winner not in (outcome.black, outcome.white):
        raise TengenError(f"game {outcome.index} was won by {outcome.winner!r}, which did not play in it")
    won = outcome.winner == outcome.black
    return Score(outcome.black, outcome.white, wins=float(won), losses=float(not won))


def _renamed(outcome: Outcome, names: Mapping[str, str]) -> Outcome:
    def new(name: str) -> str:
        return names.get(name, name)

    return replace(
        outcome,
        black=new(outcome.black),
        white=new(outcome.white),
        winner=None if outcome.winner is None else new(outcome.winner),
        counts={new(name): count for name, count in outcome.counts.items()},
        seconds={new(name): seconds for name, seconds in outcome.seconds.items()},
        visits={new(name): visits for name, visits in outcome.visits.items()},
    )


def _about_renamed(about: About, names: Mapping[str, str]) -> About:
    players = ({**player, "name": names.get(player["name"], player["name"])} for player in about.players)
    return replace(about, players=tuple(players))


def _disambiguated(game_sets: tuple[GameSet, ...]) -> tuple[list[str], tuple[GameSet, ...]]:
    """Notes, and the game sets in which different players of one name have different names.

    Each name gets the folder where the player appears first. Board sizes are separate: the network that
    `default` stands for depends on the size.
    """
    known: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)  # board size and name, identity, where first
    places = Counter(game_set.source.resolve().name for game_set in game_sets)
    for game_set in game_sets:
        place = game_set.source.resolve().name
        for name, who in game_set.identities.items():
            known[game_set.rules.size, name].setdefault(who, place if places[place] == 1 else str(game_set.source))
    clashes = {key: found for key, found in sorted(known.items()) if len(found) > 1}
    notes = [
        f"{name} is not the same player everywhere: those of {', '.join(found.values())} are rated separately"
        for (_, name), found in clashes.items()
    ]
    renamed = []
    numbered: dict[str, str] = {}
    for game_set in game_sets:
        found = {name: clashes.get((game_set.rules.size, name), {}) for name in game_set.identities}
        names = {name: f"{name} ({found[name][who]})" for name, who in game_set.identities.items() if found[name]}
        renamed.append(game_set.renamed(names))
        for name, player in numbered_players(game_set.match.players if game_set.match else ()).items():
            numbered.setdefault(names.get(name, name), player)
    if numbered:
        notes.append("; ".join(f"{name} is {player}" for name, player in numbered.items()))
    return notes, tuple(renamed)
