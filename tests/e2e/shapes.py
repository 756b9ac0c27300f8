"""The members that each generation's objects may have: a check that needs no files of the specification.

One line for an object: `name:type`, a required one ends in `!`; `a|b|c` alone means exactly one of these.
Types: s text, S text that is not empty, b truth, i whole number, t time in UTC, x base64, o object, j any JSON,
tag the name of the one content member that is there, =x the text x, [T] a list, {T} a map, and names of
objects and enumerations.
"""
import base64
import binascii
import json
import re

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
PROTO_STATES = ("SUBMITTED", "WORKING", "COMPLETED", "FAILED", "INPUT_REQUIRED", "REJECTED", "AUTH_REQUIRED")

V0_1 = {
    "state": ("submitted", "working", "input-required", "completed", "canceled", "failed", "unknown"),
    "role": ("user", "agent"),
    "Task": "id:S! sessionId:S status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:o",
    "TaskStatus": "state:state! message:Message timestamp:t",
    "Message": "role:role! parts:[Part]! metadata:o",
    "Part": "type:tag! text:s file:File data:o metadata:o text|file|data",
    "File": "name:s mimeType:s bytes:x uri:S bytes|uri",
    "Artifact": "parts:[Part]! name:s description:s index:i append:b lastChunk:b metadata:o",
    "StatusUpdate": "id:S! status:TaskStatus! final:b metadata:o",
    "ArtifactUpdate": "id:S! artifact:Artifact! metadata:o",
    "TaskPush": "id:S! pushNotificationConfig:Push!",
    "Push": "url:S! token:s authentication:o",
}
V0_3 = {
    "state": (*V0_1["state"], "rejected", "auth-required"),
    "role": ("user", "agent"),
    "Task": "kind:=task! id:S! contextId:S! status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:o",
    "TaskStatus": "state:state! message:Message timestamp:t",
    "Message": "kind:=message! messageId:S! role:role! parts:[Part]! taskId:S contextId:S metadata:o "
               "referenceTaskIds:[s] extensions:[s]",
    "Part": "kind:tag! text:s file:File data:o metadata:o text|file|data",
    "File": "name:s mimeType:s bytes:x uri:S bytes|uri",
    "Artifact": "artifactId:S! parts:[Part]! name:s description:s metadata:o extensions:[s]",
    "StatusUpdate": "kind:=status-update! taskId:S! contextId:S! status:TaskStatus! final:b! metadata:o",
    "ArtifactUpdate": "kind:=artifact-update! taskId:S! contextId:S! artifact:Artifact! append:b lastChunk:b "
                      "metadata:o",
    "TaskPush": "taskId:S! pushNotificationConfig:Push!",
    "Push": "id:S url:S! token:s authentication:PushAuth",
    "PushAuth": "schemes:[s]! credentials:s",
}
V0_3_REST = {
    "state": tuple("TASK_STATE_" + name for name in (*PROTO_STATES, "CANCELLED")),
    "role": ("ROLE_USER", "ROLE_AGENT"),
    "Task": "id:S! contextId:S! status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:o",
    "TaskStatus": "state:state! message:Message timestamp:t",
    "Message": "messageId:S! contextId:S taskId:S role:role! content:[Part]! metadata:o extensions:[s]",
    "Part": "text:s file:File data:Data metadata:o text|file|data",
    "File": "fileWithUri:S fileWithBytes:x mimeType:s name:s fileWithUri|fileWithBytes",
    "Data": "data:o!",
    "Artifact": "artifactId:S! name:s description:s parts:[Part]! metadata:o extensions:[s]",
    "StatusUpdate": "taskId:S! contextId:S! status:TaskStatus! final:b metadata:o",
    "ArtifactUpdate": "taskId:S! contextId:S! artifact:Artifact! append:b lastChunk:b metadata:o",
    "Sent": "task:Task message:Message task|message",
    "StreamItem": "task:Task message:Message statusUpdate:StatusUpdate artifactUpdate:ArtifactUpdate "
                  "task|message|statusUpdate|artifactUpdate",
    "TaskPush": "name:S! pushNotificationConfig:Push!",
    "Push": "id:S url:S! token:s authentication:PushAuth",
    "PushAuth": "schemes:[s] credentials:s",
    "Pushes": "configs:[TaskPush] nextPageToken:s",
}
V1_0 = {
    "state": tuple("TASK_STATE_" + name for name in (*PROTO_STATES, "CANCELED")),
    "role": ("ROLE_USER", "ROLE_AGENT"),
    "Task": "id:S! contextId:S status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:o",
    "TaskStatus": "state:state! message:Message timestamp:t",
    "Message": "messageId:S! contextId:S taskId:S role:role! parts:[Part]! metadata:o extensions:[s] "
               "referenceTaskIds:[s]",
    "Part": "text:s raw:x url:s data:j metadata:o filename:S mediaType:S text|raw|url|data",
    "Artifact": "artifactId:S! name:S description:S parts:[Part]! metadata:o extensions:[s]",
    "StatusUpdate": "taskId:S! contextId:S! status:TaskStatus! metadata:o",
    "ArtifactUpdate": "taskId:S! contextId:S! artifact:Artifact! append:B lastChunk:B metadata:o",
    "Sent": "task:Task message:Message task|message",
    "StreamItem": "task:Task message:Message statusUpdate:StatusUpdate artifactUpdate:ArtifactUpdate "
                  "task|message|statusUpdate|artifactUpdate",
    "TaskPush": "tenant:S id:S! taskId:S! url:S! token:S authentication:PushAuth",
    "PushAuth": "scheme:S! credentials:S",
    "Pushes": "configs:[TaskPush] nextPageToken:S",
    "TaskList": "tasks:[Task]! nextPageToken:s! pageSize:i! totalSize:i!",
    "Card": "name:S! description:s! supportedInterfaces:[Interface]! provider:Provider version:S! "
            "documentationUrl:s capabilities:Capabilities! securitySchemes:{SecurityScheme} "
            "securityRequirements:[SecurityRequirement] defaultInputModes:[s]! defaultOutputModes:[s]! "
            "skills:[Skill]! signatures:[Signature] iconUrl:s",
    "Interface": "url:S! protocolBinding:S! tenant:S protocolVersion:S!",
    "Provider": "url:s! organization:s!",
    "Capabilities": "streaming:b pushNotifications:b extensions:[Extension] extendedAgentCard:b",
    "Extension": "uri:S description:S required:B params:o",
    "Skill": "id:S! name:S! description:s! tags:[s]! examples:[s] inputModes:[s] outputModes:[s] "
             "securityRequirements:[SecurityRequirement]",
    "SecurityRequirement": "schemes:{StringList}",
    "StringList": "list:[s]",
    "SecurityScheme": "apiKeySecurityScheme:o httpAuthSecurityScheme:o oauth2SecurityScheme:o "
                      "openIdConnectSecurityScheme:o mtlsSecurityScheme:o apiKeySecurityScheme|"
                      "httpAuthSecurityScheme|oauth2SecurityScheme|openIdConnectSecurityScheme|mtlsSecurityScheme",
    "Signature": "protected:S! signature:S! header:o",
}
TABLES = {"0.1": V0_1, "0.2": V0_3, "0.3": V0_3, "0.3 REST": V0_3_REST, "1.0": V1_0}


def dual():
    """0.1, 0.2 and 0.3 in one object: every member that any of them knows, and required if any of them requires it."""
    both = {name: V0_1.get(name, V0_3.get(name)) for name in (*V0_1, *V0_3)}
    for name in both:
        if name in V0_1 and name in V0_3 and isinstance(both[name], str):
            members = dict.fromkeys([*V0_1[name].split(), *V0_3[name].split()])
            wanted = {member[:-1] for member in members if member.endswith("!")}
            both[name] = " ".join(member for member in members if member not in wanted)
    both["Push"] = V0_3["Push"].replace("PushAuth", "o")  # 0.1 lets authentication hold more
    return both


TABLES["dual"] = dual()
for name in ("0.1", "dual"):  # a Task at the beginning of a stream, which 0.1 reads as a status event
    TABLES[name] = {**TABLES[name], "FirstItem": TABLES[name]["Task"] + " final:b"}


class Wrong(AssertionError):
    pass


def check(generation, name, value):
    """Raises Wrong unless `value` is this generation's object `name`."""
    try:
        _object(TABLES[generation], name, value, name)
    except Wrong as wrong:
        raise Wrong(f"{generation}: {wrong}\n{json.dumps(value, ensure_ascii=False)[:700]}") from None


def _object(table, name, value, at):
    shape = table[name]
    if isinstance(shape, tuple):
        _want(value in shape, at, f"{value!r} is no {name}")
        return
    _want(isinstance(value, dict), at, "not an object")
    members, choice = {}, ()
    for word in shape.split():
        member, colon, kind = word.partition(":")
        if colon:
            members[member] = kind
        else:
            choice = member.split("|")
    if choice:
        there = [member for member in choice if member in value]
        _want(len(there) == 1, at, f"{there or 'none'} of {choice}")
    for member, kind in members.items():
        _want(member in value or not kind.endswith("!"), at, f"lacks {member}")
    for member, content in value.items():
        _want(member in members, at, f"has the unknown member {member!r}")
        kind = members[member].rstrip("!")
        if kind == "tag":
            _want(content == there[0], f"{at}.{member}", f"{content!r} where {there[0]} is the content")
        else:
            _value(table, kind, content, f"{at}.{member}")


def _value(table, kind, value, at):
    if kind.startswith("="):
        _want(value == kind[1:], at, f"{value!r} is not {kind[1:]!r}")
    elif kind.startswith("["):
        _want(isinstance(value, list), at, "not a list")
        for number, entry in enumerate(value):
            _value(table, kind[1:-1], entry, f"{at}[{number}]")
    elif kind.startswith("{"):
        _want(isinstance(value, dict), at, "not a map")
        for key, entry in value.items():
            _value(table, kind[1:-1], entry, f"{at}[{key}]")
    elif kind in SIMPLE:
        _want(SIMPLE[kind](value), at, f"{value!r} is not of the kind {kind}")
    else:
        _object(table, kind, value, at)


def _is_base64(value):
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True) is not None
    except binascii.Error:
        return False


SIMPLE = {
    "s": lambda value: isinstance(value, str),
    "S": lambda value: isinstance(value, str) and value != "",
    "b": lambda value: isinstance(value, bool),
    "B": lambda value: value is True,  # ProtoJSON omits false values
    "i": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "t": lambda value: isinstance(value, str) and TIME.fullmatch(value),
    "x": _is_base64,
    "o": lambda value: isinstance(value, dict),
    "j": lambda value: True,
}


def _want(true, at, text):
    if not true:
        raise Wrong(f"{at}: {text}")
