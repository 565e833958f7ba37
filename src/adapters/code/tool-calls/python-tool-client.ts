// The module that Python code gets with `import tools`. Calls are lines of JSON on descriptor 5, results on descriptor 6;
// the host side is tool-channel.ts.

/** The text of `tools.py`, which is put beside the code: Python looks there first. */
export const pythonToolClient: string = `"""The agent's tools: tools.<name>(key=value) returns the result as a dict, or raises tools.ToolError."""
import json as _json
import threading as _threading


class ToolError(Exception):
    """The error a tool call ended with."""


_lock = _threading.Lock()
_calls = open(5, "w", encoding="utf-8", closefd=False)
_results = open(6, "r", encoding="utf-8", closefd=False)


def call(name, args):
    with _lock:
        _calls.write(_json.dumps({"id": 0, "name": name, "args": args}) + "\\n")
        _calls.flush()
        line = _results.readline()
    if not line:
        raise ToolError("The tool channel is closed.")
    response = _json.loads(line)
    if "error" in response:
        raise ToolError(response["error"])
    return response["result"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def run(args=None, /, **named):
        return call(name, {**(args or {}), **named})

    return run
`
