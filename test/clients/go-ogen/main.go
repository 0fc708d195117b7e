package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	ht "github.com/ogen-go/ogen/http"

	"example.com/sender/waybill"
)

type failure struct {
	Status     int    `json:"status"`
	Code       string `json:"code"`
	RetryAfter *int   `json:"retryAfter,omitempty"`
}

var ctx = context.Background()

type key string

func (name key) ApiKey(context.Context, waybill.OperationName) (waybill.ApiKey, error) {
	return waybill.ApiKey{APIKey: os.Getenv(string(name))}, nil
}

func connect(name key) *waybill.Client {
	client, err := waybill.NewClient(os.Getenv("WAYBILL_URL"), name)
	check(err)
	return client
}

func body(to, template string) *waybill.SendMessageRequest {
	variables := waybill.NewOptVariables(waybill.Variables{"1": "Ada", "2": "WB-1042"})
	return &waybill.SendMessageRequest{To: waybill.NewOptString(to), Template: template, Language: "en", Variables: variables}
}

func send(client *waybill.Client) string {
	params := waybill.SendMessageParams{IdempotencyKey: waybill.NewOptString("order-1042-shipped")}
	response, err := client.SendMessage(ctx, body("34600111222", "order_shipped"), params)
	check(err)
	return response.(*waybill.SentMessageResponseHeaders).Response.Data.MessageId
}

func fail(client *waybill.Client, request *waybill.SendMessageRequest) *failure {
	response, err := client.SendMessage(ctx, request, waybill.SendMessageParams{})
	check(err)
	switch answer := response.(type) {
	case *waybill.BadRequestNoActiveAccountHeaders:
		return &failure{Status: 400, Code: string(answer.Response.Error.Code)}
	case *waybill.NotFoundHeaders:
		return &failure{Status: 404, Code: string(answer.Response.Error.Code)}
	case *waybill.SendMessageTooManyRequests:
		return &failure{Status: 429, Code: string(answer.Response.Error.Code), RetryAfter: &answer.RetryAfter.Value}
	default:
		return nil
	}
}

func upload(client *waybill.Client) string {
	file, err := os.Open(os.Getenv("WAYBILL_FILE"))
	check(err)
	request := &waybill.UploadMediaReq{
		File:     ht.MultipartFile{Name: "invoice.pdf", File: file},
		Filename: waybill.NewOptString("Invoice 7.pdf"),
	}
	response, err := client.UploadMedia(ctx, request)
	check(err)
	return response.(*waybill.MediaResponseHeaders).Response.Data.MediaId
}

func main() {
	client := connect("WAYBILL_API_KEY")
	report := map[string]any{"sent": send(client), "repeated": send(client)}
	report["unknownTemplate"] = fail(client, body("34600111222", "no_such_template"))
	report["invalid"] = fail(client, body("+34600111222", "order_shipped"))

	limited := connect("WAYBILL_LIMITED_API_KEY")
	for range 3 {
		if report["limited"] = fail(limited, body("34600111222", "order_shipped")); report["limited"].(*failure) != nil {
			break
		}
	}

	messages, events := []string{}, []string{}
	limit := waybill.NewOptInt(2)
	for cursor := (waybill.OptString{}); ; {
		page, err := client.ListMessages(ctx, waybill.ListMessagesParams{Cursor: cursor, Limit: limit})
		check(err)
		data := page.(*waybill.MessagePageResponseHeaders).Response.Data
		for _, message := range data.Items {
			messages = append(messages, message.MessageId)
		}
		if cursor = data.NextCursor; !cursor.Set {
			break
		}
	}
	for cursor := (waybill.OptString{}); ; {
		page, err := client.ListEvents(ctx, waybill.ListEventsParams{Cursor: cursor, Limit: limit})
		check(err)
		data := page.(*waybill.EventPageResponseHeaders).Response.Data
		for _, event := range data.Items {
			events = append(events, event.EventId)
		}
		if cursor = data.NextCursor; !cursor.Set {
			break
		}
	}
	report["messages"], report["events"], report["uploaded"] = messages, events, upload(client)
	text, err := json.Marshal(report)
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
