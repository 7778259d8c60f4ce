"""For every code a recipe that has it, and its near twin that must not."""

from __future__ import annotations

import pytest
from tests.unit.recipes.check.shelf import check

from amplihack.recipes.check import CODES

FLAT = "name: main\ncontext: {task: '', mode: fast, count: 3}\nsteps:\n"
PARTS = "name: main\ncontext: {plan: {files: [a]}}\nsteps:\n"
STRICT = "name: main\ndialect: amplifier\nversion: 1.0.0\ncontext: {task: '', mode: fast}\nsteps:\n"
OTHERS = {
    "child.yaml": "name: child\ncontext: {goal: ''}\ncontext_validation: {goal: nonempty}\nsteps:\n"
    "  - {id: c, command: 'echo {{goal}}'}\n",
    "plain.yaml": "name: plain\ncontext: {tone: calm}\nsteps:\n  - {id: p, command: 'echo {{tone}}'}\n",
    "asks.yaml": "name: asks\n"
    "inputs: {n: {type: integer, default: 1}, tone: {enum: [calm, loud], default: calm}}\n"
    "steps:\n  - {id: q, command: 'echo {{n}} {{tone}} {{extra}}'}\n",
    "broken.yaml": "name: broken\n",
    "doomed.yaml": "name: doomed\nsteps:\n  - {id: d, recipe: wrong}\n",
    "wrong.yaml": "name: wrong\nsteps:\n  - {id: w, command: 'echo a; done'}\n",
    "deep1.yaml": "name: deep1\nsteps:\n  - {id: d1, recipe: deep2}\n",
    "deep2.yaml": "name: deep2\nsteps:\n  - {id: d2, recipe: plain}\n",
}

# code, severity, the recipe, its twin
PAIRS = [
    *(
        (
            "unsupported-template",
            "warning",
            FLAT + f"  - {{id: a, prompt: 'about {sign}'}}\n",
            FLAT + f"  - {{id: a, prompt: 'about {other}, {{{{task}}}} and {sign}'}}\n",
        )
        for sign, other in (("{task}", "{x}"), ("$task", "$HOME"), ("${task}", "<task>"), ("%task%", "%x%"))
    ),
    (
        "undefined-variable",
        "warning",
        FLAT + "  - {id: a, foreach: [x], as: f, command: 'echo {{item}}'}\n",
        FLAT + "  - {id: a, foreach: [x], as: f, command: 'echo {{f}}'}\n",
    ),
    (
        "unexported-variable",
        "warning",
        FLAT + "  - {id: a, command: 'echo \"the mode: ${mode}\"'}\n",
        FLAT + "  - {id: a, command: 'echo \"the mode: $MODE {{mode}} $RECIPE_VAR_mode\"'}\n",
    ),
    (
        "undefined-variable",
        "warning",
        FLAT + "  - {id: a, command: 'echo {{taskk}}'}\n",
        FLAT + "  - {id: a, command: 'echo {{task}}'}\n",
    ),
    (
        "undefined-variable",
        "warning",
        STRICT + "  - {id: a, agent: self, prompt: 'about {{subject}}'}\n",
        STRICT + "  - {id: a, agent: self, prompt: 'about {{task}} in {{recipe.name}}'}\n",
    ),
    (
        "undefined-variable",
        "warning",
        "name: main\nsteps:\n  - {id: a, command: 'echo {{from_above}}'}\n",
        "name: main\nsteps:\n  - {id: a, command: 'echo $FROM_ABOVE'}\n",
    ),
    (
        "undefined-variable",
        "note",
        FLAT + "  - {id: a, command: 'echo {{repo_path}}'}\n",
        FLAT + "  - {id: a, command: 'echo $REPO_PATH'}\n",
    ),
    (
        "undefined-variable",
        "warning",
        FLAT + "  - {id: a, condition: mode == slow, command: ls}\n",
        FLAT + "  - {id: a, condition: mode == 'slow', command: ls}\n",
    ),
    (
        "broken-recipe",
        "error",
        FLAT + "  - {id: a, recipe: broken}\n",
        FLAT + "  - {id: a, recipe: plain}\n",
    ),
    (
        "broken-recipe",
        "warning",
        FLAT + "  - {id: a, condition: task, recipe: broken}\n",
        FLAT + "  - {id: a, condition: task, recipe: plain}\n",
    ),
    (
        "sum-as-text",
        "warning",
        FLAT + "  - {id: a, while_condition: mode, update_context: {n: '{{n}} + 1'}, command: ls}\n",
        FLAT + "  - {id: a, while_condition: mode, update_context: {n: '{{mode}} + {n}'}, command: ls}\n",
    ),
    (
        "sum-as-text",
        "warning",
        FLAT + "  - {id: a, recipe: plain, context: {n: '2 + {{mode}} * 3'}}\n",
        FLAT + "  - {id: a, recipe: plain, context: {n: '{{mode}} - {{task}}'}}\n",
    ),
    (
        "name-as-text",
        "warning",
        FLAT + "  - {id: a, command: ls}\noutput: a\n",
        FLAT + "  - {id: a, command: ls}\noutput: '{{a}}'\n",
    ),
    (
        "failing-recipe",
        "error",
        FLAT + "  - {id: a, recipe: doomed}\n",
        FLAT + "  - {id: a, condition: task, recipe: doomed}\n",
    ),
    (
        "bash-syntax",
        "error",
        FLAT + "  - {id: a, command: 'if true; then echo {{task}}'}\n",
        FLAT + "  - {id: a, command: 'if true; then echo {{task}}; fi'}\n",
    ),
    (
        "bash-syntax",
        "warning",
        FLAT + "  - {id: a, on_error: continue, command: 'echo a; done'}\n",
        FLAT + "  - {id: a, on_error: continue, command: 'echo a; echo done'}\n",
    ),
    (
        "used-before-set",
        "warning",
        FLAT + "  - {id: a, command: 'echo {{later}}'}\n  - {id: b, command: ls, output: later}\n",
        FLAT + "  - {id: b, command: ls, output: later}\n  - {id: a, command: 'echo {{later}}'}\n",
    ),
    (
        "may-be-empty",
        "note",
        FLAT
        + "  - {id: a, condition: task, command: ls, output: files}\n"
        + "  - {id: b, command: 'echo {{files}}'}\n",
        FLAT
        + "  - {id: a, condition: task, command: ls, output: files}\n"
        + "  - {id: b, condition: task and mode == 'fast', command: 'echo {{files}}'}\n",
    ),
    (
        "may-be-empty",
        "note",
        FLAT
        + "  - {id: a, continue_on_error: true, command: ls, output: files}\n"
        + "  - {id: b, command: 'echo {{files}}'}\n",
        FLAT + "  - {id: a, command: ls, output: files}\n  - {id: b, command: 'echo {{files}}'}\n",
    ),
    (
        "unused-output",
        "note",
        FLAT + "  - {id: a, command: ls, output: files}\n  - {id: b, command: pwd}\n",
        FLAT + "  - {id: a, command: ls, output: files}\n  - {id: b, command: 'echo $FILES'}\n",
    ),
    (
        "condition-constant",
        "warning",
        FLAT + "  - {id: a, condition: mode != 'fast' or mode != 'slow', command: ls}\n",
        FLAT + "  - {id: a, condition: mode != 'fast' and mode != 'slow', command: ls}\n",
    ),
    (
        "condition-constant",
        "warning",
        FLAT + "  - {id: a, condition: \"task and (mode == 'fast' or 'slow')\", command: ls}\n",
        FLAT + "  - {id: a, condition: \"task and (mode == 'fast' or mode == 'slow')\", command: ls}\n",
    ),
    (
        "condition-constant",
        "warning",
        FLAT + "  - {id: a, condition: \"'false'\", command: ls}\n",
        FLAT + "  - {id: a, command: ls}\n",
    ),
    (
        "condition-constant",
        "note",
        FLAT + "  - {id: a, condition: 'true', command: ls}\n",
        FLAT + "  - {id: a, command: ls}\n",
    ),
    (
        "condition-fails",
        "error",
        FLAT + "  - {id: a, condition: \"int('many') > 1\", command: ls}\n",
        FLAT + '  - {id: a, condition: "int(task) > 1", command: ls}\n',
    ),
    (
        "never-runs",
        "warning",
        FLAT + "  - {id: a, condition: mode == 'fast' and mode == 'slow', command: ls}\n",
        FLAT + "  - {id: a, condition: mode == 'fast' or mode == 'slow', command: ls}\n",
    ),
    (
        "never-runs",
        "note",
        FLAT + "  - {id: a, condition: 'false', command: ls}\n",
        FLAT + "  - {id: a, condition: task, command: ls}\n",
    ),
    (
        "never-runs",
        "warning",
        FLAT + "  - {id: a, foreach: [], command: 'echo {{item}}'}\n",
        FLAT + "  - {id: a, foreach: [x], command: 'echo {{item}}'}\n",
    ),
    (
        "never-runs",
        "warning",
        FLAT + "  - {id: a, while_condition: task, max_while_iterations: 0, command: ls}\n",
        FLAT + "  - {id: a, while_condition: task, max_while_iterations: 2, command: ls}\n",
    ),
    (
        "never-runs",
        "warning",
        "name: main\nstages:\n  - {name: s, condition: 1 == 2, steps: [{id: a, command: ls}]}\n",
        "name: main\nstages:\n  - {name: s, condition: task == 2, steps: [{id: a, command: ls}]}\n",
    ),
    (
        "never-equal",
        "warning",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, condition: steps.a.status == 'success', command: ls}\n",
        FLAT
        + "  - {id: a, command: ls}\n  - {id: b, condition: steps.a.status == 'completed', command: ls}\n",
    ),
    (
        "never-equal",
        "warning",
        FLAT + "  - {id: a, command: ls}\n"
        "  - {id: b, foreach: [1], break_when: \"'{{steps.a.status}}' in ['ok', 'failed']\", command: ls}\n",
        FLAT + "  - {id: a, command: ls}\n"
        "  - {id: b, foreach: [1], break_when: \"steps['a'].status in ['failed']\", command: ls}\n",
    ),
    (
        "typographic-sign",
        "warning",
        FLAT + "  - {id: a, command: 'echo “{{task}}”'}\n",
        FLAT + "  - {id: a, command: 'echo \"“{{task}}”\" # “{{task}}”'}\n",
    ),
    (
        "typographic-sign",
        "warning",
        FLAT + "  - {id: a, command: 'ls —all {{task}}'}\n",
        FLAT + "  - {id: a, command: 'echo {{task}} — done, it’s over'}\n",
    ),
    (
        "carriage-return",
        "warning",
        FLAT + '  - {id: a, command: "echo {{task}} > out\\r\\nls\\r\\n"}\n',
        FLAT + '  - {id: a, command: "cat <<E\\nGET {{task}}\\r\\nE\\n"}\n',
    ),
    (
        "word-loop",
        "warning",
        FLAT + "  - {id: a, command: 'for f in {{task}}; do echo $f; done'}\n",
        FLAT + "  - {id: a, command: \"for f in $(printf '%s' {{task}}) {{mode}}; do echo $f; done\"}\n",
    ),
    (
        "foreach-no-list",
        "warning",
        PARTS + "  - {id: a, foreach: '{{plan.filse}}', command: ls}\n",
        PARTS + "  - {id: a, foreach: '{{plan.files}}', command: ls}\n",
    ),
    (
        "undefined-variable",
        "warning",
        FLAT + "  - {id: a, command: 'echo {{inputs.mdoe}}'}\n",
        FLAT + "  - {id: a, command: 'echo {{inputs.mode}} {{parameters.count}}'}\n",
    ),
    (
        "used-before-set",
        "warning",
        FLAT + "  - {id: a, foreach: [x, y], as: f, condition: f == 'x', command: 'echo {{f}}'}\n",
        FLAT + "  - {id: a, foreach: [x, y], as: f, steps: [{id: b, condition: f == 'x', command: ls}]}\n",
    ),
    (
        "never-equal",
        "warning",
        FLAT + "  - {id: a, condition: mode.lower() == 'FAST', command: ls}\n",
        FLAT + "  - {id: a, condition: mode.lower() == 'fast', command: ls}\n",
    ),
    (
        "never-equal",
        "warning",
        FLAT + "  - {id: a, condition: \"mode.lower() in ['fast', 'Slow']\", command: ls}\n",
        FLAT + "  - {id: a, condition: \"mode.lower() in ['fast', 'slow']\", command: ls}\n",
    ),
    (
        "text-as-flag",
        "warning",
        "name: main\ncontext: {force: 'false'}\nsteps:\n  - {id: a, condition: not force, command: ls}\n",
        "name: main\ncontext: {force: 'false'}\nsteps:\n"
        + "  - {id: a, condition: force == 'true', command: ls}\n",
    ),
    (
        "text-as-flag",
        "note",
        "name: main\ncontext: {force: 'true'}\nsteps:\n  - {id: a, condition: force, command: ls}\n",
        "name: main\ncontext: {force: true}\nsteps:\n  - {id: a, condition: force, command: ls}\n",
    ),
    (
        "json-as-text",
        "note",
        FLAT
        + "  - {id: a, command: ls, parse_json: true, output: got}\n"
        + "  - {id: b, condition: got == 'ok', command: ls}\n",
        FLAT
        + "  - {id: a, command: ls, parse_json: true, output: got}\n"
        + "  - {id: b, condition: got.status == 'ok', command: ls}\n",
    ),
    (
        "unknown-recipe",
        "error",
        FLAT + "  - {id: a, recipe: plan}\n",
        FLAT + "  - {id: a, recipe: plain}\n",
    ),
    (
        "missing-input",
        "warning",
        FLAT + "  - {id: a, recipe: child}\n",
        FLAT + "  - {id: a, recipe: child, context: {goal: '{{task}}'}}\n",
    ),
    (
        "missing-input",
        "error",
        FLAT + "  - {id: a, recipe: child, context: {goal: ''}}\n",
        FLAT + "  - {id: a, command: ls, output: goal}\n  - {id: b, recipe: child}\n",
    ),
    (
        "missing-input",
        "warning",
        FLAT + "  - {id: a, recipe: asks, context: {n: 2}, context_mode: isolated}\n",
        FLAT + "  - {id: a, recipe: asks, context: {n: 2, extra: x}, context_mode: isolated}\n",
    ),
    (
        "wrong-input",
        "error",
        FLAT + "  - {id: a, recipe: asks, context: {n: few, extra: x}}\n",
        FLAT + "  - {id: a, recipe: asks, context: {n: '{{mode}}', extra: x}}\n",
    ),
    (
        "wrong-input",
        "error",
        FLAT + "  - {id: a, recipe: asks, context: {tone: shrill, extra: x}}\n",
        FLAT + "  - {id: a, recipe: asks, context: {tone: loud, n: '7', extra: x}}\n",
    ),
    (
        "wrong-input",
        "warning",
        FLAT + "  - {id: a, recipe: asks, context: {n: few, extra: x}, condition: mode == 'slow'}\n",
        FLAT + "  - {id: a, recipe: asks, context: {n: '', extra: x}, condition: mode == 'slow'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        "name: main\ncontext: {my mode: 1}\nsteps:\n  - {id: a, command: 'echo {{my mode}}'}\n",
        "name: main\ncontext: {mode: 1}\nsteps:\n  - {id: a, command: 'echo {{mode}}'}\n",
    ),
    (
        "unknown-input",
        "warning",
        FLAT + "  - {id: a, recipe: plain, context: {tome: loud}}\n",
        FLAT + "  - {id: a, recipe: plain, context: {tone: loud}}\n",
    ),
    (
        "endless-recursion",
        "error",
        FLAT + "  - {id: a, recipe: main}\n",
        FLAT + "  - {id: a, condition: task, recipe: main}\n",
    ),
    (
        "too-deep",
        "error",
        "name: main\nrecursion: {max_depth: 2}\nsteps:\n  - {id: a, recipe: deep1}\n",
        "name: main\nrecursion: {max_depth: 3}\nsteps:\n  - {id: a, recipe: deep1}\n",
    ),
    (
        "parallel-conflict",
        "warning",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls, output: out}\n"
        + "  - {id: b, parallel_group: g, command: ls, output: out}\n",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls, output: out}\n"
        + "  - {id: b, parallel_group: h, command: ls, output: out}\n",
    ),
    (
        "parallel-conflict",
        "warning",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls, output: out}\n"
        + "  - {id: b, parallel_group: g, command: 'echo {{out}}'}\n",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls, output: out}\n"
        + "  - {id: b, parallel_group: g, command: ls}\n  - {id: c, command: 'echo {{out}}'}\n",
    ),
    (
        "parallel-conflict",
        "warning",
        FLAT
        + "  - {id: a, foreach: [x, y], parallel: true, command: ls, output: out}\n"
        + "  - {id: b, command: 'echo {{out}}'}\n",
        FLAT
        + "  - {id: a, foreach: [x, y], parallel: true, command: ls, collect: out}\n"
        + "  - {id: b, command: 'echo {{out}}'}\n",
    ),
    (
        "command-word",
        "warning",
        "name: main\ncontext: {lint: make lint}\nsteps:\n  - {id: a, command: '{{lint}} 2>&1'}\n",
        "name: main\ncontext: {lint: ruff}\nsteps:\n  - {id: a, command: '{{lint}} 2>&1'}\n",
    ),
    (
        "bash-arithmetic",
        "error",
        FLAT + "  - {id: a, command: 'echo $(( {{mode}} + 1 ))'}\n",
        FLAT + "  - {id: a, command: 'echo $(( {{count}} + 1 ))'}\n",
    ),
    (
        "bash-refused",
        "error",
        FLAT + "  - {id: a, command: 'read {{mode}}'}\n",
        FLAT + "  - {id: a, command: 'echo {{mode}}'}\n",
    ),
    (
        "bash-source",
        "warning",
        FLAT + "  - {id: a, command: 'eval \"{{mode}}\"'}\n",
        FLAT + "  - {id: a, command: 'echo \"{{mode}}\"'}\n",
    ),
    (
        "bash-source",
        "warning",
        FLAT + "  - {id: a, command: 'echo {{mode}} | sudo bash'}\n",
        FLAT + "  - {id: a, command: 'echo {{mode}} | sudo tee log'}\n",
    ),
    (
        "bash-source",
        "warning",
        FLAT + "  - {id: a, command: 'eval \"$RECIPE_VAR_mode\"'}\n",
        FLAT + "  - {id: a, command: 'echo \"$RECIPE_VAR_mode\"'}\n",
    ),
    (
        "bash-source",
        "warning",
        FLAT + "  - {id: a, command: 'jq -r .mode \"$AMPLIHACK_CONTEXT_FILE\" | bash'}\n",
        FLAT + "  - {id: a, command: 'jq -r .mode \"$AMPLIHACK_CONTEXT_FILE\" | sort'}\n",
    ),
    (
        "code-source",
        "note",
        FLAT + "  - {id: a, command: 'python3 -c \"$MODE\"'}\n",
        FLAT + "  - {id: a, command: 'python3 run.py \"$MODE\"'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, command: 'echo \"\\${{mode}}\"'}\n",
        FLAT + "  - {id: a, command: 'echo \"{{mode}} \\${{ secrets.KEY }}\"'}\n",
    ),
    (
        "code-source",
        "note",
        FLAT + '  - {id: a, command: "python3 -c \'print(\\"{{mode}}\\")\'"}\n',
        FLAT + "  - {id: a, command: \"python3 show.py '{{mode}}'\"}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: '{{#if task}}Do {{task}}.{{/if}}'}\n",
        FLAT + "  - {id: a, prompt: 'Do {{task}}.'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: '{% if task %}Do {{task}}.{% endif %}'}\n",
        FLAT + "  - {id: a, prompt: 'Do {{task}} at 100%.'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'Do {{task}}. {{! be strict }}'}\n",
        FLAT + "  - {id: a, prompt: 'Do {{task}}!'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'Do {{task}}. {{/* be strict */}}'}\n",
        FLAT + "  - {id: a, prompt: 'Do {{task}}. /* be strict */'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'Do {{task}}. {# be strict #}'}\n",
        FLAT + "  - {id: a, prompt: 'Do {{task}}. {#anchor} ${#array[@]} {# #'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, command: 'echo {{task}} {{- /* be strict */ -}}'}\n",
        FLAT + "  - {id: a, command: 'echo {{task}} ${#x}'}\n",
    ),
    (
        "unsupported-template",
        "note",
        FLAT + "  - {id: a, prompt: 'A page may have {{!-- a comment --}}.'}\n",
        FLAT + "  - {id: a, prompt: 'A page may have comments.'}\n",
    ),
    (
        "unsupported-template",
        "note",
        FLAT + "  - {id: a, prompt: 'Write a page that says {{ user | upper }}.'}\n",
        FLAT + "  - {id: a, prompt: 'Write a page that says {{.User}} and ${{ secrets.KEY }}.'}\n",
    ),
    (
        "unknown-dependency",
        "error",
        STRICT
        + "  - {id: a, depends_on: [b], type: bash, command: ls}\n  - {id: b, type: bash, command: ls}\n",
        STRICT
        + "  - {id: b, type: bash, command: ls}\n  - {id: a, depends_on: [b], type: bash, command: ls}\n",
    ),
    (
        "unknown-dependency",
        "error",
        FLAT + "  - {id: build, command: ls}\n  - {id: a, depends_on: [biuld], command: ls}\n",
        FLAT + "  - {id: build, command: ls}\n  - {id: a, depends_on: [build], command: ls}\n",
    ),
    (
        "reserved-name",
        "error",
        STRICT + "  - {id: a, type: bash, command: ls, output: session}\n",
        STRICT + "  - {id: a, type: bash, command: ls, output: session_info}\n",
    ),
    (
        "unknown-key",
        "warning",
        "name: main\ncontext: {db: {host: h, port: 1}}\nsteps:\n  - {id: a, command: 'echo {{db.hots}}'}\n",
        "name: main\ncontext: {db: {host: h, port: 1}}\nsteps:\n  - {id: a, command: 'echo {{db.host}}'}\n",
    ),
    (
        "unknown-key",
        "warning",
        FLAT
        + "  - {id: a, command: ls, output: got, output_type: text}\n"
        + "  - {id: b, command: 'echo {{got.k}}'}\n",
        FLAT + "  - {id: a, command: ls, output: got}\n  - {id: b, command: 'echo {{got.k}}'}\n",
    ),
    (
        "unknown-key",
        "warning",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, condition: a.length > 1, command: ls}\n",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, condition: len(a) > 1, command: ls}\n",
    ),
    (
        "unknown-key",
        "warning",
        "name: main\ncontext: {tracks: [x]}\nsteps:\n  - {id: b, condition: tracks.length > 1, command: a}\n",
        "name: main\ncontext: {track: {length: 3}}\nsteps:\n"
        "  - {id: b, condition: '{{track.length}} > 1 and track.length > 1', command: ls}\n",
    ),
    (
        "unknown-step",
        "warning",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, command: 'echo {{steps.aa.output}}'}\n",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, command: 'echo {{steps.a.output}}'}\n",
    ),
    (
        "unknown-agent",
        "warning",
        FLAT + "  - {id: a, agent: 'house:bulider', prompt: build}\n",
        FLAT + "  - {id: a, agent: 'house:core:builder', prompt: build}\n",
    ),
    (
        "unknown-agent",
        "note",
        FLAT + "  - {id: a, agent: 'elsewhere:builder', prompt: build}\n",
        FLAT + "  - {id: a, agent: self, prompt: build}\n",
    ),
    (
        "split-group",
        "warning",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls}\n  - {id: b, command: ls}\n"
        + "  - {id: c, parallel_group: g, command: ls}\n",
        FLAT
        + "  - {id: a, parallel_group: g, command: ls}\n"
        + "  - {id: c, parallel_group: g, depends_on: [a], command: ls}\n  - {id: b, command: ls}\n",
    ),
    (
        "split-group",
        "warning",
        FLAT + "  - {id: a, parallel_group: g, command: ls}\n  - {id: b, command: ls}\n",
        FLAT + "  - {id: a, parallel_group: g, command: ls}\n  - {id: b, parallel_group: g, command: ls}\n",
    ),
    (
        "unused-setting",
        "warning",
        "name: main\nrate_limiting: {max_concurrent_llm: 2}\nsteps:\n  - {id: a, command: ls}\n",
        "name: main\nrate_limiting: {max_concurrent_llm: 2}\nsteps:\n  - {id: a, prompt: hi}\n",
    ),
    (
        "too-many-steps",
        "error",
        "name: main\nrecursion: {max_total_steps: 2}\nsteps:\n"
        + "  - {id: a, foreach: [x, y], command: ls}\n  - {id: b, command: ls}\n",
        "name: main\nrecursion: {max_total_steps: 2}\nsteps:\n"
        + "  - {id: a, foreach: [x, y], command: ls}\n  - {id: b, condition: a, command: ls}\n",
    ),
    (
        "too-many-steps",
        "error",
        FLAT + "  - {id: a, recipe: plain, recursion: {max_total_steps: 0}}\n",
        FLAT + "  - {id: a, recipe: plain, recursion: {max_total_steps: 1}}\n",
    ),
    (
        "foreach-no-list",
        "error",
        FLAT + "  - {id: a, foreach: 'x, y', command: 'echo {{item}}'}\n",
        FLAT + "  - {id: a, foreach: [x, y], command: 'echo {{item}}'}\n",
    ),
    (
        "foreach-no-list",
        "error",
        FLAT + "  - {id: a, foreach: [x, y], max_iterations: 1, command: 'echo {{item}}'}\n",
        FLAT + "  - {id: a, foreach: [x, y], max_iterations: 2, command: 'echo {{item}}'}\n",
    ),
    (
        "wrong-number",
        "warning",
        FLAT + "  - {id: a, command: ls, timeout: '{{mode}}'}\n",
        FLAT + "  - {id: m, command: ls, output: mode}\n  - {id: a, command: ls, timeout: '{{mode}}'}\n",
    ),
    (
        "foreach-no-list",
        "warning",
        FLAT + "  - {id: a, foreach: '{{mode}}', command: 'echo {{item}}'}\n",
        FLAT + "  - {id: m, command: ls, output: mode}\n  - {id: a, foreach: mode, command: ls}\n",
    ),
    (
        "unreachable-result",
        "warning",
        FLAT + "  - {id: straße, command: ls}\n",
        FLAT + "  - {id: straße, command: ls, output: strasse}\n",
    ),
    (
        "unreachable-result",
        "warning",
        FLAT + "  - {id: a, command: ls, output: my list}\n",
        FLAT + "  - {id: a, command: ls, output: my-list}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, command: 'echo ${{ github.ref }}'}\n",
        FLAT + "  - {id: a, command: \"echo '${{ github.ref }}'\"}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, command: \"echo '{{&mode}}'\"}\n",
        FLAT + "  - {id: a, command: \"gh pr view --template '{{.mode}}'\"}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do {{{task}}}'}\n",
        FLAT + "  - {id: a, prompt: 'do \\section{{{task}}}'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do {{ upper(task) }}'}\n",
        FLAT + "  - {id: a, prompt: 'do {{task}} in upper(case)'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do <%= task %>'}\n",
        FLAT + "  - {id: a, prompt: 'do {{task}} with <% signs'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do {{.task}}'}\n",
        FLAT + "  - {id: a, prompt: 'do {{.other}}'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do [[task]]'}\n",
        FLAT + "  - {id: a, prompt: 'do {{task}} as in [[task]]'}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, command: 'echo ${steps.a.output}'}\n",
        FLAT + "  - {id: a, command: \"echo '${steps.a.output}' \\\\${a.b} ${a##.b}\"}\n",
    ),
    (
        "unsupported-template",
        "warning",
        FLAT + "  - {id: a, prompt: 'do ${{ task }}'}\n",
        FLAT + "  - {id: a, prompt: 'do {{ task }}'}\n",
    ),
    (
        "override-nothing",
        "warning",
        FLAT + "  - {id: a, override: true, command: ls}\n",
        FLAT + "  - {id: a, override: false, command: ls}\n",
    ),
    (
        "pointless-retry",
        "warning",
        FLAT + "  - {id: a, output_exit_code: code, retry: {max_attempts: 2}, command: ls}\n",
        FLAT + "  - {id: a, output_exit_code: code, on_error: fail, retry: {max_attempts: 2}, command: ls}\n",
    ),
    (
        "pointless-retry",
        "warning",
        FLAT + "  - {id: a, retry: {max_attempts: 1}, command: ls}\n",
        FLAT + "  - {id: a, retry: {max_attempts: 2}, command: ls}\n",
    ),
    (
        "unknown-key",
        "warning",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, condition: steps.a.exitcode == 0, command: ls}\n",
        FLAT + "  - {id: a, command: ls}\n  - {id: b, condition: steps.a.exit_code == 0, command: ls}\n",
    ),
    (
        "unknown-rule",
        "warning",
        FLAT.replace("steps:", "context_validation: {task: nonemty}\nsteps:") + "  - {id: a, command: ls}\n",
        FLAT.replace("steps:", "context_validation: {task: nonempty}\nsteps:") + "  - {id: a, command: ls}\n",
    ),
    (
        "unknown-secret",
        "warning",
        FLAT.replace("steps:", "secrets: [tasks]\nsteps:") + "  - {id: a, command: ls}\n",
        FLAT.replace("steps:", "secrets: [task]\nsteps:") + "  - {id: a, command: ls}\n",
    ),
    (
        "unknown-secret",
        "note",
        FLAT.replace("steps:", "secrets: [api_key]\nsteps:") + "  - {id: a, command: 'echo $API_KEY'}\n",
        FLAT.replace("steps:", "secrets: [mode]\nsteps:") + "  - {id: a, command: 'echo $API_KEY'}\n",
    ),
]
AGENTS = frozenset({"house:builder", "house:tester"})


@pytest.mark.parametrize(
    ("code", "severity", "recipe", "twin"), PAIRS, ids=[f"{each[0]}-{i}" for i, each in enumerate(PAIRS)]
)
def test_the_recipe_has_it_and_its_twin_does_not(code: str, severity: str, recipe: str, twin: str) -> None:
    found = check(recipe, others=OTHERS, agents=AGENTS, all_=True)
    assert [problem.severity for problem in found if problem.code == code] == [severity]
    assert not [
        problem for problem in check(twin, others=OTHERS, agents=AGENTS, all_=True) if problem.code == code
    ]


def test_every_code_has_a_recipe_that_shows_it() -> None:
    assert {each[0] for each in PAIRS} == set(CODES) - {"set-by-caller"}  # for which callers are needed


@pytest.mark.parametrize(
    ("code", "severity", "recipe", "twin"), PAIRS, ids=[f"{each[0]}-{i}" for i, each in enumerate(PAIRS)]
)
def test_notes_are_left_out_unless_they_are_asked_for(
    code: str, severity: str, recipe: str, twin: str
) -> None:
    shown = {problem.code for problem in check(recipe, others=OTHERS, agents=AGENTS)}
    assert (code in shown) is (severity != "note")


@pytest.mark.parametrize("recipe", [each[2] for each in PAIRS])
def test_every_finding_points_into_the_file(recipe: str) -> None:
    lines = recipe.split("\n")
    for problem in check(recipe, others=OTHERS, agents=AGENTS, all_=True):
        assert problem.where is not None
        assert problem.where.file == "main.yaml"
        assert problem.where.column <= len(lines[problem.where.line - 1])


@pytest.mark.parametrize(
    "step",
    [
        "{id: a, foreach: [x], as: f, command: 'echo {{item}}'}",
        "{id: a, foreach: [x], as: g, steps: [{id: b, foreach: [y], as: f, command: 'echo {{item.name}}'}]}",
        "{id: a, foreach: [x], as: f, steps: [{id: b, command: 'echo {{item}}'}]}",
    ],
)
def test_the_item_of_a_loop_is_asked_for_by_its_own_name(step: str) -> None:
    (problem,) = check(f"{FLAT}  - {step}\n")
    assert problem.fix == "did you mean f?"


def test_the_name_of_a_loop_may_speak_of_the_item_of_a_round() -> None:
    assert check(f"{FLAT}  - {{id: a, name: 'Build {{{{item}}}}', foreach: [x], command: ls}}\n") == ()


def test_the_first_block_of_another_template_language_speaks_for_those_of_its_prompt() -> None:
    blocks = "{{#if other}}x{{/if}} {{#if task}}Do {{task}}.{{/if}} {{#if mode}}Be {{mode}}.{{/if}}"
    (problem,) = check(f"{FLAT}  - {{id: a, prompt: '{blocks}'}}\n")
    assert problem.what.startswith("{{#if task}} stays in the text")


def test_words_in_braces_for_the_reader_of_a_prompt_are_no_mistake() -> None:
    prompt = "do {{task}}, and write {{your own task (short) here}}"
    assert check(FLAT + f"  - {{id: a, prompt: '{prompt}'}}\n", others=OTHERS, agents=AGENTS) == ()


@pytest.mark.parametrize("template", ["{{ mode | default('y') }}", "{{ len(mode) }}", "<% mode %>"])
def test_a_template_that_bash_cannot_read_is_told_once_where_it_stands(template: str) -> None:
    found = check(
        FLAT + f'  - {{id: a, command: "echo {template}"}}\n', others=OTHERS, agents=AGENTS, all_=True
    )
    assert [(each.code, each.where and each.where.column) for each in found] == [("bash-syntax", 28)]
    assert template in found[0].fix


def test_a_script_that_never_ends_is_shown_at_its_own_last_line() -> None:
    script = "|\n      if true; then\n        ls\n"
    text = f"name: main\nsteps:\n  - id: a\n    command: {script}  - {{id: b, command: ls}}\n"
    (problem,) = (each for each in check(text) if each.code == "bash-syntax")
    assert problem.where is not None
    assert problem.where.line == 6


@pytest.mark.parametrize(
    ("code", "top", "place"),
    [
        ("unknown-rule", "context_validation:\n  task: nonemty\n", (4, 3)),
        ("unknown-secret", "secrets:\n  - task\n  - tasks\n", (5, 5)),
        ("unknown-secret", "secrets: [mode, tasks]\n", (3, 17)),
    ],
)
def test_a_finding_about_a_name_stands_where_the_name_is_written(
    code: str, top: str, place: tuple[int, int]
) -> None:
    (found,) = check(FLAT.replace("steps:", f"{top}steps:") + "  - {id: a, command: ls}\n")
    assert found.where is not None
    assert (found.code, found.where.line, found.where.column) == (code, *place)
