"""Tell the person at a session something that no answer of the model says."""

from __future__ import annotations

import logging
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["info", "warning", "error"]

_log = logging.getLogger("amplihack.modules")


def tell(coordinator: Any, source: str, text: str, level: Level = "warning") -> None:
    """Show a line through the display of the session, or log it where there is none."""
    display = getattr(coordinator, "display_system", None)
    if display is not None:
        display.show_message(text, level, source)
    else:
        _log.log(logging.INFO if level == "info" else logging.WARNING, "%s: %s", source, text)
