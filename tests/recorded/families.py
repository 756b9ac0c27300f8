"""Tasks that other tasks have made: delegation, plans, questions of children."""
import json

from recorded.steps import http, rpc, wait


def send(text, agent, task, **more):
    return rpc("tasks/send", {"id": task, "message": {"role": "user", "parts": [{"type": "text", "text": text}]},
        **more},
               agent=agent, v="0.1", name=f"send {task}")


def looks(agent, task):
    return [rpc("tasks/get", {"id": task}, agent=agent, v="0.1"), http("GET", f"/agents/{agent}/tasks/{task}/tree"),
            http("GET", f"/agents/{agent}/tasks/{task}/log")]


def scenes():
    yield "delegation", [
        send("joke", "chief", "d1"), *looks("chief", "d1"), send("nobody", "chief", "d2"),
        send(json.dumps({"all": [{"use": 3}], "wait": True}), "family", "d3"), *looks("family", "d3"),
        send(json.dumps({"detach": {"use": 1}}), "family", "d4")]
    yield "questions of children", [
        send(json.dumps({"all": [{"ask": "red or blue?"}]}), "family", "q1"), *looks("family", "q1"),
        send("red", "family", "q1"),
        send(json.dumps({"mine": {"ask": "who?"}}), "family", "q2")]
    yield "plans", [
        *(step for name, text in (("two", "say hello"), ("branch", "left"), ("each", "go"), ("again", "go"),
        ("broken", "go"))
          for step in (send(text, name, "p-" + name), http("GET", f"/agents/{name}/tasks/p-{name}/tree"))),
        http("GET", "/agents/two/tasks/p-two/log"), http("GET", "/agents/two/tasks/p-two/plan.svg", words_only=True),
        http("GET", "/agents/broken/tasks/p-broken/plan.svg", words_only=True), http("GET", "/agents/two/plan.svg"),
        rpc("SendStreamingMessage", {"message": {"messageId": "s1", "role": "ROLE_USER",
        "parts": [{"text": "say streamed"}]}},
            agent="two", v="1.0"),
        send("go", "asking", "p-asking"), rpc("tasks/get", {"id": "p-asking"}, agent="asking"),
        http("GET", "/agents/asking/tasks/p-asking/tree"), send("yes", "asking", "p-asking"),
        send("go", "asking", "p-canceled"), rpc("tasks/cancel", {"id": "p-canceled"}, agent="asking"),
        wait("p-canceled", "canceled", agent="asking"), rpc("tasks/get", {"id": "p-canceled"}, agent="asking")]
