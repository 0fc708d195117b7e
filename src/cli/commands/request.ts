import {
  type ApiRequestDetails,
  type ApiRequestPage,
  getRequest,
  listRequests,
  requestOutcomes,
} from '../../../contracts/dashboard/request.ts'
import { contractCommand } from '../contract-command.ts'
import { formatPairs, formatTable } from '../help.ts'

export const requestCommands = [
  contractCommand(listRequests, {
    name: 'request list',
    summary: 'List the API requests of an account, newest first, a page at a time',
    args: { ACC: 'accountId' },
    options: {
      outcome: { value: 'OUTCOME', help: `Only requests with this outcome: ${requestOutcomes.join(', ')}` },
      'error-code': { value: 'CODE', help: 'Only requests that failed with this code, such as VALIDATION_ERROR' },
      path: { value: 'TEXT', help: 'Only requests whose path contains this text' },
      search: { value: 'ID', help: 'Only requests with this request ID, message ID or external ID' },
      from: { value: 'TIME', help: 'Only requests received at or after this time, such as 2026-11-20T09:30:00Z' },
      until: { value: 'TIME', help: 'Only requests received before this time' },
      cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
      limit: { value: 'N', help: 'Requests per page, 1 to 100 (default 20)' },
    },
    notes: ['Requests are recorded about a second after their response, and kept for WAYBILL_REQUEST_LOG_DAYS.'],
    examples: ['waybill request list acc_… --outcome failed', 'waybill request list acc_… --search order-1042 --json'],
    text: formatRequests,
  }),
  contractCommand(getRequest, {
    name: 'request get',
    summary: 'Show an API request, with the request and the response if it failed',
    args: { ACC: 'accountId', REQ: 'requestId' },
    examples: ['waybill request get acc_… req_…', 'waybill request get acc_… req_… --json'],
    rejectedWith: 1,
    text: describeRequest,
  }),
]

function formatRequests({ items: requests, nextCursor }: ApiRequestPage): string {
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
