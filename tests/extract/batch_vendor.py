"""Two vendors' batch APIs on this machine, written from their documentation, over real HTTP.

Anthropic: /v1/messages/batches. OpenAI: /v1/files and /v1/batches. A batch ends when it has been looked at
``looks`` times; its results come in reverse. What row N gets is said by ``script(row, times_asked)``: a text,
or ``errored``, ``expired``, ``refused``, ``cut``. Every other path is answered with 400, and its body kept.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[int, int], str]
ROW = re.compile(r"row (\d+)")


def says_its_number(row: int, times: int) -> str:
    return json.dumps({"age": row})


@dataclass
class Batch:
    id: str
    requests: list[tuple[str, dict[str, Any]]]
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    looks: int = 0
    cancelled: bool = False
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    results: list[dict[str, Any]] | None = None


@dataclass
class BatchVendor:
    """``refuse`` maps "METHOD /path" to statuses that its next requests get; ``lost`` drops the connection
    after a batch was made; ``at_making`` is called at that moment."""

    port: int = 0
    script: Script = says_its_number
    looks: int = 1
    hold: bool = False
    lost: int = 0
    at_making: Callable[[], None] | None = None
    refuse: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    batches: dict[str, Batch] = field(default_factory=dict[str, Batch])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    asked: Counter[int] = field(default_factory=Counter[int])
    others: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    calls: Counter[str] = field(default_factory=Counter[str])
    lock: Any = field(default_factory=threading.RLock)

    def options(self, provider: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}" + ("/v1" if provider.startswith("openai") else "")
        return {"provider": provider, "base_url": url, "api_key": KEY, "progress": False}

    def made(self, requests: list[tuple[str, dict[str, Any]]], metadata: dict[str, str]) -> Batch:
        assert len({one for one, _ in requests}) == len(requests)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one, _ in requests)
        batch = Batch(f"batch_{len(self.batches) + 1}", requests, metadata)
        self.batches[batch.id] = batch
        return batch

    def ended(self, batch: Batch) -> bool:
        batch.looks += 1
        if batch.results is None and (batch.cancelled or (not self.hold and batch.looks > self.looks)):
            batch.results = [self._result(batch, *one) for one in reversed(batch.requests)]
        return batch.results is not None

    def _result(self, batch: Batch, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        if batch.cancelled:
            return {"custom_id": custom_id, "said": "canceled", "body": body}
        found = ROW.search(json.dumps(body))
        row = int(found[1]) if found else -1
        self.asked[row] += 1
        return {"custom_id": custom_id, "said": self.script(row, self.asked[row]), "body": body}


KEY = "planted-batch-key-0123456789"


def anthropic_result(result: dict[str, Any]) -> dict[str, Any]:
    said = result["said"]
    if said in ("expired", "canceled"):
        return {"custom_id": result["custom_id"], "result": {"type": said}}
    if said in ("errored", "overloaded"):
        kind = "invalid_request_error" if said == "errored" else "overloaded_error"
        error = {"type": "error", "error": {"type": kind, "message": "That can't be."}}
        return {"custom_id": result["custom_id"], "result": {"type": "errored", "error": error}}
    reason = {"refused": "refusal", "cut": "max_tokens"}.get(said, "end_turn")
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": result["body"]["model"],
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": said},
        ],
        "stop_reason": reason,
        "usage": {"input_tokens": 5, "output_tokens": 3},
    }
    return {"custom_id": result["custom_id"], "result": {"type": "succeeded", "message": message}}


def openai_result(result: dict[str, Any], *, chat: bool) -> dict[str, Any]:
    said = result["said"]
    line: dict[str, Any] = {"id": "batch_req_1", "custom_id": result["custom_id"], "error": None}
    if said in ("expired", "canceled"):
        error = {"code": "batch_expired" if said == "expired" else "batch_cancelled", "message": "Late."}
        return line | {"response": None, "error": error}
    if said in ("errored", "overloaded"):
        error = {"message": "That can't be.", "type": "invalid_request_error", "code": None}
        status = 400 if said == "errored" else 503
        return line | {"response": {"status_code": status, "request_id": "r", "body": {"error": error}}}
    body = _chat(said) if chat else _response(said)
    return line | {"response": {"status_code": 200, "request_id": "r", "body": body}}


def _chat(said: str) -> dict[str, Any]:
    finish = {"refused": "content_filter", "cut": "length"}.get(said, "stop")
    message = {"role": "assistant", "content": said, "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    return {"id": "c", "object": "chat.completion", "choices": choices, "usage": usage}


def _response(said: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": said, "annotations": []}
    if said == "refused":
        part = {"type": "refusal", "refusal": "I won't."}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    reasoning = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": [reasoning, message],
        "usage": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8},
    }
    if said == "cut":
        response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return response


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vendor: BatchVendor

    def log_message(self, *args: Any) -> None:
        """Nothing: tests look at what was counted."""

    def do_GET(self) -> None:
        self._serve("GET", b"")

    def do_POST(self) -> None:
        self._serve("POST", self.rfile.read(int(self.headers.get("content-length", 0))))

    def _serve(self, method: str, body: bytes) -> None:
        path = self.path.partition("?")[0].removeprefix("/v1")
        with self.vendor.lock:
            call = f"{method} {re.sub(r'(batch|file)_[a-z0-9_]+', 'ID', path)}"
            self.vendor.calls[call] += 1
            if statuses := self.vendor.refuse.get(call):
                self._send(statuses.pop(0), {"error": {"type": "t", "message": "Not now."}}, again=True)
                return
            assert KEY in (self.headers.get("x-api-key") or self.headers.get("authorization") or "")
            answer = self._answer(method, path.strip("/").split("/"), body)
        if answer is not None:
            self._send(*answer)

    def _answer(self, method: str, parts: list[str], body: bytes) -> tuple[int, Any] | None:
        vendor = self.vendor
        match method, *parts:
            case "POST", "messages", "batches":
                assert "anthropic-version" in self.headers
                requests = [(one["custom_id"], one["params"]) for one in json.loads(body)["requests"]]
                return self._made(vendor.made(requests, {}), self._anthropic)
            case "GET", "messages", "batches":
                return 200, {"data": self._newest(self._anthropic), "has_more": False}
            case "GET", "messages", "batches", key:
                vendor.ended(vendor.batches[key])
                return 200, self._anthropic(vendor.batches[key])
            case "GET", "messages", "batches", key, "results":
                results = vendor.batches[key].results
                return (200, [anthropic_result(one) for one in results]) if results else (404, {})
            case "POST", ("messages" | "batches"), *more, "cancel":
                vendor.batches[more[-1]].cancelled = True
                return 200, {}
            case "POST", "files":
                return 200, {"id": self._kept(body), "object": "file", "purpose": "batch"}
            case "GET", "files", key, "content":
                return 200, vendor.files[key]
            case "POST", "batches":
                return self._openai_made(json.loads(body))
            case "GET", "batches":
                return 200, {"data": self._newest(self._openai), "has_more": False}
            case "GET", "batches", key:
                vendor.ended(vendor.batches[key])
                return 200, self._openai(vendor.batches[key])
            case _:
                vendor.others.append(json.loads(body))
                return 400, {"error": {"type": "invalid_request_error", "message": "No."}}

    def _openai_made(self, asked: dict[str, Any]) -> tuple[int, Any] | None:
        assert asked["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.vendor.files[asked["input_file_id"]].splitlines()]
        assert {("POST", asked["endpoint"])} == {(one["method"], one["url"]) for one in lines}
        requests = [(one["custom_id"], one["body"]) for one in lines]
        return self._made(self.vendor.made(requests, asked["metadata"]), self._openai)

    def _made(self, batch: Batch, described: Callable[[Batch], Any]) -> tuple[int, Any] | None:
        if self.vendor.at_making is not None:
            self.vendor.at_making()
        if self.vendor.lost:
            self.vendor.lost -= 1
            self.close_connection = True
            return None
        return 200, described(batch)

    def _kept(self, body: bytes) -> str:
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        parts: Any = BytesParser().parsebytes(head + body).get_payload()
        fields = {part.get_param("name", header="content-disposition"): part for part in parts}
        assert "batch" == fields["purpose"].get_payload()
        key = f"file_{len(self.vendor.files) + 1}"
        self.vendor.files[key] = fields["file"].get_payload(decode=True)
        return key

    def _newest(self, described: Callable[[Batch], Any]) -> list[Any]:
        return [described(batch) for batch in reversed(self.vendor.batches.values())]

    def _anthropic(self, batch: Batch) -> dict[str, Any]:
        size, ended = len(batch.requests), batch.results is not None
        counts = {"processing": 0 if ended else size, "succeeded": size if ended else 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": batch.created,
            "archived_at": None,
            "results_url": None,
        }

    def _openai(self, batch: Batch) -> dict[str, Any]:
        ended, size = batch.results is not None, len(batch.requests)
        done = size if ended else 0
        told: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "status": "completed" if ended else "in_progress",
            "output_file_id": None,
            "error_file_id": None,
            "metadata": batch.metadata,
            "request_counts": {"total": size, "completed": done, "failed": 0},
        }
        if batch.results:
            chat = "messages" in batch.requests[0][1]
            lines = [openai_result(one, chat=chat) for one in batch.results]
            good = [one for one in lines if one["response"] and one["response"]["status_code"] == 200]
            bad = [one for one in lines if one not in good]
            for name, some in (("output", good), ("error", bad)):
                if some:
                    told[f"{name}_file_id"] = key = f"file_{name}_{batch.id}"
                    self.vendor.files[key] = _jsonl(some)
        return told

    def _send(self, status: int, body: Any, *, again: bool = False) -> None:
        data = _jsonl(body) if isinstance(body, list) else body
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        if again:
            self.send_header("retry-after-ms", "20")
        self.end_headers()
        self.wfile.write(data)


def _jsonl(lines: list[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@contextmanager
def serving() -> Iterator[BatchVendor]:
    """The vendors, on a thread of this process."""
    vendor = BatchVendor()
    handler = type("Handler", (_Handler,), {"vendor": vendor})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        vendor.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield vendor
        finally:
            server.shutdown()
            thread.join(10)
