"""What a client may not do to the program through gRPC, or to those who read over gRPC what it sent elsewhere."""
import pathlib

import a2a_case
import client
import generation_list

GRPC = [generation for generation in generation_list.GENERATIONS if generation.binding == "GRPC"]
# JSON that protobuf's translation refuses, and what the readers get.
REFUSED = {'{"a":1,"a":2}': {"a": 2}, "[1e999,-1e999]": ["1e999", "-1e999"]}


class GrpcHostile(a2a_case.A2aCase):
    OPTIONS = [*a2a_case.A2aCase.OPTIONS, *generation_list.OPTIONS]

    def readers(self):
        return [generation(self.server) for generation in GRPC]

    def peak_kib(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0])

    def test_a_compressed_message_is_refused_before_it_is_inflated(self):
        for reader in self.readers():
            import grpc  # of a program that was built with it
            for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
                with self.subTest(reader.name, compression=compression):
                    send = reader.channel.unary_unary(f"/{reader.package}.A2AService/SendMessage")
                    before = self.peak_kib()
                    calls = [send.future(bytes(60 << 20), compression=compression, timeout=client.scaled(60))
                             for _ in range(3)]
                    for call in calls:
                        self.assertEqual(call.exception().code(), grpc.StatusCode.UNIMPLEMENTED)
                    self.assertLess(self.peak_kib() - before, 40 << 10)

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
