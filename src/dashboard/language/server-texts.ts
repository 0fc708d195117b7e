import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/**
 * What the server says in English, with its values in braces: advice on failures, findings, problems of templates, audit
 * log entries and errors. A text that is not here is shown as it came.
 */
export const serverTexts: readonly MessageDescriptor[] = [
  // From http/api/errors.ts.
  msg({ message: 'Internal error. Contact whoever operates this server, and include the request ID {requestId}.' }),
  // From accounts/whatsapp/active-account.ts.
  msg({ message: 'The WhatsApp account {id} is inactive: {inactiveReason}.' }),
  // From accounts/whatsapp/add.ts.
  msg({ message: 'Phone number ID {phoneNumberId} is already in use.' }),
  msg({ message: 'phone number ID' }),
  msg({ message: "The {name} must be digits only, as shown in Meta's WhatsApp Manager. It is not the phone number." }),
  msg({ message: 'The {name} is empty or contains a space or another invalid character.' }),
  // From accounts/whatsapp/change.ts.
  msg({ message: '{id} is the default WhatsApp account. Make another one the default first.' }),
  // From accounts/whatsapp/phone-number.ts.
  msg({ message: 'WhatsApp does not show this phone number to this access token' }),
  msg({ message: 'WhatsApp does not show this WhatsApp Business Account to this access token' }),
  msg({
    message:
      'The access token could not be verified with WhatsApp: {reason}. Nothing was stored. Try again in a moment.',
  }),
  msg({ message: 'WhatsApp rejects this access token ({words}).' }),
  msg({ message: '{denied} ({words}). Check the ID and the permissions of the token.' }),
  // From accounts/whatsapp/refusals.ts.
  msg({ message: 'WhatsApp disabled a business account' }),
  // From accounts/whatsapp/store.ts.
  msg({ message: 'WhatsApp disabled the business account' }),
  // From accounts/whatsapp/whatsapp-account.ts.
  msg({ message: 'deactivated by a user' }),
  msg({ message: 'WhatsApp account {value} was not found.' }),
  // From accounts/ip-allow-list.ts.
  msg({
    message:
      '{value} is neither an IP address nor a CIDR range, such as 192.0.2.10, 192.0.2.0/24 or 2001:db8::/32. The allow-list is unchanged.',
  }),
  // From accounts/api-key.ts.
  msg({ message: 'Account {accountId} already has an API key.' }),
  // From webhooks/alerts/account-texts.ts.
  msg({ message: 'phone number ID {phoneNumberId}' }),
  msg({ message: '{number} can no longer send' }),
  msg({ message: 'A user deactivated the WhatsApp account {number}.' }),
  msg({ message: 'WhatsApp rejected the WhatsApp account {number}: {reason}' }),
  msg({ message: 'It is the default, so requests that do not set accountId are rejected.' }),
  msg({ message: 'Requests that set its accountId are rejected.' }),
  msg({ message: '{number} can send again' }),
  msg({ message: 'The WhatsApp account {number} is active again.' }),
  msg({ message: 'The access token of {number} {value1}' }),
  msg({ message: 'The access token of the WhatsApp account {number} expires at {value1}.' }),
  msg({ message: 'Replace the token before then, or this account can no longer send messages.' }),
  msg({ message: 'The quality rating of {number} is now {qualityRating}' }),
  msg({ message: 'WhatsApp rates {number} {qualityRating} by how often recipients block or report its messages.' }),
  msg({
    message:
      'A low rating can lower the messaging limit. Send less often, or change the templates that recipients report.',
  }),
  msg({ message: 'expires within a day' }),
  msg({ message: 'The access token of {number} was renewed' }),
  msg({ message: 'The WhatsApp account {number} has a new access token.' }),
  // From webhooks/alerts/endpoints.ts.
  msg({ message: 'The webhook endpoint at {host} works again' }),
  msg({ message: 'The webhook endpoint at {host} fails' }),
  msg({ message: 'The webhook endpoint at {host} was disabled' }),
  msg({ message: 'Events are delivered to {name} again.' }),
  msg({ message: 'Deliveries to {name} have failed since {since}.' }),
  msg({ message: 'Deliveries to {name} have failed for several minutes.' }),
  msg({ message: 'Waybill disabled the endpoint at {name}.' }),
  msg({ message: 'Waybill disabled the endpoint at {name}: {reason}.' }),
  msg({
    message:
      'Messages are still sent, but your system does not receive their statuses. Waybill retries the deliveries. Ask your developers to check the endpoint.',
  }),
  msg({
    message:
      'Messages are still sent, but your system does not receive their statuses. Deliveries wait until the endpoint is enabled. Fix the receiving server, then enable the endpoint.',
  }),
  // From webhooks/alerts/templates.ts.
  msg({ message: 'WhatsApp rejected the template {name}' }),
  msg({ message: 'The reason is {reason}.' }),
  msg({ message: 'Change the template and submit it again.' }),
  msg({ message: 'Recipients block or report it too often. It cannot be sent.' }),
  msg({ message: 'Send it only to people who expect it, or change it.' }),
  msg({ message: 'The template {name} is approved again' }),
  msg({ message: 'It can be sent.' }),
  // From webhooks/alerts/upcoming-categories.ts.
  msg({ message: 'WhatsApp will reject the template {name}' }),
  msg({ message: 'WhatsApp will change the category of the template {name}' }),
  msg({ message: 'It belongs in the category {category}.' }),
  msg({ message: 'The new category is {category}.' }),
  msg({ message: 'It takes effect at {time}.' }),
  msg({ message: 'Delivered messages of the last 30 days: {messages}.' }),
  msg({
    message: 'Delivered messages of the last 30 days: {messages}. They cost {amount}, and would have cost {newAmount}.',
  }),
  msg({ message: 'Create it again in that category, and send the new one.' }),
  msg({
    message: 'To keep the category, change the template before that day, or request a review in WhatsApp Manager.',
  }),
  msg({ message: 'The announced change of the template {name} is over' }),
  msg({ message: 'Its category is {category}.' }),
  // From webhooks/alerts/notices.ts.
  msg({ message: 'WhatsApp has restricted {name}' }),
  msg({ message: 'WhatsApp has warned {name}' }),
  msg({ message: 'WhatsApp reported a problem of {name}' }),
  msg({ message: 'WhatsApp reported: {notices}.' }),
  msg({ message: 'WhatsApp delivers no templates until the restriction ends.' }),
  msg({
    message: 'Check the reason in Business Support Home in Meta Business Suite, and request a review if it is wrong.',
  }),
  msg({ message: 'What WhatsApp reported about {name} is over' }),
  msg({ message: 'No restriction, warning or alert of WhatsApp is left.' }),
  // From webhooks/alerts/rules/thresholds.ts.
  msg({ message: 'The messaging limit of {name} is reached' }),
  msg({ message: 'The messaging limit of {name} is near' }),
  msg({
    message:
      'The numbers of this business portfolio addressed at least {people} people in the last 24 hours. WhatsApp allows {limit}.',
  }),
  msg({ message: 'WhatsApp may not deliver messages to more people.' }),
  msg({ message: 'The messaging limit of {name} is no longer near' }),
  msg({ message: 'WhatsApp limits the numbers of this business portfolio no longer.' }),
  msg({ message: '{value}% of the messages of {name} fail' }),
  msg({ message: 'Open a failed message to see what its code means and what to do.' }),
  msg({ message: 'The messages of {name} fail less often' }),
  msg({ message: '{failed} of {total} messages of the last hour failed.' }),
  msg({ message: 'Webhook deliveries are late' }),
  msg({ message: 'Messages are still sent; only their status webhooks are late.' }),
  msg({ message: 'The oldest delivery has been due for {value} seconds.' }),
  msg({
    message:
      'A slow endpoint delays its own deliveries. If none is slow, ask your operator whether the workers keep up.',
  }),
  msg({ message: 'Webhook deliveries are on time again' }),
  msg({ message: 'No delivery is late.' }),
  msg({ message: 'No statuses arrive for {name}' }),
  msg({ message: 'WhatsApp accepted a message more than ten minutes ago, and no status has arrived since.' }),
  msg({
    message: 'WhatsApp accepted {withoutStatus} messages more than ten minutes ago, and no status has arrived since.',
  }),
  msg({ message: 'Messages are still sent, but Waybill cannot tell whether they arrive.' }),
  msg({
    message:
      'Check the callback URL of the app and the subscription in the setup of this WhatsApp account. If both are correct, WhatsApp may have an outage.',
  }),
  msg({ message: 'Statuses arrive again for {name}' }),
  msg({ message: 'WhatsApp reports the statuses of messages again.' }),
  // From fields.ts.
  msg({ message: 'must not be empty' }),
  msg({ message: 'must have at most {maxLength} characters' }),
  msg({ message: 'must not contain control characters' }),
  msg({
    message:
      'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222)',
  }),
  msg({ message: 'must be a template language code such as en or en_US (with an underscore)' }),
  msg({ message: 'must be an error code such as 131026, WHATSAPP_UNAVAILABLE or UNKNOWN' }),
  msg({ message: 'must be a whole number' }),
  msg({ message: 'must be at least 1' }),
  msg({ message: 'must be at most 100' }),
  msg({ message: 'must be at most 10000' }),
  // From users/change-member.ts.
  msg({ message: '{email} is the last owner of this account. Make somebody else an owner first.' }),
  // From users/invitation.ts.
  msg({ message: 'is not valid' }),
  msg({ message: 'must be your current password, because you can already sign in to this server' }),
  msg({ message: 'is required' }),
  // From dashboard/webhook.ts.
  msg({ message: 'must be a whole number from 1 to {max}' }),
  msg({ message: 'must name at least one event' }),
  // From dashboard/whatsapp-account.ts.
  msg({ message: 'must be digits only, as WhatsApp Manager shows it; it is not the telephone number' }),
  msg({ message: 'must not be empty or hold a space' }),
  // From messages/send/decide.ts.
  msg({ message: 'The template {value} in language {language} is not approved: its status is {status}.' }),
  // From dashboard/connect.ts.
  msg({ message: 'must be six digits' }),
  // From webhooks/endpoints/add.ts.
  msg({ message: 'An account can have at most {maxEndpoints} endpoints. Remove one first.' }),
  // From webhooks/endpoints/address.ts.
  msg({
    message:
      'must be an https URL with a public host that exists, without user name, password or fragment, such as https://example.com/webhooks',
  }),
  // From webhooks/endpoints/endpoint.ts.
  msg({ message: 'Endpoint {value} was not found.' }),
  // From webhooks/endpoints/rules.ts.
  msg({ message: 'The URL of an endpoint {value}.' }),
  // From http/limits/test-calls.ts.
  msg({
    message:
      'This account may send {limit} tests to its chat and endpoints per minute. Try again in {seconds} seconds.',
  }),
  msg({
    message: 'This account may send {limit} tests to its chat and endpoints per hour. Try again in {seconds} seconds.',
  }),
  msg({
    message: 'You may test or change your alert emails {limit} times per minute. Try again in {seconds} seconds.',
  }),
  msg({ message: 'You may test or change your alert emails {limit} times per hour. Try again in {seconds} seconds.' }),
  // From accounts/rate-limit.ts.
  msg({ message: 'This account may send {limit} requests per minute. Try again in {resetSeconds} seconds.' }),
  // From templates/changes/create.ts.
  msg({
    message:
      'The template "{name}" in language {language} exists with other content ({status}). Update it, or choose another name.',
  }),
  // From templates/changes/failures.ts.
  msg({ message: 'The business account has reached its template limit.' }),
  msg({ message: 'This language of the template is being deleted.' }),
  msg({ message: 'WhatsApp has a template of this name and language already.' }),
  msg({ message: 'Update it, or choose another name.' }),
  msg({ message: 'The template cannot be changed in its present status.' }),
  // Sign-ins, outcomes of the sandbox and jobs.
  msg({ message: 'Unknown device' }),
]
