"""
What Schemathesis finds that is no defect, with the reasons.

Its check `positive_data_acceptance` expects that every request that fits the document's schemas is accepted.
`rejection_is_explained` replaces it: a rejection must be one of those below. All other checks run as they are.
"""

import re

import schemathesis

# The code, how the message begins, and why a request that fits the schema is rejected.
EXPLAINED = [
    ("VALIDATION_ERROR", r"cursor: ", "A cursor is opaque: only one that an answer contained is accepted."),
    ("NO_ACTIVE_ACCOUNT", r"accountId: ", "The ID is well formed, but the caller has no WhatsApp account with it."),
    (
        "VALIDATION_ERROR",
        r"(variables|header|buttons|code|cards|limitedTimeOffer|components)\b",
        "Which values a message needs depends on its template, which the document does not know.",
    ),
    (
        "MESSAGE_REJECTED",
        r"WhatsApp rejected this message \(100\): Param template\['components'\]",
        "Components go to WhatsApp as they came: it alone knows which types it accepts.",
    ),
    (
        "VALIDATION_ERROR",
        r"clientIp: must be an IP address",
        "The two formats of an address would give generated clients a type for each, so the description says it.",
    ),
    (
        "VALIDATION_ERROR",
        r"to: is required; for someone who hides the number",
        "Either field will do. A schema that says so would give generated clients a type for each.",
    ),
    (
        "VALIDATION_ERROR",
        r"(to|recipients\[\d+\]): (start with the country code.*: the number )?(has \d+ digits|does not start with the code)",
        "How long a number is depends on its country.",
    ),
    (
        "VALIDATION_ERROR",
        r"recipient: .* is an AUTHENTICATION template",
        "Codes go to numbers only, and the document does not know the categories of templates.",
    ),
    ("CODE_INCORRECT", r"code: ", "The code is made up: only its recipient has it."),
    ("CODE_ATTEMPTS_EXCEEDED", r"code: ", "Earlier requests guessed at the code of this recipient too often."),
    ("RECIPIENT_SUPPRESSED", r"to: ", "An earlier request put this recipient on the suppression list."),
    ("VALIDATION_ERROR", r"file: must not be empty", "A schema cannot say how many bytes a file has at least."),
    ("VALIDATION_ERROR", r"link: must be a public https address", "A made-up link: a pattern for all rules of URLs helps nobody."),
    ("MEDIA_DOWNLOAD_FAILED", r"link: ", "The links are made up: there is no file to download."),
    ("IDEMPOTENCY_KEY_REUSED", r"", "The same key came with another body, which is what the key protects from."),
]

# The rules of templates span several fields, and depend on the templates that exist.
TEMPLATE_CHANGES = re.compile(r"^/api/v1/template/(create|update|delete|duplicate)$")
EXPLAINED_FOR_TEMPLATE_CHANGES = {"VALIDATION_ERROR", "TEMPLATE_REFUSED", "NO_ACTIVE_ACCOUNT"}

REJECTED = {400, 422}


@schemathesis.check
def rejection_is_explained(_context, response, case):
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in REJECTED:
        return
    error = response.json()["error"]
    if TEMPLATE_CHANGES.match(case.path) and error["code"] in EXPLAINED_FOR_TEMPLATE_CHANGES:
        return
    if not any(error["code"] == code and re.match(start, error["message"]) for code, start, _reason in EXPLAINED):
        raise AssertionError(f"A request that fits the schema was rejected with {error['code']}: {error['message']}")
