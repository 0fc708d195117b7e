import { alertFacts } from '../../../contracts/facts/alerts.ts'
import { allInEnglish, type Fact, type Facts, join } from '../../../contracts/facts/fact.ts'
import type { AlertRow } from './store.ts'
import { type AlertCode, alertCodes } from '../../../contracts/dashboard/alert.ts'

/** The text of an alert in an email or a chat. */
export interface AlertText {
  title: string
  paragraphs: readonly string[]
  link?: { label: string; url: string } | undefined
}

/** An alert, or its recovery, for the members of an account. */
export interface MemberAlert {
  accountId: string
  text: AlertText
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

type Text = Pick<AlertRow, 'title' | 'body' | 'facts'>

/** The columns of what an alert says. */
export function toColumns({ title, paragraphs }: { title: Fact; paragraphs: readonly Fact[] }): Text {
  const facts = { title, body: join(paragraphs, alertFacts.lines) }
  const english = allInEnglish(facts)
  return { ...english, facts: JSON.stringify({ ...facts, english }) }
}

/** The facts of an alert. Its sentences differ from them once a version without facts has changed it. */
export function readFacts({ title, body, facts }: Text): { facts?: Facts } {
  if (facts === null) return {}
  // Written by `toColumns`.
  const { english, ...read } = JSON.parse(facts) as { title: Fact; body: Fact; english: Record<string, string> }
  return english['title'] === title && english['body'] === body ? { facts: read } : {}
}
