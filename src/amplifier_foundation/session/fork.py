"""Continue sessions from an earlier turn."""

from amplihack.sessions.forks import ForkResult, fork_session_in_memory
from amplihack.system.transcripts.fork_files import (
    fork_session,
    get_fork_preview,
    get_session_lineage,
    list_session_forks,
)

__all__ = [
    "ForkResult",
    "fork_session",
    "fork_session_in_memory",
    "get_fork_preview",
    "get_session_lineage",
    "list_session_forks",
]
