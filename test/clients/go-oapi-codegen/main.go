package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"

	"example.com/sender/waybill"
)

type failure struct {
	Status     int    `json:"status"`
	Code       string `json:"code"`
	RetryAfter *int   `json:"retryAfter,omitempty"`
}

var ctx = context.Background()

func connect(key string) *waybill.ClientWithResponses {
	authenticate := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv(key))
		return nil
	}
	client, err := waybill.NewClientWithResponses(os.Getenv("WAYBILL_URL"), waybill.WithRequestEditorFn(authenticate))
	check(err)
	return client
}

func body(to, template string) waybill.SendMessageRequest {
	variables := waybill.Variables{"1": "Ada", "2": "WB-1042"}
	return waybill.SendMessageRequest{To: &to, Template: template, Language: "en", Variables: &variables}
}

func send(client *waybill.ClientWithResponses) string {
	key := "order-1042-shipped"
	response, err := client.SendMessageWithResponse(ctx, &waybill.SendMessageParams{IdempotencyKey: &key}, body("34600111222", "order_shipped"))
	check(err)
	return response.JSON200.Data.MessageId
}

func fail(client *waybill.ClientWithResponses, request waybill.SendMessageRequest) *failure {
	response, err := client.SendMessageWithResponse(ctx, &waybill.SendMessageParams{}, request)
	check(err)
	errors := map[int]*waybill.ErrorResponse{400: response.JSON400, 404: response.JSON404, 429: response.JSON429}
	answer := errors[response.StatusCode()]
	if answer == nil {
		return nil
	}
	found := &failure{Status: response.StatusCode(), Code: answer.Error.Code}
	if seconds, err := strconv.Atoi(response.HTTPResponse.Header.Get("Retry-After")); err == nil {
		found.RetryAfter = &seconds
	}
	return found
}

// The generated client takes the form as a stream.
func upload(client *waybill.ClientWithResponses) string {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	check(form.WriteField("filename", "Invoice 7.pdf"))
	part, err := form.CreateFormFile("file", "invoice.pdf")
	check(err)
	file, err := os.Open(os.Getenv("WAYBILL_FILE"))
	check(err)
	_, err = io.Copy(part, file)
	check(err)
	check(form.Close())
	response, err := client.UploadMediaWithBodyWithResponse(ctx, form.FormDataContentType(), &body)
	check(err)
	return response.JSON200.Data.MediaId
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

	limit := 2
	messages, events := []string{}, []string{}
	for cursor := (*string)(nil); ; {
		page, err := client.ListMessagesWithResponse(ctx, &waybill.ListMessagesParams{Cursor: cursor, Limit: &limit})
		check(err)
		for _, message := range page.JSON200.Data.Items {
			messages = append(messages, message.MessageId)
		}
		if cursor = page.JSON200.Data.NextCursor; cursor == nil {
			break
		}
	}
	for cursor := (*string)(nil); ; {
		page, err := client.ListEventsWithResponse(ctx, &waybill.ListEventsParams{Cursor: cursor, Limit: &limit})
		check(err)
		for _, event := range page.JSON200.Data.Items {
			events = append(events, event.EventId)
		}
		if cursor = page.JSON200.Data.NextCursor; cursor == nil {
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
