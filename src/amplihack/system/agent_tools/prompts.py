"""The words that an agent is sent around a step's own prompt."""

from __future__ import annotations

from amplihack.recipes.agents import AgentRequest

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
    """Return the prompt as it is sent: the mode, the step's prompt, and that nobody answers questions."""
    mode = f"MODE: {request.mode}\n\n" if request.mode else ""
    return mode + request.prompt + FOOTER


def system_text(request: AgentRequest) -> str:
    """Return who the agent is, and where it finds itself."""
    persona = (request.persona or "").strip()
    return f"{persona}\n\n{NO_REENTRY}" if persona else NO_REENTRY


def whole_text(request: AgentRequest) -> str:
    """Return both in one, for tools that take no system prompt."""
    return f"{system_text(request)}\n\n{task_text(request)}"


def fits_inline(*texts: str) -> bool:
    """Tell whether these can be arguments: not too long together, the first not to be taken for a flag."""
    try:
        size = sum(len(text.encode()) for text in texts)
    except UnicodeEncodeError:  # half a surrogate pair, as JSON may hold
        return False
    return size <= INLINE_LIMIT and not texts[0].startswith("-") and not any("\0" in text for text in texts)
