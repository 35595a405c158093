"""What a generator cannot know of the service.

It tries the same Idempotency-Key with many bodies, which the service rightly refuses: each gets its own. It finds the id
of the key that it comes with, and revokes it; and it stops every effect with the kill switch: from then on it would learn
nothing but 401 or 409. It brings a made-up key to each operation, more of them in a minute than one address may: each
request says to come from another address.

And it takes everything for valid that fits the document. What is refused all the same has to be listed, with the reason
why no schema says it, in fuzz-rejections.json.
"""

import itertools
import json
import os
import pathlib
import re
import urllib.request

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import JsonSchemaError

USABLE = re.compile(r"[\x21-\x7e]+")
HEADER = "Idempotency-Key"
LONGEST = 255
OWN_KEYS = os.environ.get("FUZZ_KEY_IDS", "").split()
NOBODY = "00000000-0000-7000-8000-000000000000"
numbers = itertools.count()
LONG_WAITS = {str(seconds) for seconds in range(2, 31)}

LISTED = json.loads((pathlib.Path(__file__).parent / "fuzz-rejections.json").read_text())


def address():
    number = next(numbers)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # 3.0 has no word for a reference that may be null: the document has one of its own.
    for schema in raw_schema["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            if field.pop("x-nullable", False):
                field["nullable"] = True


@schemathesis.hook
def before_call(context, case, kwargs):
    if (case.path_parameters or {}).get("id") in OWN_KEYS:
        case.path_parameters["id"] = NOBODY
    if case.headers and case.headers.get("If-Match") == "":
        # It takes an empty value for one that fits the pattern, which it does not.
        del case.headers["If-Match"]
    if str((case.query or {}).get("wait")) in LONG_WAITS:
        # The service waits that long while nothing changes.
        case.query["wait"] = 1
    if case.headers is None:
        case.headers = {}
    case.headers["X-Forwarded-For"] = address()
    key = case.headers.get(HEADER)
    if isinstance(key, str) and USABLE.fullmatch(key):
        number = f"-{next(numbers)}"
        # One that is too long is meant to be, and stays so.
        length = LONGEST - len(number) if len(key) <= LONGEST else len(key)
        case.headers[HEADER] = key[:length] + number


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # It takes null for a wrong body; the service takes it for one that was left out.
    if case.body is None and isinstance(failure, AcceptedNegativeData):
        return False
    # It does not tell media types apart by their parameters. What answers Okta has one of its own.
    return not (isinstance(failure, JsonSchemaError) and is_okta_verification(case, response))


def is_okta_verification(case, response):
    asked = (case.headers or {}).get("x-okta-verification-challenge")
    types = response.headers.get("content-type", [])
    return any("okta-verification" in one for one in types) and response.json() == {
        "verification": asked
    }


@schemathesis.hook
def after_call(context, case, response):
    operation = case.operation.definition.raw.get("operationId")
    if operation != "activateKillSwitch" or response.status_code != 200:
        return
    request = urllib.request.Request(
        f"{os.environ['FUZZ_URL']}/api/kill-switch/deactivate",
        data=b'{"reason": "Let the generator go on."}',
        headers={
            "authorization": f"Bearer {os.environ['FUZZ_ADMIN_KEY']}",
            "content-type": "application/json",
        },
    )
    urllib.request.urlopen(request).close()


def is_listed(operation, error):
    return any(
        operation in one["operations"]
        and re.fullmatch(one["code"], error["code"])
        and re.fullmatch(one["field"], error["field"], re.DOTALL)
        for one in LISTED
    )


@schemathesis.check
def rejection_is_listed(ctx, response, case):
    if response.status_code != 422 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    operation = case.operation.definition.raw.get("operationId")
    error = response.json()["error"]
    for one in error.get("details", {}).get("errors", []):
        if not is_listed(operation, one):
            raise AssertionError(
                f"{operation} refuses what fits the document: {one['field']} {one['code']}"
            )
