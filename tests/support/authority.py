"""A certificate authority for tests, and servers on loopback with certificates of it."""

from __future__ import annotations

import http.server
import ssl
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DAY = timedelta(days=1)
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Signs certificates; made anew for each test, and trusted by nobody else."""

    def __init__(self, folder: Path) -> None:
        """Write the authority's own certificate into the folder."""
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Tests")])
        own = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
        )
        self.path = folder / "authority.pem"
        signed = own.sign(self._key, hashes.SHA256())
        self.path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def issue(self, host: str) -> Path:
        """Return a file with a certificate for a host and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
        builder = self._builder(subject, key.public_key()).add_extension(names, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        path = self._folder / f"{host}.pem"
        pem = serialization.Encoding.PEM
        private = key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + signed.public_bytes(pem))
        return path

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        """Python 3.13 checks strictly (RFC 5280): both key identifiers have to be there."""
        now = datetime.now(UTC)
        own = x509.SubjectKeyIdentifier.from_public_key(key)
        issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAY)
            .add_extension(own, critical=False)
            .add_extension(issuers, critical=False)
        )


@dataclass
class TlsServer:
    """What a server was asked."""

    port: int
    names: list[str | None] = field(default_factory=list)
    """Server names that clients asked for in their handshake (SNI)."""
    hosts: list[str] = field(default_factory=list)
    """Host headers of requests: only those whose client trusted the certificate."""


@contextmanager
def tls_server(certificate: Path, *, location: str | None = None) -> Iterator[TlsServer]:
    """Serve on loopback; with ``location`` every answer is a redirect to it."""
    seen = TlsServer(port=0)

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer."""
            seen.hosts.append(self.headers["Host"])
            self.send_response(302 if location else 204)
            if location:
                self.send_header("Location", location)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Log nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: seen.names.append(name)
    server = _QuietServer(("127.0.0.1", 0), Answering)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    seen.port = server.server_port
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()


class _QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up on a certificate."""
