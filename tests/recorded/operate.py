"""The operator API, the console and what else operators see. One scene after the other on a server of its own: keys are
numbers in order of creation."""
from recorded.steps import answer_with, delivered, gate, http, rpc, wait

API = "/operate/v1"
# The rest of a task's row varies while the task runs.
SOON = {"varies": {'"state":"[a-z-]+","turnState".*': '"state":<some>}}'}}


def ask(method, path, body=None, token="otto", **how):
    return http(method, API + path, body, token=token, **how)


def read(path, **how):
    return ask("GET", path, token=how.pop("token", "vera"), **how)


def act(path, reason="a test", **body):
    return ask("POST", path, {"reason": reason, **body})


def send(text, agent, task, token="ann", **more):
    return rpc("tasks/send", {"id": task, "message": {"role": "user", "parts": [{"type": "text", "text": text}]},
        **more},
               agent=agent, token=token, v="0.1", name=f"send {task}")


def begin(task):
    return rpc("tasks/sendSubscribe", {"id": task, "message": {"role": "user",
        "parts": [{"type": "text", "text": "x"}]}},
               agent="slow", token="ann", v="0.1", until="begun", name=f"begin {task}")


def scenes():
    yield "before there is anything", [
        *(read(path) for path in ("/me", "/tasks", "/deliveries", "/agents", "/schedules", "/nodes", "/audit", "/bulk",
                                  "/overview")),
        read("/me", token="otto"), read("/openapi.json")]
    yield "who may", [
        *(read(path, token=token) for path in ("/me", "/tasks") for token in (None, "wrong", "ann")),
        *(ask(method, path, {"reason": "x"}, token="vera") for method, path in (
            ("POST", "/tasks/1/cancel"), ("POST", "/bulk"), ("DELETE", "/tasks/1"), ("POST", "/agents/joke/pause"),
            ("DELETE", "/callers/ann"), ("POST", "/playground/grpc"))),
        read("/me", headers={"Origin": "https://elsewhere.example"}), read("/me", headers={"Origin": "http://$server"}),
        read("/me", headers={"Sec-Fetch-Site": "cross-site"}), read("/me", headers={"Host": "rebound.example"}),
        ask("OPTIONS", "/me", headers={"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"})]
    yield "what is wrong", [
        *(read(path) for path in ("/nothing", "", "/tasks/12345678", "/tasks/0x1", "/tasks/1/nothing", "/tasks?agnet=x",
                                  "/tasks?state=great", "/tasks?limit=0", "/tasks?limit=201", "/tasks?cursor=x",
                                  "/tasks?agent=a&agent=b", "/tasks?parent=-1", "/tasks?order=up",
                                  "/tasks?tenant=north",
                                  "/deliveries?state=x", "/audit?limit=x", "/bulk/77", "/agents/nobody/plan.svg",
                                  "/agents/joke/plan.svg", "/tasks/9/events", "/tasks/9/tree", "/tasks/9/plan.svg")),
        *(ask(method, path) for method, path in (("DELETE", "/agents"), ("PUT", "/tasks"), ("POST", "/me"),
        ("PUT", "/bulk"),
                                                 ("HEAD", "/me"), ("HEAD", "/nothing"))),
        *(ask("POST", "/tasks/9/cancel", body) for body in (b"", b"{", b"[]", {}, {"reason": ""}, {"reason": "x" * 501},
                                                            {"reason": "x", "odd": 1}, {"reason": "x"})),
        *(ask("POST", "/bulk", {"action": "cancel", "expected": 0, "reason": "x", "filter": wrong})
          for wrong in ({"agnet": "phone"}, {"state": "great"}, [])),
        ask("POST", "/bulk", {"action": "dance", "expected": 0, "reason": "x", "filter": {}}),
        ask("DELETE", "/contexts?context=c", {"reason": "x"}), ask("DELETE", "/callers/nobody", {"reason": "x"}),
        ask("POST", "/tasks/9/retry", b"x" * ((1 << 20) + 1), name="(1 MiB and a byte)")]
    yield "tasks as they are seen", [
        send("x", "joke", "joke-1"), send("x", "phone", "phone-1"), send("complain", "bad", "bad-1"),
        *(read("/tasks" + query) for query in ("", "?state=input-required", "?state=failed,completed&limit=1",
                                               "?agent=joke&order=oldest", "?caller=nobody", "?id=joke-1",
                                               "?error=SEE%20THE%20LOG", "?age_min_s=3600", "?roots=1&count=0")),
        read("/tasks?limit=1", keep={"n": "next"}), read("/tasks?limit=1&cursor=$n"),
        *(read(f"/tasks/{key}{more}") for key, more in ((1, ""), (2, ""), (3, ""), (1, "/events"),
        (1, "/events?after=2&limit=1"),
                                                        (1, "/events?before=3"), (2, "/tree"), (1, "/plan.svg"))),
        read("/tasks/1/events", headers={"Accept": "text/event-stream"}),
        read("/tasks/1/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "4"}),
        read("/overview"), read("/agents")]
    yield "actions on tasks", [
        begin("slow-1"), ask("DELETE", "/tasks/4", {"reason": "x"}), act("/tasks/4/cancel", "it hangs") | SOON,
        wait("slow-1", "canceled", agent="slow", token="ann"), act("/tasks/4/cancel", "late"), read("/tasks/4"),
        read("/tasks/4/events"), read("/audit?task=4"),
        act("/tasks/3/retry", "again") | SOON, read("/tasks/5", poll='"failed"'),
        act("/tasks/3/retry", "in other words", message={"messageId": "edited", "role": "ROLE_USER",
                                                         "parts": [{"text": "close input"}]}) | SOON,
        read("/tasks/6", poll='"completed"'), act("/tasks/1/retry", "it has not failed") | SOON,
        read("/tasks/7", poll='"completed"'),
        act("/tasks/2/answer", "away", text="Android") | SOON, wait("phone-1", "completed", "failed", agent="phone",
        token="ann"),
        act("/tasks/2/answer", "again", text="Android"), read("/tasks/2/events"),
        begin("slow-2"),
        act("/tasks/8/requeue", "stuck") | SOON,
        read("/tasks/8", poll='"lastEvent":7'), gate("slow", "slow-2"),
        wait("slow-2", "completed", agent="slow", token="ann"), act("/tasks/8/requeue", "late"),
        rpc("tasks/resubscribe", {"id": "slow-2"}, agent="slow", token="ann", headers={"Last-Event-ID": "0"})]
    yield "deliveries", [
        answer_with("/gone", 410), send("x", "joke", "hooked", pushNotification={"url": "$receiver/gone"}),
        read("/deliveries?state=given-up", poll='"event":5', keep={"d": "deliveries.0.key"}),
        read("/tasks?undelivered=1"), answer_with("/gone", 200, held=True),
        act("/deliveries/$d/resend", "they are back"),
        delivered("/gone", "hooked"), act("/deliveries/999/skip"), act("/deliveries/999/resend")]
    yield "agents", [
        act("/agents/joke/pause", "upgrade"), act("/agents/joke/pause", "again"), read("/agents"),
        act("/agents/joke/resume", "upgraded"), act("/agents/nobody/pause"), act("/agents/nobody/resume"),
        act("/agents/slow/scale", "a rush", workers=2, concurrency=6),
        act("/agents/slow/scale", "over", workers=0, concurrency=0),
        act("/agents/joke/scale", "x", workers=2), act("/agents/slow/scale", "x"),
        act("/agents/slow/scale", "x", concurrency=10001), act("/nodes/1/drain", "x"), act("/nodes/9/drain", "x"),
        read("/agents/two/plan.svg"), read("/audit?action=scale"),
        read("/audit?actor=otto&limit=2", keep={"n": "next"}),
        read("/audit?actor=otto&limit=1&cursor=$n")]
    job = {"action": "cancel", "filter": {"state": ["input-required"], "agent": "phone"}, "reason": "cleaning"}
    yield "bulk jobs", [
        send("x", "phone", "phone-2"), send("x", "phone", "phone-3"),
        ask("POST", "/bulk", {**job, "expected": 5}), ask("POST", "/bulk", {**job, "expected": 2}, keep={"j": "job"}),
        read("/bulk/$j", poll='"state":"done"'), read("/bulk"), act("/bulk/$j/confirm", "x"),
        act("/bulk/$j/abandon", "x"),
        ask("POST", "/bulk/$j/confirm", {"expected": 2}), ask("POST", "/bulk/$j/abandon", {}), read("/tasks/10")]
    yield "erasing", [
        ask("DELETE", "/tasks/1", {"reason": "its owner asks"}), read("/tasks/1"),
        ask("DELETE", "/tasks/1", {"reason": "again"}),
        rpc("tasks/get", {"id": "joke-1"}, agent="joke", token="ann", v="0.1"),
        send("x", "joke", "in-context", sessionId="c 1"),
        ask("DELETE", "/contexts?agent=joke&caller=ann&context=c%201", {"reason": "x"}),
        ask("DELETE", "/contexts?agent=joke&caller=ann&context=c%201", {"reason": "x"}),
        send("x", "joke", "bobs", token="bob"), ask("DELETE", "/callers/bob", {"reason": "has left"}),
        read("/tasks?caller=bob"),
        read("/audit?action=delete-caller")]
    yield "pages", [
        *(http(method, path) for method, path in (
            ("GET", "/console"), ("GET", "/console/"), ("GET", "/console/app.js"), ("GET", "/console/style.css"),
            ("GET", "/console/icon.svg"), ("GET", "/console/none.js"), ("GET", "/console/../app.js"),
            ("HEAD", "/console/app.js"),
            ("POST", "/console"), ("GET", "/chat"), ("GET", "/chat/"), ("GET", "/chat/chat.js"),
            ("GET", "/chat/none.js"),
            ("HEAD", "/chat"), ("POST", "/chat"), ("OPTIONS", "/console"))),
        http("GET", "/console", headers={"Origin": "https://elsewhere.example"}),
        http("GET", "/console/app.js"), http("GET", "/console/app.js", headers={"If-None-Match": "$etag"}),
        http("GET", "/chat/chat.js"), http("GET", "/chat/chat.js", headers={"If-None-Match": "$etag"}),
        http("GET", "/chat/chat.js", headers={"If-None-Match": '"another"'})]
    yield "health", [
        *(http(method, path) for path in ("/healthz", "/readyz", "/health", "/metrics") for method in ("HEAD", "POST")),
        http("GET", "/healthz"), http("GET", "/readyz"), http("GET", "/health"), http("GET", "/healthz?x=1"),
        http("GET", "/metrics", names_only=True), http("GET", "/healthz", headers={"Host": "rebound.example"}),
        http("GET", "/metrics", headers={"Host": "rebound.example"})]


def grpc_scenes():
    """The playground's calls of gRPC."""
    said = {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x"}]}}
    yield "playground", [ask("POST", "/playground/grpc", body) for body in (
        {"agent": "nobody", **said}, {"agent": "", **said}, {"agent": "joke"}, {},
        {"agent": "joke", "stream": False, "message": {**said["message"], "taskId": "none"}})]
