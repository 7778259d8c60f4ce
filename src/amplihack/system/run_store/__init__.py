"""Keep runs on the disk: one database for all, and a directory of large values for each."""
