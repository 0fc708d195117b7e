use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{json, Value};

progenitor::generate_api!(spec = "openapi-3.0.json");

fn connect(key: &str) -> Client {
    let variable = |name: &str| std::env::var(name).expect(name);
    let mut headers = HeaderMap::new();
    headers.insert("X-API-Key", HeaderValue::from_str(&variable(key)).expect("a header value"));
    let client = reqwest::Client::builder().default_headers(headers).build().expect("a client");
    Client::new_with_client(&variable("WAYBILL_URL"), client)
}

fn request(changes: Value) -> types::SendMessageRequest {
    let mut request = json!({"to": "34600111222", "template": "order_shipped", "language": "en"});
    request["variables"] = json!({"1": "Ada", "2": "WB-1042"});
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    serde_json::from_value(request).expect("a request")
}

async fn send(client: &Client) -> String {
    let key = "order-1042-shipped".parse().expect("a key");
    let answer = client.send_message(Some(&key), &request(json!({}))).await.expect("a message is sent");
    answer.into_inner().data.message_id
}

async fn fail(client: &Client, request: types::SendMessageRequest) -> Value {
    match client.send_message(None, &request).await {
        Ok(_) => Value::Null,
        Err(Error::ErrorResponse(answer)) => {
            let mut failure = json!({"status": answer.status().as_u16(), "code": answer.error.code.to_string()});
            if let Some(seconds) = answer.headers().get("Retry-After") {
                failure["retryAfter"] = json!(seconds.to_str().expect("text").parse::<u32>().expect("seconds"));
            }
            failure
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = connect("WAYBILL_API_KEY");
    let sent = send(&client).await;
    let repeated = send(&client).await;
    let unknown_template = fail(&client, request(json!({"template": "no_such_template"}))).await;
    // The client's types take no recipient that is malformed, so a variable is left out.
    let invalid = fail(&client, request(json!({"variables": {"1": "Ada"}}))).await;

    let limited_client = connect("WAYBILL_LIMITED_API_KEY");
    let mut limited = Value::Null;
    for _ in 0..3 {
        limited = fail(&limited_client, request(json!({}))).await;
        if !limited.is_null() {
            break;
        }
    }

    let limit = std::num::NonZeroU64::new(2);
    let mut messages = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let given = cursor.as_deref().map(|cursor| cursor.parse().expect("a cursor"));
        let page = client.list_messages(given.as_ref(), None, None, None, limit, None, None, None, None, None).await;
        let page = page.expect("a page").into_inner().data;
        messages.extend(page.items.into_iter().map(|message| message.message_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut events = Vec::new();
    loop {
        let given = cursor.as_deref().map(|cursor| cursor.parse().expect("a cursor"));
        let page = client.list_events(given.as_ref(), None, limit, None, None, None).await;
        let page = page.expect("a page").into_inner().data;
        events.extend(page.items.into_iter().map(|event| event.event_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let report = json!({
        "sent": sent, "repeated": repeated, "unknownTemplate": unknown_template, "invalid": invalid,
        "limited": limited, "messages": messages, "events": events, "uploaded": null,
    });
    println!("{report}");
}
