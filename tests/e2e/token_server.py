"""An OAuth 2 token endpoint on a free loopback port. Each token is new: "token-1", "token-2", ..."""
import base64
import json
import threading
import urllib.parse

import client
import relay

BASIC = "Basic " + base64.b64encode(b"baton%3A1:s3cret%26").decode()


class TokenServer(relay.Site):
    """Keeps the requests. `life`: the value of expires_in; `down`: answers 503; `answer`: a status and a body instead
    of a token. `hold`: an event that each request waits for."""

    def __init__(self):
        outer, self.asked, self.headers, self.forms = self, 0, [], []
        self.life, self.down, self.answer, self.hold = 3600, False, None, None
        lock = threading.Lock()

        class Handler(relay.Handler):
            def do_POST(self):
                form = dict(urllib.parse.parse_qsl(self.body().decode()))
                with lock:
                    outer.asked += 1
                    nth = outer.asked
                    outer.headers.append(dict(self.headers))
                    outer.forms.append(form)
                if outer.hold:
                    outer.hold.wait(client.scaled())
                if outer.down:
                    return self.say(b"{}", status=503)
                if outer.answer:
                    status, body = outer.answer
                    return self.say(json.dumps(body).encode(), status=status)
                token = {"access_token": f"token-{nth}", "token_type": "bearer", "expires_in": outer.life}
                self.say(json.dumps(token).encode())

        super().__init__(Handler)

    def auth(self, **more):
        return {"type": "oauth", "token_url": self.url + "token", "client_id": "baton:1", "secret_file": "secret", **more}
