"""Run a model in this process with xllamacpp. A loaded model stays, for all sessions of the process."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from amplihack.errors import AmplihackError, NothingToUse
from amplihack.records import Record
from amplihack.system.local_models.weights import LoadedFile, require_memory, require_pinned, usual_threads

_loaded: dict[tuple[Path, int, int], Engine] = {}
_loading = threading.Lock()


class LoadError(AmplihackError):
    """Raised when a model cannot be loaded."""


class Chunk(Record, kw_only=True):
    """A piece of an answer. The last one knows the tokens, and whether the answer was cut."""

    text: str = ""
    error: str = ""
    cut: bool = False
    input_tokens: int = 0
    output_tokens: int = 0

    def after(self, before: Chunk) -> Chunk:
        """Return what is known with this piece and those before it."""
        return Chunk(
            cut=self.cut or before.cut,
            input_tokens=self.input_tokens or before.input_tokens,
            output_tokens=self.output_tokens or before.output_tokens,
        )


class Engine:
    """A loaded model. It answers one question after the other."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._alone = threading.Lock()

    async def generate(self, body: dict[str, Any]) -> AsyncIterator[Chunk]:
        """Yield the answer as it comes. Whoever stops listening stops the model with its next word."""
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[Chunk | None] = asyncio.Queue()
        stop = threading.Event()

        def put(chunk: Chunk | None) -> None:
            if not stop.is_set():
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

        thread = threading.Thread(target=self._work, args=(body, put, stop), daemon=True)
        thread.start()
        try:
            while (chunk := await chunks.get()) is not None:
                yield chunk
        finally:
            stop.set()

    def _work(self, body: dict[str, Any], put: Any, stop: threading.Event) -> None:
        request = {**body, "stream": True, "stream_options": {"include_usage": True}}

        def hear(piece: Any) -> bool:
            if not stop.is_set():
                put(_chunk(piece))
            return stop.is_set()

        with self._alone:
            try:
                if not stop.is_set():
                    self._server.handle_chat_completions(request, hear)
            except Exception as error:  # noqa: BLE001 - whatever the engine says goes to who asked
                put(Chunk(error=str(error) or type(error).__name__))
        put(None)


async def engine_for(weights: LoadedFile, *, window: int, threads: int) -> Engine:
    """Return the loaded model, loading it if it is the first time. Raises an AmplihackError."""
    key = (weights.path, window, threads or usual_threads())
    found = _loaded.get(key)
    return found if found is not None else await asyncio.to_thread(_load, weights, key)


def _load(weights: LoadedFile, key: tuple[Path, int, int]) -> Engine:
    with _loading:
        if key not in _loaded:
            require_pinned(weights)
            require_memory(weights)
            _loaded[key] = Engine(_server(weights, key[1], key[2]))
        return _loaded[key]


def _server(weights: LoadedFile, window: int, threads: int) -> Any:
    try:
        import xllamacpp  # deferred: an extra, and 100 MB
    except ModuleNotFoundError as error:
        raise NothingToUse(
            "local models need the extra [local]", fix="pip install 'amplihack[local]'"
        ) from error
    except ImportError as error:  # it is here: too little memory for it, or made for another machine
        fix = "close other programs or raise `ulimit -v`; else pip install --force-reinstall xllamacpp"
        raise LoadError(f"the engine of local models cannot be loaded: {error}", fix=fix) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights.path)
    parameters.n_ctx, parameters.n_parallel = window, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.warmup, parameters.ui, parameters.verbosity = False, False, -1
    # It opens a port on the loopback device whether asked to or not: nobody else shall use it.
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.api_keys = [secrets.token_hex(32)]
    try:
        return xllamacpp.Server(parameters)
    except Exception as error:
        raise LoadError(
            f"{weights.path} cannot be loaded: {error}",
            fix="it may be damaged (`amplihack model pull` checks ours), or memory is short",
        ) from error


def _chunk(piece: Any) -> Chunk:
    if isinstance(piece, list):
        found = [_chunk(each) for each in piece]
        last = Chunk()
        for each in found:
            last = each.after(last)
        text = "".join(each.text for each in found)
        return Chunk(
            text=text, cut=last.cut, input_tokens=last.input_tokens, output_tokens=last.output_tokens
        )
    if "error" in piece:
        error = piece["error"]
        return Chunk(error=f"{error.get('type', '')}: {error.get('message', error)}")
    usage = piece.get("usage") or {}
    choice = (piece.get("choices") or [{}])[0]
    return Chunk(
        text=(choice.get("delta") or {}).get("content") or "",
        cut=choice.get("finish_reason") == "length",
        input_tokens=usage.get("prompt_tokens", 0),
        output_tokens=usage.get("completion_tokens", 0),
    )
