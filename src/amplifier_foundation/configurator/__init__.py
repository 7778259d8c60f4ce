"""Tell where the parts of a bundle come from."""

from amplifier_foundation.configurator._types import IncludeStep, ItemRecord, Origin

__all__ = ["IncludeStep", "ItemRecord", "Origin"]
