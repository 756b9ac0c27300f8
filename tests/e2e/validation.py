"""Checks what the server says against the schema of the tasks era. The schema belongs to the specification
folder, which stands beside a checkout in CI (BATON_SPEC_DIR names another place); without it this does
nothing, and the tests' own checks remain."""
import functools
import json
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESPONSES = {
    "tasks/send": "SendTaskResponse",
    "tasks/get": "GetTaskResponse",
    "tasks/cancel": "CancelTaskResponse",
    "tasks/pushNotification/set": "SetTaskPushNotificationResponse",
    "tasks/pushNotification/get": "GetTaskPushNotificationResponse",
}
# Errors whose shape the schema states.
ERRORS = {
    -32700: "JSONParseError",
    -32600: "InvalidRequestError",
    -32601: "MethodNotFoundError",
    -32602: "InvalidParamsError",
    -32603: "InternalError",
    -32001: "TaskNotFoundError",
    -32002: "TaskNotCancelableError",
    -32003: "PushNotificationNotSupportedError",
    -32004: "UnsupportedOperationError",
}


@functools.lru_cache
def schema():
    folder = pathlib.Path(os.environ.get("BATON_SPEC_DIR", ROOT.parent / "shared" / "spec"))
    path = folder / "a2a" / "a2a-tasks-era.schema.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


@functools.lru_cache
def validator(name):
    import jsonschema  # only where there is a schema
    return jsonschema.Draft7Validator({"$defs": schema()["$defs"], "$ref": f"#/$defs/{name}"},
                                      format_checker=jsonschema.FormatChecker())


def check(name, value):
    """Raises AssertionError unless `value` is what the schema calls `name`."""
    if schema() is None:
        return
    problems = list(validator(name).iter_errors(value))
    if problems:
        where = "/".join(str(step) for step in problems[0].absolute_path)
        raise AssertionError(f"not a {name} at /{where}: {problems[0].message[:300]}\n{json.dumps(value)[:500]}")


def without_null_id(body):
    """JSON-RPC wants "id": null where the id of the request is not known; the schema knows no null."""
    return {key: value for key, value in body.items() if not (key == "id" and value is None)}


def check_answer(method, body):
    if body.get("jsonrpc") != "2.0" or "id" not in body or ("result" in body) == ("error" in body):
        raise AssertionError(f"not a JSON-RPC answer: {json.dumps(body)[:300]}")
    if isinstance(body["id"], float):
        return  # legal in JSON-RPC, not in the schema; echoed as it came
    body = without_null_id(body)
    check(RESPONSES.get(method, "JSONRPCResponse"), body)
    if "error" in body and body["error"].get("code") in ERRORS:
        check(ERRORS[body["error"]["code"]], body["error"])


def check_frame(frame):
    if frame.get("jsonrpc") != "2.0" or "id" not in frame:
        raise AssertionError(f"not a JSON-RPC answer: {json.dumps(frame)[:300]}")
    check("SendTaskStreamingResponse", without_null_id(frame))
