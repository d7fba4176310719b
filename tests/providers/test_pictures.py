"""Pictures in prompts: read from a file, sent in each vendor's form, kept in the conversation."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session
from agent_magics.errors import UsageError
from agent_magics.providers import Registry
from agent_magics.providers.parts import LARGEST, picture
from agent_magics.talk.codec import decode, encode
from agent_magics.testing import ScriptedProvider
from tests.providers.servers import ScriptedServer, answer

PNG = b"\x89PNG\r\n\x1a\n....."
DATA = base64.b64encode(PNG).decode()


@pytest.fixture
def png(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    return path


def test_a_missing_file_a_folder_and_what_is_no_picture_are_told(tmp_path):
    (tmp_path / "text.png").write_text("words")
    for path, why in (
        (tmp_path / "none.png", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / "text.png", "Its first bytes are of no PNG"),
    ):
        with pytest.raises(UsageError, match=why):
            picture(path)


def test_a_file_that_is_too_large_is_told_with_both_sizes(tmp_path):
    path = tmp_path / "large.png"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UsageError, match=r"It has 5\.0 MB; vendors take up to 5 MB"):
        picture(path)


VENDORS: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "anthropic:m": (
        "",
        lambda body: body["messages"][0]["content"][0]["source"],
        {"type": "base64", "media_type": "image/png", "data": DATA},
    ),
    "openai:m": (
        "/v1",
        lambda body: body["messages"][1]["content"][0]["image_url"]["url"],
        f"data:image/png;base64,{DATA}",
    ),
    "gemini:m": (
        "",
        lambda body: body["contents"][0]["parts"][0]["inlineData"],
        {"mimeType": "image/png", "data": DATA},
    ),
    "ollama:m": ("", lambda body: body["messages"][1]["images"], [DATA]),
}


@pytest.mark.parametrize("spec", VENDORS)
async def test_a_session_sends_a_picture_in_the_vendors_form(spec, png):
    path, find, expected = VENDORS[spec]
    async with ScriptedServer([answer(400, {"error": {"message": "enough"}})]) as server:
        provider = Registry().build(spec, base_url=server.url + path, api_key="a-key-of-tests")
        with Session(provider, tool_making="off") as session:
            turn = await _asked(session, [picture(png)])
        assert ("provider_error", "what is this?") == (turn.stop, turn.prompt)
        assert expected == find(server.requests[0].json)


async def _asked(session: Session, images: list[Any]) -> Any:
    import asyncio

    return await asyncio.to_thread(session.ask, "what is this?", images=images)


def test_the_next_prompt_still_has_the_picture_and_a_record_keeps_it(png):
    provider = ScriptedProvider(["A dot.", "Black."])
    with Session(provider, tool_making="off") as session:
        turn = session.ask("what is this?", images=[picture(png)])
        session.ask("which colour?")
        said = session.command("/context")
    first = provider.requests[1][0][1]["content"]
    assert [("image", DATA), ("text", None)] == [(part["type"], part.get("data")) for part in first]
    assert turn == decode(encode(turn))
    assert '"media_type": "image/png"' in said
    assert DATA not in said + repr(turn)


@pytest.mark.parametrize("spec", ["demo", "stub"])
def test_who_can_not_see_answers_all_the_same(spec, png):
    with Session(spec, tool_making="off") as session:
        assert "done" == session.ask("How many kilometres are 26.2 miles?", images=[picture(png)]).stop
