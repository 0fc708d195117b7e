import { type MessageStatus, messageStatuses } from '../../../../contracts/api/message.ts'

/** Relative time ranges, kept in the URL by name. */
export const ranges = {
  '1h': { label: 'Last hour', milliseconds: 3_600_000 },
  '24h': { label: 'Last 24 hours', milliseconds: 86_400_000 },
  '7d': { label: 'Last 7 days', milliseconds: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', milliseconds: 30 * 86_400_000 },
  '90d': { label: 'Last 90 days', milliseconds: 90 * 86_400_000 },
} as const
export type Range = keyof typeof ranges | 'any' | 'custom'

/** Filters of the message log. An empty string means no filter. */
export interface MessageFilters {
  status: MessageStatus | ''
  range: Range
  /** ISO times of a custom range. Either can be empty. */
  from: string
  until: string
  /** The text of the search box. */
  search: string
  /** `yes`: search for parts, even if there is an exact match. */
  parts: 'yes' | ''
  errorCode: string
  template: string
  to: string
  externalId: string
}

export const noFilters: MessageFilters = {
  status: '',
  range: 'any',
  from: '',
  until: '',
  search: '',
  parts: '',
  errorCode: '',
  template: '',
  to: '',
  externalId: '',
}

/** The filters are kept in the URL, so that they survive reloads and can be shared. */
export function readFilters(search: URLSearchParams): MessageFilters {
  const range = search.get('range') ?? ''
  const [from, until] = [readTime(search.get('from')), readTime(search.get('until'))]
  return {
    status: messageStatuses.find((status) => status === search.get('status')) ?? '',
    range: isRange(range) ? range : from !== '' || until !== '' ? 'custom' : 'any',
    from,
    until,
    search: search.get('search') ?? '',
    parts: search.get('parts') === 'yes' ? 'yes' : '',
    errorCode: search.get('errorCode') ?? '',
    template: search.get('template') ?? '',
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
  const { status, search, parts, errorCode, template, to, externalId } = rest
  const time = range === 'custom' ? { from, until } : { from: startOf(range, now), until: '' }
  return {
    ...(status !== '' && { status }),
    ...(search !== '' && { search }),
    ...(parts !== '' && { parts: true }),
    ...(errorCode !== '' && { errorCode }),
    ...(template !== '' && { template }),
    ...(to !== '' && { to }),
    ...(externalId !== '' && { externalId }),
    ...(time.from !== '' && { from: time.from }),
    ...(time.until !== '' && { until: time.until }),
  }
}

export function isFiltered(filters: MessageFilters): boolean {
  return Object.keys(toListInput(filters, new Date())).length > 0
}

function startOf(range: Exclude<Range, 'custom'>, now: Date): string {
  return range === 'any' ? '' : new Date(now.getTime() - ranges[range].milliseconds).toISOString()
}

function isRange(text: string): text is Range {
  return text === 'custom' || Object.hasOwn(ranges, text)
}

function readTime(text: string | null): string {
  const time = new Date(text ?? '')
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}
