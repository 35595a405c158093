"""A generator tries the same Idempotency-Key with many bodies, which the service rightly refuses: each gets its own."""

import itertools
import re

import schemathesis

USABLE = re.compile(r"[\x21-\x7e]{1,240}")
HEADER = "Idempotency-Key"
numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    key = (case.headers or {}).get(HEADER)
    if isinstance(key, str) and USABLE.fullmatch(key):
        case.headers[HEADER] = f"{key}-{next(numbers)}"
