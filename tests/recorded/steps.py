"""What the tables of requests consist of. A table is a list of scenes, a scene is (title, steps), and a step is a dict
that one of these functions makes. `$name` in a path, a header or a body stands for what an earlier step of the scene
has kept."""
import json


def http(method, path, body=None, name="", **how):
    """A request. `body`: an object, which is sent as JSON, or bytes. How:

    headers   further ones; None takes a default one away
    v, token  A2A-Version, and the word for a token that the server knows
    keep      {name: way}: keeps what is at that way into the answer, "result.id" (of a stream: "2.result.id")
    poll      a text: the request is repeated until the answer has it; the last answer is recorded
    during    (text, steps): after the first block of a stream that has the text come these steps
    varies    {pattern: name}: what of the body is a matter of time
    until     a text: hangs up after the first block of the stream that has it
    """
    return {"do": "http", "method": method, "path": path, "body": body, "name": name, **how}


def rpc(method, params, agent="player", **how):
    """A call of JSON-RPC. `params` may be the whole body, as bytes."""
    body = params if isinstance(params, bytes) else {"jsonrpc": "2.0", "id": how.pop("id", 1), "method": method,
                                                      "params": params}
    path = "/" if agent is None else f"/agents/{agent}/"
    return http("POST", path, body, how.pop("name", method), rpc=f"{agent or 'default'} {method}", **how)


def raw(name, *lines, body=b"", **how):
    """The bytes of a request, whatever they are."""
    return {"do": "raw", "name": name, "bytes": b"\r\n".join([*lines, b"", b""]) + body, **how}


def grpc(version, method, path, body=None, **how):
    """The call that stands for this request of REST. With `bytes` it is sent as these, to the method `path`."""
    return {"do": "grpc", "version": version, "method": method, "path": path, "body": body, "name": "", **how}


def wait(task, *states, agent="player", **how):
    """Waits until a task is in one of these states of 0.1, and, where `has` is given, its JSON has this text. Nothing
    is recorded. `tenant`: of the task."""
    return {"do": "wait", "task": task, "states": states, "agent": agent, **how}


def gate(agent, name):
    """Opens the gate at which a test agent waits."""
    return {"do": "gate", "agent": agent, "gate": name}


def delivered(path, last):
    """Waits for a webhook with the text `last` at this path, and records all webhooks there up to it."""
    return {"do": "delivered", "path": path, "last": last}


def answer_with(path, *statuses, held=False):
    """Sets the statuses with which the receiver answers at this path; the last one is repeated. `held`: it answers only
    once the step `delivered` waits for it."""
    return {"do": "answer_with", "path": path, "statuses": statuses, "held": held}


def dumped(body):
    return body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
