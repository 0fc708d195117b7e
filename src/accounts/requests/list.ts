import { readError } from '../../../contracts/facts/errors.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type {
  ApiRequest,
  ApiRequestDetails,
  ApiRequestPage,
  listRequests,
  RequestSummary,
  summarizeRequests,
} from '../../../contracts/dashboard/request.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { firstRequestIdAt, timeOfRequestId, messageIdPattern } from '../../platform/ids.ts'
import { cut } from '../../platform/text.ts'
import {
  countByErrorCode,
  findMessagesByExternalId,
  findRequest,
  findRequests,
  type ListedRequest,
  type RequestFilter,
  type RequestSearch,
  type StoredRequest,
} from './store.ts'

const requestIdPattern = /^req_[0-9a-f]{12}_[0-9a-z]{1,40}$/
/** Maximum number of messages with an external ID whose requests are searched. */
const maxMessages = 5

export async function listApiRequests(
  { db }: Pick<Deps, 'db'>,
  { accountId, cursor, limit, ...filter }: InputOf<typeof listRequests>,
): Promise<ApiRequestPage> {
  if (cursor !== undefined && !requestIdPattern.test(cursor))
    throw invalidField('cursor', 'must be the nextCursor of the previous page. Leave it out for the first page.')
  const known = await resolveFilter({ db }, accountId, filter)
  const { rows, stoppedAt } = await findRequests(db, accountId, { ...known, beforeId: cursor }, limit)
  return { items: rows.map(toRequest), ...(stoppedAt !== undefined && { nextCursor: stoppedAt }) }
}

/** Counts the matching requests by error code, and returns how long requests are kept. */
export async function summarizeApiRequests(
  { db, requestLogDays }: Pick<Deps, 'db' | 'requestLogDays'>,
  { accountId, errorCode, ...filter }: InputOf<typeof summarizeRequests>,
  maxExamined?: number,
): Promise<RequestSummary> {
  // A request with an error code is a failure. Failures have their own index, so more of them can be examined.
  const outcome = filter.outcome ?? (errorCode === undefined ? undefined : 'failed')
  const known = await resolveFilter({ db }, accountId, { ...filter, outcome })
  const { counts, isComplete } = await countByErrorCode(db, accountId, known, maxExamined)
  const matching = errorCode === undefined ? counts : counts.filter((one) => one.errorCode === errorCode)
  return {
    count: matching.reduce((sum, { count }) => sum + count, 0),
    isComplete,
    errorCodes: counts
      .flatMap(({ errorCode: code, count }) => (code === null ? [] : [{ errorCode: code, count }]))
      .slice(0, shownCodes),
    keptDays: requestLogDays,
  }
}

const shownCodes = 8

type Filter = Omit<InputOf<typeof summarizeRequests>, 'accountId'>

async function resolveFilter(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  { search, from, until, ...filter }: Filter,
): Promise<RequestFilter> {
  const text = search?.trim() ?? ''
  return {
    ...filter,
    fromId: from === undefined ? undefined : firstRequestIdAt(new Date(from)),
    untilId: until === undefined ? undefined : firstRequestIdAt(new Date(until)),
    search: text === '' ? undefined : await interpretSearch(deps, accountId, text),
  }
}

async function interpretSearch({ db }: Pick<Deps, 'db'>, accountId: string, text: string): Promise<RequestSearch> {
  if (requestIdPattern.test(text)) return { kind: 'requestId', id: text }
  if (messageIdPattern.test(text)) return { kind: 'messages', messageIds: [text] }
  return {
    kind: 'messages',
    messageIds: await findMessagesByExternalId(db, accountId, text, maxMessages),
    externalId: text,
  }
}

export async function getApiRequest(
  { db }: Pick<Deps, 'db'>,
  { accountId, requestId }: { accountId: string; requestId: string },
): Promise<ApiRequestDetails> {
  const row = requestIdPattern.test(requestId) ? await findRequest(db, accountId, requestId) : undefined
  if (!row)
    throw new ServiceError(
      'NOT_FOUND',
      'requestId: this account has no recorded request with this ID. Requests are recorded for some days only.',
    )
  return toRequestDetails(row)
}

function toRequest(row: ListedRequest): ApiRequest {
  const errorMessage = row.answer === null ? undefined : findErrorMessage(row.answer)
  return {
    requestId: row.id,
    at: timeOfRequestId(row.id).toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    ...(row.errorCode !== null && { errorCode: row.errorCode }),
    ...(errorMessage !== undefined && withFacts({ errorMessage: readError(errorMessage) })),
    durationMilliseconds: row.durationMilliseconds,
    keyStart: row.keyStart,
    address: row.address,
    messageIds: row.messageIds?.split('+') ?? [],
    ...(row.externalId !== null && { externalId: row.externalId }),
  }
}

const shownMessageLength = 300

/**
 * Returns the first error message of a REST or tRPC response. The response was truncated and redacted, so it may no
 * longer be valid JSON.
 */
function findErrorMessage(response: string): string | undefined {
  const [, message] = /"message": "((?:[^"\\]|\\.)*)/.exec(response) ?? []
  return message && cut(message.replaceAll(/\\(["\\/])/g, '$1'), shownMessageLength)
}

export function toRequestDetails(row: StoredRequest): ApiRequestDetails {
  return {
    ...toRequest(row),
    ...(row.request !== null && { request: row.request }),
    ...(row.answer !== null && { answer: row.answer }),
  }
}
