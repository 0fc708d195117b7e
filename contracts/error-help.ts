import type { ApiErrorCode } from './errors.ts'

/** Content of an error code's documentation page, in inline Markdown. */
interface ErrorHelp {
  /** What the code means. */
  meaning: string
  /** Causes, most frequent first. */
  causes: readonly string[]
  /** What to do about it. */
  fixes: readonly string[]
  /** Whether the same request can be repeated. */
  retry: string
  /** Guides that explain more. */
  guides: readonly string[]
}

const noRetry = 'Do not repeat the request unchanged: it fails again.'
const notSent = 'Nothing was sent.'

/** The codes of the public API, and the one with which `/mcp` rejects pages of other sites. */
export type DocumentedErrorCode = ApiErrorCode | 'FOREIGN_ORIGIN'

/** One page per code, at `/docs/errors/CODE`. */
export const errorHelp: Readonly<Record<DocumentedErrorCode, ErrorHelp>> = {
  VALIDATION_ERROR: {
    meaning: 'A field, a parameter or a header is missing or malformed. The message starts with its name.',
    causes: [
      '`to` contains a `+`, spaces, hyphens or a leading zero, or it has no country code.',
      'A variable is missing, empty or unknown to the template, or its value contains a line break, a tab or more than four spaces in a row.',
      'A value of `variables` is a number. Values are strings: write `"42"`, not `42`.',
      'The request has a field that does not exist. Misspelled names are rejected, not ignored.',
      'A header, button, card or code that the template needs is missing, or the template has no such part.',
      'The body is not valid JSON.',
    ],
    fixes: [
      'Change the field that the message names.',
      'Check the same body with `POST /api/v1/message/preview`, which sends nothing.',
      'Read the placeholders that a template needs with `GET /api/v1/template/{name}/{language}`.',
    ],
    retry: noRetry,
    guides: ['sending.md', 'templates.md'],
  },
  NO_ACTIVE_ACCOUNT: {
    meaning: 'No WhatsApp account can send this message.',
    causes: [
      'The account has no default WhatsApp account, and the request names none in `accountId`.',
      '`accountId` is not the ID of one of your WhatsApp accounts.',
      'The WhatsApp account is inactive because a user deactivated it or WhatsApp rejected its access token.',
      'WhatsApp does not let the number send, for example because of its billing or registration. The message then contains the error code of WhatsApp.',
    ],
    fixes: [
      'Leave out `accountId` to send from the default account.',
      'In the dashboard under WhatsApp accounts, check the state of the account and its reason.',
      'Replace a rejected access token there, then activate the account.',
    ],
    retry: `${notSent} Repeat the request after the account works again.`,
    guides: ['connecting-whatsapp.md', 'dashboard.md'],
  },
  TEMPLATE_CHANGES_DISABLED: {
    meaning: 'The API key of this account may send and read, but not create, change or delete templates.',
    causes: ['An owner of the account has not allowed it. It is off unless somebody turns it on.'],
    fixes: [
      'In the dashboard under Public API, allow template changes.',
      'On the server, run `waybill account update ACC --template-changes enabled`.',
      'Change templates in the dashboard, or with `waybill template push`.',
    ],
    retry: 'Repeat the request once the account allows template changes.',
    guides: ['creating-templates.md'],
  },
  TEMPLATE_EXISTS: {
    meaning: 'WhatsApp has a template of this name and language already, with other content.',
    causes: [
      'The template was created before, here or in WhatsApp Manager.',
      'A deleted template keeps its name for some weeks.',
    ],
    fixes: ['Change it with `POST /api/v1/template/update`.', 'Choose another name.'],
    retry: noRetry,
    guides: ['creating-templates.md'],
  },
  TEMPLATE_REFUSED: {
    meaning: 'WhatsApp rejected the creation, change or deletion of the template. Nothing was changed.',
    causes: [
      'The text breaks a rule of WhatsApp that it does not publish exactly, such as the number of words for each variable.',
      'The template is in review: only templates that are APPROVED, REJECTED or PAUSED can be changed.',
      'The business account has reached its number of templates at WhatsApp, or the account its quota (`WAYBILL_TEMPLATE_QUOTA`).',
      'The access token lacks the permission `whatsapp_business_management`.',
    ],
    fixes: ['Follow the message: it says what to change, and quotes WhatsApp with its code.'],
    retry: noRetry,
    guides: ['creating-templates.md'],
  },
  INVALID_API_KEY: {
    meaning: 'The request has no API key, or the key belongs to no account.',
    causes: [
      'The header `X-API-Key` is missing. The key does not go into `Authorization`.',
      'The key was replaced or revoked. The old key stops working immediately.',
      'The value contains quotes, a line break or spaces from a configuration file.',
      'The key belongs to another Waybill server.',
    ],
    fixes: [
      'Send the header `X-API-Key: wb_live_…`.',
      'Generate a new key in the dashboard under Settings > Public API. It is shown once.',
      'If keys are replaced while your program runs, let it read the key again and repeat the request.',
    ],
    retry: `${notSent} Do not repeat the request with the same API key: it fails again.`,
    guides: ['index.md', 'api.md#replace-the-api-key'],
  },
  API_DISABLED: {
    meaning: 'The key is correct, but API access is disabled for its account, or MCP is.',
    causes: [
      'An owner or an operator disabled API access.',
      'The call went to `/mcp`, and MCP is off for the account, as it is by default.',
      'An operator suspended the account.',
    ],
    fixes: [
      'Enable API access, or MCP, in the dashboard under Settings > Public API.',
      'If the account is suspended, ask the operator of the server to resume it.',
    ],
    retry: `${notSent} Repeat the request after API access is enabled again.`,
    guides: ['dashboard.md', 'mcp.md'],
  },
  IP_NOT_ALLOWED: {
    meaning: 'The account has an IP allow-list, and the address that sent the request is not on it.',
    causes: [
      'The server that called has a new address, for example after a deployment.',
      'Requests leave through a NAT gateway or a proxy with another address.',
      'Waybill runs behind a reverse proxy and `TRUST_PROXY` does not list it, so that every request appears to come from the proxy.',
    ],
    fixes: [
      'Add the address in the message, or its range, to the allow-list in the dashboard under Settings > Public API.',
      'If it is the address of your reverse proxy, ask the operator to set `TRUST_PROXY`.',
    ],
    retry: `${notSent} Repeat the request after the address is allowed. Rejected requests do not count towards the rate limit.`,
    guides: ['dashboard.md#ip-allow-list', 'deploying.md#reverse-proxy'],
  },
  TEMPLATE_NOT_FOUND: {
    meaning: 'There is no approved template with this name in this language in the WhatsApp account that would send.',
    causes: [
      'The name or the language is misspelled. `en` and `en_US` are different languages. The message suggests the nearest template that exists.',
      'The template is not approved: its status is `PENDING`, `REJECTED`, `PAUSED` or `DISABLED`. The message names the status.',
      'The template belongs to another WhatsApp Business Account than the number that sends.',
      'The template is new, and the templates have not been synced since.',
    ],
    fixes: [
      'List your templates with `GET /api/v1/template` and copy the name and the language.',
      'Sync the templates in the dashboard after creating one. Waybill also reads them every 30 minutes.',
      'If the template is paused, wait until WhatsApp activates it again, or send another one.',
    ],
    retry: `${notSent} Repeat the request after the template is approved.`,
    guides: ['templates.md'],
  },
  MESSAGE_NOT_FOUND: {
    meaning: 'This account has no message with this ID.',
    causes: [
      'The ID belongs to another account or another server.',
      'The ID is a `waMessageId` or an `externalId`. This route takes the `messageId`, which starts with `msg_`.',
      'The message is older than the retention period of the server.',
    ],
    fixes: [
      'Use the `messageId` that the send returned.',
      'Find a message by your own reference with `GET /api/v1/message?externalId=…`.',
    ],
    retry: noRetry,
    guides: ['sending.md'],
  },
  MEDIA_NOT_FOUND: {
    meaning: 'This account has no uploaded file with this ID.',
    causes: [
      'The file was deleted, or it has expired.',
      'The ID belongs to another account or another server.',
      "The ID is WhatsApp's own, which consists of digits. This route takes the `mediaId` of an upload, which starts with `med_`.",
    ],
    fixes: ['Upload the file again and use the new `mediaId`.'],
    retry: noRetry,
    guides: ['media.md'],
  },
  CODE_NOT_FOUND: {
    meaning: 'No one-time code is waiting to be checked for this recipient and purpose.',
    causes: [
      'The code was used: a code is accepted once, and a form that is submitted twice checks it twice.',
      'No code was sent, or its sending failed.',
      '`to` or `purpose` differ from those of `code.send`.',
      'The code expired more than an hour ago.',
    ],
    fixes: ['Send a new code.', 'Disable the button of the form after the first click.'],
    retry: noRetry,
    guides: ['one-time-codes.md'],
  },
  NOT_FOUND: {
    meaning: 'No route has this path.',
    causes: ['The path is misspelled or lacks the prefix `/api/v1`.', 'The base URL ends with a path of its own.'],
    fixes: ['Compare the path with the API reference at `/docs/api`.'],
    retry: noRetry,
    guides: ['api.md'],
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The route exists, but it does not accept this HTTP method.',
    causes: [
      'The client sent GET where the route takes POST, or the other way round.',
      'A redirect from http to https turned a POST into a GET.',
    ],
    fixes: ['Use one of the methods in the `Allow` header.', 'Call the https address directly.'],
    retry: noRetry,
    guides: ['api.md'],
  },
  IDEMPOTENCY_KEY_IN_USE: {
    meaning: 'Another request with the same `Idempotency-Key` has not finished yet.',
    causes: [
      'A client retried before the first request ended, for example after a short timeout of its own.',
      'Two workers process the same job.',
      'The process that handled the first request was interrupted. The key is released within 10 seconds, or after a minute if the outcome is unknown.',
    ],
    fixes: [
      'Wait for the seconds in `Retry-After` and repeat the request with the same key.',
      'Use a timeout of at least 30 seconds in the client.',
    ],
    retry: 'Repeat the same request with the same key after `Retry-After`. The message is sent once.',
    guides: ['idempotency.md'],
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The request body is larger than 64 KiB, or an uploaded file is larger than WhatsApp accepts.',
    causes: [
      'The body contains data that does not belong there, such as a file or a list of recipients.',
      'An uploaded image is larger than 5 MB, a video than 16 MB or a document than 100 MB.',
    ],
    fixes: [
      'Send one message per request, with the values of the placeholders only.',
      'Upload files with `POST /api/v1/media/upload`, and compress those that are too large.',
    ],
    retry: `${notSent} ${noRetry}`,
    guides: ['sending.md', 'media.md'],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The request body is not JSON in UTF-8, it is compressed, or no template can show an uploaded file.',
    causes: [
      'The header `Content-Type` is missing or names another type, such as `application/x-www-form-urlencoded`.',
      'The header names a charset other than UTF-8, or `Content-Encoding` is set.',
      'The content of an uploaded file does not match its name, such as a web page named `photo.jpg`.',
    ],
    fixes: [
      'Send `Content-Type: application/json` and an uncompressed body.',
      'Upload a JPEG or PNG image, an MP4 or 3GPP video, a PDF, an Office document or plain text.',
    ],
    retry: `${notSent} ${noRetry}`,
    guides: ['sending.md', 'media.md'],
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The `Idempotency-Key` was used before, with a different request body.',
    causes: [
      'The key is the same for different messages, for example a customer number or a constant.',
      'A retry builds its body anew and a value changed, such as a time.',
    ],
    fixes: [
      'Derive the key from the event that causes the message, such as `order-1042-shipped`.',
      'Store the body with the job and send the stored body on each retry.',
    ],
    retry: `${notSent} Repeat the request with a new key only if it is a new message.`,
    guides: ['idempotency.md'],
  },
  MESSAGE_REJECTED: {
    meaning:
      "WhatsApp rejected this message permanently. `failureCode` is WhatsApp's error code, `messageId` the stored message.",
    causes: [
      'The recipient cannot be reached: the number is not on WhatsApp (`131026`).',
      'WhatsApp withholds marketing messages from the recipient (`131049`, `131050`, `130472`).',
      'The values of the variables violate a policy or do not fit the template (`132007`, `132000`).',
    ],
    fixes: ["Open the page of WhatsApp's error code and follow its advice."],
    retry: `${noRetry} With the same \`Idempotency-Key\`, you get the same error again.`,
    guides: ['errors.md'],
  },
  MEDIA_DOWNLOAD_FAILED: {
    meaning: 'Waybill could not download the file behind `link`. Nothing was stored.',
    causes: [
      'The server answered with an error, or with a redirect, which is not followed.',
      'The server did not answer in time, sent too slowly, or sent fewer bytes than it announced.',
      'The host does not exist, or it has a private address.',
      'The certificate of the server is not valid.',
    ],
    fixes: [
      'Open the link in a browser without being signed in, and use the address that it ends at.',
      'Upload the file itself with `POST /api/v1/media/upload`.',
    ],
    retry: 'Repeat the request after the link works.',
    guides: ['media.md'],
  },
  MEDIA_QUOTA_EXCEEDED: {
    meaning: 'The stored files of this account would exceed its quota.',
    causes: ['Many different files are uploaded, for example one document per recipient, and none is deleted.'],
    fixes: [
      'Delete files that you no longer need with `POST /api/v1/media/delete`.',
      'Send files that are used once by `link` instead.',
      'Ask the operator for a higher quota (`WAYBILL_MEDIA_QUOTA_MB`) or an earlier expiry.',
    ],
    retry: 'Repeat the request after files were deleted or have expired.',
    guides: ['media.md', 'configuration.md'],
  },
  SUPPRESSION_QUOTA_EXCEEDED: {
    meaning:
      'The suppression list of this account would have more recipients than its quota. Nothing was added. Opt-outs of recipients are still stored.',
    causes: ['The list has as many recipients as the quota allows, opt-outs of recipients included.'],
    fixes: [
      'Remove recipients whom you no longer need on the list with `POST /api/v1/suppression/remove`.',
      'Ask the operator for a higher quota (`WAYBILL_SUPPRESSION_QUOTA`).',
    ],
    retry: 'Repeat the request after recipients were removed or the quota was raised.',
    guides: ['opt-outs.md', 'configuration.md'],
  },
  MEDIA_REJECTED: {
    meaning: "WhatsApp rejected a file. The message contains WhatsApp's error code and its reason.",
    causes: [
      'WhatsApp does not accept the content of the file, for example because it is damaged.',
      'An uploaded file was uploaded to WhatsApp again for a send, and WhatsApp rejected it this time.',
    ],
    fixes: ['Open the file in a common program, save it again in a supported format, and upload it again.'],
    retry: `${notSent} ${noRetry}`,
    guides: ['media.md'],
  },
  RECIPIENT_SUPPRESSED: {
    meaning:
      'The recipient is on the suppression list of the account, and the category of the template is stopped, or all messages to this recipient are.',
    causes: [
      'The recipient sent a word such as STOP or tapped a button with such a label.',
      'The recipient stopped marketing messages of your business in WhatsApp, or WhatsApp rejected a message for that (`131050`).',
      'You added the number to the suppression list.',
    ],
    fixes: [
      'Do not send marketing messages to this recipient.',
      'If the recipient agreed to get them again, remove the number with `POST /api/v1/suppression/remove`.',
      'If the template is not advertising, check its category. By default, only MARKETING templates are stopped.',
    ],
    retry: `${notSent} ${noRetry}`,
    guides: ['opt-outs.md'],
  },
  CODE_INCORRECT: {
    meaning: 'The code that the user typed is not the one that was sent last.',
    causes: ['The user mistyped it.', 'The user typed an earlier code: a new code replaces the one before.'],
    fixes: ['Let the user type it again. The message says how many attempts are left.'],
    retry: 'Check again with what the user types next. Every check takes an attempt.',
    guides: ['one-time-codes.md'],
  },
  CODE_EXPIRED: {
    meaning: 'The code was sent longer ago than `expiresInSeconds`.',
    causes: ['The user typed it too late, or the message was delivered late.'],
    fixes: ['Send a new code.', 'Choose a longer `expiresInSeconds`, of at most an hour.'],
    retry: noRetry,
    guides: ['one-time-codes.md'],
  },
  CODE_ATTEMPTS_EXCEEDED: {
    meaning: 'The code was checked as often as `maxAttempts` allows. Even the right code is no longer accepted.',
    causes: ['The user mistyped it several times.', 'Somebody tries to guess it.'],
    fixes: ['Send a new code.'],
    retry: noRetry,
    guides: ['one-time-codes.md'],
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: 'The account sent more requests than a limit allows, or its reads cause too much work.',
    causes: [
      'More sends per minute than the limit in `RateLimit-Policy` (60 by default).',
      'Many reads at the same time. They wait for a second, then fail.',
      'More uploads of files at the same time than the server allows.',
      'More new templates per hour, or more checks at WhatsApp per minute, than an account may cause.',
      'A second change of an approved template within 24 hours, which WhatsApp does not allow.',
      'A second export of messages while one is running.',
    ],
    fixes: [
      'Wait for the seconds in `Retry-After`, then continue.',
      'Send from a queue that follows the remaining quota in `RateLimit`.',
      'Receive webhooks instead of polling messages.',
      'Ask the operator for a higher limit.',
    ],
    retry: `${notSent} Repeat the same request after \`Retry-After\`.`,
    guides: ['rate-limits.md', 'webhooks.md', 'creating-templates.md', 'pagination.md'],
  },
  CODE_LIMIT_EXCEEDED: {
    meaning: 'A limit of one-time codes is reached, which protects recipients from floods and codes from guesses.',
    causes: [
      'Another code was sent to the same recipient less than 30 seconds ago, or five codes within an hour of which none was used.',
      'Twenty codes were requested from the same `clientIp` within an hour, or thirty wrong codes were checked.',
      '`clientIp` is the address of your server or proxy instead of that of your user.',
    ],
    fixes: [
      'Show the user when another code can be sent: `resendAt` in the response, or `Retry-After`.',
      'Pass the address of your user in `clientIp`.',
    ],
    retry: `${notSent} Repeat the request after \`Retry-After\`.`,
    guides: ['one-time-codes.md'],
  },
  WHATSAPP_THROTTLED: {
    meaning: 'WhatsApp does not accept more messages from this sender, or to this recipient, for now.',
    causes: [
      'Too many messages per second from the number (`130429`).',
      'More than one message every six seconds to the same recipient (`131056`).',
      'Recipients blocked or reported earlier messages (`131048`).',
      'Too many API calls of the app or of the WhatsApp Business Account (`4`, `80007`, `80008`), or any answer with HTTP 429.',
    ],
    fixes: [
      'Wait for the seconds in `Retry-After`.',
      'Send more slowly. For `131048`, check who receives your messages.',
    ],
    retry: `${notSent} Repeat the same request after \`Retry-After\`.`,
    guides: ['idempotency.md'],
  },
  INTERNAL_ERROR: {
    meaning: 'Waybill failed unexpectedly. The message contains the ID of the request.',
    causes: ['A defect in Waybill or in its environment.'],
    fixes: [
      'Report the request ID to the operator, who finds the details in the log of the server.',
      'Use an `Idempotency-Key` for each send, so that a retry is safe.',
    ],
    retry: 'The message may have been sent. Repeat the request only with the same `Idempotency-Key`.',
    guides: ['idempotency.md', 'operating.md'],
  },
  WHATSAPP_UNAVAILABLE: {
    meaning: 'WhatsApp could not be reached, or it could not process the request. Nothing was sent.',
    causes: ['An outage or maintenance at WhatsApp.', 'The server has no connection to `graph.facebook.com`.'],
    fixes: [
      'Wait for the seconds in `Retry-After`.',
      'If it persists, check metastatus.com and run `waybill doctor` on the server.',
    ],
    retry: 'Repeat the same request after `Retry-After`, with increasing waits.',
    guides: ['idempotency.md', 'operating.md'],
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'Waybill or its database is unavailable or overloaded. Nothing was sent.',
    causes: [
      'The database is restarting or unreachable.',
      'The process handles too many requests at the same time.',
      'The process is shutting down.',
      'The request or its file did not arrive in time, because the connection is slow.',
    ],
    fixes: ['Wait for the seconds in `Retry-After`.', 'If it persists, tell the operator: `/readyz` shows the state.'],
    retry: 'Repeat the same request after `Retry-After`, with increasing waits.',
    guides: ['idempotency.md', 'operating.md'],
  },
  SEND_OUTCOME_UNKNOWN: {
    meaning: 'The request was written to WhatsApp, but no response is known. The message may have been sent.',
    causes: [
      'The connection to WhatsApp broke before its response arrived.',
      'The server was interrupted while it waited for the response.',
      'WhatsApp sent a response that cannot be read.',
    ],
    fixes: [
      'Repeat the request with the same `Idempotency-Key`. Once a status arrives, it returns the result.',
      'Wait for the webhook: a status settles the message. If none arrives within an hour, `message.outcome_unknown` reports it.',
      'An operator can record the outcome with `waybill message resolve`.',
    ],
    retry:
      'Repeat the request only with the same `Idempotency-Key`. Without one, the recipient may get the message twice.',
    guides: ['idempotency.md', 'operating.md#messages-with-an-unknown-outcome'],
  },
  FOREIGN_ORIGIN: {
    meaning: "A page of another site sent the request: its `Origin` is not the server's own address.",
    causes: [
      "A web page calls `/mcp` from a visitor's browser. Any page could do so, and reach servers in the visitor's network.",
      '`WAYBILL_PUBLIC_URL` is not the address under which users open the dashboard, so the dashboard counts as another site.',
      'A sandboxed frame or a file in the browser sends `Origin: null`.',
    ],
    fixes: [
      'Call `/mcp` from a program outside the browser: it sends no `Origin`.',
      'Set `WAYBILL_PUBLIC_URL` to the address that users open, with its scheme and port.',
    ],
    retry: noRetry,
    guides: ['mcp.md', 'configuration.md'],
  },
}

// The cast is needed because `Object.keys` returns `string[]`.
export const documentedErrorCodes = Object.keys(errorHelp) as DocumentedErrorCode[]
