"""Who takes part, and what an answer has to be, or the scenario ends."""

from collections.abc import Callable
from dataclasses import dataclass
from os import environ
from typing import TypeVar

from incident_triage import ApiClient, Configuration
from incident_triage.api import AccessApi
from incident_triage.exceptions import ApiException
from incident_triage.models import ApiKeyInput, ApiKeyLimits, ErrorEnvelope, ErrorObject, Role

RUN = environ["RUN"]

T = TypeVar("T")


@dataclass(frozen=True)
class Parties:
    admin: ApiClient
    analyst: ApiClient
    senior: ApiClient
    stranger: ApiClient


def ok(step: str) -> None:
    print(f"ok {step}", flush=True)


def check(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"not so: {what}")


def given(value: T | None) -> T:
    """What an answer need not have, and has here."""
    if value is None:
        raise AssertionError("a value is missing")
    return value


def refused(status: int, code: str, call: Callable[[], object]) -> tuple[ErrorObject, ApiException]:
    """What a refusal tells; the client throws it, with the answer as it is typed."""
    try:
        answer = call()
    except ApiException as refusal:
        check(refusal.status == status, f"{refusal.status} is {status}")
        if not isinstance(refusal.data, ErrorEnvelope):
            raise AssertionError(f"not an error as typed: {refusal.data}") from refusal
        error = refusal.data.error
        check(error.code == code, f"{error.code} is {code}")
        return error, refusal
    raise AssertionError(f"instead of {code}: {answer}")


def connect(key: str | None) -> ApiClient:
    return ApiClient(Configuration(host=environ["SERVICE_URL"], access_token=key))


def parties() -> Parties:
    admin = connect(environ["ADMIN_KEY"])

    def party(role: Role, limits: ApiKeyLimits | None = None) -> ApiClient:
        body = ApiKeyInput(name=f"{role.value}-{RUN}", role=role, limits=limits)
        return connect(AccessApi(admin).create_api_key(body).data.key)

    analyst = party(Role.ANALYST, ApiKeyLimits(triage=1))
    senior = party(Role.SENIOR)
    ok("key")
    return Parties(admin, analyst, senior, connect(None))
