import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { suppressedCategories, type SuppressedCategory } from '../../../../contracts/dashboard/suppression.ts'
import { formatList } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'

/** WhatsApp's template categories, and what they contain in the words of recipients. */
export const categories = {
  MARKETING: { label: msg`Marketing`, contents: msg`offers and other advertising` },
  UTILITY: { label: msg`Utility`, contents: msg`order notices` },
  AUTHENTICATION: { label: msg`Authentication`, contents: msg`one-time codes` },
} satisfies Record<SuppressedCategory, { label: MessageDescriptor; contents: MessageDescriptor }>

/** `Marketing and utility` */
export function nameCategories(named: readonly SuppressedCategory[]): string {
  return formatList(named.map((category) => translate(categories[category].label)))
}

/** What suppressed recipients still receive, such as `Still sent: order notices, and one-time codes.` */
export function describeStillSent(stopped: readonly SuppressedCategory[]): string {
  const sent = suppressedCategories.filter((category) => !stopped.includes(category))
  if (sent.length === 0) return t`Nothing else is sent either, because the account stops all categories.`
  const contents = formatList(sent.map((category) => translate(categories[category].contents)))
  return t`Still sent: ${contents}.`
}
