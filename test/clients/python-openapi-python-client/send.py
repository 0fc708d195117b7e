import json
import os

from waybill_client import AuthenticatedClient
from waybill_client.api.events import list_events
from waybill_client.api.media import upload_media
from waybill_client.api.messages import list_messages, send_message
from waybill_client.models import SendMessageRequest, UploadMediaBody, Variables
from waybill_client.types import UNSET, File


def connect(key):
    return AuthenticatedClient(
        base_url=os.environ["WAYBILL_URL"], token=os.environ[key], prefix="", auth_header_name="X-API-Key"
    )


def request(**changes):
    variables = Variables.from_dict({"1": "Ada", "2": "WB-1042"})
    fields = {"to": "34600111222", "template": "order_shipped", "language": "en", "variables": variables}
    return SendMessageRequest(**{**fields, **changes})


def describe(response):
    return {"status": int(response.status_code), "code": response.parsed.error.code}


def pages(operation, read):
    items, cursor = [], UNSET
    while True:
        page = operation.sync(client=client, cursor=cursor, limit=2).data
        items += [read(item) for item in page.items]
        cursor = page.next_cursor
        if cursor is UNSET:
            return items


client = connect("WAYBILL_API_KEY")
fail = lambda body: describe(send_message.sync_detailed(client=client, body=body))
send = lambda: send_message.sync(client=client, body=request(), idempotency_key="order-1042-shipped").data.message_id

report = {"sent": send(), "repeated": send()}
report["unknownTemplate"] = fail(request(template="no_such_template"))
report["invalid"] = fail(request(to="+34600111222"))

limited_client = connect("WAYBILL_LIMITED_API_KEY")
for _ in range(3):
    limited = send_message.sync_detailed(client=limited_client, body=request())
    if limited.status_code != 200:
        break
report["limited"] = {**describe(limited), "retryAfter": int(limited.headers["Retry-After"])}

report["messages"] = pages(list_messages, lambda message: message.message_id)
report["events"] = pages(list_events, lambda event: event.event_id)
with open(os.environ["WAYBILL_FILE"], "rb") as content:
    body = UploadMediaBody(file=File(content, "invoice.pdf", "application/pdf"), filename="Invoice 7.pdf")
    report["uploaded"] = upload_media.sync(client=client, body=body).data.media_id
print(json.dumps(report))
