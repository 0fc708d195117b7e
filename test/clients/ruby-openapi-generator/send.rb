require 'json'
require 'openapi_client'

def connect(key)
  configuration = OpenapiClient::Configuration.new
  configuration.scheme = 'http'
  configuration.host = ENV.fetch('WAYBILL_URL').delete_prefix('http://')
  configuration.base_path = ''
  configuration.server_index = nil
  configuration.api_key['X-API-Key'] = ENV.fetch(key)
  OpenapiClient::ApiClient.new(configuration)
end

def request(**changes)
  OpenapiClient::SendMessageRequest.new(
    to: '34600111222', template: 'order_shipped', language: 'en', variables: { '1' => 'Ada', '2' => 'WB-1042' }, **changes
  )
end

def failure(api, request)
  api.send_message(request)
  nil
rescue OpenapiClient::ApiError => error
  error
end

def describe(error)
  answer = OpenapiClient::ErrorResponse.build_from_hash(JSON.parse(error.response_body))
  { status: error.code, code: answer.error.code }
end

def pages
  items = []
  options = { limit: 2 }
  loop do
    page = yield(options).data
    items.concat(page.items)
    return items if page.next_cursor.nil?

    options[:cursor] = page.next_cursor
  end
end

client = connect('WAYBILL_API_KEY')
messages = OpenapiClient::MessagesApi.new(client)
events = OpenapiClient::EventsApi.new(client)
send_once = -> { messages.send_message(request, idempotency_key: 'order-1042-shipped').data.message_id }

report = { sent: send_once.call, repeated: send_once.call }
report[:unknownTemplate] = describe(failure(messages, request(template: 'no_such_template')))
# The model checks patterns in its setters; a hash is sent as it is.
invalid = { to: '+34600111222', template: 'order_shipped', language: 'en' }
report[:invalid] = describe(failure(messages, invalid))

limited_messages = OpenapiClient::MessagesApi.new(connect('WAYBILL_LIMITED_API_KEY'))
limited = 3.times.lazy.filter_map { failure(limited_messages, request) }.first
report[:limited] = describe(limited).merge(retryAfter: limited.response_headers['Retry-After'].to_i)

report[:messages] = pages { |options| messages.list_messages(options) }.map(&:message_id)
report[:events] = pages { |options| events.list_events(options) }.map(&:event_id)
media = OpenapiClient::MediaApi.new(client)
report[:uploaded] = media.upload_media(File.open(ENV.fetch('WAYBILL_FILE')), filename: 'Invoice 7.pdf').data.media_id
puts JSON.generate(report)
