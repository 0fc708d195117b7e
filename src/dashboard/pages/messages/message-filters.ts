import { msg } from '@lingui/core/macro'
import { dayMilliseconds } from '../../../../contracts/time.ts'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import type { FailureStage } from '../../../../contracts/dashboard/message.ts'
import { toRecipientField } from '../../ui/phone-number.ts'

/** Time ranges by their name in the URL: calendar days in the reader's time zone, and periods that end now. */
export const ranges = {
  today: { label: msg`Today`, daysAgo: 0 },
  yesterday: { label: msg`Yesterday`, daysAgo: 1 },
  '1h': { label: msg`Last hour`, milliseconds: 3_600_000 },
  '24h': { label: msg`Last 24 hours`, milliseconds: dayMilliseconds },
  '7d': { label: msg`Last 7 days`, milliseconds: 7 * dayMilliseconds },
  '30d': { label: msg`Last 30 days`, milliseconds: 30 * dayMilliseconds },
  '90d': { label: msg`Last 90 days`, milliseconds: 90 * dayMilliseconds },
  month: { label: msg`This month`, monthsAgo: 0 },
  previousMonth: { label: msg`Last month`, monthsAgo: 1 },
} as const
export type Range = keyof typeof ranges | 'any' | 'custom'

/** Filters of the message log. An empty string means no filter. */
export interface MessageFilters {
  status: MessageStatus | ''
  /** `unknown`: pending for more than a minute. */
  outcome: 'unknown' | ''
  /** How a failed message failed. */
  failure: FailureStage | ''
  range: Range
  /** ISO times of a custom range. Both are optional. */
  from: string
  until: string
  /** The text of the search box. */
  search: string
  /** `yes`: search for parts, even if there is an exact match. */
  parts: 'yes' | ''
  errorCode: string
  template: string
  whatsAppAccountId: string
  /** ISO 3166 code. */
  country: string
  to: string
  externalId: string
}

export const noFilters: MessageFilters = {
  status: '',
  outcome: '',
  failure: '',
  range: 'any',
  from: '',
  until: '',
  search: '',
  parts: '',
  errorCode: '',
  template: '',
  whatsAppAccountId: '',
  country: '',
  to: '',
  externalId: '',
}

/** The filters are kept in the URL, so that they survive reloads and can be shared. */
export function readFilters(search: URLSearchParams): MessageFilters {
  const range = search.get('range') ?? ''
  const [from, until] = [readTime(search.get('from')), readTime(search.get('until'))]
  const failure = readFailureStage(search.get('failure') ?? '')
  const outcome = search.get('outcome') === 'unknown' ? 'unknown' : ''
  return {
    status: outcome === 'unknown' ? 'pending' : failure === '' ? readStatus(search.get('status') ?? '') : 'failed',
    outcome,
    failure,
    range: isRange(range) ? range : from !== '' || until !== '' ? 'custom' : 'any',
    from,
    until,
    search: search.get('search') ?? '',
    parts: search.get('parts') === 'yes' ? 'yes' : '',
    errorCode: search.get('errorCode') ?? '',
    template: search.get('template') ?? '',
    whatsAppAccountId: search.get('whatsAppAccountId') ?? '',
    country: readCountry(search.get('country') ?? ''),
    to: search.get('to') ?? '',
    externalId: search.get('externalId') ?? '',
  }
}

export function writeFilters({ range, from, until, ...rest }: MessageFilters): URLSearchParams {
  const time = range === 'custom' ? { range, from, until } : { range: range === 'any' ? '' : range }
  const named = Object.entries({ ...rest, ...time }).filter(([, value]) => value !== '')
  return new URLSearchParams(named)
}

/** The filters as input of `message.list`. */
export function toListInput({ range, from, until, ...rest }: MessageFilters, now: Date) {
  const { status, outcome, failure, search, parts, errorCode, template, whatsAppAccountId, country, to, externalId } =
    rest
  const time = range === 'custom' ? { from, until } : toTimes(range, now)
  return {
    ...(status !== '' && { status }),
    ...(outcome !== '' && { outcomeUnknown: true as const }),
    ...(failure !== '' && { failure }),
    ...(search !== '' && { search }),
    ...(parts !== '' && { parts: true }),
    ...(errorCode !== '' && { errorCode }),
    ...(template !== '' && { template }),
    ...(whatsAppAccountId !== '' && { whatsAppAccountId }),
    ...(country !== '' && { country }),
    ...(to !== '' && toRecipientField(to)),
    ...(externalId !== '' && { externalId }),
    ...(time.from !== '' && { from: time.from }),
    ...(time.until !== '' && { until: time.until }),
  }
}

export function isFiltered(filters: MessageFilters): boolean {
  return Object.keys(toListInput(filters, new Date())).length > 0
}

/** Counts the active filters, except the search. */
export function countFilters({ status, range, template, whatsAppAccountId, errorCode }: MessageFilters): number {
  const given = [status, range === 'any' ? '' : range, template, whatsAppAccountId, errorCode]
  return given.filter((value) => value !== '').length
}

/** Whether the filters list only failed messages. */
export function isAboutFailures({ status, failure, errorCode }: MessageFilters): boolean {
  return status === 'failed' || failure !== '' || errorCode !== ''
}

function toTimes(name: Exclude<Range, 'custom'>, now: Date): { from: string; until: string } {
  if (name === 'any') return { from: '', until: '' }
  const range = ranges[name]
  if ('milliseconds' in range) return { from: new Date(now.getTime() - range.milliseconds).toISOString(), until: '' }
  if ('monthsAgo' in range) {
    const from = startOfMonth(now, range.monthsAgo)
    return { from, until: range.monthsAgo === 0 ? '' : startOfMonth(now, range.monthsAgo - 1) }
  }
  const from = startOfDay(now, range.daysAgo)
  return { from, until: range.daysAgo === 0 ? '' : startOfDay(now, range.daysAgo - 1) }
}

function startOfDay(now: Date, daysAgo: number): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString()
}

function startOfMonth(now: Date, monthsAgo: number): string {
  return new Date(now.getFullYear(), now.getMonth() - monthsAgo, 1).toISOString()
}

/** Repeated here, because the overview would have to load the contract for its links to the log. */
const statuses = {
  pending: true,
  sent: true,
  failed: true,
  delivered: true,
  read: true,
} satisfies Record<MessageStatus, true>

function readStatus(text: string): MessageStatus | '' {
  return Object.hasOwn(statuses, text) ? (text as MessageStatus) : ''
}

function readCountry(text: string): string {
  return /^[A-Z]{2}$/.test(text) ? text : ''
}

const failureStages = { rejected: true, undelivered: true } satisfies Record<FailureStage, true>

function readFailureStage(text: string): FailureStage | '' {
  return Object.hasOwn(failureStages, text) ? (text as FailureStage) : ''
}

function isRange(text: string): text is Range {
  return text === 'custom' || Object.hasOwn(ranges, text)
}

function readTime(text: string | null): string {
  const time = new Date(text ?? '')
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}
