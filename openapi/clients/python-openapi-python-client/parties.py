"""Who takes part, and what an answer has to be, or the scenario ends."""

import hashlib
import hmac
import time
from dataclasses import dataclass
from os import environ
from typing import TypeVar

import httpx
from incident_triage import AuthenticatedClient, Client
from incident_triage.api.access import create_api_key
from incident_triage.models import (
    ApiKeyInput,
    ApiKeyLimits,
    CreatedApiKeyEnvelope,
    ErrorEnvelope,
    ErrorObject,
    Role,
)
from incident_triage.types import UNSET, Response, Unset

URL = environ["SERVICE_URL"]
RUN = environ["RUN"]

T = TypeVar("T")
Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Parties:
    admin: AuthenticatedClient
    analyst: AuthenticatedClient
    senior: AuthenticatedClient


def ok(step: str) -> None:
    print(f"ok {step}", flush=True)


def check(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"not so: {what}")


def answered(response: Response[Parsed], answer: type[T]) -> T:
    """The answer of a request that has to succeed."""
    if not isinstance(response.parsed, answer):
        raise AssertionError(f"instead of {answer.__name__}: {response}")
    return response.parsed


def refused(response: Response[Parsed], status: int, code: str) -> ErrorObject:
    error = answered(response, ErrorEnvelope).error
    check(response.status_code == status, f"{response.status_code} is {status}")
    check(error.code == code, f"{error.code} is {code}")
    return error


def given(value: T | Unset) -> T:
    """What an answer need not have, and has here."""
    if isinstance(value, Unset):
        raise AssertionError("a value is missing")
    return value


def connect(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=URL, token=key, raise_on_unexpected_status=True)


def sender(secret: str) -> Client:
    """Has no key, and signs the bytes that it sends."""

    def sign(request: httpx.Request) -> None:
        sent_at = str(int(time.time()))
        signed = sent_at.encode() + b"." + request.content
        digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        request.headers["X-Webhook-Timestamp"] = sent_at
        request.headers["X-Webhook-Signature"] = f"sha256={digest}"

    hooks = {"event_hooks": {"request": [sign]}}
    return Client(base_url=URL, raise_on_unexpected_status=True, httpx_args=hooks)


def parties() -> Parties:
    admin = connect(environ["ADMIN_KEY"])

    def party(role: Role, limits: ApiKeyLimits | Unset = UNSET) -> AuthenticatedClient:
        body = ApiKeyInput(name=f"{role.value}-{RUN}", role=role, limits=limits)
        made = create_api_key.sync_detailed(client=admin, body=body)
        return connect(answered(made, CreatedApiKeyEnvelope).data.key)

    analyst = party(Role.ANALYST, ApiKeyLimits(triage=1))
    senior = party(Role.SENIOR)
    ok("key")
    return Parties(admin, analyst, senior)
