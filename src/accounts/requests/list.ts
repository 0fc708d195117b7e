import type {
  ApiRequest,
  ApiRequestDetails,
  ApiRequestPage,
  listRequests,
} from '../../../contracts/dashboard/request.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { firstRequestIdAt, timeOfRequestId } from '../../platform/ids.ts'
import {
  findMessagesByExternalId,
  findRequest,
  findRequests,
  type ListedRequest,
  type RequestSearch,
  type StoredRequest,
} from './store.ts'

const requestIdPattern = /^req_[0-9a-f]{12}_[0-9a-z]{1,40}$/
const messageIdPattern = /^msg_[0-9a-hjkmnp-tv-z]{26}$/
/** Messages of an external ID whose requests are looked for. */
const maxMessages = 5

export async function listApiRequests(
  { db }: Pick<Deps, 'db'>,
  { accountId, cursor, limit, search, from, until, ...filter }: InputOf<typeof listRequests>,
): Promise<ApiRequestPage> {
  if (cursor !== undefined && !requestIdPattern.test(cursor))
    throw invalidField('cursor', 'must be the nextCursor of the previous page. Leave it out for the first page.')
  const text = search?.trim() ?? ''
  const { rows, stoppedAt } = await findRequests(
    db,
    accountId,
    {
      ...filter,
      fromId: from === undefined ? undefined : firstRequestIdAt(new Date(from)),
      untilId: until === undefined ? undefined : firstRequestIdAt(new Date(until)),
      beforeId: cursor,
      search: text === '' ? undefined : await interpretSearch({ db }, accountId, text),
    },
    limit,
  )
  return { items: rows.map(toRequest), ...(stoppedAt !== undefined && { nextCursor: stoppedAt }) }
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
  return {
    requestId: row.id,
    at: timeOfRequestId(row.id).toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    ...(row.error_code !== null && { errorCode: row.error_code }),
    durationMilliseconds: row.duration_ms,
    keyStart: row.key_start,
    address: row.address,
    messageIds: row.message_ids?.split('+') ?? [],
    ...(row.external_id !== null && { externalId: row.external_id }),
  }
}

export function toRequestDetails(row: StoredRequest): ApiRequestDetails {
  return {
    ...toRequest(row),
    ...(row.request !== null && { request: row.request }),
    ...(row.answer !== null && { answer: row.answer }),
  }
}
