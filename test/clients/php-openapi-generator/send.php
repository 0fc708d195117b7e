<?php

use OpenAPI\Client\Api\EventsApi;
use OpenAPI\Client\Api\MediaApi;
use OpenAPI\Client\Api\MessagesApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\SendMessageRequest;

error_reporting(E_ALL & ~E_DEPRECATED);
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $prefix = 'OpenAPI\\Client\\';
    if (str_starts_with($class, $prefix)) {
        require getenv('GENERATED') . '/lib/' . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
    }
});

function connect(string $key): Configuration
{
    return (new Configuration())->setHost(getenv('WAYBILL_URL'))->setApiKey('X-API-Key', getenv($key));
}

function request(array $changes = []): SendMessageRequest
{
    return new SendMessageRequest($changes + [
        'to' => '34600111222',
        'template' => 'order_shipped',
        'language' => 'en',
        'variables' => ['1' => 'Ada', '2' => 'WB-1042'],
    ]);
}

function fail(MessagesApi $messages, SendMessageRequest $request): ?ApiException
{
    try {
        $messages->sendMessage($request);
        return null;
    } catch (ApiException $failure) {
        return $failure;
    }
}

function describe(ApiException $failure): array
{
    return ['status' => $failure->getCode(), 'code' => $failure->getResponseObject()->getError()->getCode()];
}

function pages(callable $fetch, callable $read): array
{
    $items = [];
    $cursor = null;
    do {
        $page = $fetch($cursor)->getData();
        array_push($items, ...array_map($read, $page->getItems()));
        $cursor = $page->getNextCursor();
    } while ($cursor !== null);
    return $items;
}

$configuration = connect('WAYBILL_API_KEY');
$messages = new MessagesApi(null, $configuration);
$events = new EventsApi(null, $configuration);
$send = fn () => $messages->sendMessage(request(), 'order-1042-shipped')->getData()->getMessageId();

$report = ['sent' => $send(), 'repeated' => $send()];
$report['unknownTemplate'] = describe(fail($messages, request(['template' => 'no_such_template'])));
$report['invalid'] = describe(fail($messages, request(['to' => '+34600111222'])));

$limitedMessages = new MessagesApi(null, connect('WAYBILL_LIMITED_API_KEY'));
$limited = fail($limitedMessages, request()) ?? fail($limitedMessages, request()) ?? fail($limitedMessages, request());
// Guzzle keeps the names as they were sent, and HTTP/1.1 servers differ in their case.
$headers = array_change_key_case($limited->getResponseHeaders());
$report['limited'] = describe($limited) + ['retryAfter' => (int) $headers['retry-after'][0]];

$report['messages'] = pages(
    fn ($cursor) => $messages->listMessages(cursor: $cursor, limit: 2),
    fn ($message) => $message->getMessageId(),
);
$report['events'] = pages(
    fn ($cursor) => $events->listEvents(cursor: $cursor, limit: 2),
    fn ($event) => $event->getEventId(),
);
$media = new MediaApi(null, $configuration);
$report['uploaded'] = $media->uploadMedia(new SplFileObject(getenv('WAYBILL_FILE')), 'Invoice 7.pdf')->getData()->getMediaId();
echo json_encode($report), "\n";
