import { dayMilliseconds } from '../../../contracts/time.ts'
import type { Fact, Sentence } from '../../../contracts/facts/fact.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { findings } from '../../../contracts/facts/findings.ts'
import type { StoredNotice } from '../../platform/db/schema.ts'
import type { ReportedNotice } from '../../whatsapp/callbacks/read-account.ts'
import type { Finding } from './finding.ts'

const facts = findings.notices

/** How long a notice is reported for which WhatsApp names no end. */
const keptDays = { restriction: 30, warning: 30, alert: 7 } as const
const maxStored = 20

/**
 * The latest report about each problem. Callbacks can arrive late and in the wrong order, so reports of an end are kept
 * too: an earlier report must not begin the problem again.
 */
export function mergeNotices(
  stored: readonly StoredNotice[],
  reported: readonly ReportedNotice[],
  now: Date,
): StoredNotice[] {
  const merged = new Map(stored.filter((notice) => notice.until > now.toISOString()).map((one) => [one.key, one]))
  for (const notice of reported.map((one) => toStored(one, now))) {
    const known = merged.get(notice.key)
    if (known && known.at > notice.at) continue
    merged.delete(notice.key)
    merged.set(notice.key, notice)
  }
  return [...merged.values()].slice(-maxStored)
}

function toStored({ at = new Date(NaN), restrictions, ...notice }: ReportedNotice, now: Date): StoredNotice {
  // A time in the future would outlast every later report.
  const reportedAt = Number.isNaN(at.getTime()) || at > now ? now : at
  const ends = restrictions.map(({ until }) => until)
  const latest = Math.max(...ends.map((end) => end?.getTime() ?? NaN))
  const byDefault = reportedAt.getTime() + keptDays[notice.kind] * dayMilliseconds
  return {
    ...notice,
    restrictions: restrictions.map(({ type, until }) => ({ type, ...(until && { until: until.toISOString() }) })),
    at: reportedAt.toISOString(),
    until: new Date(ends.length > 0 && Number.isFinite(latest) ? latest : byDefault).toISOString(),
  }
}

/** The problems that WhatsApp reported and that are not over, without the restrictions that have ended. */
export function listActive(notices: readonly StoredNotice[], now: Date): StoredNotice[] {
  const time = now.toISOString()
  return notices
    .filter(({ isOver, until }) => !isOver && until > time)
    .map((notice) => ({
      ...notice,
      restrictions: notice.restrictions.filter(({ until }) => until === undefined || until > time),
    }))
}

/** Names a report, so that each is announced once. */
export function noticeId({ key, at }: Pick<StoredNotice, 'key' | 'at'>): string {
  return `${key} ${at}`
}

/** Templates begin conversations, so none is sent while one of these lasts. */
const blockingRestrictions = new Set(['RESTRICTED_BIZ_INITIATED_MESSAGING'])

export function blocksSending({ restrictions }: StoredNotice): boolean {
  return restrictions.some(({ type }) => blockingRestrictions.has(type))
}

/** One finding for each kind, so that an account with many notices stays readable. */
export function findNotices(notices: readonly StoredNotice[], now: Date): Finding[] {
  const active = listActive(notices, now)
  const ofKind = (kind: StoredNotice['kind']) => active.filter((notice) => notice.kind === kind)
  const restricted = ofKind('restriction')
  const isBlocking = restricted.some(blocksSending)
  return [
    ...toFinding(restricted, {
      code: 'account_restricted',
      severity: isBlocking ? 'error' : 'warning',
      blocksSending: isBlocking,
      message: facts.restricted,
      fix: isBlocking ? facts.wait() : facts.sendOthers(),
    }),
    ...toFinding(ofKind('warning'), {
      code: 'account_warned',
      message: facts.warned,
      fix: connectFacts.requestReview(),
    }),
    ...toFinding(ofKind('alert'), { code: 'account_alert', message: facts.alerted, fix: findings.sending.fix() }),
  ]
}

interface Kind extends Partial<Omit<Finding, 'message' | 'fix'>> {
  code: string
  message: (params: { notices: string }) => Fact
  fix: Sentence
}

function toFinding(notices: readonly StoredNotice[], { message, ...kind }: Kind): Finding[] {
  if (notices.length === 0) return []
  const said = message({ notices: describeNotices(notices) })
  return [{ severity: 'warning', blocksSending: false, ...kind, message: said }]
}

/** In WhatsApp's words, which have no translation. */
export function describeNotices(notices: readonly StoredNotice[]): string {
  return [...new Set(notices.map(describe))].join('; ')
}

function describe({ type, description, restrictions }: StoredNotice): string {
  const parts = restrictions.map((one) => one.type + (one.until === undefined ? '' : ` (${one.until.slice(0, 10)})`))
  const said = [type, description?.replace(/\.$/, '')].filter((text) => text !== undefined).join(': ')
  return parts.length === 0 ? said : `${said}, ${parts.join(', ')}`
}
