"""Steps over gRPC, by the clients of tests/e2e/grpc_generations.py."""
import base64

import client
import grpc
import grpc_generations as generations

from recorded import texts


def perform(runner, step):
    """(the head, the lines, the frames) of a call. Its words are those of the request of REST that it stands for."""
    kind = generations.Grpc10 if step["version"] == "1.0" else generations.Grpc03
    caller = kind(runner.server, step["agent"], version=step.get("v", "own"))
    caller.channel = runner.channels.get(kind) or caller.channel
    runner.channels[kind] = caller.channel
    headers = dict(step.get("headers", {}))
    if step.get("token"):
        headers["Authorization"] = "Bearer " + runner.tokens.get(step["token"], step["token"])
    said = " ".join(f"{name}: {value[:60]}" for name, value in step.get("headers", {}).items())
    runner.place = len(runner.blocks)
    if "bytes" in step:
        head = f"gRPC | {step['path']} | {step['bytes'].hex()[:60]}"
        call = caller.channel.unary_stream(step["path"], lambda m: m, lambda m: m)(
            step["bytes"], metadata=[(k.lower(), v) for k, v in {**caller.headers, **headers}.items()
            if k != "Content-Type"] +
            [("baton-agent", step["agent"])], timeout=client.scaled())
    else:
        path, _, query = step["path"].partition("?")
        filters = {}
        for one in filter(None, query.split("&")):
            name, _, value = one.partition("=")
            value = value.replace("%20", " ")
            filters[name] = int(value) if value.lstrip("-").isdigit() else value == "true" if value in ("true",
                "false") else value
        head = f"gRPC | {step['method']} {step['shown']['path']}" + (f" | {said}" if said else "")
        try:
            call = caller.start(step["method"], path, step["body"], headers, filters)
        except (ValueError, TypeError, generations.json_format.Error) as problem:
            return head, [f"(no message: {type(problem).__name__})"], [{}]
    return head, *answer_of(runner, step, call, caller)


def answer_of(runner, step, call, caller):
    lines, frames = [], []
    try:
        during = step.get("during")
        messages = call if step.get("stream") or "bytes" in step else [call.result()]
        for message in messages:
            frame = {"hex": message.hex()} if isinstance(message, bytes) else ordered(caller.json_of(message))
            frames.append(frame)
            text = generations.json_format.json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
            lines.append(texts.laid_out(runner.names.plain(text)))
            if during and during[0] in text:
                found, during = during, None
                for each in found[1]:
                    runner.run(each)
            if step.get("until") and step["until"] in text:
                call.cancel()
                return [*lines, "(hung up)"], frames
        shown = metadata_of(call.initial_metadata()) + metadata_of(call.trailing_metadata())
        return [*lines, f"OK{shown}"], frames
    except grpc.RpcError as error:
        details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
        lines.append(f"{error.code().name}: {error.details()}" + metadata_of(
            one for one in (error.trailing_metadata() or ()) if one[0] != "grpc-status-details-bin"))
        if details:
            status = generations.message_class(generations.pool().FindMessageTypeByName("google.rpc.Status"))
            said = generations.json_of(status.FromString(details))
            lines.append(texts.laid_out(generations.json_format.json.dumps(said, ensure_ascii=False,
                separators=(",", ":"))))
        return lines, frames


def ordered(value, inside=False):
    """With the members of structs, whose order is that of a hash table, by their names, and their numbers as JSON has
    them."""
    if isinstance(value, list):
        return [ordered(each, inside) for each in value]
    if isinstance(value, float) and inside and value.is_integer():
        return int(value)
    if not isinstance(value, dict):
        return value
    return {key: ordered(each, inside or key in ("data", "metadata", "params"))
            for key, each in (sorted(value.items()) if inside else value.items())}


def metadata_of(pairs):
    shown = [f"{name}: {base64.b64encode(value).decode() if isinstance(value, bytes) else value}" for name,
        value in pairs or ()]
    return "".join(" | " + one for one in shown)
