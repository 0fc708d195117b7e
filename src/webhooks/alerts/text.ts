import { type AlertCode, alertCodes } from '../../../contracts/dashboard/alert.ts'

/** The text of an alert in an email or a chat. */
export interface AlertText {
  title: string
  paragraphs: readonly string[]
  link?: { label: string; url: string } | undefined
}

/** The dashboard page of each kind of problem. */
const pages = {
  whatsapp_account_inactive: { label: 'Open the WhatsApp account', path: (id) => `whatsapp-accounts/${id}` },
  token_expiring: { label: 'Open the WhatsApp account', path: (id) => `whatsapp-accounts/${id}` },
  quality_low: { label: 'Open the WhatsApp account', path: (id) => `whatsapp-accounts/${id}` },
  endpoint_failing: { label: 'Open the endpoint', path: (id) => `webhooks/${id}` },
  failure_rate: { label: 'Open the messages', path: () => 'messages?status=failed' },
  no_statuses: { label: 'Open the WhatsApp account', path: (id) => `whatsapp-accounts/${id}` },
  delivery_lag: { label: 'Open the webhooks', path: () => 'webhooks' },
  template_stopped: { label: 'Open the templates', path: () => 'templates' },
  account_notice: { label: 'Open the WhatsApp accounts', path: () => 'whatsapp-accounts' },
  messaging_limit: { label: 'Open the WhatsApp accounts', path: () => 'whatsapp-accounts' },
  template_category_changing: { label: 'Open the templates', path: () => 'templates' },
} as const satisfies Record<AlertCode, { label: string; path: (subjectId: string) => string }>

export function isAlertCode(text: string): text is AlertCode {
  return alertCodes.some((code) => code === text)
}

/** Returns the path of a dashboard page, relative to the account. */
export function pageOf(code: AlertCode, subjectId: string): string {
  return pages[code].path(subjectId)
}

export function linkTo(
  publicUrl: string,
  { accountId, code, subjectId }: { accountId: string; code: AlertCode; subjectId: string },
): NonNullable<AlertText['link']> {
  return { label: pages[code].label, url: `${publicUrl}/settings/${accountId}/${pageOf(code, subjectId)}` }
}

/** Formats a time like `2026-11-22 16:57 UTC`, because alerts have no locale. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}
