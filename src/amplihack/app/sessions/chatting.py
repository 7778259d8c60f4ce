"""Hold a chat: the session that is open now, and the changes from one session to another."""

from __future__ import annotations

import asyncio
from functools import reduce
from pathlib import Path
from typing import Any

from amplihack.app.sessions.asking import AskRequest, TalkHost, open_talk
from amplihack.app.sessions.talk import Talk
from amplihack.app.workspace import Workspace
from amplihack.errors import AmplihackError
from amplihack.records import replace
from amplihack.sessions.errors import SessionError
from amplihack.sessions.usage import TokenUsage
from amplihack.system.session_store.store import SessionStore


class Chat:
    """One session after the other, at most one of them open."""

    def __init__(self, workspace: Workspace, request: AskRequest, host: TalkHost) -> None:
        self.workspace, self._request, self._host = workspace, request, host
        self._talk: Talk | None = None
        self._is_new = False  # nothing of it was there before this program
        self._left: dict[str, TokenUsage] = {}  # what the sessions used that the chat has gone on from
        self.store = SessionStore(workspace.home.root / "sessions")

    @property
    def talk(self) -> Talk:
        """Return the open session. Raises SessionError where none could be opened again."""
        if self._talk is None:
            raise SessionError(
                "no session is open", fix="/clear begins another one, /resume goes on with one"
            )
        return self._talk

    @property
    def is_open(self) -> bool:
        return self._talk is not None

    @property
    def usage(self) -> TokenUsage:
        """Return what all sessions of this chat used: going back takes back no cost."""
        used = dict(self._left)
        if self._talk is not None:
            used[self._talk.session_id] = self._talk.usage
        return reduce(TokenUsage.plus, used.values(), TokenUsage())

    async def open(self) -> Talk:
        """Open the session that was asked for. Raises AmplihackError."""
        self._talk = await open_talk(self.workspace, self._request, self._host)
        self._is_new = self._request.resume is None
        return self._talk

    async def begin_anew(self) -> Talk:
        """Leave this session and begin another one with the same bundle and model."""
        return await self._change(replace(self._request, resume=None, session_id=None))

    async def go_on_with(self, session_id: str) -> Talk:
        """Leave this session and go on with a stored one, its own bundle, model and directory."""
        found = await asyncio.to_thread(self.store.find, session_id)
        if self._talk is not None and found == self._talk.session_id:
            return self._talk
        fresh = replace(self._request, resume=found, bundle=None, model=None, working_dir=None)
        return await self._change(fresh)

    async def change_model(self, model: str) -> Talk:
        """Go on with the same session, and ask another model."""
        return await self._change(replace(self._here(), model=model))

    async def change_directory(self, directory: Path) -> Talk:
        """Go on with the same session in another directory."""
        return await self._change(replace(self._here(), working_dir=directory))

    async def change_approvals(self, mode: str) -> Talk:
        """Go on with the same session, and ask for other things before tools do them."""
        here = self._here()
        return await self._change(replace(here, wishes=replace(here.wishes, approval=mode)))

    async def fork(self, turn: int | None) -> Talk:
        """Go on with a copy of this session, up to a turn. Raises ValueError for an unknown turn."""
        forked = await asyncio.to_thread(self.store.fork, self.talk.session_id, turn=turn)
        request = replace(self._request, resume=forked.session_id, working_dir=self.talk.working_dir)
        return await self._change(request)

    async def messages(self) -> list[dict[str, Any]]:
        return await self.talk.session.messages()

    async def close(self) -> str | None:
        """Close the session; return its id, or None if nothing was said in it, and then nothing is kept."""
        talk, self._talk = self._talk, None
        if talk is None:
            return None
        said = await talk.session.messages()
        self._left[talk.session_id] = talk.usage
        await talk.close()
        if self._is_new and not said:
            await asyncio.to_thread(self.store.discard, talk.session_id)
            return None
        return talk.session_id

    def _here(self) -> AskRequest:
        """Return a request for the session that is open; a new one in which nothing was said begins anew."""
        talk = self.talk
        return replace(self._request, resume=talk.session_id, working_dir=talk.working_dir)

    async def _change(self, request: AskRequest) -> Talk:
        """Open another session in the place of this one; if that fails, this one again, and raise why."""
        before = self._request
        old = await self.close()
        if old is None and request.resume is not None and not await asyncio.to_thread(self._is_kept, request):
            request = replace(request, resume=None)
        try:
            talk = await open_talk(self.workspace, request, self._host)
        except Exception:
            self._request = replace(before, resume=old)
            await self.open()
            raise
        self._request, self._talk, self._is_new = request, talk, request.resume is None
        return talk

    def _is_kept(self, request: AskRequest) -> bool:
        try:
            self.store.find(request.resume or "")
        except AmplihackError:
            return False
        return True
