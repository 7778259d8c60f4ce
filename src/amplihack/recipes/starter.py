"""Write the recipe that an author starts with."""

from __future__ import annotations

import re

_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")  # of YAML, which need quotes
_STARTER = """\
# yaml-language-server: $schema=SCHEMA
#
#   amplihack recipe run FILE           run it
#   amplihack recipe run FILE --help    what it takes
#   amplihack recipe check FILE         look for mistakes without running anything

name: NAME
description: Say in one line what this recipe is for.

# The first command of a step that fails, also inside a pipe, fails the step.
strict_shell: true

# What a caller can give: `--set who=Ada`. With `required: true` it has to be given.
parameters:
  who: {type: string, default: world, description: "whom to greet"}

steps:
  # A step runs a command. What it prints becomes a variable with the id of the step.
  - id: today
    command: date +%F

  # A value never becomes code, whatever it holds and whatever quotes are around it.
  - id: greeting
    command: echo "Hello, {{who}}! Today is {{today}}."

  # A step may have a condition, go over a list with `foreach`, or ask an agent:
  #
  # - id: poem
  #   condition: who != 'world'
  #   prompt: Write two lines for {{who}} about {{today}}.

# What the recipe gives back. With -q, a run prints this and nothing else.
output: "{{greeting}}"
"""


def starter(name: str, *, file: str, schema: str) -> str:
    """Return a recipe that is valid, needs no agent and explains itself.

    `file` is how its author calls it on the command line, `schema` the way from the file to the schema.
    """
    plain = name[0].isalpha() and name.lower() not in _WORDS
    words = {"SCHEMA": schema, "FILE": file, "NAME": name if plain else f'"{name}"'}
    return re.sub("SCHEMA|FILE|NAME", lambda found: words[found.group()], _STARTER)
