"""Share what providers that ask a service over the network need: keys, retries, prices, errors."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

from amplifier_core import (
    ChatResponse,
    ConfigurationError,
    LLMError,
    ModelInfo,
    ProviderInfo,
    RetryConfig,
    Usage,
    retry_with_backoff,
)

from amplihack.modules.failures import failure
from amplihack.modules.providers.api_errors import translated
from amplihack.modules.providers.model_events import ModelCall, ModelEvents
from amplihack.modules.settings import ModuleSettings
from amplihack.records import Record, field
from amplihack.sessions.calls import Message
from amplihack.sessions.diagnosis import diagnose_transcript, repair_transcript
from amplihack.system.home import this_process

_RATES = ("input_per_million", "output_per_million", "cache_read_per_million", "cache_write_per_million")


class ApiSettings(Record, kw_only=True):
    name: str
    model: str
    base_url: str
    api_key: str
    key_variable: str
    most_tokens: int
    window: int
    seconds: float
    retries: int
    longest_delay: float
    rates: Mapping[str, Decimal]
    extra: Mapping[str, Any]


class Spoken(Record, kw_only=True):
    """What a model said: blocks, calls and usage in the kernel's form."""

    content: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


def read_settings(
    settings: ModuleSettings, *, name: str, model: str, key_variable: str, needs_key: bool, window: int
) -> ApiSettings:
    """Return the settings that all of them have. A key comes from the settings or the environment."""
    environment, _ = this_process()
    variable = settings.text("api_key_env", key_variable)
    key = settings.text("api_key") or environment.get(variable, "")
    _check_address(settings, environment.get(key_variable.replace("_API_KEY", "_BASE_URL"), ""))
    chosen = ApiSettings(
        name=settings.text("name", name),
        model=settings.text("default_model") or settings.text("model") or model,
        base_url=settings.text("base_url"),
        api_key=key,
        key_variable=variable,
        most_tokens=settings.count("max_tokens", 8_192),
        window=settings.count("context_window", window),
        seconds=settings.seconds("timeout", 600.0) or 600.0,
        retries=settings.count("max_retries", 3, least=0),
        longest_delay=settings.seconds("max_retry_delay", 60.0) or 60.0,
        rates=_rates(settings),
        extra={**_temperature(settings), **settings.mapping("extra_body")},
    )
    if needs_key and not key:
        raise failure(
            ConfigurationError, f"{settings.module} has no key", fix=f"set {variable}", provider=chosen.name
        )
    return chosen


def _check_address(settings: ModuleSettings, of_environment: str) -> None:
    """Refuse an address that nothing can be asked at, before it is tried again and again."""
    address = settings.text("base_url") or of_environment
    if address and not address.startswith(("http://", "https://")):
        settings.wrong(f"the address of the service must begin with http:// or https://, not {address!r:.80}")


def _temperature(settings: ModuleSettings) -> dict[str, Any]:
    given = settings.anything("temperature")
    if given is None:
        return {}
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given <= 2:
        settings.wrong(f"'temperature' must be a number from 0 to 2, not {given!r:.80}")
    return {"temperature": given}


def _rates(settings: ModuleSettings) -> dict[str, Decimal]:
    given = settings.mapping("pricing")
    for name in given.keys() - set(_RATES):
        settings.wrong(f"'pricing' has no {name!r}: it has {', '.join(_RATES)}")
    try:
        return {name: Decimal(str(given[name])) for name in _RATES if name in given}
    except ArithmeticError:
        settings.wrong("'pricing' must be numbers: US dollars for a million tokens")
        return {}


def require_package(package: str, extra: str) -> None:
    """Raise ConfigurationError when the SDK is not installed. It is not imported for that."""
    if find_spec(package) is None:
        raise failure(
            ConfigurationError, f"the package {package!r} is missing", fix=f"pip install 'amplihack[{extra}]'"
        )


class _TooLong(Exception):
    """Raised when a service asks for a wait that nobody would sit through."""

    def __init__(self, error: LLMError) -> None:
        self.error = error


class ApiProvider(ABC):
    """A provider over HTTP. A subclass knows the wire format."""

    package: str
    display_name: str

    def __init__(self, coordinator: Any, settings: ApiSettings) -> None:
        self.name, self.priority = settings.name, 100
        self.settings = settings
        self._events = ModelEvents(coordinator, settings.name, settings.model)
        self._client: Any = None

    @property
    def default_model(self) -> str:
        return self.settings.model

    def get_info(self) -> Any:
        defaults = {
            "model": self.settings.model,
            "context_window": self.settings.window,
            "max_output_tokens": self.settings.most_tokens,
        }
        return ProviderInfo(
            id=self.name,
            display_name=self.display_name,
            credential_env_vars=[self.settings.key_variable],
            capabilities=["tools", "streaming", "json_mode"],
            defaults=defaults,
        )

    async def list_models(self) -> list[Any]:
        """Return the models that the service names. Raises an LLMError."""
        try:
            found = [model.id async for model in self.client().models.list()]
        except Exception as error:
            raise translated(error, self.package, self.name, "") from error
        return [
            ModelInfo(
                id=name,
                display_name=name,
                context_window=self.settings.window,
                max_output_tokens=self.settings.most_tokens,
            )
            for name in found
        ]

    async def complete(self, request: Any, **options: Any) -> Any:
        """Ask, and ask again as long as that can help, never before the time that the service asks for.

        Raises an LLMError, at once if that time is longer than `max_retry_delay`.
        """
        messages = await self._repaired(request.messages)
        config = RetryConfig(
            max_retries=self.settings.retries, max_delay=self.settings.longest_delay, initial_delay=0.5
        )
        loop, not_before = asyncio.get_running_loop(), 0.0

        async def attempt() -> Any:
            nonlocal not_before
            await asyncio.sleep(max(0.0, not_before - loop.time()))
            try:
                return await self._once(request, messages, options)
            except LLMError as error:
                wait = error.retry_after or 0.0
                if wait > self.settings.longest_delay:
                    raise _TooLong(error) from error
                not_before = loop.time() + wait
                raise

        try:
            return await retry_with_backoff(attempt, config, on_retry=self._events.retrying)
        except _TooLong as error:
            raise error.error from error.error.__cause__

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return list(response.tool_calls or ())

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def client(self) -> Any:
        if self._client is None:
            self._client = self.connect()
        return self._client

    @abstractmethod
    def connect(self) -> Any:
        """Return the client of the SDK, which is imported here and not before."""

    @abstractmethod
    def body(self, request: Any, messages: list[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request on the wire."""

    @abstractmethod
    async def speak(self, body: dict[str, Any], call: ModelCall, *, stream: bool) -> Spoken:
        """Send it and return what was said. Raises errors of the SDK, or StreamError if it was cut off."""

    async def _once(self, request: Any, messages: list[Message], options: Mapping[str, Any]) -> Any:
        self._events.model = request.model or self.settings.model
        body = self.body(request, messages, options)
        # The SDKs refuse words that they do not know, which services of one's own often have.
        if more := {**self.settings.extra, **body.pop("extra_body", {})}:
            body["extra_body"] = more
        async with self._events.call(messages) as call:
            try:
                spoken = await self.speak(body, call, stream=bool(request.stream))
            except LLMError:
                raise
            except Exception as error:
                raise translated(
                    error, self.package, self.name, self._events.model, answered=call.answered
                ) from error
            finally:
                if call.counted is not None:  # it is paid for, also where the rest never comes
                    call.usage = self._usage(call.counted)
        return ChatResponse(
            content=spoken.content,
            tool_calls=spoken.calls or None,
            usage=call.usage,
            finish_reason=spoken.finish,
        )

    async def _repaired(self, messages: Any) -> list[Message]:
        """Return the messages with every call next to its result: services refuse anything else."""
        plain = [message.model_dump(exclude_none=True) for message in messages]
        found = diagnose_transcript(plain)
        if found["status"] == "healthy":
            return plain
        mended = repair_transcript(plain, found)
        await self._events.repaired(abs(len(mended) - len(plain)) or 1)
        return mended

    def _usage(self, spoken: Spoken) -> Any:
        return Usage(
            input_tokens=spoken.input_tokens,
            output_tokens=spoken.output_tokens,
            total_tokens=spoken.input_tokens + spoken.output_tokens,
            cache_read_tokens=spoken.cache_read,
            cache_write_tokens=spoken.cache_write,
            reasoning_tokens=spoken.reasoning,
            cost_usd=cost(spoken, self.settings.rates),
        )


def cost(spoken: Spoken, rates: Mapping[str, Decimal]) -> Decimal | None:
    """Return what it cost, exactly; None if the prices are not known."""
    if "input_per_million" not in rates or "output_per_million" not in rates:
        return None
    read, write = spoken.cache_read or 0, spoken.cache_write or 0
    plain = rates["input_per_million"]
    total = (
        (spoken.input_tokens - read - write) * plain
        + read * rates.get("cache_read_per_million", plain)
        + write * rates.get("cache_write_per_million", plain)
        + spoken.output_tokens * rates["output_per_million"]
    )
    return total / 1_000_000
