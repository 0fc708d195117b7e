import { type RequestOutcome, requestOutcomes } from '../../../../contracts/dashboard/request.ts'
import { FailureCode } from '../../../../contracts/fields.ts'
import { ranges } from '../messages/message-filters.ts'

/** Short ranges only, because requests are kept for some days. */
export const timeRanges = {
  today: ranges.today,
  '1h': ranges['1h'],
  '24h': ranges['24h'],
  '7d': ranges['7d'],
} as const
type TimeRange = keyof typeof timeRanges

/** Filters of the request log. An empty string means no filter. */
export interface RequestFilters {
  outcome: RequestOutcome | ''
  range: TimeRange | ''
  errorCode: string
  path: string
  /** A request ID, a message ID or an external ID. */
  search: string
}

export const noFilters: RequestFilters = { outcome: '', range: '', errorCode: '', path: '', search: '' }

/** The filters are kept in the URL, so that they survive reloads and can be shared. */
export function readFilters(search: URLSearchParams): RequestFilters {
  return {
    outcome: requestOutcomes.find((outcome) => outcome === search.get('outcome')) ?? '',
    range: toTimeRange(search.get('range') ?? ''),
    errorCode: search.get('errorCode') ?? '',
    path: search.get('path') ?? '',
    search: search.get('search') ?? '',
  }
}

export function writeFilters(filters: RequestFilters): URLSearchParams {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
}

/** The filters as input of `request.list`. */
export function toListInput({ outcome, range, errorCode, path, search }: RequestFilters, now: Date) {
  return {
    ...(outcome !== '' && { outcome }),
    ...(range !== '' && { from: startOf(range, now) }),
    ...(errorCode !== '' && { errorCode }),
    ...(path !== '' && { path }),
    ...(search !== '' && { search }),
  }
}

function startOf(name: TimeRange, now: Date): string {
  const range = timeRanges[name]
  const start =
    'milliseconds' in range
      ? new Date(now.getTime() - range.milliseconds)
      : new Date(now.getFullYear(), now.getMonth(), now.getDate())
  return start.toISOString()
}

export function isFiltered(filters: RequestFilters): boolean {
  return Object.values(filters).some((value) => value !== '')
}

/** Counts the active filters, except the search. */
export function countFilters({ outcome, range, path, errorCode }: RequestFilters): number {
  return [outcome, range, path, errorCode].filter((value) => value !== '').length
}

export function toTimeRange(text: string): TimeRange | '' {
  // `hasOwn` proves the type.
  return Object.hasOwn(timeRanges, text) ? (text as TimeRange) : ''
}

/** Completes part of a code to the first code that contains it. */
export function completeCode(typed: string, codes: readonly string[]): string {
  if (typed === '' || codes.includes(typed)) return typed
  return codes.find((code) => code.startsWith(typed)) ?? codes.find((code) => code.includes(typed)) ?? typed
}

export function isErrorCode(text: string): boolean {
  return text === '' || FailureCode.safeParse(text).success
}
