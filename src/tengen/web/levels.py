"""How strong the opponent plays, and in honest words how it does so."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.engine import Style


@dataclass(frozen=True)
class Level:
    """A strength: `visits` positions are searched before a move, or it is drawn from the policy at `temperature`."""

    key: str
    title: str
    about: str
    visits: int
    temperature: float | None = None

    @property
    def style(self) -> Style:
        """How the engine chooses its move at this level."""
        return Style(policy_temperature=self.temperature)


LEVELS: tuple[Level, ...] = (
    Level("beginner", "Beginner", "Draws its move from everything the network finds imaginable. Errs often.", 1, 1.6),
    Level("casual", "Casual", "Draws its move as often as the network believes in it. No reading.", 1, 1.0),
    Level("club", "Club", "Draws among the network's favourite moves. No reading.", 1, 0.5),
    Level("instinct", "Instinct", "The network's first choice, without reading ahead.", 1),
    Level("quick", "Quick reader", "Looks at 16 positions before each move.", 16),
    Level("steady", "Steady reader", "Looks at 100 positions before each move.", 100),
    Level("strong", "Strong reader", "Looks at 400 positions before each move.", 400),
    Level("strongest", "Deep reader", "Looks at 1,600 positions before each move. Slow on a small computer.", 1600),
)


def custom_level(visits: int) -> Level:
    """The level that searches exactly `visits` positions a move; a named one where it fits."""
    for known in LEVELS:
        if known.visits == visits and known.temperature is None:
            return known
    return Level(f"visits-{visits}", f"{visits} visits", f"Looks at {visits} positions before each move.", visits)
