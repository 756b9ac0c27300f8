"""A small authorization server on a free loopback port: its discovery document, its keys, and tokens that it signs.

Signs with the program `openssl`. `keys`: by name, those that are published; `down`: answers 503; `asked`: the paths of
all requests; `hold`: an event that each request for keys waits for.
"""
import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

import relay


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


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


class Key:
    def __init__(self, folder, name, algorithm):
        self.name, self.algorithm, self.file = name, algorithm, folder / f"{name}.pem"
        if algorithm == "ES256":
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.file))
        else:
            openssl("genrsa", "-out", str(self.file), "2048")

    def jwk(self):
        more = {"kid": self.name, "alg": self.algorithm, "use": "sig"}
        if self.algorithm == "ES256":
            point = openssl("ec", "-in", str(self.file), "-pubout", "-outform", "DER")[-64:]
            return {"kty": "EC", "crv": "P-256", "x": encoded(point[:32]), "y": encoded(point[32:]), **more}
        modulus = openssl("rsa", "-in", str(self.file), "-noout", "-modulus").decode().strip().split("=")[1]
        return {"kty": "RSA", "n": encoded(bytes.fromhex(modulus)), "e": "AQAB", **more}

    def sign(self, text):
        signature = openssl("dgst", "-sha256", "-sign", str(self.file), given=text)
        return numbers_of(signature) if self.algorithm == "ES256" else signature


class AuthorizationServer(relay.Site):
    def __init__(self):
        outer, self.asked, self.down, self.hold = self, [], False, None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-keys-"))
        self.keys, self.max_age = {}, 600
        self.add_key("first", "ES256")

        class Handler(relay.Handler):
            def do_GET(self):
                outer.asked.append(self.path)
                if outer.down:
                    return self.say(b"{}", status=503)
                if self.path == "/.well-known/openid-configuration":
                    return self.say(json.dumps(outer.discovery()).encode())
                if self.path != "/keys":
                    return self.say(b"{}", status=404)
                if outer.hold:
                    outer.hold.wait(30)
                self.say(json.dumps({"keys": [key.jwk() for key in outer.keys.values()]}).encode())

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
