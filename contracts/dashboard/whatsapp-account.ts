import { z } from 'zod'
import { Facts } from './facts.ts'
import { problems } from '../facts/problems.ts'
import { singleLine, Timestamp } from '../fields.ts'
import { marketingSettings, messagingAccountSettings } from '../api/account.ts'
import { changes } from '../facts/changes.ts'
import { accountInput, ownerChange, ownerCheck, viewerQuery } from '../procedure.ts'

export const metaIdPattern = /^\d{1,32}$/

/** Digits, as WhatsApp Manager shows them. Users often enter the telephone number instead. */
const MetaId = z.string().trim().regex(metaIdPattern, problems.metaId())

export const metaSecretPattern = /^[\u0021-\u007e]{1,4096}$/

/** A secret issued by Meta: printable ASCII without spaces. It is write-only. */
export const MetaSecret = z.string().trim().regex(metaSecretPattern, problems.metaSecret())

export const WhatsAppAccount = z.object({
  whatsAppAccountId: z.string(),
  phoneNumberId: z.string(),
  wabaId: z.string(),
  isDefault: z.boolean(),
  active: z.boolean(),
  /** Why it is inactive; absent if it is active. */
  reason: z.string().optional(),
  facts: Facts.optional(),
  /** True if a user deactivated it, false if WhatsApp disabled it; absent if it is active. */
  switchedOff: z.boolean().optional(),
  /** Telephone number and name, as WhatsApp reported them last; absent until then. */
  displayPhoneNumber: z.string().optional(),
  verifiedName: z.string().optional(),
  hasAppSecret: z.boolean(),
  /** `GREEN`, `YELLOW` or `RED`, as WhatsApp reported it last; absent until then. */
  qualityRating: z.string().optional(),
  /** `STANDARD` or `HIGH`, as WhatsApp reported it last; absent until then. */
  throughputLevel: z.string().optional(),
  marketingSetting: z.enum(marketingSettings),
  messagingAccountSetting: z.enum(messagingAccountSettings),
  createdAt: Timestamp,
})
export type WhatsAppAccount = z.infer<typeof WhatsAppAccount>

export const whatsAppAccountInput = accountInput({ whatsAppAccountId: singleLine(64) })

export const listWhatsAppAccounts = viewerQuery({
  summary: 'List the WhatsApp accounts, the oldest first',
  output: z.object({ items: z.array(WhatsAppAccount) }),
})

export const addWhatsAppAccount = ownerCheck({
  summary: 'Add a WhatsApp account, once WhatsApp has accepted its token; the first one is the default',
  input: accountInput({
    phoneNumberId: MetaId,
    wabaId: MetaId,
    accessToken: MetaSecret,
    appSecret: MetaSecret.optional(),
    makeDefault: z.boolean().default(false),
  }),
  output: z.object({
    whatsAppAccountId: z.string(),
    /** Whether the app is subscribed to the WABA. Without a subscription, no status arrives. */
    subscribed: z.boolean(),
    subscriptionProblem: z.string().optional(),
  }),
  audit: changes.addWhatsAppAccount,
})

export const WhatsAppAccountTest = z.object({
  /** Whether WhatsApp accepted the token. */
  ok: z.boolean(),
  /** WhatsApp's response if it rejected the token. */
  reason: z.string().optional(),
  facts: Facts.optional(),
  displayPhoneNumber: z.string().optional(),
  verifiedName: z.string().optional(),
  qualityRating: z.string().optional(),
  throughputLevel: z.string().optional(),
})

/** If WhatsApp rejects the token, the account is disabled, as after a rejected send. */
export const testWhatsAppAccount = ownerCheck({
  summary: 'Test the token with WhatsApp, and read the facts about its number',
  input: whatsAppAccountInput,
  output: WhatsAppAccountTest,
  audit: changes.testToken,
})

export const UpdatedWhatsAppAccount = WhatsAppAccount.extend({
  /** Whether the app is subscribed to the WABA; absent if only the app secret was replaced. */
  subscribed: z.boolean().optional(),
  subscriptionProblem: z.string().optional(),
})
export type UpdatedWhatsAppAccount = z.infer<typeof UpdatedWhatsAppAccount>

/** Deletes the old secrets. A new access token that WhatsApp accepts reactivates an account that WhatsApp had disabled. */
export const replaceSecrets = ownerCheck({
  summary: 'Replace the access token, the app secret or the WABA',
  input: accountInput({
    whatsAppAccountId: singleLine(64),
    wabaId: MetaId.optional(),
    accessToken: MetaSecret.optional(),
    appSecret: MetaSecret.optional(),
  }),
  output: UpdatedWhatsAppAccount,
  audit: ({ whatsAppAccountId, accessToken, appSecret, wabaId }) => {
    const what = [
      ...(accessToken === undefined ? [] : [changes.secret.accessToken()]),
      ...(appSecret === undefined ? [] : [changes.secret.appSecret()]),
      ...(wabaId === undefined ? [] : [changes.secret.wabaId()]),
    ]
    return what.length === 0
      ? changes.replaceNothing({ whatsAppAccountId })
      : changes.replaceSecrets({ what, whatsAppAccountId })
  },
})

export const setDefaultWhatsAppAccount = ownerChange({
  summary: 'Make this WhatsApp account the default for requests that name none',
  input: whatsAppAccountInput,
  output: WhatsAppAccount,
  audit: changes.makeDefault,
})

export const activateWhatsAppAccount = ownerChange({
  summary: 'Activate this WhatsApp account again',
  input: whatsAppAccountInput,
  output: WhatsAppAccount,
  audit: changes.activate,
})

export const deactivateWhatsAppAccount = ownerChange({
  summary: 'Deactivate this WhatsApp account until it is activated again',
  input: whatsAppAccountInput,
  output: WhatsAppAccount,
  audit: changes.deactivate,
})

export const setMarketing = ownerChange({
  summary: 'Set which endpoint of WhatsApp the marketing templates of this WhatsApp account are sent to',
  input: accountInput({ whatsAppAccountId: singleLine(64), setting: z.enum(marketingSettings) }),
  output: WhatsAppAccount,
  audit: changes.setMarketing,
})

export const setMessagingAccount = ownerChange({
  summary: 'Set whether sends of this WhatsApp account name its WABA as the messaging account that pays',
  input: accountInput({ whatsAppAccountId: singleLine(64), setting: z.enum(messagingAccountSettings) }),
  output: WhatsAppAccount,
  audit: changes.setMessagingAccount,
})

export const removeWhatsAppAccount = ownerChange({
  summary: 'Delete a WhatsApp account with its token and app secret',
  input: whatsAppAccountInput,
  output: z.object({ removed: z.boolean() }),
  audit: changes.removeWhatsAppAccount,
})
