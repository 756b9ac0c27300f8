"""Who may call what: tokens, tokens of pages, tenants, conversations, downloads, logs and trees, for callers."""
from recorded.steps import gate, http, rpc, wait


def message(text, number, **more):
    return {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": text}], **more}


def send(text, number, agent="chat", token="shop", context=None, **more):
    said = message(text, number, **({"contextId": context} if context else {}))
    return rpc("SendMessage", {"message": said, **more}, agent=agent, token=token, v="1.0", name=f"send {number}",
               keep={"t": "result.task.id", "c": "result.task.contextId"})


def get(path, token="shop", method="GET", **how):
    return http(method, "/agents/chat" + path, token=token, **how)


def scenes():
    good = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "x"}}
    yield "tokens", [
        *(http("POST", "/", good, token=token, headers=headers) for token, headers in (
            (None, {}), ("wrong", {}), ("shop", {}), (None, {"Authorization": "Basic abc"}),
            (None, {"Authorization": "bearer"}))),
        *(http(method, path, body, token=token) for token in (None, "desk") for method, path, body in (
            ("GET", "/agents/chat/v1/tasks/x", None), ("GET", "/agents/chat/tasks/x", None),
            ("POST", "/agents/chat/ag-ui", {}),
            ("GET", "/agents/chat/conversations", None), ("GET", "/agents/chat/.well-known/agent-card.json", None),
            ("POST", "/agents/chat/", good))),
        *(http("GET", "/agents", token=token) for token in (None, "wrong", "shop", "desk", "vera", "otto")),
        rpc("GetTask", {"id": "x"}, agent="chat", token=None, v="1.0"),
        rpc("GetTask", {"id": "x"}, agent="chat", token="desk", v="1.0"),
        rpc("GetExtendedAgentCard", {}, agent="chat", token="shop", v="1.0"),
        http("GET", "/agents/joke/.well-known/agent-card.json", token="shop"), http("GET", "/tokens"),
        http("GET", "/agents/chat/tasks/x?access_token=$token-shop", v="1.0")]
    yield "tokens of pages", [
        *(http("POST", "/tokens", body, token=token) for body, token in (
            ({"user": "ann"}, None), ({"user": "ann"}, "desk"), ({"user": ""}, "shop"), ({}, "shop"), (b"{", "shop"),
            ({"user": "ann", "seconds": 0}, "shop"), ({"user": "ann", "seconds": 90000}, "shop"),
            ({"user": "ann", "odd": 1}, "shop"),
            ({"user": "ann", "agent": "nobody"}, "shop"))),
        http("POST", "/tokens", {"user": "ann"}, token="shop", headers={"Origin": "http://localhost:3000"}),
        http("POST", "/tokens", {"user": "ann", "agent": "chat", "seconds": 60}, token="shop", keep={"page": "token"}),
        send("say hello", 1, token="$page"), http("POST", "/tokens", {"user": "bob"}, token="$page"),
        http("GET", "/agents/chat/tasks/$t?access_token=$page", v="1.0"), get("/tasks/$t", v="1.0"),
        rpc("GetTask", {"id": "$t", "tenant": "ann"}, agent="chat", token="shop", v="1.0"),
        rpc("GetTask", {"id": "$t", "tenant": "bob"}, agent="chat", token="$page", v="1.0"),
        rpc("tasks/get", {"id": "$t"}, agent="joke", token="$page"), http("GET", "/agents", token="$page")]
    yield "tenants", [
        send("say hi", 2, tenant="north"), http("GET", "/agents/chat/north/tasks/$t", token="shop", v="1.0"),
        http("GET", "/agents/chat/south/tasks/$t", token="shop", v="1.0"), get("/tasks/$t", v="1.0"),
        http("GET", "/agents/chat/north/tasks", token="shop", v="1.0"),
        http("POST", "/agents/chat/north/message:send", {"message": message("say hi", 3)}, token="shop", v="1.0"),
        http("POST", "/agents/chat/v1/message:send", {"message": message("say hi", 4)}, token="shop", v="1.0"),
        *(http("GET", f"/agents/chat/{word}/tasks", token="shop", v="1.0")
          for word in ("tasks", "v1", "conversations", "agents", "%2e%2e", "a%20b", "a/b", "x" * 300))]
    yield "conversations", [
        send("say good day", 5), send("ask which one?", 6, context="two words"),
        get("/conversations"), get("/conversations?pageSize=1", keep={"p": "nextPageToken"}),
        get("/conversations?pageSize=1&pageToken=$p"), get("/conversations/two%20words"),
        get("/conversations/two%20words?shape=ag-ui"), get("/conversations/none"),
        get("/conversations/two%20words", token="vera"),
        http("PATCH", "/agents/chat/conversations/two%20words", {"title": "Tea\n and  more"}, token="shop"),
        http("PATCH", "/agents/chat/conversations/two%20words", {"title": None}, token="shop"),
        *(http("PATCH", "/agents/chat/conversations/two%20words", body, token="shop")
          for body in ({"title": ""}, {"title": 5}, {}, b"{", {"title": "x" * 201})),
        *(get(f"/conversations?{query}") for query in ("pageSize=0", "pageSize=101", "pageToken=x", "shape=odd")),
        http("PUT", "/agents/chat/conversations/none", {}, token="shop"),
        http("POST", "/agents/chat/conversations", {}, token="shop"),
        http("DELETE", "/agents/chat/conversations/none", token="shop"),
        http("DELETE", "/agents/chat/conversations/two%20words", token="shop"), get("/conversations/two%20words"),
        get("/conversations/two%20words", method="HEAD"), get("/conversations", method="HEAD")]
    yield "downloads, logs and trees", [
        send("data a text of some length", 7), get("/tasks/$t", v="1.0", keep={"a": "artifacts.0.artifactId"}),
        *(get(f"/tasks/$t/artifacts/$a{more}", headers=headers) for more, headers in (
            ("", {}), ("/parts/0", {}), ("/parts/9", {}), ("/parts/x", {}), ("", {"Range": "bytes=2-5"}),
            ("", {"Range": "bytes=999-"}), ("", {"Range": "bytes=-4"}), ("", {"Range": "lines=1"}))),
        get("/tasks/$t/artifacts/$a", method="HEAD"), get("/tasks/$t/artifacts/$a", token="vera"),
        get("/tasks/$t/artifacts/none"),
        get("/tasks/$t/messages/m7/parts/0"), get("/tasks/$t/messages/none/parts/0"),
        get("/tasks/$t/log"), get("/tasks/$t/log?after=3"), get("/tasks/$t/log?after=x"),
        get("/tasks/$t/log", method="HEAD"),
        get("/tasks/none/log"), get("/tasks/$t/tree"), get("/tasks/$t/tree", token="vera"), get("/tasks/$t/plan.svg"),
        http("GET", "/agents?task=$t", token="shop"), http("GET", "/agents?task=x", token="shop"),
        http("POST", "/agents/chat/tasks/$t/log", {}, token="shop"),
        http("DELETE", "/agents/chat/tasks/$t", token="shop", v="1.0")]
    yield "others' tasks", [
        send("wait", 8, configuration={"returnImmediately": True}),
        wait("$t", "working", agent="chat", token="shop", has="begun"),
        *(step for token in ("vera", "otto") for step in (
            rpc("GetTask", {"id": "$t"}, agent="chat", token=token, v="1.0"),
            rpc("CancelTask", {"id": "$t"}, agent="chat", token=token, v="1.0"),
            rpc("SubscribeToTask", {"id": "$t"}, agent="chat", token=token, v="1.0"),
            rpc("ListTasks", {}, agent="chat", token=token, v="1.0"))),
        gate("chat", "all"), wait("$t", "completed", agent="chat", token="shop")]
