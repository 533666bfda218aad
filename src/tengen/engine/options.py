"""The options of the command line that choose an engine: its network or playouts, its search and its device."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.engine.params import SearchParams, playout_params, read_params
from tengen.errors import RecipeError
from tengen.evaluators.human import HumanNetwork
from tengen.machine import Device


@dataclass(frozen=True)
class EngineOptions:
    """The options of `tengen gtp` and `tengen analysis` about the engine, as the user gave them; their help explains
    each.

    `net` is a name, a file, or `none` for playouts alone, whose policy is `playouts`. `human_net` is a human-style
    network for `humanSLProfile`. `settings` are the NAME=VALUE of `--set`, which come after those of the `preset`.
    `batch` is None for as many positions as suit the device.
    """

    net: str = "default"
    human_net: str | None = None
    playouts: str | None = None
    preset: str | None = None
    settings: tuple[str, ...] = ()
    device: Device = "auto"
    threads: int = 0
    batch: int | None = None
    seed: int = 0

    def search_params(self) -> SearchParams:
        """The settings of the search: those of the playouts or the preset, then `settings`.

        Raises RecipeError for options that contradict each other and for invalid settings.
        """
        alone = self.net == "none"
        if self.playouts is not None and not alone:
            raise RecipeError(
                "--playouts needs --net none; to mix playouts with a network use "
                "--set playouts=N --set playout_weight=W"
            )
        if self.preset is not None and alone:
            raise RecipeError("--preset needs a network; with --net none use --playouts and --set")
        if self.device != "auto" and alone:
            raise RecipeError(f"--device {self.device} needs a network; --net none has none")
        if self.batch is not None and alone:
            raise RecipeError(f"--batch {self.batch} needs a network; with --net none use --threads")
        if alone:
            return read_params(playout_params(self.playouts or "local"), self.settings, net="")
        params = SearchParams() if self.preset is None else SearchParams.preset(self.preset)
        return read_params(params, self.settings, self.net)

    def human_network(self) -> HumanNetwork | None:
        """The human-style network, None where none was given. Raises NetworkError for one that is not there."""
        return HumanNetwork(self.human_net, self.device, self.threads) if self.human_net else None
