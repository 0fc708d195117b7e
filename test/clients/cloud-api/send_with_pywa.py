import json
import os

import httpx
from pywa import WhatsApp
from pywa.errors import WhatsAppError
from pywa.types.templates import (
    BodyText,
    CopyCodeButton,
    HeaderText,
    QuickReplyButton,
    TemplateLanguage,
    TemplateStatus,
    URLButton,
)

session = httpx.Client()
client = WhatsApp(
    phone_id=os.environ["PHONE_NUMBER_ID"],
    token=os.environ["ACCESS_TOKEN"],
    waba_id=os.environ["WABA_ID"],
    session=session,
)
# The client has no option for another address.
session.base_url = os.environ["GRAPH_API_URL"] + "/v26.0"


def send(template, *params):
    sent = client.send_template("+34600111222", template, TemplateLanguage.ENGLISH, list(params), tracker="order-7")
    return sent.id


sent = [
    send("order_shipped", BodyText.params("Ada", "A-1024")),
    send("order_delayed", HeaderText.params("A-1024"), BodyText.params("Ada")),
    send("track_parcel", BodyText.params("Ada"), URLButton.params(url_variable="A-1024", index=0)),
    send("delivery_feedback", BodyText.params("Ada"), QuickReplyButton.params(callback_data="yes", index=0)),
    send("birthday_coupon", BodyText.params("Ada"), CopyCodeButton.params(coupon_code="GIFT9", index=0)),
]
try:
    send("no_such_template", BodyText.params("Ada"))
except WhatsAppError as error:
    refused = error.code
found = client.get_templates(name_or_content="parcel")
account = client.get_business_account()
print(
    json.dumps(
        {
            "sent": sent,
            "refused": refused,
            "found": [template.name for template in found],
            "total": found.total_count,
            "stored": found.message_template_count,
            "unusable": client.get_templates(statuses=[TemplateStatus.PAUSED, TemplateStatus.PENDING]).total_count,
            "account": account.name,
            "apps": [app.id for app in account.subscribed_apps],
        }
    )
)
