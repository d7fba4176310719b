"""ollama-proxy-plus in front of the real engine: Ollama's protocol, line by line, from another's hands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_magics.providers import Registry
from agent_magics.providers.local.server import serve
from agent_magics.talk import Saying, Stop
from tests.providers.servers import free_port, process

KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def proxy(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    engine = serve(str(tiny), 2048, KEY)
    port = free_port()
    command = [Path(sys.executable).with_name("ollama-proxy"), "--host", "127.0.0.1", "--port", str(port)]
    here = {
        **os.environ,
        "PROVIDERS_TINY_API_KEY": KEY,
        "PROVIDERS_TINY_BASE_URL": f"{engine.listening_address}/v1",
    }
    log = tmp_path_factory.mktemp("proxy") / "log"
    with process(command, f"http://127.0.0.1:{port}/api/version", log, env=here):
        yield f"http://127.0.0.1:{port}"


async def test_a_real_stream_of_lines_is_read_to_its_end(proxy):
    provider = Registry().build("ollama:tiny/tiny.gguf", base_url=proxy, max_tokens=20, temperature=0)
    events = [event async for event in provider.fetch([{"role": "user", "content": "hello"}], [])]
    await provider.aclose()
    pieces = [event for event in events if isinstance(event, Saying)]
    assert len(pieces) > 1
    assert isinstance(events[-1], Stop)


async def test_its_refusal_is_told_in_three_lines(proxy):
    provider = Registry().build("ollama:nowhere/model", base_url=proxy)
    with pytest.raises(Exception, match="ollama") as caught:
        assert not [event async for event in provider.fetch([{"role": "user", "content": "hello"}], [])]
    await provider.aclose()
    assert len(str(caught.value).splitlines()) == 3
