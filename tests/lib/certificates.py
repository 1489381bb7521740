"""certificates -- an issuer, and what it signs, made for one test.

    c = Certificates()                      c.ca: the issuer's certificate
    cert, key = c.issue("localhost")        valid, for that name (or address)
    cert, key = c.issue("localhost", days=(-9, -2))
"""
import datetime
import pathlib

from harness import *

__all__ = ["Certificates"]

FORM = "%Y%m%d%H%M%SZ"
PARTS = """[ca]
default_ca = us
[us]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
"""


def moment(days):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (now + datetime.timedelta(days=days)).strftime(FORM)


class Certificates:
    def __init__(self, name="ca"):
        self.dir = tmp() / name
        self.dir.mkdir()
        self.n = 0
        (self.dir / "openssl.cnf").write_text(PARTS)
        (self.dir / "index.txt").touch()
        self.ca = self.dir / "ca.pem"
        self.openssl("req", "-x509", *self.new_key("ca.key"), "-subj", f"/CN={name}", "-days", 9,
                     "-out", self.ca)

    def openssl(self, *words):
        run("openssl", *words, cwd=self.dir).ok()

    @staticmethod
    def new_key(file):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file)

    def issue(self, host, days=(-1, 9)):
        self.n += 1
        kind = "IP" if host[0].isdigit() else "DNS"
        cert, key, ask = (self.dir / f"{self.n}.{e}" for e in ("pem", "key", "csr"))
        self.openssl("req", *self.new_key(key), "-subj", f"/CN=test{self.n}", "-out", ask,
                     "-addext", f"subjectAltName={kind}:{host}")
        self.openssl("ca", "-batch", "-notext", "-config", "openssl.cnf", "-in", ask, "-out", cert,
                     "-cert", self.ca, "-keyfile", "ca.key",
                     "-startdate", moment(days[0]), "-enddate", moment(days[1]))
        return cert, key
