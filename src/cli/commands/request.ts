import {
  type ApiRequest,
  type ApiRequestDetails,
  listRequests,
  requestOutcomes,
} from '../../../contracts/dashboard/request.ts'
import { requireAccount } from '../../accounts/account.ts'
import { getApiRequest, listApiRequests } from '../../accounts/requests/list.ts'
import { dataCommand } from '../command.ts'
import { parseOptions } from '../parse-options.ts'
import { formatPairs, formatTable } from '../help.ts'

export const requestList = dataCommand({
  name: 'request list',
  summary: 'List the API requests of an account, newest first, a page at a time',
  args: ['ACC'],
  options: {
    outcome: {
      value: 'OUTCOME',
      help: `Only requests with this outcome: ${requestOutcomes.join(', ')}`,
      choices: requestOutcomes,
    },
    'error-code': { value: 'CODE', help: 'Only requests that failed with this code, such as VALIDATION_ERROR' },
    path: { value: 'TEXT', help: 'Only requests whose path contains this text' },
    search: { value: 'ID', help: 'Only requests with this request ID, message ID or external ID' },
    from: { value: 'TIME', help: 'Only requests received at or after this time, such as 2026-11-20T09:30:00Z' },
    until: { value: 'TIME', help: 'Only requests received before this time' },
    cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
    limit: { value: 'N', help: 'Requests per page, 1 to 100 (default 20)', number: true },
  },
  notes: ['Requests are recorded about a second after their response, and kept for WAYBILL_REQUEST_LOG_DAYS.'],
  examples: ['waybill request list acc_… --outcome failed', 'waybill request list acc_… --search order-1042 --json'],
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    const page = await listApiRequests(deps, parseFilter(accountId, options))
    return { json: page, text: formatRequests(page.items, page.nextCursor) }
  },
})

export const requestGet = dataCommand({
  name: 'request get',
  summary: 'Show an API request, with the request and the response if it failed',
  args: ['ACC', 'REQ'],
  options: {},
  examples: ['waybill request get acc_… req_…', 'waybill request get acc_… req_… --json'],
  run: async (deps, { args: [accountId, requestId] }) => {
    await requireAccount(deps.db, accountId)
    const request = await getApiRequest(deps, { accountId, requestId })
    return { json: request, text: describeRequest(request) }
  },
})

/** Validates with the contract's rules, under the names of the options. */
function parseFilter(
  accountId: string,
  { limit, 'error-code': errorCode, ...rest }: Record<string, string | undefined>,
) {
  const input = { ...rest, accountId, errorCode, limit: limit === undefined ? undefined : Number(limit) }
  return parseOptions(listRequests.input, input)
}

function formatRequests(requests: ApiRequest[], nextCursor: string | undefined): string {
  const more = nextCursor === undefined ? '' : `\n\nMore: --cursor ${nextCursor}`
  if (requests.length === 0)
    return nextCursor === undefined ? 'No requests.' : `No matches among the newest requests.${more}`
  const table = formatTable(
    ['REQUEST', 'TIME', 'METHOD', 'PATH', 'STATUS', 'ERROR', 'MS', 'ADDRESS'],
    requests.map((request) => [
      request.requestId,
      request.at,
      request.method,
      request.path,
      String(request.status),
      request.errorCode ?? '',
      String(request.durationMilliseconds),
      request.address,
    ]),
  )
  return table + more
}

function describeRequest(request: ApiRequestDetails): string {
  const pairs = formatPairs([
    ['Request', request.requestId],
    ['Time', request.at],
    ['Call', `${request.method} ${request.path}`],
    ['Status', String(request.status)],
    ['Error', request.errorCode],
    ['Duration', `${request.durationMilliseconds} ms`],
    ['API key', `${request.keyStart}…`],
    ['Address', request.address],
    ['Messages', request.messageIds.length === 0 ? undefined : request.messageIds.join(', ')],
    ['Reference', request.externalId],
  ])
  const bodies = [
    ...(request.request === undefined ? [] : [`Request:\n${request.request}`]),
    ...(request.answer === undefined ? [] : [`Response:\n${request.answer}`]),
  ]
  return [pairs, ...bodies].join('\n\n')
}
