"""Operations of an OpenVINO model that native code computes."""

from __future__ import annotations

import weakref
from typing import Any, Self

from openvino import Op


class Operations(list[Any]):
    """The operations of a model, with the copies that OpenVINO makes of them. They must live as long as the model."""


class NativeOperation:
    """The name of the operations, which OpenVINO takes from the class of an object. It keeps a reference to that
    object: of the operation itself, neither that nor its model would ever be freed."""


# One for all, and never freed: OpenVINO counts its references down without the interpreter's lock.
_NAMES = [NativeOperation()] * 1000


class Operation(Op):  # type: ignore[misc]
    """One call of `native`, an object of native code. Copies get `given` too, and are added to `kept`.

    Subclasses define `validate_and_infer_types` and `evaluate`.
    """

    def __init__(self, inputs: list[Any], kept: Operations, native: Any, *given: Any) -> None:
        super().__init__(_NAMES[0])
        self.native = native
        self._given = given
        self._kept = weakref.ref(kept)  # Python's collector does not look into operations: a cycle would stay
        self.set_arguments(inputs)
        self.constructor_validate_and_infer_types()

    def clone_with_new_inputs(self, inputs: list[Any]) -> Self:
        kept = self._kept()
        assert kept is not None, "the operations live as long as their model"
        kept.append(type(self)(inputs, kept, self.native, *self._given))
        return kept[-1]  # type: ignore[no-any-return]

    def visit_attributes(self, visitor: Any) -> bool:
        # Operations of equal inputs and attributes would be merged.
        visitor.on_attributes({"native": id(self.native)})
        return True

    def has_evaluate(self) -> bool:
        return True


def reader(node: Any | None, kind: str) -> Any | None:
    """The operation of this kind that alone reads the result of a node; None where there is another or none."""
    readers = list(node.output(0).get_target_inputs()) if node is not None else []
    found = readers[0].get_node() if len(readers) == 1 else None
    return found if found is not None and found.get_type_name() == kind else None
