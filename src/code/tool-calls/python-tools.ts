// What `import tools` gives Python code. Requests are lines of JSON on descriptor 5, answers on 6.

export const pythonTools: string = `"""The agent's tools: tools.<name>(key=value) gives the answer as a dict, or raises tools.ToolError."""
import json as _json
import threading as _threading


class ToolError(Exception):
    """What the tool said went wrong."""


_lock = _threading.Lock()
_requests = open(5, "w", encoding="utf-8", closefd=False)
_answers = open(6, "r", encoding="utf-8", closefd=False)


def call(name, args):
    with _lock:
        _requests.write(_json.dumps({"id": 0, "name": name, "args": args}) + "\\n")
        _requests.flush()
        line = _answers.readline()
    if not line:
        raise ToolError("the tools cannot be reached any more")
    answer = _json.loads(line)
    if "error" in answer:
        raise ToolError(answer["error"])
    return answer["result"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def run(args=None, /, **named):
        return call(name, {**(args or {}), **named})

    return run
`
