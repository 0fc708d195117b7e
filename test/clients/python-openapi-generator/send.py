import json
import os

import openapi_client
from openapi_client import ApiException, EventsApi, MediaApi, MessagesApi, SendMessageRequest


def connect(key):
    configuration = openapi_client.Configuration(host=os.environ["WAYBILL_URL"], api_key={"ApiKey": os.environ[key]})
    return openapi_client.ApiClient(configuration)


def request(**changes):
    fields = {"to": "34600111222", "template": "order_shipped", "language": "en"}
    return SendMessageRequest(**{**fields, "variables": {"1": "Ada", "2": "WB-1042"}, **changes})


def failure(api, body):
    try:
        api.send_message(body)
    except ApiException as error:
        return error
    return None


def describe(error):
    return {"status": error.status, "code": error.data.error.code}


def pages(fetch, read):
    items, cursor = [], None
    while True:
        page = fetch(cursor=cursor, limit=2).data
        items += [read(item) for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return items


client = connect("WAYBILL_API_KEY")
messages = MessagesApi(client)
send = lambda: messages.send_message(request(), idempotency_key="order-1042-shipped").data.message_id

report = {"sent": send(), "repeated": send()}
report["unknownTemplate"] = describe(failure(messages, request(template="no_such_template")))
# The client checks patterns itself; this constructor does not.
invalid = SendMessageRequest.model_construct(to="+34600111222", template="order_shipped", language="en")
report["invalid"] = describe(failure(messages, invalid))

limited_api = MessagesApi(connect("WAYBILL_LIMITED_API_KEY"))
limited = failure(limited_api, request()) or failure(limited_api, request()) or failure(limited_api, request())
report["limited"] = {**describe(limited), "retryAfter": int(limited.headers["Retry-After"])}

report["messages"] = pages(messages.list_messages, lambda message: message.message_id)
report["events"] = pages(EventsApi(client).list_events, lambda event: event.event_id)
report["uploaded"] = MediaApi(client).upload_media(os.environ["WAYBILL_FILE"], "Invoice 7.pdf").data.media_id
print(json.dumps(report))
