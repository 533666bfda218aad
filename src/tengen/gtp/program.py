"""The GTP program: from the settings of its command line to a session that serves until the input ends."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from tengen.engine import Limits, Style, load_engine
from tengen.engine.params import SearchParams, playout_params, set_params
from tengen.errors import RecipeError
from tengen.evaluators.load import Backend
from tengen.game import Game
from tengen.gtp.channel import open_channel
from tengen.gtp.server import serve
from tengen.gtp.session import Options, Session
from tengen.gtp.setup import acceptable_komi


@dataclass(frozen=True)
class Settings:
    """What the command line says; `docs/gtp.md` explains each. `version` is what the program calls itself."""

    version: str = "0"
    net: str = "default"
    playouts: str | None = None
    preset: str | None = None
    params: tuple[str, ...] = ()
    visits: int | None = None
    seconds: float | None = None
    size: int = 19
    komi: float = 7.5
    rules: str = "chinese"
    ponder: bool = False
    resign: bool = True
    temperature: float = 0.0
    weaken: float | None = None
    backend: Backend = "auto"
    threads: int = 0
    batch: int = 8
    seed: int = 0
    log: Path | None = None


def run(settings: Settings) -> None:
    """Serve GTP on standard input and output. Raises TengenError before the first answer if a setting cannot work."""
    limits = Limits(visits=settings.visits, seconds=settings.seconds)
    style = Style(temperature=settings.temperature, policy_temperature=settings.weaken, resign=settings.resign)
    game = Game(settings.size, settings.rules, acceptable_komi(settings.komi))
    _start_log(settings.log)
    lines, write = open_channel()
    params = _params(settings)
    engine = load_engine(
        settings.net,
        params=params,
        backend=settings.backend,
        threads=settings.threads,
        batch=settings.batch,
        seed=settings.seed,
        style=style,
    )
    options = Options(
        version=settings.version,
        limits=limits,
        visits_without_clock=engine.limits.visits,
        ponder=settings.ponder,
    )
    try:
        serve(Session(engine, game, lines, options), write)
    except BrokenPipeError:
        logging.getLogger(__name__).info("nobody reads the answers any more")
    finally:
        engine.close()


def _params(settings: Settings) -> SearchParams:
    """The settings of the search: those of its kind, then what --set says."""
    alone = settings.net == "none"
    if settings.playouts is not None and not alone:
        raise RecipeError(
            "--playouts is for --net none; beside a network, --set playouts=N --set playout_weight=W mixes"
        )
    if settings.preset is not None and alone:
        raise RecipeError("--preset is for searches with a network; --net none takes --playouts and --set")
    if settings.backend != "auto" and alone:
        raise RecipeError(f"--backend {settings.backend} computes a network; --net none has none")
    if settings.batch != Settings.batch and alone:
        raise RecipeError(f"--batch {settings.batch} is of positions for a network; --net none takes --threads")
    if settings.weaken is not None and alone:
        raise RecipeError(f"--weaken {settings.weaken:g} draws from a network; with --net none give few --visits")
    if alone:
        params = playout_params(settings.playouts or "local")
    else:
        params = SearchParams() if settings.preset is None else SearchParams.preset(settings.preset)
    pairs = [setting.partition("=") for setting in settings.params]
    for name, equals, _ in pairs:
        if not equals:
            raise RecipeError(f"--set {name}: write NAME=VALUE, such as c_puct=1.1")
    return set_params(params, {name: value for name, _, value in pairs})


def _start_log(file: Path | None) -> None:
    logging.basicConfig(
        filename=file,
        level=logging.DEBUG if file else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
