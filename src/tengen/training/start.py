"""The weights that a run begins with: those of a network file, or of a checkpoint of another run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tengen.data.planes import plane_set
from tengen.disk import write_text
from tengen.errors import RecipeError
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.network_file import read_card
from tengen.networks.blocks import ScalarLinear, ScaledConv2d
from tengen.networks.constant_inputs import ScalarRange, fold_width, used_scalars, without_constants
from tengen.networks.interface import NetConfig
from tengen.networks.load import load_module
from tengen.networks.registry import build, parse_config
from tengen.runs.checkpoints import checkpoints
from tengen.runs.folder import RunFolder
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.training.batches import TensorBatch
from tengen.training.card import learned_games
from tengen.training.config import RunConfig
from tengen.training.trainer import newest_checkpoint

LEARNED = ".learnt.json"
"""In the folder of a run: the games that its network learns from, and what its start was."""
_SHOWN = 6  # layers that a report names


@dataclass(frozen=True)
class TransferredLayers:
    """What a network took from another one: its layers by name, and what stayed apart.

    `fresh` are layers of the network that found no match, `unused` layers of the source without one. `parameters` of
    `total` trained numbers were taken. `scalars` are those that affect the layers taken.
    """

    source: str
    layers: tuple[str, ...]
    fresh: tuple[str, ...]
    unused: tuple[str, ...]
    parameters: int
    total: int
    scalars: tuple[int, ...]

    def event(self) -> dict[str, Any]:
        """The event for the log."""
        names = ("source", "layers", "fresh", "unused", "parameters", "total")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        layers = len(self.layers) + len(self.fresh)
        parts = [
            f"start: {len(self.layers)} of {layers} layers, {self.parameters:,} of {self.total:,} parameters, from "
            f"{self.source}"
        ]
        for what, names in (("fresh", self.fresh), ("not used", self.unused)):
            if names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                parts.append(f"{what}: {', '.join(names[:_SHOWN])}{more}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Origin:
    """What a run takes of its start besides the weights.

    The configuration of its network, the search that suits it, the board sizes and the games that it has learned; games
    as of `card.games_learned`.
    """

    network: dict[str, Any]
    search: dict[str, Any]
    board_sizes: list[int]
    games: list[dict[str, Any]]

    def sizes_of(self, network: NetConfig) -> list[int]:
        """The board sizes that it has learned; none where `network` is another one.

        Maps that serve training alone may differ: they say nothing of the layers that play.
        """
        return self.board_sizes if parse_config(self.network).playing_part == network.playing_part else []


def origin_of(run: RunConfig, folder: RunFolder | None = None, local: LocalFiles = AS_NAMED) -> Origin | None:
    """What a run takes of its start, None without one; of a `folder` that holds the run, what it took.

    Raises NetworkError and RecipeError for a start that is not there.
    """
    if run.start is None:
        return None
    if folder is not None and (noted := noted_origin(run, folder)) is not None:
        return noted
    name_or_path = local.name_or_path(run.start)
    path = Path(name_or_path)
    if not path.is_dir():
        card = read_card(own_file(name_or_path))
        return Origin(card.config, card.search, card.board_sizes, learned_games(card.provenance))
    recipe = _recipe(path)
    return Origin(recipe["network"], recipe["card"]["search"], recipe["card"]["board_sizes"], _noted(path)["games"])


def noted_origin(run: RunConfig, folder: RunFolder) -> Origin | None:
    """What the run took of its start, where `folder` holds its checkpoints: the start itself is not needed any more."""
    if not checkpoints(folder.checkpoints):
        return None
    found = _noted(folder.path)
    return Origin(**found["origin"]) if found["start"] == run.start and found["origin"] else None


def note_learned(
    run: RunConfig,
    folder: RunFolder,
    games: Sequence[Mapping[str, Any]],
    board_sizes: Sequence[int],
    origin: Origin | None,
) -> None:
    """Write into the folder of a run what its start was, and which games and board sizes its network has learned in the
    end; the card may name fewer sizes."""
    origin_fields = asdict(origin) if origin else None
    found = {"games": list(games), "board_sizes": list(board_sizes), "start": run.start, "origin": origin_fields}
    write_text(folder.path / LEARNED, json.dumps(found))


def _noted(folder: Path) -> dict[str, Any]:
    """What `note_learned` wrote into the folder of a run. Raises RecipeError where it did not."""
    noted = folder / LEARNED
    found: dict[str, Any] = json.loads(noted.read_text(encoding="utf-8")) if noted.exists() else {}
    if "board_sizes" not in found:
        raise RecipeError(
            f"{folder} was written by another version of Tengen; give another folder, or a network file to start from"
        )
    return found


def with_network(run: RunConfig, folder: RunFolder | None = None) -> RunConfig:
    """The run with the network of its `start` where the recipe gives none, and with the search that suits that network.

    `folder` and errors as of `origin_of`.
    """
    if run.network or (origin := origin_of(run, folder)) is None:
        return run
    card = run.card.model_copy(update={"search": run.card.search or origin.search})
    return run.model_copy(update={"network": origin.network, "card": card})


def start_from(network: nn.Module, name_or_path: str) -> TransferredLayers:
    """Give a network every layer of another one that has the same name and shapes.

    The other one is the name of an installed network, a network file, or the folder of a supervised run, whose newest
    checkpoint (its moving average, if it has one) is taken; scalars and a board size that were constant in that run
    have no effect, as in its file. Raises NetworkError for a file that is none of ours, RecipeError for a folder
    without checkpoints and where no layer matches.
    """
    source, found = _weights(name_or_path)
    state = network.state_dict()
    wanted, there = _layers(state), _layers(found)
    matching = {layer for layer, shapes in wanted.items() if there.get(layer) == shapes}
    if not matching:
        raise RecipeError(
            f"start: no layer of {source} has the name and shape of a layer of the recipe's network: "
            f"{_examples(there)} there, {_examples(wanted)} here; choose a network of the same family and size"
        )
    network.load_state_dict(
        {key: found[key] for key in state if key in found and _layer(key) in matching}, strict=False
    )
    sizes = {name: parameter.numel() for name, parameter in network.named_parameters()}
    scalars = [part for name, part in network.named_modules() if isinstance(part, ScalarLinear) and name in matching]
    return TransferredLayers(
        source=source,
        layers=tuple(layer for layer in wanted if layer in matching),
        fresh=tuple(layer for layer in wanted if layer not in matching),
        unused=tuple(layer for layer in there if layer not in matching),
        parameters=sum(size for name, size in sizes.items() if _layer(name) in matching),
        total=sum(sizes.values()),
        scalars=tuple(used_scalars(*scalars)),
    )


def scale_down(network: nn.Module, fresh: Collection[str], batch: TensorBatch) -> None:
    """Scale fresh layers whose outputs have a standard deviation above 1 on a batch, in the order in which they run.

    Layers without batch norm pass on any scale: behind a policy whose last convolution has outputs of 64, a fresh value
    is -1 or 1 everywhere, where the tanh has no gradient. Layer-sequential unit variance (Mishkin and Matas 2016,
    section 2), downwards alone.
    """

    def scale(layer: nn.Module, _: object, output: Tensor) -> Tensor | None:
        spread = output.std(correction=0)  # 0 of a single number
        if spread <= 1:
            return None
        for name, parameter in layer.named_parameters():
            # The filters of a standardized convolution do not decide its scale, only how far a step turns them.
            if name != "weight" or not isinstance(layer, ScaledConv2d):
                parameter.div_(spread)
        return output / spread

    layers = [(name, part) for name, part in network.named_modules() if isinstance(part, nn.Conv2d | nn.Linear)]
    hooks = [layer.register_forward_hook(scale) for name, layer in layers if name in fresh]
    was_training = network.training
    with torch.no_grad():
        network.eval()(batch.planes, batch.scalars, batch.mask)
    network.train(was_training)
    for hook in hooks:
        hook.remove()


def start_whole(network: nn.Module, name_or_path: str) -> None:
    """Give a fresh network all weights of a network file; what only training needs and the file lacks stays fresh.

    Raises NetworkError for a file that is none of ours, RecipeError where the file holds another network.
    """
    path = own_file(name_or_path)
    start = _file_weights(path)
    wanted = network.state_dict()
    for key, value in wanted.items():
        if key in start and start[key].shape != value.shape:
            raise RecipeError(
                f"start: {path} has {key} of shape {tuple(start[key].shape)}, the recipe's network "
                f"{tuple(value.shape)}: give the network of the recipe the file's family and size"
            )
    if not set(start) <= set(wanted):
        raise RecipeError(f"start: {path} has {sorted(set(start) - set(wanted))[0]}, which the recipe's network lacks")
    network.load_state_dict(start, strict=False)


def _weights(name_or_path: str) -> tuple[str, dict[str, Tensor]]:
    """(description of the source, its weights by name), without the effect of inputs that were constant in training."""
    folder = Path(name_or_path)
    if not folder.is_dir():
        path = own_file(name_or_path)
        return path.stem, _file_weights(path)
    recipe = _recipe(folder)
    found = newest_checkpoint(folder / "checkpoints")
    if found is None:
        raise RecipeError(f"start: {folder} holds no checkpoint of a supervised run; give a network file instead")
    saved = found[1]
    seen = ScalarRange(len(saved["scalars"]["lowest"]))
    seen.load_state_dict(saved["scalars"])
    config = parse_config(recipe["network"])
    inputs = plane_set(config.plane_set)
    module = build(config, len(inputs.planes), len(inputs.scalars))
    module.load_state_dict(saved["average"] or saved["network"])
    module = without_constants(module, seen.constant)
    if len(sizes := _noted(folder)["board_sizes"]) == 1:
        fold_width(module, sizes[0])
    return f"{folder}, step {saved['step']:,}", module.state_dict()


def own_file(name_or_path: str) -> Path:
    """The file of a network, which training can go on with.

    Raises NetworkError where there is none, and RecipeError for one of another program.
    """
    path = find_network_of("start", name_or_path)
    if "family" not in read_card(path).config:
        raise RecipeError(
            f"start: {name_or_path} is a network of another program, which Tengen cannot train further; it can teach "
            f"one: tengen label STORE --teacher {name_or_path} --out LABELS, then tengen train with data.teacher"
        )
    return path


def _file_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a network file, without maps that serve training alone: a file has none, they are fresh."""
    return {key: value for key, value in load_module(path).state_dict().items() if ".maps." not in f".{key}"}


def _recipe(folder: Path) -> dict[str, Any]:
    recipe = RunFolder(folder, "supervised").saved_recipe()
    if recipe is None or recipe.get("kind") != "supervised":
        raise RecipeError(f"start: {folder} is no folder of a supervised run; give one, or a network file")
    return recipe


def _layer(key: str) -> str:
    """The module that owns a weight."""
    return key.rpartition(".")[0] or key


def _layers(state: dict[str, Tensor]) -> dict[str, dict[str, torch.Size]]:
    """The shapes of the weights of each layer; counters of batches do not count."""
    layers: dict[str, dict[str, torch.Size]] = {}
    for key, value in state.items():
        if value.is_floating_point():
            layers.setdefault(_layer(key), {})[key] = value.shape
    return layers


def _examples(layers: dict[str, dict[str, torch.Size]]) -> str:
    """The first weight, such as stem.weight 64x22x5x5."""
    shapes = next(iter(layers.values()), {})
    return next((f"{key} {'x'.join(map(str, shape))}" for key, shape in shapes.items()), "nothing")
