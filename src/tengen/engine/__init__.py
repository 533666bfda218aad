"""The engine and what it is made of: a position in, progress and a move out."""

from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.engine.engine import DEFAULT_VISITS, Engine, load_engine
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.queue import SearchQueue
from tengen.engine.result import Candidate, Count, SearchResult
from tengen.engine.search import MoveRestriction
from tengen.engine.style import Style
from tengen.engine.task import SearchTask

__all__ = [
    "DEFAULT_VISITS",
    "Candidate",
    "Clock",
    "Count",
    "Engine",
    "Limits",
    "MoveRestriction",
    "Overtime",
    "SearchParams",
    "SearchQueue",
    "SearchResult",
    "SearchTask",
    "Style",
    "TimeControl",
    "load_engine",
]
