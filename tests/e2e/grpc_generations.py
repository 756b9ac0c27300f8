"""The clients of A2A over gRPC (see generations.py): they translate a REST client's requests into calls."""
import base64
import functools
import pathlib
import re
import subprocess
import urllib.parse

import client
import generations
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from new_generations import Rest10
from old_generations import Rest03

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schema/grpc"
FILES = ("a2a_v0_3.proto", "a2a_v1_0.proto", "google_rpc.proto")
# REST request -> the call, its message and, for 0.3, the member that holds the resource's name.
CALLS = {
    "0.3": {("POST", "/message:send"): ("SendMessage", None),
            ("POST", "/message:stream"): ("SendStreamingMessage", None),
            ("GET", "/tasks/{}"): ("GetTask", "name"),
            ("POST", "/tasks/{}:cancel"): ("CancelTask", "name"),
            ("POST", "/tasks/{}:subscribe"): ("TaskSubscription", "name"),
            ("POST", "/tasks/{}/pushNotificationConfigs"): ("CreateTaskPushNotificationConfig", "parent"),
            ("GET", "/tasks/{}/pushNotificationConfigs"): ("ListTaskPushNotificationConfig", "parent"),
            ("GET", "/tasks/{}/pushNotificationConfigs/{}"): ("GetTaskPushNotificationConfig", "name"),
            ("DELETE", "/tasks/{}/pushNotificationConfigs/{}"): ("DeleteTaskPushNotificationConfig", "name"),
            ("GET", "/card"): ("GetAgentCard", None)},
    "1.0": {("POST", "/message:send"): ("SendMessage", ()),
            ("POST", "/message:stream"): ("SendStreamingMessage", ()),
            ("GET", "/tasks/{}"): ("GetTask", ("id",)),
            ("GET", "/tasks"): ("ListTasks", ()),
            ("POST", "/tasks/{}:cancel"): ("CancelTask", ("id",)),
            ("POST", "/tasks/{}:subscribe"): ("SubscribeToTask", ("id",)),
            ("POST", "/tasks/{}/pushNotificationConfigs"): ("CreateTaskPushNotificationConfig", ("taskId",)),
            ("GET", "/tasks/{}/pushNotificationConfigs"): ("ListTaskPushNotificationConfigs", ("taskId",)),
            ("GET", "/tasks/{}/pushNotificationConfigs/{}"): ("GetTaskPushNotificationConfig", ("taskId", "id")),
            ("DELETE", "/tasks/{}/pushNotificationConfigs/{}"):
                ("DeleteTaskPushNotificationConfig", ("taskId", "id")),
            ("GET", "/extendedAgentCard"): ("GetExtendedAgentCard", ())},
}


@functools.cache
def pool():
    """Returns the messages of the files, compiled by protoc."""
    done = subprocess.run(["protoc", "--include_imports", "--descriptor_set_out=/dev/stdout", f"-I{SCHEMA}", *FILES],
                          check=True, stdout=subprocess.PIPE)
    found = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(done.stdout).file:
        found.Add(file)
    return found


@functools.cache
def message_class(descriptor):
    return message_factory.MessageFactory(pool()).GetPrototype(descriptor)


def json_of(message):
    return json_format.MessageToDict(message, descriptor_pool=pool())


class CallAnswer:
    """The equivalent of a REST Answer. A failed call has a gRPC status in place of HTTP's."""

    def __init__(self, body=None, error=None):
        self.body, self.error = body, error
        self.status = 200 if error is None else error.code().name
        self.raw = repr(body) if error is None else error.details()


def recoded(value, how):
    """Returns a message's JSON with the bytes of its files recoded."""
    if isinstance(value, list):
        return [recoded(each, how) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: each if key in ("data", "metadata") else
            base64.b64encode(how(base64.b64decode(each))).decode() if key == "fileWithBytes" else recoded(each, how)
            for key, each in value.items()}


class CallStream:
    """An open stream of messages, with the interface of client.Stream."""

    def __init__(self, call, refuse, check, json_of):
        self.call, self.refuse, self.check, self.json_of, self.seen = call, refuse, check, json_of, []

    def __iter__(self):
        try:
            for message in self.call:
                frame = self.json_of(message)
                self.check(frame)
                self.seen.append(client.Block(None, frame))
                yield self.seen[-1]
        except grpc.RpcError as error:
            self.refuse(error)

    def close(self):
        self.call.cancel()


class Calls:
    """A mix-in before a REST client. Reads a stream's first message at once, so that a refusal is known."""
    binding = "GRPC"
    package = None

    @functools.cached_property
    def channel(self):
        return grpc.insecure_channel(self.server.address_of("grpc"))

    def start(self, method, path, body=None, headers=None, query=None):
        """Starts the call of a REST request."""
        ids = re.findall(r"/(?:tasks|pushNotificationConfigs)/([^/:]+)", path)
        pattern = re.sub(r"(/(?:tasks|pushNotificationConfigs))/[^/:]+", r"\1/{}", path.removeprefix("/v1"))
        name, members = CALLS[self.shape.removesuffix(" REST")][method, pattern]
        rpc = pool().FindServiceByName(f"{self.package}.A2AService").methods_by_name[name]
        named = self.named(members, [urllib.parse.unquote(id) for id in ids])
        message = json_format.ParseDict({**self.encoded(body or {}), **self.filters(query or {}), **named},
                                        message_class(rpc.input_type)(), descriptor_pool=pool())
        open_call = self.channel.unary_stream if name in (
            "SendStreamingMessage", "TaskSubscription", "SubscribeToTask") else self.channel.unary_unary
        how = open_call(f"/{self.package}.A2AService/{name}", lambda m: m.SerializeToString(),
                        message_class(rpc.output_type).FromString)
        metadata = [(key.lower(), value) for key, value in {**self.headers, **(headers or {})}.items()
                    if key not in ("Content-Type", "Accept")]
        call = how if open_call == self.channel.unary_stream else how.future
        return call(message, metadata=[*metadata, ("baton-agent", self.agent)], timeout=client.scaled(60))

    def encoded(self, body):
        return body

    def json_of(self, message):
        return json_of(message)

    def filters(self, query):
        return {name: value for name, value in query.items() if value != ""}

    def ask(self, method, path, body=None, headers=None, query=None):
        try:
            return CallAnswer(self.json_of(self.start(method, path, body, headers, query).result()))
        except grpc.RpcError as error:
            return CallAnswer(error=error)

    def call(self, method, path, body=None, headers=None, query=None):
        answer = self.ask(method, path, body, headers, query)
        if answer.error:
            self.refuse(answer.error)
        return answer.body

    def open(self, method, path, body=None, headers=None):
        return generations.Following(self, CallStream(self.start(method, path, body, headers), self.refuse,
                                                      self.check_frame, self.json_of))

    def refuse(self, error):
        """Raises Refused. Every error of A2A names its reason."""
        answer = CallAnswer(error=error)
        raise generations.Refused(self.code_of(answer), answer)

    def code_of(self, answer):
        details = dict(answer.error.trailing_metadata()).get("grpc-status-details-bin")
        if details is None:
            raise AssertionError(f"{answer.status} without details: {answer.raw}")
        status = pool().FindMessageTypeByName("google.rpc.Status")
        said = json_of(message_class(status).FromString(details))
        if said["code"] != answer.error.code().value[0] or said["message"] != answer.raw:
            raise AssertionError(f"{answer.status} {answer.raw} has other details: {said}")
        return Rest10.reasons(said["details"])[0]


class Grpc03(Calls, Rest03):
    """Like the SDK for Python, it sends the base64 text of files where their bytes belong."""
    name, package = "0.3 gRPC", "a2a.v1"
    files_are_text = True

    def encoded(self, body):
        return recoded(body, base64.b64encode) if self.files_are_text else body

    def json_of(self, message):
        return recoded(json_of(message), base64.b64decode) if self.files_are_text else json_of(message)

    @staticmethod
    def named(member, ids):
        return {} if member is None else {member: "/pushNotificationConfigs/".join([f"tasks/{ids[0]}", *ids[1:]])}


class Grpc10(Calls, Rest10):
    name, package = "1.0 gRPC", "lf.a2a.v1"
    url = ""

    @staticmethod
    def named(members, ids):
        return dict(zip(members, ids))
