"""The agents of the README's sections "Your own agent" and "Agents that work together", as they stand there."""
import re

import client
import harness

README = (harness.ROOT / "README.md").read_text(encoding="utf-8")


def block_of(path):
    """The indented text that follows "Make `path`" or "and `path`"."""
    begin = re.search(rf"(Make|and) `{re.escape(path)}`.*\n\n", README).end()
    lines = re.match(r"(    .*\n|\n)+", README[begin:]).group(0).splitlines()
    return "\n".join(line[4:] for line in lines) + "\n"


class ReadmePlan(harness.unittest.TestCase):
    def test_a_plan_for_three_agents_one_of_them_elsewhere(self):
        with harness.Server(["echo"]) as far:
            origin = f"http://127.0.0.1:{far.port}"
            near = harness.Server(["echo"], config={"outbound": {"origins": [origin]}})
            self.addCleanup(near.discard)
            for path in ("shout/card.json", "shout/agent.py", "far-echo/card.json", "twice/card.json"):
                file = near.agents_folder / path
                file.parent.mkdir(exist_ok=True)
                file.write_text(block_of("agent-cards/" + path).replace("http://127.0.0.1:8081", origin), encoding="utf-8")
            near.start()
            task = near.send("hello there", client.new_id(), agent="twice")
            self.assertEqual(client.text_of(task["artifacts"][0]), "near: HELLO THERE , far: hello there")
            self.assertIn(client.text_of(task["artifacts"][0]), README)


if __name__ == "__main__":
    harness.unittest.main()
