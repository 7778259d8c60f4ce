"""Look up what the choice of a model depends on."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from amplihack.sessions.model_choice import SERVICES, ModelFacts
from amplihack.system.home import Home
from amplihack.system.local_models.catalogue import CATALOGUE
from amplihack.system.local_models.store import models_here

_ENGINE = "xllamacpp"


def model_facts(environment: Mapping[str, str], home: Home) -> ModelFacts:
    """Return what there is to ask on this machine. No package is imported for it."""
    packages = (*(service.package for service in SERVICES.values()), _ENGINE)
    return ModelFacts(
        environment=environment,
        packages=frozenset(name for name in packages if find_spec(name) is not None),
        models_here=tuple(model.name for model in sorted(models_here(home), key=lambda each: each.size)),
        models_known=tuple(CATALOGUE),
        without_tools=frozenset(name for name, model in CATALOGUE.items() if not model.uses_tools),
    )
