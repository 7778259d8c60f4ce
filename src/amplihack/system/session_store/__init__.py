"""Keep sessions on the disk, written as they happen, so that each can go on after a crash."""
