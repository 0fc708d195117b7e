import { defineFacts } from './fact.ts'

/** Why nothing is sent to a recipient, or why it cannot be one. */
export const recipientFacts = defineFacts('recipient', {
  incomplete: 'start with the country code, such as 34 for Spain: the number {problem}',
  incompleteHere:
    'start with the country code, such as {countryCode} for the country of your own number: the number {problem}',
  noSuchCode: 'does not start with the code of any country',
  wrongLength: 'has {digits} digits, but numbers with the country code {countryCode} have {lengths}',
  range: '{first} to {last}',
  either: '{first} or {rest}',
  suppressed:
    'this recipient has been on the suppression list since {since} (reason: {reason}). No messages are sent to them. Nothing was sent.',
  suppressedCategory:
    'this recipient has been on the suppression list since {since} (reason: {reason}). {category} templates are not sent to suppressed recipients. Nothing was sent.',
  reason: {
    reply: 'reply',
    preference: 'stopped marketing in WhatsApp',
    rejected: 'rejected by WhatsApp',
    manual: 'added manually',
    import: 'imported',
  },
})
