import { type RequestOutcome, requestOutcomes } from '../../../../contracts/dashboard/request.ts'
import { FailureCode } from '../../../../contracts/fields.ts'
import { ranges } from '../messages/message-filters.ts'

/** Requests are kept for days. */
export const timeRanges = { '1h': ranges['1h'], '24h': ranges['24h'], '7d': ranges['7d'] } as const
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
    ...(range !== '' && { from: new Date(now.getTime() - timeRanges[range].milliseconds).toISOString() }),
    ...(errorCode !== '' && { errorCode }),
    ...(path !== '' && { path }),
    ...(search !== '' && { search }),
  }
}

export function isFiltered(filters: RequestFilters): boolean {
  return Object.values(filters).some((value) => value !== '')
}

export function toTimeRange(text: string): TimeRange | '' {
  // The keys of a table are the keys of its type.
  return Object.hasOwn(timeRanges, text) ? (text as TimeRange) : ''
}

export function isErrorCode(text: string): boolean {
  return text === '' || FailureCode.safeParse(text).success
}
