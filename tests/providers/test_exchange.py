"""The wire and the rule of retries, against a server that sends bytes by script."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
import traceback
from contextlib import aclosing
from typing import Any

import pytest

from agent_magics.errors import (
    BadReply,
    ConfigError,
    MissingKey,
    ProviderError,
    RateLimited,
    Unreachable,
    UsageError,
)
from agent_magics.providers import failures
from agent_magics.providers.exchange import pause_before
from agent_magics.providers.openai import openai
from agent_magics.talk import Retrying, Saying, Stop
from tests.patience import PROMPT
from tests.providers.servers import END, SSE_HEAD, Chunk, Drop, Hang, ScriptedServer, answer, free_port, sse

KEY = "sk-planted-0123456789abcdef"
ASK = [{"role": "user", "content": "hello"}]
TEXT = {"choices": [{"delta": {"content": "hi"}, "finish_reason": None}]}
LAST = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
HI = sse(TEXT, LAST)


def provider_at(url, **options):
    return openai("m", base_url=f"{url}/v1", **{"api_key": KEY, **options})


async def said(provider, messages=ASK):
    """What the provider says, without the waits between its tries."""
    events = [event async for event in provider.fetch(messages, [])]
    await provider.aclose()
    return [event for event in events if not isinstance(event, Retrying)], len(events)


async def failure(provider):
    with pytest.raises(ProviderError) as caught:
        await said(provider)
    await provider.aclose()
    return caught.value


async def test_the_request_carries_the_key_and_the_extra_headers():
    async with ScriptedServer([HI]) as server:
        provider = provider_at(server.url, headers={"x-team": "blue"})
        assert ([Saying(text="hi"), Stop(reason="end")], 2) == await said(provider)
    [request] = server.requests
    assert ("POST", "/v1/chat/completions") == (request.method, request.path)
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert request.headers["x-team"] == "blue"


async def test_one_conversation_stays_on_one_connection():
    async with ScriptedServer([HI]) as server:
        provider = provider_at(server.url)
        for _ in range(5):
            assert [event async for event in provider.fetch(ASK, [])]
        await provider.aclose()
    assert (5, 1) == (len(server.requests), server.connections)


async def test_many_requests_at_once_share_few_connections():
    async with ScriptedServer([HI]) as server:
        provider = provider_at(server.url)
        replies = await asyncio.gather(*(_collect(provider) for _ in range(50)))
        again = await asyncio.gather(*(_collect(provider) for _ in range(50)))
        await provider.aclose()
    assert [[Saying(text="hi"), Stop(reason="end")]] * 100 == replies + again
    assert server.connections <= 50


async def _collect(provider):
    return [event async for event in provider.fetch(ASK, [])]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_a_passing_failure_is_tried_again_and_the_wait_is_told(status):
    async with ScriptedServer([answer(status, {}, retry_after_ms="20"), HI]) as server:
        provider = provider_at(server.url)
        events = [event async for event in provider.fetch(ASK, [])]
        await provider.aclose()
    wait, *reply = events
    assert [Saying(text="hi"), Stop(reason="end")] == reply
    assert isinstance(wait, Retrying)
    assert (2, 3) == (wait.attempt, wait.tries)
    assert 0.02 <= wait.delay <= 0.023


async def test_three_tries_are_three_requests_in_all():
    async with ScriptedServer([answer(503, {}, retry_after="0")]) as server:
        error = await failure(provider_at(server.url))
    assert len(server.requests) == 3
    assert error.status == 503


async def test_the_wait_that_the_vendor_asked_for_is_kept():
    async with ScriptedServer([answer(429, {}, retry_after="1"), HI]) as server:
        await said(provider_at(server.url))
    first, second = server.requests
    assert second.at - first.at >= 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_can_not_pass_is_not_tried_again(status):
    async with ScriptedServer([answer(status, {"error": {"message": "No such thing."}})]) as server:
        error = await failure(provider_at(server.url))
    assert len(server.requests) == 1
    assert error.why == "No such thing."
    assert len(str(error).splitlines()) == 3


async def test_a_spend_limit_is_not_tried_again():
    body = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
    async with ScriptedServer([answer(429, body)]) as server:
        error = await failure(provider_at(server.url))
    assert len(server.requests) == 1
    assert isinstance(error, RateLimited)
    assert "spend limit" in error.what


async def test_a_vendor_who_asks_for_an_hour_is_not_waited_for():
    async with ScriptedServer([answer(429, {}, retry_after="3600")]) as server:
        error = await failure(provider_at(server.url))
    assert len(server.requests) == 1
    assert "3600 s" in error.why


@pytest.mark.parametrize("wait", ["inf", "nan", "1e999", "Mon, 01 Jan 99999 00:00:00 GMT", "soon"])
async def test_a_wait_that_is_no_time_is_as_if_none_was_named(wait: str):
    async with ScriptedServer([answer(429, {}, retry_after=wait), HI]) as server:
        await said(provider_at(server.url))
    assert len(server.requests) == 2


def test_geminis_wait_stands_in_the_body_and_is_no_spend_limit():
    message = "You exceeded your current quota, please check your plan and billing details."
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}
    body = {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    error = failures.refused("gemini", 429, {}, json.dumps(body).encode())
    assert error.retryable
    assert error.retry_after == 7.5


def test_a_key_that_gemini_refuses_with_400_is_called_a_key():
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    body = {"error": {"code": 400, "message": "API key not valid.", "details": [info]}}
    error = failures.refused("gemini", 400, {}, json.dumps(body).encode())
    assert isinstance(error, MissingKey)
    assert "/key gemini" in str(error)


async def test_a_connection_dropped_before_the_first_event_is_tried_again():
    for dropped in ([Drop()], [SSE_HEAD, Drop()], [SSE_HEAD, Chunk(b": ping\n\n"), Drop()]):
        async with ScriptedServer([dropped, HI]) as server:
            assert ([Saying(text="hi"), Stop(reason="end")], 3) == await said(provider_at(server.url))


async def test_a_stream_that_has_spoken_is_not_restarted():
    async with ScriptedServer([[SSE_HEAD, HI[1], Drop()]]) as server:
        provider = provider_at(server.url)
        async with aclosing(provider.fetch(ASK, [])) as events:
            assert Saying(text="hi") == await anext(events)
            with pytest.raises(Unreachable, match="dropped before the answer was complete"):
                await anext(events)
        await provider.aclose()
    assert len(server.requests) == 1


async def test_nobody_listening_is_three_lines_and_no_traceback_of_the_library():
    error = await failure(provider_at(f"http://127.0.0.1:{free_port()}"))
    assert isinstance(error, Unreachable)
    assert len(str(error).splitlines()) == 3
    assert error.__cause__ is None


async def test_an_answer_that_is_no_stream_says_so():
    page = [SSE_HEAD.replace(b"event-stream", b"html"), Chunk(b"<html>Welcome</html>"), END]
    async with ScriptedServer([page]) as server:
        error = await failure(provider_at(server.url))
    assert isinstance(error, BadReply)
    assert "<html>Welcome" in error.why


async def test_a_stream_cut_within_a_line_dropped_and_is_asked_again():
    cut = [SSE_HEAD, HI[1], Chunk(b'data: {"choices": [{"del'), END]
    async with ScriptedServer([cut]) as server:
        error = await failure(provider_at(server.url))
    assert isinstance(error, Unreachable)
    assert "dropped before the answer was complete" in error.what


@pytest.mark.parametrize(("status", "remedy"), [(403, "the proxy"), (413, "Shorten"), (407, "$HTTPS_PROXY")])
async def test_a_page_of_a_proxy_is_not_taken_for_the_vendors_word(status: int, remedy: str):
    page = b"<!DOCTYPE html>\n<html><head><title>Corporate &amp; Co</title></head><body>No.</body></html>"
    async with ScriptedServer([answer(status, page)]) as server:
        error = await failure(provider_at(server.url))
    assert not isinstance(error, MissingKey)
    assert "web page 'Corporate & Co'" in error.why
    assert remedy in error.remedy


async def test_an_answer_without_a_word_names_what_to_look_at():
    async with ScriptedServer([answer(400, b"")]) as server:
        error = await failure(provider_at(server.url))
    assert ("The answer had no text.", "base_url" in error.remedy) == (error.why, True)


@pytest.mark.parametrize(
    "address", ["localhost:8000", "http://", "http://127.0.0.1:99999", "ftp://example.org"]
)
def test_an_address_that_is_none_is_refused_at_once(address: str):
    with pytest.raises(UsageError, match="is no address"):
        openai("m", base_url=address, api_key=KEY)


async def test_an_event_that_is_not_json_ends_the_reply():
    async with ScriptedServer([sse("{'no': json}")]) as server:
        assert isinstance(await failure(provider_at(server.url)), BadReply)


async def test_a_character_cut_in_two_between_events_is_put_together():
    halves = [{"choices": [{"delta": {"content": half}}]} for half in ("a\ud83d", "\ude00b", "\ud83d", "c")]
    script = sse(*(json.dumps(half) for half in halves), LAST)
    async with ScriptedServer([script]) as server:
        events, _ = await said(provider_at(server.url))
    assert "a😀b�c" == "".join(event.text for event in events if isinstance(event, Saying))


async def test_a_conversation_too_long_for_the_model_is_a_stop_and_not_an_error():
    body = {"error": {"message": "Too long.", "code": "context_length_exceeded"}}
    async with ScriptedServer([answer(400, body)]) as server:
        assert ([Stop(reason="context_full", detail="Too long.")], 1) == await said(provider_at(server.url))


async def test_closing_the_generator_closes_the_socket_at_once():
    async with ScriptedServer([[SSE_HEAD, HI[1], Hang()]]) as server:
        provider = provider_at(server.url)
        async with aclosing(provider.fetch(ASK, [])) as events:
            assert Saying(text="hi") == await anext(events)
        async with asyncio.timeout(PROMPT):
            await server.left.wait()
        await provider.aclose()


async def test_cancelling_the_task_closes_the_socket_at_once():
    async with ScriptedServer([[SSE_HEAD, HI[1], Hang()]]) as server:
        provider, heard = provider_at(server.url), asyncio.Event()

        async def listen():
            async for _ in provider.fetch(ASK, []):
                heard.set()

        task = asyncio.create_task(listen())
        await heard.wait()
        task.cancel()
        async with asyncio.timeout(PROMPT):
            await server.left.wait()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.aclose()


async def test_silence_is_given_up_after_the_timeout():
    async with ScriptedServer([[SSE_HEAD, HI[1], Hang()]]) as server:
        error = await failure(provider_at(server.url, timeout=0.2))
    assert "Nothing came for too long" in error.why


async def test_a_server_that_keeps_the_connection_open_after_done_does_not_hold_the_reply():
    async with ScriptedServer([[*HI[:-1], Hang()]]) as server:
        began = time.monotonic()
        await said(provider_at(server.url))
    assert time.monotonic() - began < PROMPT


def test_a_provider_can_be_used_on_one_event_loop_after_another():
    async def once(provider):
        async with ScriptedServer([HI]) as server:
            provider._settings = provider_at(server.url)._settings
            return await said(provider)

    provider = provider_at("http://127.0.0.1:1")
    replies = [asyncio.run(once(provider)) for _ in range(2)]
    assert [([Saying(text="hi"), Stop(reason="end")], 2)] * 2 == replies


async def test_a_redirect_is_not_followed_with_the_key():
    async with ScriptedServer([HI]) as thief, ScriptedServer([answer(307, {}, location=thief.url)]) as server:
        error = await failure(provider_at(server.url))
    assert error.status == 307
    assert thief.requests == []


async def test_the_proxy_of_the_environment_is_used(monkeypatch):
    async with ScriptedServer([HI]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert ([Saying(text="hi"), Stop(reason="end")], 2) == await said(provider_at("http://model.invalid"))
    assert proxy.requests[0].path == "http://model.invalid/v1/chat/completions"


async def test_a_certificate_file_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="SSL_CERT_FILE"):
        await said(provider_at("https://127.0.0.1:1"))


async def test_the_key_is_in_nothing_that_anyone_may_see():
    seen, log = [], io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        echo = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
        every: Any = ([answer(401, echo)], [answer(400, echo)], [sse(echo)], [[Drop()]], [sse(KEY)])
        for script in every:
            async with ScriptedServer(script) as server:
                provider = provider_at(server.url, headers={"x-api-key": KEY})
                seen += [repr(provider), repr(provider._settings)]
                try:
                    await said(provider)
                except ProviderError as error:
                    seen += [repr(error), str(error), "".join(traceback.format_exception(error))]
                await provider.aclose()
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    assert len(seen) > 10
    assert KEY not in "\n".join([*seen, log.getvalue()])


def test_a_header_that_can_not_be_sent_is_refused_without_showing_it():
    with pytest.raises(UsageError) as caught:
        provider_at("http://127.0.0.1:1", headers={"x-api-key": f"{KEY}\nx: y"})
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_missing_key_names_its_variable():
    with pytest.raises(MissingKey, match="OPENAI_API_KEY") as caught:
        openai("m")
    assert len(str(caught.value).splitlines()) == 3


def test_pauses_grow_and_never_fall_short_of_what_was_announced():
    assert [0.5, 1.0] == [pause_before(attempt, None, 0.0) for attempt in (2, 3)]
    assert all(pause_before(2, 2.0, spread) >= 2.0 for spread in (0.0, 0.5, 0.999))
    assert pause_before(9, None, 0.0) == 8.0
