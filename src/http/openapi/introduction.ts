import { apiErrorCodes, describeError } from '../../../contracts/errors.ts'

/** The first page of the documentation, in Markdown. */
export function writeIntroduction(): string {
  const rows = apiErrorCodes.map((code) => {
    const { status, summary } = describeError(code)
    return `| \`${code}\` | ${status} | ${summary} |`
  })
  return `${guide}\n\n| Code | HTTP | When |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

const guide = `Sends pre-approved WhatsApp template messages, one call for one recipient, and reports delivery, reads and failures.

## First call

Every request carries the API key of the account in the header \`X-API-Key\`. Keep it on the server side: whoever has it can send in your name.

\`\`\`sh
curl $WAYBILL_URL/api/v1/message/send \\
  -H "X-API-Key: $WAYBILL_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "to": "34600111222",
    "template": "order_shipped",
    "language": "en",
    "variables": {"1": "Ada", "2": "WB-1042"}
  }'
\`\`\`

To see what a recipient would read without sending anything, give the same body to \`/api/v1/message/preview\`.

## Answers

A success is \`{"success": true, "data": …}\`, a failure \`{"success": false, "error": {"code": …, "message": …}}\`, whatever went wrong. Programs read \`code\`, people read \`message\`. Answers may gain fields; ignore those you do not know.

## Retries

A request that failed with 409, 429 or 503 was not sent: wait as long as \`Retry-After\` says, then repeat it. After a broken connection, 500 or 504 a message may have been sent; give each send an \`Idempotency-Key\` of your own and a retry never sends twice.

## Webhooks

Each event is one POST to your endpoint, signed as Standard Webhooks says (standardwebhooks.com): to verify it, give the raw body, the three \`webhook-\` headers and the secret of the endpoint to a Standard Webhooks library, which exists for most languages. It takes the HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\` under the bytes whose base64 follows \`whsec_\`, compares it with each of the space-separated signatures in \`webhook-signature\`, and refuses a timestamp that is more than five minutes off. Answer 2xx within 15 seconds, and remember the \`webhook-id\` of what you have handled: an event can arrive more than once, and later than one that happened after it.

## Rate limit

An account may send 60 messages per minute unless it was given another limit. \`RateLimit\` says what is left, \`RateLimit-Policy\` what the limit is.

## Errors`
