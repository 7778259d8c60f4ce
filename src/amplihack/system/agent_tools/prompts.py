"""Build the texts that an agent receives around a step's own prompt."""

from __future__ import annotations

from amplihack.recipes.agent_port import AgentRequest

INLINE_LIMIT = 32_768  # bytes of prompt that travel as an argument; more go by standard input or a file

FOOTER = (
    "\n\nIMPORTANT: You are running without a person at the keyboard. Proceed autonomously. "
    "Do not ask questions; where something is unclear, choose what seems best and say so in your answer."
)

NO_REENTRY = (
    "You are working inside one step of a workflow that is already running. Execute the requested step "
    "directly. Do not start /dev, smart-orchestrator, amplihack, recipe-runner or any other workflow runner: "
    "the workflow around you takes care of the steps that follow."
)


def task_text(request: AgentRequest) -> str:
    """Return the prompt to send: the mode, the step's prompt, and a note that nobody answers questions."""
    mode = f"MODE: {request.mode}\n\n" if request.mode else ""
    return mode + request.prompt + FOOTER


def system_text(request: AgentRequest) -> str:
    """Return the system prompt: the persona, and a note about the surrounding workflow."""
    persona = (request.persona or "").strip()
    return f"{persona}\n\n{NO_REENTRY}" if persona else NO_REENTRY


def whole_text(request: AgentRequest) -> str:
    """Return the system prompt and the prompt as one text, for tools without a system prompt."""
    return f"{system_text(request)}\n\n{task_text(request)}"


def fits_inline(*texts: str) -> bool:
    """Tell whether the texts can be arguments: short enough, and the first not taken for a flag."""
    try:
        size = sum(len(text.encode()) for text in texts)
    except UnicodeEncodeError:  # half a surrogate pair, as JSON may hold
        return False
    return size <= INLINE_LIMIT and not texts[0].startswith("-") and not any("\0" in text for text in texts)
