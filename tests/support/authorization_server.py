"""A small authorization server on a free loopback port: its discovery document, its keys, tokens that it signs, and
people who sign in at once (OpenID Connect, code with PKCE).

Signs with the program `openssl`. `keys`: by name, those that are published; `down`: answers 503; `asked`: the paths of
all requests; `hold`: an event that each request for keys waits for. `person`: claims of who signs in next; `refusal`:
an error for them instead, a pair of code and description; `client_secret`: that the client must know.
"""
import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.parse

import client
import harness
import relay


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def openssl(*words, given=b""):
    return subprocess.run(["openssl", *words], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=True).stdout


def numbers_of(der):
    """The two numbers of an ECDSA signature, 32 bytes each."""
    numbers, at = b"", 2
    for _ in range(2):
        size = der[at + 1]
        numbers += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + size
    return numbers


def der_of(numbers):
    """The reverse of numbers_of."""
    members = b""
    for number in (numbers[:32], numbers[32:]):
        number = number.lstrip(b"\0")
        number = b"\0" + number if number[0] & 0x80 else number
        members += bytes([2, len(number)]) + number
    return bytes([0x30, len(members)]) + members


class Key:
    def __init__(self, folder, name, algorithm):
        self.name, self.algorithm = name, algorithm
        self.file = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "key.pem"  # another key may have the same name
        if algorithm == "ES256":
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.file))
        else:
            openssl("genrsa", "-out", str(self.file), "2048")
        self.published = self.read_jwk()  # here, because a request for keys is waited for two seconds at most

    def jwk(self):
        return self.published

    def read_jwk(self):
        more = {"kid": self.name, "alg": self.algorithm, "use": "sig"}
        if self.algorithm == "ES256":
            point = openssl("ec", "-in", str(self.file), "-pubout", "-outform", "DER")[-64:]
            return {"kty": "EC", "crv": "P-256", "x": encoded(point[:32]), "y": encoded(point[32:]), **more}
        modulus = openssl("rsa", "-in", str(self.file), "-noout", "-modulus").decode().strip().split("=")[1]
        return {"kty": "RSA", "n": encoded(bytes.fromhex(modulus)), "e": "AQAB", **more}

    def sign(self, text):
        signature = openssl("dgst", "-sha256", "-sign", str(self.file), given=text)
        return numbers_of(signature) if self.algorithm == "ES256" else signature


    def claims_in(self, token):
        """The claims of a token that this key has signed; fails for any other."""
        text, _, signature = token.rpartition(".")
        given = decoded(signature)
        if self.algorithm == "ES256":
            given = der_of(given)
        with tempfile.TemporaryDirectory(dir=self.file.parent) as folder:
            public, proof = pathlib.Path(folder) / "public", pathlib.Path(folder) / "proof"
            openssl("pkey", "-in", str(self.file), "-pubout", "-out", str(public))
            proof.write_bytes(given)
            openssl("dgst", "-sha256", "-verify", str(public), "-signature", str(proof), given=text.encode())
        return json.loads(decoded(text.split(".")[1]))

    @staticmethod
    def header_in(token):
        return json.loads(decoded(token.split(".")[0]))


class AuthorizationServer(relay.Site):
    def __init__(self):
        outer, self.asked, self.down, self.hold = self, [], False, None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-keys-"))
        self.keys, self.max_age = {}, 600
        self.person, self.refusal, self.client_secret, self.codes = {"sub": "ann"}, None, None, {}
        self.add_key("first", "ES256")

        class Handler(relay.Handler):
            def do_GET(self):
                path = self.path.split("?")[0]
                outer.asked.append(path)
                if outer.down:
                    return self.say(b"{}", status=503)
                if path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", outer.authorize(dict(urllib.parse.parse_qsl(self.path.split("?")[1]))))
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                if self.path == "/.well-known/openid-configuration":
                    return self.say(json.dumps(outer.discovery()).encode())
                if self.path != "/keys":
                    return self.say(b"{}", status=404)
                if outer.hold:
                    outer.hold.wait(client.scaled(60))
                self.say(json.dumps({"keys": [key.jwk() for key in outer.keys.values()]}).encode())

            def do_POST(self):
                outer.asked.append(self.path)
                form = dict(urllib.parse.parse_qsl(self.body().decode()))
                token = None if outer.down else outer.redeem(form, self.headers.get("Authorization"))
                self.say(json.dumps({"id_token": token} if token else {"error": "invalid_grant"}).encode(),
                         200 if token else 400)

        super().__init__(Handler)
        self.issuer = self.url.rstrip("/")

    def __exit__(self, *how):
        super().__exit__(*how)
        shutil.rmtree(self.folder)

    def add_key(self, name, algorithm):
        self.keys[name] = Key(self.folder, name, algorithm)
        return self.keys[name]

    def discovery(self):
        return {"issuer": self.issuer, "jwks_uri": self.url + "keys", "authorization_endpoint": self.url + "authorize",
                "token_endpoint": self.url + "token", "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"]}

    def authorize(self, asked):
        """The URL to which the browser of a person who signs in is sent back."""
        answer = {"state": asked["state"], "iss": self.issuer}
        if self.refusal:
            answer.update(error=self.refusal[0], error_description=self.refusal[1])
        else:
            answer["code"] = encoded(hashlib.sha256(asked["nonce"].encode()).digest())
            self.codes[answer["code"]] = (asked, dict(self.person))
        return f"{asked['redirect_uri']}?{urllib.parse.urlencode(answer)}"

    def redeem(self, form, authorization):
        """The ID token for a code, once; None if anything is wrong."""
        asked, person = self.codes.pop(form.get("code"), ({}, {}))
        challenge = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        client_id = form.get("client_id")
        if authorization:
            client_id, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().split(":")
            if secret != self.client_secret:
                return None
        if (not asked or challenge != asked["code_challenge"] or asked["code_challenge_method"] != "S256" or
                form["redirect_uri"] != asked["redirect_uri"] or client_id != asked["client_id"] or
                (self.client_secret and not authorization)):
            return None
        said = {"header": {"typ": "JWT"}, "aud": client_id, "nonce": asked["nonce"], "scope": None, **person}
        return self.token(**said)

    @staticmethod
    def wait_for_keys(server):
        """Waits until the server has fetched the keys for the first time."""
        harness.wait_for(lambda: "its keys are known" in server.log_text(), what="the keys")

    def key_fetches(self):
        return self.asked.count("/keys")

    def token(self, key=None, header=(), **claims):
        """A token of ann's that may do everything, unless the claims say otherwise; None leaves a claim out. `key`: a
        name or a Key; `header`: its further members."""
        key = self.keys[key or "first"] if not isinstance(key, Key) else key
        now = int(time.time())
        said = {"iss": self.issuer, "sub": "ann", "aud": "baton", "iat": now, "exp": now + 600,
                "scope": "send read cancel", **claims}
        head = {"alg": key.algorithm, "kid": key.name, "typ": "at+jwt", **dict(header)}
        text = ".".join(encoded(json.dumps({name: value for name, value in part.items() if value is not None}).encode())
                        for part in (head, said)).encode()
        return f"{text.decode()}.{encoded(key.sign(text))}"
