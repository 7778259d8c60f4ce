from __future__ import annotations

import pytest
from tests.support.framework_place import FrameworkPlace, make_place
from tests.support.workspace import Workspace


@pytest.fixture
def place(workspace: Workspace) -> FrameworkPlace:
    """A repository, the framework bundle and an agent."""
    return make_place(workspace)
