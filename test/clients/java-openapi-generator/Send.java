import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.MediaApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.SendMessageRequest;

public class Send {
  static ApiClient connect(String key) {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("WAYBILL_URL"));
    client.setRequestInterceptor(request -> request.header("X-API-Key", System.getenv(key)));
    return client;
  }

  static SendMessageRequest request(String to, String template) {
    return new SendMessageRequest().to(to).template(template).language("en").variables(Map.of("1", "Ada", "2", "WB-1042"));
  }

  static String send(MessagesApi messages) throws ApiException {
    return messages.sendMessage(request("34600111222", "order_shipped"), "order-1042-shipped").getData().getMessageId();
  }

  static ApiException fail(MessagesApi messages, SendMessageRequest request) {
    try {
      messages.sendMessage(request, null);
      return null;
    } catch (ApiException failure) {
      return failure;
    }
  }

  static Map<String, Object> describe(ApiException failure) throws Exception {
    var answer = ApiClient.createDefaultObjectMapper().readValue(failure.getResponseBody(), ErrorResponse.class);
    var described = new LinkedHashMap<String, Object>();
    described.put("status", failure.getCode());
    described.put("code", answer.getError().getCode());
    return described;
  }

  public static void main(String[] args) throws Exception {
    var client = connect("WAYBILL_API_KEY");
    var messages = new MessagesApi(client);
    var report = new LinkedHashMap<String, Object>();
    report.put("sent", send(messages));
    report.put("repeated", send(messages));
    report.put("unknownTemplate", describe(fail(messages, request("34600111222", "no_such_template"))));
    report.put("invalid", describe(fail(messages, request("+34600111222", "order_shipped"))));

    var limitedMessages = new MessagesApi(connect("WAYBILL_LIMITED_API_KEY"));
    ApiException limited = null;
    for (int count = 0; count < 3 && limited == null; count++)
      limited = fail(limitedMessages, request("34600111222", "order_shipped"));
    var described = describe(limited);
    described.put("retryAfter", Integer.parseInt(limited.getResponseHeaders().firstValue("Retry-After").get()));
    report.put("limited", described);

    List<String> ids = new ArrayList<>();
    String cursor = null;
    do {
      var page = messages.listMessages(null, null, null, null, null, null, null, null, cursor, 2).getData();
      for (var message : page.getItems()) ids.add(message.getMessageId());
      cursor = page.getNextCursor();
    } while (cursor != null);
    report.put("messages", ids);

    List<String> events = new ArrayList<>();
    do {
      var page = new EventsApi(client).listEvents(null, null, null, null, cursor, 2).getData();
      for (var event : page.getItems()) events.add(event.getEventId());
      cursor = page.getNextCursor();
    } while (cursor != null);
    report.put("events", events);
    var file = new File(System.getenv("WAYBILL_FILE"));
    report.put("uploaded", new MediaApi(client).uploadMedia(file, "Invoice 7.pdf", null).getData().getMediaId());
    System.out.println(new ObjectMapper().writeValueAsString(report));
  }
}
