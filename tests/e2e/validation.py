"""Checks the server's output against the schema of each generation. The schemas belong to the specification folder,
which is beside a checkout in CI (BATON_SPEC_DIR names another place). Without it only shapes.py and the tests' own
checks remain."""
import functools
import json
import os
import pathlib

import shapes

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESPONSES = {
    "tasks/send": "SendTaskResponse",
    "tasks/get": "GetTaskResponse",
    "tasks/cancel": "CancelTaskResponse",
    "tasks/pushNotification/set": "SetTaskPushNotificationResponse",
    "tasks/pushNotification/get": "GetTaskPushNotificationResponse",
}
# Errors whose shape the schema defines.
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


# The schemas that an object of a generation must fit, and their names for it where they differ from those of shapes.py.
FILES = {
    "0.1": ("a2a-tasks-era",),
    "0.2": ("a2a-v0.2.0", "a2a-v0.2.6"),
    "0.3": ("a2a-v0.3.0",),
    "0.3 REST": (),  # defined by a proto only
    "1.0": ("a2a-v1.0.1.resolved",),
    "dual": ("a2a-tasks-era", "a2a-v0.2.0", "a2a-v0.2.6", "a2a-v0.3.0"),
}
NAMES = {
    "StatusUpdate": "TaskStatusUpdateEvent",
    "ArtifactUpdate": "TaskArtifactUpdateEvent",
    "TaskPush": "TaskPushNotificationConfig",
    "Push": "PushNotificationConfig",
    "Sent": "SendMessageResponse",
    "StreamItem": "StreamResponse",
    "TaskList": "ListTasksResponse",
    "Pushes": "ListTaskPushNotificationConfigsResponse",
    "Card": "AgentCard",
    "FirstItem": "Task",
}


@functools.lru_cache
def schema(name="a2a-tasks-era"):
    folder = pathlib.Path(os.environ.get("BATON_SPEC_DIR", ROOT.parent / "shared" / "spec"))
    path = folder / "a2a" / f"{name}.schema.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


@functools.lru_cache
def validator(name, file="a2a-tasks-era"):
    import jsonschema  # only where there is a schema
    place = "$defs" if "$defs" in schema(file) else "definitions"
    return jsonschema.Draft7Validator({place: schema(file)[place], "$ref": f"#/{place}/{name}"},
                                      format_checker=jsonschema.FormatChecker())


def check(name, value, file="a2a-tasks-era"):
    """Raises AssertionError unless `value` is the schema's `name`."""
    if schema(file) is None:
        return
    problems = list(validator(name, file).iter_errors(value))
    if problems:
        where = "/".join(str(step) for step in problems[0].absolute_path)
        raise AssertionError(f"{file}: not a {name} at /{where}: {problems[0].message[:300]}\n"
                             f"{json.dumps(value, ensure_ascii=False)[:500]}")


def check_object(generation, name, value):
    """Raises AssertionError unless `value` is this generation's object of that name: by shapes.py, which knows every
    allowed member, and by the generation's schema."""
    if name in shapes.TABLES[generation]:
        shapes.check(generation, name, value)
    for file in FILES[generation]:
        check(NAMES.get(name, name), value, file)


def without_null_id(body):
    """JSON-RPC wants "id": null if the id of the request is not known; the schema allows no null."""
    return {key: value for key, value in body.items() if not (key == "id" and value is None)}


def check_answer(method, body):
    if body.get("jsonrpc") != "2.0" or "id" not in body or ("result" in body) == ("error" in body):
        raise AssertionError(f"not a JSON-RPC answer: {json.dumps(body)[:300]}")
    if isinstance(body["id"], float):
        return  # legal in JSON-RPC, not in the schema; echoed as it came
    body = without_null_id(body)
    if isinstance(body.get("error", {}).get("data"), list):
        # The data of 1.0's errors is a list of typed details, which the older schemas do not know.
        if not all(isinstance(detail, dict) and detail.get("@type") for detail in body["error"]["data"]):
            raise AssertionError(f"an error's details have types: {json.dumps(body)[:300]}")
        body = {**body, "error": {key: value for key, value in body["error"].items() if key != "data"}}
    check(RESPONSES.get(method, "JSONRPCResponse"), body)
    if "error" in body and body["error"].get("code") in ERRORS:
        check(ERRORS[body["error"]["code"]], body["error"])


def check_frame(frame):
    if frame.get("jsonrpc") != "2.0" or "id" not in frame:
        raise AssertionError(f"not a JSON-RPC answer: {json.dumps(frame)[:300]}")
    check("SendTaskStreamingResponse", without_null_id(frame))
