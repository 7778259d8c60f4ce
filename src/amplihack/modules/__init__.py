"""The kernel modules that we ship. Each is replaceable, and imported only when a session mounts it."""
