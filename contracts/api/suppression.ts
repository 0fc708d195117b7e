import { z } from 'zod'
import {
  namedObject,
  WhatsAppAccountId,
  idCursor,
  KnownUserId,
  NextCursor,
  PageLimit,
  ImportedRecipient,
  PhoneNumber,
  responseField,
  Timestamp,
  requireRecipient,
  UserId,
  withExample,
} from '../fields.ts'
import { procedure } from '../procedure.ts'

/** The reasons that come from the recipient, directly or through WhatsApp. */
export const recipientReasons = ['reply', 'preference', 'rejected'] as const
export const suppressionReasons = [...recipientReasons, 'manual', 'import'] as const

export const SuppressionReason = withExample(
  z.enum(suppressionReasons),
  '`reply`: the recipient sent a word such as STOP. `preference`: the recipient stopped marketing messages in WhatsApp. `rejected`: WhatsApp rejected a message with 131050. `manual`, `import`: added by you.',
  'reply',
)
export type SuppressionReason = z.infer<typeof SuppressionReason>

export const Suppression = namedObject('Suppression', 'A recipient on the suppression list.', {
  to: responseField(PhoneNumber).describe(
    'Number of the recipient; the user ID if WhatsApp hides the number and has never reported it; `erased` if an operator erased it. Pass the number to find or remove the entry all the same.',
  ),
  userId: KnownUserId.optional(),
  reason: SuppressionReason,
  since: Timestamp.describe('When the recipient was put on the list.'),
  allMessages: withExample(
    z.boolean(),
    'True if no messages are sent to this recipient. False if only templates of the stopped categories are rejected.',
    false,
  ),
  accountId: responseField(WhatsAppAccountId)
    .optional()
    .describe('ID of the WhatsApp account that the recipient answered or that was rejected; absent if you added it.'),
})
export type Suppression = z.infer<typeof Suppression>

export const SuppressionPage = namedObject('SuppressionPage', 'One page of the suppression list.', {
  items: z.array(Suppression).describe('Newest first.'),
  nextCursor: NextCursor.optional().meta({ examples: ['sup_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
})
export type SuppressionPage = z.infer<typeof SuppressionPage>

export const maxImportedRecipients = 1000

const AllMessages = withExample(
  z.boolean().default(false),
  'Also stop the categories that suppressed recipients otherwise get, such as order confirmations and one-time codes. Recipients who are on the list with `true` stay so; remove them to change it.',
  false,
)

const exampleSuppression = {
  to: '34600111222',
  reason: 'reply',
  since: '2026-11-20T09:36:12.000Z',
  allMessages: false,
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
} as const

export const listSuppressions = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/suppression',
  tag: 'Suppressions',
  summary: 'List suppressed recipients, newest first',
  description: 'Lists the recipients on the suppression list of this account, newest first, one page at a time.',
  input: z.strictObject({
    to: PhoneNumber.optional().describe('Only this recipient, in any spelling of the number.'),
    recipient: UserId.optional().describe('Only the recipient with this user ID.'),
    reason: SuppressionReason.optional().describe('Only recipients with this reason.'),
    cursor: idCursor('sup')
      .optional()
      .meta({ examples: ['sup_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
    limit: PageLimit,
  }),
  output: SuppressionPage,
  errors: [],
  example: {
    input: { to: exampleSuppression.to },
    output: { items: [exampleSuppression] },
    errors: { VALIDATION_ERROR: 'limit: must be at most 100.' },
  },
})

export const addSuppression = procedure({
  kind: 'mutation',
  budget: 'changes',
  path: '/api/v1/suppression/add',
  tag: 'Suppressions',
  summary: 'Add a recipient to the suppression list',
  description:
    'Adds one recipient to the suppression list. Only you can remove it again: a recipient who sends START stays on the list.',
  input: requireRecipient(
    z.strictObject({ to: PhoneNumber.optional(), recipient: UserId.optional(), allMessages: AllMessages }),
  ),
  output: Suppression.extend({ added: z.boolean().describe('False if the recipient was on the list already.') })
    .describe('A recipient on the suppression list, and whether it was added now.')
    .meta({ id: 'AddedSuppression' }),
  errors: ['SUPPRESSION_QUOTA_EXCEEDED'],
  example: {
    input: { to: exampleSuppression.to, allMessages: false },
    output: {
      to: exampleSuppression.to,
      reason: 'manual',
      since: exampleSuppression.since,
      allMessages: false,
      added: true,
    },
  },
})

export const removeSuppression = procedure({
  kind: 'mutation',
  budget: 'changes',
  path: '/api/v1/suppression/remove',
  tag: 'Suppressions',
  summary: 'Remove a recipient from the suppression list',
  description:
    'Removes one recipient from the suppression list. Do it only if the recipient agreed. WhatsApp still rejects marketing messages (131050) to a recipient who stopped them in WhatsApp.',
  input: requireRecipient(z.strictObject({ to: PhoneNumber.optional(), recipient: UserId.optional() })),
  output: namedObject('RemovedSuppression', 'The result of a removal.', {
    to: responseField(PhoneNumber).describe('Recipient as given: the number, or the user ID.'),
    removed: z.boolean().describe('False if the recipient was not on the list.'),
  }),
  errors: [],
  example: { input: { to: exampleSuppression.to }, output: { to: exampleSuppression.to, removed: true } },
})

export const importSuppressions = procedure({
  kind: 'mutation',
  budget: 'changes',
  path: '/api/v1/suppression/import',
  tag: 'Suppressions',
  summary: 'Add many recipients to the suppression list',
  description: `Adds up to ${maxImportedRecipients} recipients at once, all or none: a malformed one fails the request. Repeat it for longer lists.`,
  input: z.strictObject({
    recipients: withExample(
      z
        .array(ImportedRecipient)
        .min(1, 'must have at least one recipient')
        .max(maxImportedRecipients, `must have at most ${maxImportedRecipients} recipients`),
      'Numbers and user IDs.',
      ['34600111222', 'ES.2041776300912345'],
    ),
    allMessages: AllMessages,
  }),
  output: namedObject('ImportedSuppressions', 'The result of an import.', {
    added: z.int().describe('Recipients that are new on the list.'),
    alreadySuppressed: z.int().describe('Recipients that were on the list already, or were given twice.'),
  }),
  errors: ['SUPPRESSION_QUOTA_EXCEEDED'],
  example: {
    input: { recipients: ['34600111222', 'ES.2041776300912345'], allMessages: false },
    output: { added: 2, alreadySuppressed: 0 },
    errors: {
      VALIDATION_ERROR: 'recipients[1]: must be the country code followed by the number, 7 to 15 digits only.',
    },
  },
})
