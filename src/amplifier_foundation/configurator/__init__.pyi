from amplifier_foundation.configurator._overlay import (
    RUNTIME_CONTEXT_OVERLAY_CAPABILITY as RUNTIME_CONTEXT_OVERLAY_CAPABILITY,
)
from amplifier_foundation.configurator._overlay import (
    RUNTIME_SKILL_OVERLAY_CAPABILITY as RUNTIME_SKILL_OVERLAY_CAPABILITY,
)
from amplifier_foundation.configurator._overlay import RuntimeOverlay as RuntimeOverlay
from amplifier_foundation.configurator._overlay import TransitionResult as TransitionResult
from amplifier_foundation.configurator._session import SessionConfigurator as SessionConfigurator
from amplifier_foundation.configurator._session import walk_include_chain as walk_include_chain
from amplifier_foundation.configurator._session import walk_include_chains as walk_include_chains
from amplifier_foundation.configurator._types import IncludeStep as IncludeStep
from amplifier_foundation.configurator._types import ItemRecord as ItemRecord
from amplifier_foundation.configurator._types import Origin as Origin
