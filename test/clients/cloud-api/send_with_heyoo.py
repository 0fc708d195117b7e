import json
import os

from heyoo import WhatsApp

client = WhatsApp(os.environ["ACCESS_TOKEN"], phone_number_id=os.environ["PHONE_NUMBER_ID"])
# The client has no option for another address. Its version, v14.0, is the one that it uses by default.
client.url = client.url.replace("https://graph.facebook.com", os.environ["GRAPH_API_URL"])


def send(template, lang="en", *values):
    parameters = [{"type": "text", "text": value} for value in values]
    components = [{"type": "body", "parameters": parameters}] if parameters else []
    return client.send_template(template, "+34600111222", components, lang=lang)


sent = [send("order_shipped", "en", "Ada", "A-1024"), send("hello_world", "en_US")]
refused = send("no_such_template")
print(
    json.dumps({"sent": [answer["messages"][0]["id"] for answer in sent], "refused": refused["error"]["code"]}),
)
