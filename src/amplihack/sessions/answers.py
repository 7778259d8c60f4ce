"""Define the words in which a host answers whether a tool may do something. They are the kernel's."""

from __future__ import annotations

ALLOW_ONCE, ALLOW_ALWAYS, DENY = "Allow once", "Allow always", "Deny"
