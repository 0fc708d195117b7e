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
