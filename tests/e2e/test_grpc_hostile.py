"""Attacks over gRPC: on the program, and on gRPC readers of content that was sent over another binding."""
import base64
import os
import pathlib
import re
import resource
import time

import a2a_case
import client
import generation_list
import generations
import grpc_frames
import harness
import rings

GRPC = [generation for generation in generation_list.GENERATIONS if generation.binding == "GRPC"]
# JSON that protobuf's translation refuses, and what readers get instead.
REFUSED = {'{"a":1,"a":2}': {"a": 2}, "[1e999,-1e999]": ["1e999", "-1e999"]}


class GrpcHostile(a2a_case.A2aCase):
    OPTIONS = [*a2a_case.A2aCase.OPTIONS, *generation_list.OPTIONS]

    def readers(self):
        return [generation(self.server) for generation in GRPC]

    def kib(self, name):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        return int(status.split(f"{name}:")[1].split()[0])

    @rings.everything("unit/server/grpc/grpc_server_test.cpp: a message that is compressed is refused, however long it "
                      "is inside")
    def test_a_compressed_message_is_refused_before_it_is_inflated(self):
        for reader in self.readers():
            import grpc  # only there if the program was built with it
            for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
                with self.subTest(reader.name, compression=compression):
                    send = reader.channel.unary_unary(f"/{reader.package}.A2AService/SendMessage")
                    before = self.kib("VmHWM")
                    calls = [send.future(bytes(60 << 20), compression=compression, timeout=client.scaled(60))
                             for _ in range(3)]
                    for call in calls:
                        self.assertEqual(call.exception().code(), grpc.StatusCode.UNIMPLEMENTED)
                    self.assertLess(self.kib("VmHWM") - before, 40 << 10)

    def test_an_idle_stream_does_not_hold_the_message_that_its_client_has_read(self):
        message = {"messageId": client.new_id(), "role": "ROLE_USER",
                   "parts": [{"text": "ask"}, {"text": "x" * (3 << 20)}]}
        task = self.post("SendMessage", {"message": message}, version="1.0").body["result"]["task"]["id"]
        for reader in [each for each in self.readers() if each.package == "lf.a2a.v1"]:
            def open_one(reader=reader):
                stream = reader.subscribe(task)
                self.addCleanup(stream.close)
                self.assertGreater(len(str(stream.first().raw)), 3 << 20)
            open_one()
            before = self.kib("VmRSS")
            for _ in range(40):
                open_one()
            # A sanitizer keeps freed memory for a while.
            most = before + (600 if client.is_sanitized() else 60) * 1024
            harness.wait_for(lambda: self.kib("VmRSS") < most,
                             what="memory that is less than the 120 MiB of the messages")

    def test_a_value_that_protobuf_refuses_leaves_tasks_and_lists_readable(self):
        for data, said in REFUSED.items():
            message = ('{"messageId":"%s","role":"ROLE_USER","parts":[{"text":"count 1"},{"data":%s}]}' %
                       (f"m-{len(data)}", data))
            body = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":%s}}' % message
            task = self.server.http("POST", "/agents/player/", body.encode(), headers={
                "Content-Type": "application/json", "A2A-Version": "1.0"}).body["result"]["task"]
            for reader in self.readers():
                with self.subTest(reader.name, data=data):
                    told = str(reader.get(task["id"], history=9).raw["history"])
                    for value in said.values() if isinstance(said, dict) else said:
                        self.assertIn(str(value), told)
                    if reader.package == "lf.a2a.v1":
                        listed = reader.ask("GET", "/tasks", query={"historyLength": 9})
                        self.assertIsNone(listed.error, listed.raw)
                        self.assertIn(task["id"], [item["id"] for item in listed.body["tasks"]])


class GrpcConnections(harness.ServerCase):
    AGENTS = ["player"]
    PATH = "/lf.a2a.v1.A2AService/GetTask"

    def connect(self, **how):
        return grpc_frames.Connection("127.0.0.1", int(self.server.address_of("grpc").rsplit(":", 1)[1]), **how)

    @staticmethod
    def status_in(said):
        """Returns the number after grpc-status. This server spells the name out the first time on a connection."""
        return int(re.search(rb"grpc-status.(\d+)", said, re.DOTALL)[1])


@client.only_if(GRPC)
class GrpcFloods(GrpcConnections):
    """Limits of connections and calls, lowered so that a few suffice."""
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}],
              "grpc": {"port": 0, "calls_per_connection_max": 8, "connections_per_address_max": 5, "resets_max": 20}}
    ANN = (("authorization", "Bearer secret-of-ann"),)

    def assert_alive(self):
        def answered():
            with self.connect() as fresh:
                try:
                    return b"grpc-status" in fresh.end_of(fresh.call(self.PATH, b"\x12\x01x", self.ANN))
                except (AssertionError, OSError):
                    return False
        harness.wait_for(answered, what="a call of another connection to be answered")

    def test_a_connection_has_as_many_calls_as_it_may_have_whether_it_agreed_or_not(self):
        for settles in (True, False):
            with self.subTest(settles=settles), self.connect(settles=settles) as one:
                for _ in range(9):
                    one.call(self.PATH, None, self.ANN)
                if settles:
                    told = next(payload for kind, flags, _, payload in one.frames()
                                if kind == grpc_frames.SETTINGS and not flags)
                    settings = {told[i:i + 2]: int.from_bytes(told[i + 2:i + 6], "big") for i in range(0, len(told), 6)}
                    self.assertEqual(settings[b"\0\3"], 8)
                # Whichever call the server looks at last is refused.
                self.assertEqual(self.status_in(one.first_end()), 8, "RESOURCE_EXHAUSTED")
        self.assert_alive()

    def test_a_call_without_a_token_is_refused_by_its_head(self):
        with self.connect() as one:
            for _ in range(3):  # more than the connection may have, if they were counted
                calls = [one.call(self.PATH, None) for _ in range(5)]
                for call in calls:
                    self.assertIn(b"bearer token", one.end_of(call))

    def test_a_flood_of_resets_closes_its_connection_and_no_other(self):
        with self.connect() as flooding, self.connect() as other:
            closed, until = False, time.monotonic() + client.scaled(20)
            while not closed and time.monotonic() < until:
                try:
                    flooding.socket.settimeout(client.scaled(20))
                    flooding.reset(flooding.call(self.PATH, None, self.ANN))
                    flooding.socket.settimeout(0.001)
                    closed = flooding.socket.recv(65536) == b""
                except TimeoutError:
                    continue
                except OSError:
                    closed = True
            self.assertTrue(closed, "call after call was given up, and the connection is still there")
            self.assertIn(b"grpc-status", other.end_of(other.call(self.PATH, b"\x12\x01x", self.ANN)))

    def test_an_address_has_as_many_connections_as_it_may_have_and_gets_them_back(self):
        def is_served(connection):
            return any(kind == grpc_frames.SETTINGS for kind, *_ in connection.frames())
        for _ in range(2):
            open_ones = []
            def all_served():
                """True once five connections are served. Those of earlier tests may still be ending."""
                if open_ones and open_ones[-1].socket.fileno() >= 0 and len(open_ones) == 5:
                    return True
                one = self.connect()
                if is_served(one):
                    open_ones.append(one)
                return len(open_ones) == 5
            harness.wait_for(all_served, what="five connections")
            with self.connect() as sixth:
                self.assertEqual(list(sixth.frames()), [], "closed at once")
            for one in open_ones:
                one.socket.close()
        self.assert_alive()

    def test_the_listener_comes_back_after_descriptors_ran_out(self):
        waiting, limits = [], resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        used = len(os.listdir(f"/proc/{self.server.pid}/fd"))
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (used, limits[1]))
        try:
            def ran_out():
                waiting.append(self.connect())
                return re.search("descriptors|accept4", self.server.log_text())
            harness.wait_for(ran_out, what="a word in the log")
        finally:
            for one in waiting:
                one.socket.close()
            resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, limits)
        self.assert_alive()


@client.only_if(GRPC)
class GrpcSilence(GrpcConnections):
    CONFIG = {"grpc": {"port": 0, "first_message_s": 1}}

    def test_a_call_without_its_message_is_ended(self):
        with self.connect() as one:
            self.assertEqual(self.status_in(one.end_of(one.call(self.PATH))), 4, "DEADLINE_EXCEEDED")


@client.only_if(GRPC)
class GrpcIdle(GrpcConnections):
    CONFIG = {"http": {"idle_time_s": 1}, "grpc": {"port": 0}}

    def test_an_idle_connection_is_closed(self):
        with self.connect() as one:
            kinds = [kind for kind, *_ in one.frames()]  # ends when the server closes it
            self.assertIn(grpc_frames.GOAWAY, kinds)


@client.only_if(GRPC)
class GrpcFiles(a2a_case.A2aCase):
    """The SDKs of 0.3 in Python, Go and Java have base64 text where the bytes should be."""
    OPTIONS = [*a2a_case.A2aCase.OPTIONS, *generation_list.OPTIONS]
    TEXT = base64.b64encode(b"\0\1 of a picture").decode()

    def exchanged(self, sent):
        """Sends a file like a client in Python. Returns how A2A 1.0 shows it, and what that client gets."""
        reader = next(kind for kind in GRPC if kind.shape.startswith("0.3"))(self.server)
        reader.files_are_text = False
        params = reader.params("end")
        params["message"]["content"].append({"file": {"fileWithBytes": base64.b64encode(sent).decode(),
                                                      "mimeType": "image/png"}})
        task = reader.call("POST", "/v1/message:send", params)["task"]["id"]
        parts = self.rest("GET", f"/tasks/{task}", version="1.0").body["history"][0]["parts"]
        got = reader.call("GET", f"/v1/tasks/{task}")["history"][0]["content"]
        return (base64.b64decode(next(part["raw"] for part in parts if "raw" in part)),
                base64.b64decode(next(part["file"]["fileWithBytes"] for part in got if "file" in part)))

    def test_a_client_known_to_have_text_sends_it_and_gets_it(self):
        self.assertEqual(self.exchanged(self.TEXT.encode()), (b"\0\1 of a picture", self.TEXT.encode()))

    def test_text_of_the_typescript_client_is_left_alone(self):
        port = int(self.server.address_of("grpc").rsplit(":", 1)[1])
        from google.protobuf import json_format
        from grpc_generations import message_class, pool
        context, text = client.new_id(), self.TEXT.encode()
        request = json_format.ParseDict(
            {"message": {"messageId": "m", "contextId": context, "role": "ROLE_USER", "content": [
                {"file": {"fileWithBytes": base64.b64encode(text).decode()}}, {"text": "end"}]}},
            message_class(pool().FindMessageTypeByName("a2a.v1.SendMessageRequest"))(), descriptor_pool=pool())
        with grpc_frames.Connection("127.0.0.1", port) as one:
            one.end_of(one.call("/a2a.v1.A2AService/SendMessage", request.SerializeToString(),
                                (("user-agent", "grpc-node-js/1.10.0"),)))
        found = self.rest("GET", f"/tasks?contextId={context}&historyLength=1", version="1.0").body["tasks"]
        parts = found[0]["history"][0]["parts"]
        self.assertEqual(base64.b64decode(parts[0]["raw"]), text)

    def test_bytes_of_a_client_known_to_have_text_are_refused(self):
        with self.assertRaises(generations.Refused) as refused:
            self.exchanged(b"\0\1 of a picture")
        self.assertIn("message.content[1].file.fileWithBytes: must be base64 text", refused.exception.answer.raw)


@client.only_if(GRPC)
class GrpcFilesAsTheyCome(a2a_case.A2aCase):
    CONFIG = {**a2a_case.A2aCase.CONFIG, "grpc": {"decode_base64_files": False}}
    OPTIONS = GrpcFiles.OPTIONS
    exchanged = GrpcFiles.exchanged

    def test_the_setting_has_every_client_exchange_bytes(self):
        for sent in (b"\0\1 of a picture", GrpcFiles.TEXT.encode()):
            self.assertEqual(self.exchanged(sent), (sent, sent))
