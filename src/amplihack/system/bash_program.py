"""Name the bash that runs the commands of recipes."""

BASH = "/bin/bash"
