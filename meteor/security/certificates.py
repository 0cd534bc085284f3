"""Making a CA and certificates for a trial ring, and reading what a certificate says.

Law of this file: pure but for the keys' randomness, which is `cryptography`'s; it takes `now` and
returns PEM bytes, files are the command line's affair.  ECDSA on P-256: short handshakes, and every
TLS stack that a sensor may have knows it.

    ca = make_authority("lab", now=now, days=3650)
    pair = make_certificate(ca, ["10.0.0.5", "db1"], now=now, days=365)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from meteor.errors import CertificateError, LimitExceeded

BACKDATED: Final = timedelta(hours=1)
"""A fresh certificate is valid from this long ago: the hosts' clocks differ."""
DAYS_MAX: Final = 3650
EXPIRY_WARNING: Final = timedelta(days=14)
"""How long before its end a certificate is worth a warning."""
_NAME_LENGTH_MAX: Final = 64
"""Of a common name, by X.520."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a certificate says, as far as an operator cares."""

    name: str
    """Its subject's common name."""
    hosts: tuple[str, ...]
    """The hosts that it names, addresses among them; none in a client's."""
    issuer: str
    first: datetime
    """Valid from here ..."""
    last: datetime
    """... up to here."""
    is_authority: bool


def make_authority(name: str, *, now: datetime, days: int = DAYS_MAX) -> KeyPair:
    """A CA of one's own; raises `LimitExceeded`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name)
    usage = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    built = (
        _builder(subject, subject, key.public_key(), now, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return _signed(built, key, key)


def make_certificate(
    authority: KeyPair, hosts: Sequence[str], *, now: datetime, days: int = 365, name: str = ""
) -> KeyPair:
    """A certificate for whoever is reached as any of `hosts`; without hosts, a client's of this
    `name`.

    Raises `CertificateError` for a CA that cannot sign, `LimitExceeded` for a client's name or a
    number of days beyond its limit, `ValueError` for what is no host."""
    issuer, issuer_key = _loaded(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    purposes = [ExtendedKeyUsageOID.CLIENT_AUTH]
    # who checks a host looks at the alternative names alone, which may be longer
    subject = _subject((name or hosts[0])[:_NAME_LENGTH_MAX] if hosts else name)
    built = _builder(subject, issuer.subject, key.public_key(), now, days).add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    if hosts:
        purposes.append(ExtendedKeyUsageOID.SERVER_AUTH)
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        built = built.add_extension(names, critical=False)
    built = built.add_extension(x509.ExtendedKeyUsage(purposes), critical=False).add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
    )
    return _signed(built, key, issuer_key)


def read_certificate(pem: bytes, path: str = "") -> CertificateFacts:
    """What the first certificate of a PEM file says; raises `CertificateError`."""
    certificate = _certificate(pem, path)
    return CertificateFacts(
        _common_name(certificate.subject),
        _hosts(certificate),
        _common_name(certificate.issuer),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        _is_authority(certificate),
    )


def is_issued_by(pem: bytes, authority: bytes, path: str = "") -> bool:
    """Whether the first certificate of a PEM file carries the signature of this CA."""
    certificate, issuer = _certificate(pem, path), _certificate(authority, path)
    try:
        certificate.verify_directly_issued_by(issuer)
    except Exception:
        return False
    return True


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    if not 1 <= days <= DAYS_MAX:
        raise LimitExceeded("days of a certificate", days, DAYS_MAX)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _signed(
    built: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, by: ec.EllipticCurvePrivateKey
) -> KeyPair:
    return KeyPair(
        built.sign(by, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _subject(name: str) -> x509.Name:
    if len(name) > _NAME_LENGTH_MAX:
        raise LimitExceeded("characters of a certificate's name", len(name), _NAME_LENGTH_MAX)
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host.strip("[]")))
    except ValueError:
        labels = host.removeprefix("*.").split(".")
    if not all(label.replace("-", "").isalnum() and label.isascii() for label in labels):
        raise ValueError(f"{host!r} is no host: write a name such as peer-1.lan, or an address")
    return x509.DNSName(host)


def _loaded(authority: KeyPair) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    issuer = _certificate(authority.certificate, "ca")
    try:
        key = serialization.load_pem_private_key(authority.key, password=None)
    except (ValueError, TypeError) as error:
        raise CertificateError(f"the CA's key cannot be read: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise CertificateError("the CA's key is of another kind than `meteor certs` makes")
    if key.public_key() != issuer.public_key() or not _is_authority(issuer):
        raise CertificateError("the CA's key and certificate do not belong together")
    return issuer, key


def _certificate(pem: bytes, path: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise CertificateError(f"{path or 'a certificate'} cannot be read: {error}", path) from None


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()


def _hosts(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = (str(address) for address in names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
