"""Read recipes from Python, and use their template and condition languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from amplihack.app.python_api.finding import library_of_this_process
from amplihack.app.workspace import open_file
from amplihack.errors import NotFound, Problem, UsageError
from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, holds, parse_condition
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.extends import Located
from amplihack.recipes.extends import resolve_extends as merge_parents
from amplihack.recipes.fields import Dialect
from amplihack.recipes.model import Recipe
from amplihack.recipes.placeholders import find_variables
from amplihack.recipes.templates import ShellScript, render_shell, render_text, shell_variables
from amplihack.recipes.values import Missing, Value, lookup
from amplihack.records import replace
from amplihack.system.clock import SystemClock
from amplihack.system.files import read_bytes

_FOR_FILES = "run_file(path) runs a file, and RecipeParser().parse_file(path) reads one"


def parse_recipe(text: str | bytes) -> Recipe:
    """Parse a recipe from YAML text. Raises DocumentError or RecipeError with every error of the text."""
    return decode_given(text).required()


def decode_given(text: str | bytes) -> Decoded:
    """Read the text of a recipe. Raises UsageError for what is none, such as the path of a file."""
    if not isinstance(text, str | bytes):
        what = f"what is of the type {type(text).__name__} is no text of a recipe"
        raise UsageError(what, fix=_FOR_FILES)
    if isinstance(text, str) and "\n" not in text and text.endswith((".yaml", ".yml")):
        raise UsageError(f"{text!r} is the name of a file, not the text of a recipe", fix=_FOR_FILES)
    return decode_text(text)


def validate_recipe(text: str | bytes) -> list[str]:
    """Return the warnings about a recipe, one line each. Raises like `parse_recipe`."""
    decoded = decode_given(text)
    decoded.required()
    return [_line(problem) for problem in decoded.warnings]


def _line(problem: Problem) -> str:
    return f"{problem.what}; {problem.fix}" if problem.fix else problem.what


class RecipeParser:
    """Parses recipes. It keeps nothing between calls."""

    def parse(self, text: str | bytes) -> Recipe:
        return parse_recipe(text)

    def parse_file(self, path: str | FilePath) -> Recipe:
        """Parse a recipe file; the recipe keeps its path. Raises NotFound, DocumentError or RecipeError."""
        recipe = decode_text(read_bytes(FilePath(path)), str(path)).required()
        # An absolute path still leads to the file when the process has changed its directory.
        return replace(recipe, where=replace(recipe.where, file=str(FilePath(path).absolute())))

    def validate_with_yaml(self, text: str | bytes) -> list[str]:
        return validate_recipe(text)

    def resolve_extends(self, recipe: Recipe, dirs: Sequence[str | FilePath] | None = None) -> Recipe:
        """Merge the ancestors in. They are searched in `dirs`, beside the file and in the project."""
        return merge_parents(located(recipe), library_of_this_process(dirs).parent)


def located(recipe: Recipe) -> Located:
    """Return the recipe with the file that `parse_file` read; one from a text has none."""
    file = recipe.where.file
    return Located(recipe, file if FilePath(file).is_absolute() else None)


class RecipeContext:
    """Variables, with templates and conditions that use them."""

    def __init__(self, values: Mapping[str, Value] | None = None, *, dialect: Dialect = "amplihack") -> None:
        self._values: dict[str, Value] = dict(values or {})
        self._rules = AMPLIFIER if dialect == "amplifier" else AMPLIHACK

    def get(self, path: str, default: Value = None) -> Value:
        """Return the value at `name`, or at `name.key[0]` as templates write it. Any name may be asked."""
        written = find_variables(f"{{{{{path}}}}}")
        found = lookup(self._values, written[0].path if written else tuple(path.split(".")))
        return default if isinstance(found, Missing) else found

    def set(self, name: str, value: Value) -> None:
        self._values[name] = value

    def to_dict(self) -> dict[str, Value]:
        return dict(self._values)

    def render(self, template: str) -> str:
        """Render a template; undefined names are empty."""
        return render_text(template, self._values).text

    def render_shell(self, command: str) -> ShellScript:
        """Return the command with references for placeholders, and the variables they refer to."""
        return render_shell(command, self._values, token=SystemClock().token)

    def evaluate(self, condition: str) -> bool:
        """Tell whether a condition holds. Raises ConditionError."""
        return holds(parse_condition(condition), self._values, self._rules)

    def shell_env_vars(self) -> dict[str, str]:
        """Return every variable that a shell step could refer to."""
        return shell_variables(self._values)


def recipe_file(name: str, dirs: Sequence[str | FilePath] | None = None) -> FilePath:
    """Return the file of the recipe with this name. Raises NotFound."""
    path = library_of_this_process(dirs).find(name)
    if path is None:
        raise NotFound(f"Recipe '{name}' not found.", fix="`amplihack recipe list` shows what there is")
    return path


def load_recipe(name: str, dirs: Sequence[str | FilePath] | None = None) -> Located:
    """Load a recipe by name, with its `extends` merged in. Raises NotFound."""
    return open_file(library_of_this_process(dirs), recipe_file(name, dirs)).located
