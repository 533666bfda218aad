"""The configuration of a network: what is saved with its weights and rebuilds it."""

from pydantic import BaseModel, ConfigDict


class NetConfig(BaseModel):
    """Base of the configurations of all families; a family adds its own fields.

    `family` names the architecture, `plane_set` the encoding that it reads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    plane_set: str = "tengen"

    @property
    def board_sizes(self) -> tuple[int, ...] | None:
        """The only board sizes that such a network can take; None where it takes any."""
        return None

    def derived(self) -> dict[str, object]:
        """What follows from the fields and is worth printing, by name."""
        return {}
