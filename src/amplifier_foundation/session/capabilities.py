"""Get and set the directory that a session works in."""

from amplihack.system.foundation.session_working_dir import (
    WORKING_DIR_CAPABILITY,
    get_working_dir,
    set_working_dir,
)

__all__ = ["WORKING_DIR_CAPABILITY", "get_working_dir", "set_working_dir"]
