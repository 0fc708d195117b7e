use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::events_api::list_events;
use openapi::apis::media_api::upload_media;
use openapi::apis::messages_api::{list_messages, send_message, SendMessageError};
use openapi::apis::Error;
use openapi::models::SendMessageRequest;
use serde_json::{json, Value};
use std::collections::HashMap;

fn connect(key: &str) -> Configuration {
    let variable = |name: &str| std::env::var(name).expect(name);
    let mut configuration = Configuration::new();
    configuration.base_path = variable("WAYBILL_URL");
    configuration.api_key = Some(ApiKey { prefix: None, key: variable(key) });
    configuration
}

fn request(to: &str, template: &str) -> SendMessageRequest {
    let variables = HashMap::from([("1".to_string(), "Ada".to_string()), ("2".to_string(), "WB-1042".to_string())]);
    SendMessageRequest {
        to: Some(to.to_string()),
        variables: Some(variables),
        ..SendMessageRequest::new(template.to_string(), "en".to_string())
    }
}

async fn send(configuration: &Configuration) -> String {
    let request = request("34600111222", "order_shipped");
    send_message(configuration, request, Some("order-1042-shipped")).await.expect("a message is sent").data.message_id
}

async fn fail(configuration: &Configuration, request: SendMessageRequest) -> Value {
    match send_message(configuration, request, None).await {
        Ok(_) => Value::Null,
        // The entity is an untagged enum of one shape, so every failure is read as its first variant.
        Err(Error::ResponseError(response)) => match response.entity {
            Some(SendMessageError::Status400(answer)) => {
                json!({"status": response.status.as_u16(), "code": answer.error.code})
            }
            other => panic!("{other:?}"),
        },
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = connect("WAYBILL_API_KEY");
    let sent = send(&client).await;
    let repeated = send(&client).await;
    let unknown_template = fail(&client, request("34600111222", "no_such_template")).await;
    let invalid = fail(&client, request("+34600111222", "order_shipped")).await;

    let limited_client = connect("WAYBILL_LIMITED_API_KEY");
    let mut limited = Value::Null;
    for _ in 0..3 {
        limited = fail(&limited_client, request("34600111222", "order_shipped")).await;
        if !limited.is_null() {
            break;
        }
    }
    // The client keeps no header of a failure.
    limited["retryAfter"] = Value::Null;

    let mut messages = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page =
            *list_messages(&client, None, None, None, None, None, None, None, None, cursor.as_deref(), Some(2)).await.expect("a page").data;
        messages.extend(page.items.into_iter().map(|message| message.message_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut events = Vec::new();
    loop {
        let page = *list_events(&client, None, None, None, None, cursor.as_deref(), Some(2)).await.expect("a page").data;
        events.extend(page.items.into_iter().map(|event| event.event_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let file = std::env::var("WAYBILL_FILE").expect("a file").into();
    let media = upload_media(&client, file, Some("Invoice 7.pdf"), None).await.expect("a file is stored").data;
    let report = json!({
        "sent": sent, "repeated": repeated, "unknownTemplate": unknown_template, "invalid": invalid,
        "limited": limited, "messages": messages, "events": events, "uploaded": media.media_id,
    });
    println!("{report}");
}
