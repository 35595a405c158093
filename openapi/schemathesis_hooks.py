"""What a generator cannot know of the service.

It tries the same Idempotency-Key with many bodies, which the service rightly refuses: each gets its own. And it finds
the id of the key that it comes with, and revokes it: from then on it would learn nothing but 401. It brings a made-up key
to each operation, more of them in a minute than one address may: each request says to come from another address.
"""

import itertools
import os
import re

import schemathesis

USABLE = re.compile(r"[\x21-\x7e]+")
HEADER = "Idempotency-Key"
LONGEST = 255
OWN_KEY = os.environ.get("FUZZ_KEY_ID")
NOBODY = "00000000-0000-7000-8000-000000000000"
numbers = itertools.count()


def address():
    number = next(numbers)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@schemathesis.hook
def before_call(context, case, kwargs):
    if OWN_KEY and (case.path_parameters or {}).get("id") == OWN_KEY:
        case.path_parameters["id"] = NOBODY
    if case.headers and case.headers.get("If-Match") == "":
        # It takes an empty value for one that fits the pattern, which it does not.
        del case.headers["If-Match"]
    if case.headers is None:
        case.headers = {}
    case.headers["X-Forwarded-For"] = address()
    key = case.headers.get(HEADER)
    if isinstance(key, str) and USABLE.fullmatch(key):
        number = f"-{next(numbers)}"
        # One that is too long is meant to be, and stays so.
        length = LONGEST - len(number) if len(key) <= LONGEST else len(key)
        case.headers[HEADER] = key[:length] + number
