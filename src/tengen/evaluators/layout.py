"""How a batch is computed on the CPU: in how many parts, by how many threads, and which layers by native code."""

from dataclasses import dataclass
from typing import Literal

from tengen import _native

MIN_LAYERS = {"convolutions": 4, "attention": 1}
"""A network with fewer layers of a kind spends its time elsewhere: one layer of attention is enough."""
WINOGRAD_EDGES = {"f32": 13, "bf16": 14}
"""On smaller boards, too much of the tiles of 4x4 points lies beside the board (measured: 0.65 times the positions on
9x9 in f32, 0.97 times on 13x13 in bf16)."""
MIN_ATTENTION_POINTS = 300
"""With fewer points a part the calls from Python take what attention saves (measured on 9x9: 0.9 times the positions
with two boards a part, 1.0 to 1.3 with four, 1.5 to 1.6 with 16; without AMX 0.97 to 1.05 with four, 1.07 to 1.09 with
eight)."""
FloatPrecision = Literal["f32", "bf16"]
NativeLayers = Literal["convolutions", "attention"]
"""Layers that native code computes faster than OpenVINO: convolutions by Winograd's algorithm, attention in bf16."""


@dataclass(frozen=True)
class Layout:
    """How a batch is computed on the CPU: the number of parts side by side, the threads of each (0: all cores);
    `native` computes layers by native code (`NativeLayers`) and needs one thread a part.

    Layouts differ in the last bits of their results: in f32 by 1e-5 with and without `native`, in bf16 by its rounding,
    and by less between parts and threads.
    """

    native: bool
    parts: int
    threads: int = 1

    def __str__(self) -> str:
        return f"{self.parts} x {self.threads} threads{', native' if self.native else ''}"

    @staticmethod
    def candidates(threads: int, native: bool, batch: int) -> list["Layout"]:
        """The layouts worth measuring on `threads` threads in batches of `batch`, at most five.

        Parts without a row would wait, and with many of them the rule would be measured again: see
        `OpenVinoEvaluator._model`.
        """
        max_parts = min(threads, batch)
        parts = list(dict.fromkeys([1, max(1, max_parts // 2), max_parts]))
        plain = [Layout(False, n, threads // n) for n in parts]
        # Larger batches take the layout too, so at most half of the threads may rest.
        return plain + [Layout(True, n) for n in reversed(parts) if native and n >= threads // 2]


@dataclass(frozen=True)
class LayoutRule:
    """Which layout computes a batch.

    layers: which layers native code can compute, and `fitting` how many. native: whether it does, in batches of
    `min_rows`, in `parts` parts: convolutions on boards from `min_edge` on, attention in parts of enough points. Other
    batches are whole, by `threads` threads (0: all cores). chosen: the layout instead on boards from `min_edge` on.
    """

    layers: NativeLayers | None
    fitting: int
    native: bool
    parts: int
    threads: int
    min_rows: int
    min_edge: int
    chosen: Layout | None

    @classmethod
    def of(
        cls,
        layers: NativeLayers | None,
        fitting: int,
        precision: str,
        native: bool | None,
        parts: int,
        threads: int,
        max_batch: int,
        chosen: Layout | None,
    ) -> "LayoutRule":
        """The rule for a network and a processor; `native` None leaves it to the number of fitting layers."""
        enough = layers is not None and fitting >= (MIN_LAYERS[layers] if native is None else 1)
        return cls(
            layers=layers,
            fitting=fitting,
            native=native is not False and enough and parts <= max_batch,
            parts=parts,
            threads=threads,
            # With fewer rows than cores the plain model, which shares a row among the cores, is faster (measured on two
            # cores: for one row 1.3 times in f32 and 1.5 times in bf16, for two rows in bf16 1.2 times). With as many
            # cores as `max_batch` no batch has a row more.
            min_rows=parts + (precision == "bf16" and 1 < parts < max_batch),
            min_edge=WINOGRAD_EDGES.get(precision, WINOGRAD_EDGES["f32"]),
            chosen=None if chosen and chosen.native and not fitting else chosen,
        )

    def layout(self, rows: int, edge: int, only_size: int | None) -> Layout:
        """The layout of a batch; `only_size` is the board size of a network that knows no other."""
        smallest = min(self.min_edge, only_size or self.min_edge)
        if self.chosen is not None and edge >= smallest and 2 * rows >= self.chosen.parts:
            return self.chosen
        points = -(-rows // self.parts) * edge * edge
        enough = points >= MIN_ATTENTION_POINTS if self.layers == "attention" else edge >= self.min_edge
        if self.native and enough and rows >= self.min_rows:
            return Layout(True, self.parts, 1)
        return Layout(False, 1, self.threads)


def native_layers(precision: str) -> tuple[NativeLayers, ...]:
    """The layers that native code computes faster than OpenVINO on this processor in a precision, the first one first
    where a network has enough of both.

    With matrix units (AMX) products of bf16 are 16 times as fast as those of f32: there convolutions are best as plain
    sums, and attention takes most of the time.
    """
    found: list[NativeLayers] = []
    tiles = precision == "bf16" and "amx_bf16" in _native.processor_flags()
    if not tiles and precision in ("f32", "bf16") and _native.Winograd.available(precision):
        found.append("convolutions")
    if precision == "bf16" and _native.Attention.available():
        found.append("attention")
    return tuple(found)
