"""Put values into text and into bash scripts, and plan the environment of a step's process."""

from amplihack.recipes.placeholders import Placeholder, find_placeholders, line_of
from amplihack.recipes.placeholders import show as show_path
from amplihack.recipes.templates.environment import EnvironmentPlan, plan_environment
from amplihack.recipes.templates.shell import Hazard, ShellScript, check_env, hazards, render_shell
from amplihack.recipes.templates.text import Rendered, render_text, render_value
from amplihack.recipes.templates.variables import VariableIndex, shell_variables

__all__ = [
    "EnvironmentPlan",
    "Hazard",
    "Placeholder",
    "Rendered",
    "ShellScript",
    "VariableIndex",
    "check_env",
    "find_placeholders",
    "hazards",
    "line_of",
    "plan_environment",
    "render_shell",
    "render_text",
    "render_value",
    "shell_variables",
    "show_path",
]
