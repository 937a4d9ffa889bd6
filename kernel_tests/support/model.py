"""The model behind the real kernel in these tests: it answers what the user message tells it to.

It speaks the OpenAI chat protocol. The newest user message that holds SCRIPT[[op, ...], [op, ...]]END decides: its first
list answers the next model call, its second list the call after that, and so on; past the last list the answer is "Done.".

  {"text": "..."}                   text, a word at a time
  {"think": "..."}                  reasoning, a word at a time
  {"tool": "name", "args": {...}}   a tool call
  {"slow": N, "gap": seconds}       N words with a gap after each
  {"http": status}                  (alone) an HTTP error

Without a script it finishes what it is asked to: it calls complete_step with arguments made up from the tool's schema, in a
step that has to name a file after writing one (which asks for a permission); where there is no such tool it says "OK.".

usage: python3 model.py PORT LOG     (one line a call is written to LOG: the script's newest user message)
"""

import json
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPEN, CLOSE = "SCRIPT[", "]END"
# Lists that stay empty, and lists that get two items: what the pipelines need to go on with parallel candidates.
EMPTY_LISTS = {"hard_constraints", "hard_constraint_checks", "resource_intents"}
PAIRS = {"candidates", "options"}


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def newest_user_text(messages):
    return next((text_of(message) for message in reversed(messages) if message.get("role") == "user"), "")


def scripted(messages):
    """The operations for this call; None when no user message holds a script."""
    for place in reversed(range(len(messages))):
        text = text_of(messages[place])
        start, end = text.find(OPEN), text.rfind(CLOSE)
        if messages[place].get("role") != "user" or start < 0 or end < start:
            continue
        answers = json.loads(text[start + len(OPEN) - 1:end + 1])
        given = sum(message.get("role") == "assistant" for message in messages[place + 1:])
        return answers[given] if given < len(answers) else [{"text": "Done."}]
    return None


def invent(schema, name="", number=1):
    """A small value that satisfies the common part of a JSON schema."""
    if not isinstance(schema, dict):
        return "x"
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    properties = schema.get("properties", {})
    if kind == "object" or properties:
        conditional = [field for rule in schema.get("allOf", []) for field in rule.get("then", {}).get("required", [])]
        wanted = dict.fromkeys([*schema.get("required", []), *conditional]) or list(properties)[:1]
        return {field: invent(properties.get(field, {}), field, number) for field in wanted}
    if kind == "array":
        count = 0 if name in EMPTY_LISTS else 2 if name in PAIRS else 1
        return [invent(schema.get("items", {}), name, item + 1) for item in range(count)]
    if kind in ("integer", "number"):
        return number - 1 if name.endswith("index") else number
    if kind == "boolean":
        return True
    return None if kind == "null" else f"{name or 'value'}-{number}"


def improvised(messages, tools):
    functions = {tool["function"]["name"]: tool["function"] for tool in tools or [] if "function" in tool}
    if "complete_step" not in functions:
        return [{"text": "OK."}]
    conclusion = functions["complete_step"].get("parameters", {}).get("properties", {}).get("conclusion", {})
    names_file = "file_path" in conclusion.get("properties", {})
    if names_file and "write_file" in functions and messages[-1].get("role") != "tool":
        name = f"{uuid.uuid4().hex[:6]}.yml"
        return [{"text": "Writing."}, {"tool": "write_file", "args": {"path": name, "content": "a: 1"}}]
    return [{"text": "Working on it."}, {"tool": "complete_step", "args": {"conclusion": invent(conclusion)}}]


def tool_call(operation, index):
    arguments = json.dumps(operation.get("args", {}))
    identity = "call_" + uuid.uuid4().hex[:8]
    return {"index": index, "id": identity, "type": "function",
            "function": {"name": operation["tool"], "arguments": arguments}}


def deltas(operations):
    """The pieces of a streamed answer, each with the pause after it."""
    calls = 0
    for operation in operations:
        if "text" in operation:
            for word in operation["text"].split(" "):
                yield {"content": word + " "}, 0
        elif "think" in operation:
            for word in operation["think"].split(" "):
                yield {"reasoning_content": word + " "}, 0
        elif "slow" in operation:
            for number in range(operation["slow"]):
                yield {"content": f"s{number} "}, operation.get("gap", 0.2)
        elif "tool" in operation:
            yield {"tool_calls": [tool_call(operation, calls)]}, 0
            calls += 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": "fake-1", "object": "model"}]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not self.path.endswith("/chat/completions"):
            return self.reply(503, {"error": {"message": "not taken"}})
        request = json.loads(body)
        messages = request.get("messages", [])
        with open(sys.argv[2], "a") as log:
            log.write(json.dumps(newest_user_text(messages)) + "\n")
        operations = scripted(messages)
        if operations is None:
            operations = improvised(messages, request.get("tools"))
        if operations and "http" in operations[0]:
            error = {"message": "scripted error", "type": "invalid_request_error"}
            return self.reply(operations[0]["http"], {"error": error})
        if request.get("stream"):
            return self.stream(request, operations)
        return self.reply(200, self.whole(request, operations))

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, request, operations):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        head = {"id": "chatcmpl-" + uuid.uuid4().hex[:8], "object": "chat.completion.chunk",
                "created": int(time.time()), "model": request.get("model", "fake-1")}

        def put(choices, **more):
            self.wfile.write(b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n")
            self.wfile.flush()

        try:
            put([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
            for delta, pause in deltas(operations):
                put([{"index": 0, "delta": delta, "finish_reason": None}])
                time.sleep(pause)
            put([{"index": 0, "delta": {}, "finish_reason": finish(operations)}])
            put([], usage=USAGE)
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # The kernel was cancelled or killed.

    @staticmethod
    def whole(request, operations):
        text = "".join(operation.get("text", "") for operation in operations)
        calls = [tool_call(operation, at) for at, operation in enumerate(op for op in operations if "tool" in op)]
        message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish(operations)}
        return {"id": "chatcmpl-x", "object": "chat.completion", "created": 0, "model": request.get("model", "fake-1"),
                "choices": [choice], "usage": USAGE}


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def finish(operations):
    return "tool_calls" if any("tool" in operation for operation in operations) else "stop"


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
