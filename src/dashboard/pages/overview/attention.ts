import { plural, t } from '@lingui/core/macro'
import type { AccountHealth, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import type { listTemplateProblems } from '../../../../contracts/dashboard/template.ts'
import type { OutputOf } from '../../../../contracts/procedure.ts'
import { translate } from '../../language/i18n.ts'
import { say } from '../../language/facts.ts'
import type { Tone } from '../../ui/tone.ts'
import { describeStatus } from '../templates/template-status.ts'
import { stepOf, stepTitles, toSetUpState } from '../whatsapp-accounts/checklist.ts'
import { describeFinding } from '../whatsapp-accounts/describe.ts'
import { listUnknown } from './statistics.ts'
import { nameNumber } from '../../ui/phone-number.ts'

export type TemplateProblems = OutputOf<typeof listTemplateProblems>

/** Something that needs attention, and the page of the account that shows it. */
export interface AttentionItem {
  tone: Extract<Tone, 'bad' | 'warning' | 'neutral'>
  text: string
  page: string
}

interface Sources {
  alerts: readonly Alert[]
  health: AccountHealth
  templates: TemplateProblems
  /** Of the selected period. */
  overview: Pick<Overview, 'outcomeUnknown' | 'from' | 'until' | 'isOver'>
}

/** Most urgent first. A problem with an open alert is listed once. */
export function listAttention({ overview, ...sources }: Sources): AttentionItem[] {
  const open = sources.alerts.filter(({ recoveredAt }) => recoveredAt === undefined)
  return distinct([...open.map(toAlertItem), ...listWithoutAlert(sources), ...toUnknownItem(overview)])
}

/**
 * Problems that no open alert is about, most urgent first: those that no alert reports, and those that were there before
 * Waybill first looked, such as a template that was already paused when its number was connected.
 */
export function listWithoutAlert({ alerts, health, templates }: Omit<Sources, 'overview'>): AttentionItem[] {
  const open = alerts.filter(({ recoveredAt }) => recoveredAt === undefined)
  const isAlerted = (page: string) => open.some((alert) => alert.page === page)
  const numbers = health.whatsAppAccounts.flatMap(toAccountItem).filter(({ tone, page }) => {
    const [account = page] = page.split('#')
    return tone !== 'bad' || !isAlerted(account)
  })
  const stopped = templates.items
    .filter((template) => !open.some((alert) => isAbout(alert, template)))
    .map(toTemplateItem)
  const more = templates.total - templates.items.length
  const items = [
    ...numbers,
    ...stopped,
    ...(more > 0
      ? [
          {
            tone: 'warning',
            text: plural(more, { one: '# more template has problems', other: '# more templates have problems' }),
            page: 'templates',
          } as const,
        ]
      : []),
  ]
  return distinct(items)
}

/** Most urgent first. The same template in two WABAs is listed once. */
function distinct(items: readonly AttentionItem[]): AttentionItem[] {
  return items
    .filter(({ text }, index) => items.findIndex((other) => other.text === text) === index)
    .toSorted((a, b) => urgencies.indexOf(a.tone) - urgencies.indexOf(b.tone))
}

const urgencies: readonly AttentionItem['tone'][] = ['bad', 'warning', 'neutral']

/** Alerts of templates name them. */
function isAbout({ facts }: Alert, { name, language }: { name: string; language: string }): boolean {
  const { params } = facts?.['title'] ?? {}
  return params?.['name'] === name && params['language'] === language
}

function toAlertItem(alert: Alert): AttentionItem {
  const { severity, page, acknowledgedAt } = alert
  const text = say(alert, 'title')
  if (acknowledgedAt !== undefined) return { tone: 'neutral', text: t`${text} (acknowledged)`, page }
  return { tone: severity === 'critical' ? 'bad' : 'warning', text, page }
}

function toUnknownItem(overview: Sources['overview']): AttentionItem[] {
  const count = overview.outcomeUnknown
  if (count === 0) return []
  const text = plural(count, {
    one: 'It is unknown whether WhatsApp accepted # message. Resolve it before you send it again.',
    other: 'It is unknown whether WhatsApp accepted # messages. Resolve them before you send them again.',
  })
  return [{ tone: 'warning', text, page: listUnknown(overview) }]
}

/** The problem of a WhatsApp account that does not work, or whose setup is incomplete. */
function toAccountItem(health: WhatsAppAccountHealth): AttentionItem[] {
  const number = nameNumber(health)
  const page = `whatsapp-accounts/${health.accountId}`
  const finding = health.findings.find(({ severity }) => severity === 'error')
  // Deactivated by a user.
  if (finding === undefined && !health.active) return []
  if (finding?.code === 'deactivated') return []
  if (finding)
    return [
      {
        tone: 'bad',
        // The banner of the page already says why the default number cannot send.
        text:
          finding.blocksSending && health.isDefault
            ? t`${number} cannot send messages`
            : `${number}: ${describeFinding(finding).message}`,
        page: `${page}#${stepOf(finding.code) ?? 'health'}`,
      },
    ]
  const state = toSetUpState(health)
  if (state.kind !== 'incomplete') return []
  return [
    {
      tone: 'warning',
      text: t`The setup of ${number} is incomplete. Next step: ${translate(stepTitles[state.next])}`,
      page: `${page}#${state.next}`,
    },
  ]
}

function toTemplateItem({
  name,
  language,
  status,
  whatsAppAccountId,
}: TemplateProblems['items'][number]): AttentionItem {
  const template = `${name} (${language})`
  return {
    tone: 'warning',
    text:
      status === 'APPROVED'
        ? t`The template ${template} has low quality. WhatsApp may pause it.`
        : `${t`The template ${template} cannot be sent.`} ${describeStatus(status).meaning}`,
    page: `templates?${new URLSearchParams({ account: whatsAppAccountId, name, language })}`,
  }
}
