import { describeEndpointFailure } from '../../../contracts/dashboard/endpoint-failure.ts'
import {
  addEndpoint,
  type Attempt,
  type Delivery,
  deliveryStates,
  disableEndpoint,
  enableEndpoint,
  type Endpoint,
  listDeliveries,
  listEndpoints,
  recoverDeliveries,
  removeEndpoint,
  retryDelivery,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from '../../../contracts/dashboard/webhook.ts'
import { defaultEventTypes, eventTypes } from '../../../contracts/events.ts'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import { Timestamp } from '../../../contracts/fields.ts'
import type { DeliveryPage } from '../../webhooks/deliveries/delivery.ts'
import type { EndpointTest } from '../../webhooks/endpoints/send-test-event.ts'
import { contractCommand } from '../contract-command.ts'
import { UsageError, waybill } from '../failure.ts'
import { formatPairs, formatTable } from '../help.ts'
import { readDuration } from '../syntax.ts'
import { parseDuration } from '../../platform/duration.ts'

const events = { value: 'TYPES', isList: true } as const
const header = { value: "'NAME: VALUE'", field: 'headers', secret: true, read: parseHeader } as const

export const webhookCommands = [
  contractCommand(addEndpoint, {
    name: 'webhook add',
    summary: 'Add an endpoint: a URL that receives the events of an account',
    args: { ACC: 'accountId' },
    options: {
      url: { value: 'URL', help: 'URL of the endpoint: https with a public host' },
      events: {
        ...events,
        help: `Event types, separated by commas: ${eventTypes.join(', ')} (default: ${defaultEventTypes.join(', ')})`,
      },
      description: { value: 'TEXT', help: 'Description of the endpoint' },
      header: { ...header, help: 'Extra request header; - reads it from standard input' },
      'max-per-second': { value: 'N', help: 'At most this many deliveries per second, over all workers' },
      'max-concurrent': { value: 'N', help: 'At most this many concurrent requests, over all workers' },
    },
    notes: [
      'Prints the signing secret once; receivers use it to verify events.\nA header on the command line stays in the history of your shell. With --header - it is read from standard\ninput instead, one line per header. Headers and secrets are stored encrypted.',
    ],
    examples: [
      'waybill webhook add acc_… --url https://shop.example.com/webhooks',
      'waybill webhook add acc_… --url https://shop.example.com/failed --events message.failed --json',
      'waybill webhook add acc_… --url https://shop.example.com/webhooks --header - < header.txt',
    ],
    rejectedWith: 1,
    text: ({ endpointId, secret }) =>
      `${secret}\n\nThis is the signing secret of ${endpointId}. Store it now: commands do not show it again, but the dashboard does.\nTo test the endpoint: ${waybill} webhook test ${endpointId}`,
    ifLost: ({ endpointId }) =>
      `read the signing secret of ${endpointId} in the dashboard, or make another: ${waybill} webhook rotate-secret ${endpointId}`,
  }),
  contractCommand(updateEndpoint, {
    name: 'webhook update',
    summary: 'Change the URL, events, description, headers or limits of an endpoint',
    args: { EP: 'endpointId' },
    options: {
      url: { value: 'URL', help: 'New URL: https with a public host' },
      events: {
        ...events,
        help: `Event types that replace the current ones, separated by commas: ${eventTypes.join(', ')}`,
      },
      description: { value: 'TEXT', help: "New description; '' removes it" },
      header: { ...header, help: 'Extra request header, replaces all existing ones; - reads it from standard input' },
      'no-headers': { help: 'Remove all extra request headers', field: null },
      'max-per-second': {
        value: 'N',
        help: 'At most this many deliveries per second; none removes the limit',
        off: 'none',
      },
      'max-concurrent': {
        value: 'N',
        help: 'At most this many concurrent requests; none removes the limit',
        off: 'none',
      },
    },
    notes: [
      'The signing secret and the delivery history stay. If the new URL has another host, extra headers are removed\nunless --header gives them again, because they may hold credentials for the previous host.',
    ],
    examples: [
      'waybill webhook update ep_… --events message.delivered,message.read,message.failed',
      'waybill webhook update ep_… --url https://shop.example.com/webhooks --header - < header.txt',
      'waybill webhook update ep_… --max-per-second 50 --max-concurrent none',
    ],
    fields: ({ options }) => {
      if (options['no-headers'] === undefined) return {}
      if (options['header'] !== undefined) throw new UsageError('--header and --no-headers cannot be combined.')
      return { headers: [] }
    },
    rejectedWith: 1,
    text: (endpoint, { EP }) =>
      `${EP} is updated.${endpoint.headersCleared ? ' Its extra headers were removed because the host changed.' : ''}\n\n${describeEndpoint(endpoint)}\n\nTo test the endpoint: ${waybill} webhook test ${EP}`,
  }),
  contractCommand(listEndpoints, {
    name: 'webhook list',
    summary: 'List the endpoints of an account, oldest first',
    args: { ACC: 'accountId' },
    examples: ['waybill webhook list acc_…', 'waybill webhook list acc_… --json'],
    text: ({ items }, { ACC }) => formatEndpoints(ACC, items),
  }),
  contractCommand(enableEndpoint, {
    name: 'webhook enable',
    summary: 'Enable an endpoint and send its waiting deliveries',
    args: { EP: 'endpointId' },
    examples: ['waybill webhook enable ep_…'],
    text: ({ waiting }, { EP }) =>
      `${EP} is enabled. Waiting deliveries, now due: ${waiting}\n\nDeliveries whose retries had ended are not among them. To redeliver these: ${waybill} webhook recover ${EP} --since 30d`,
  }),
  contractCommand(disableEndpoint, {
    name: 'webhook disable',
    summary: 'Disable an endpoint; its deliveries wait until it is enabled again',
    args: { EP: 'endpointId' },
    examples: ['waybill webhook disable ep_…'],
    text: ({ waiting }, { EP }) => `${EP} is disabled. Waiting deliveries: ${waiting}`,
  }),
  contractCommand(removeEndpoint, {
    name: 'webhook remove',
    summary: 'Remove an endpoint with its secrets and waiting deliveries',
    args: { EP: 'endpointId' },
    examples: ['waybill webhook remove ep_…'],
    json: ({ dropped }, { EP }) => ({ endpointId: EP, dropped }),
    text: ({ dropped }, { EP }) =>
      `${EP} is removed.${dropped === 0 ? '' : ` Deleted ${countDeliveries(dropped)} that were waiting.`}`,
  }),
  contractCommand(testEndpoint, {
    name: 'webhook test',
    summary: 'Send a test event to an endpoint and show the response',
    args: { EP: 'endpointId' },
    notes: ['Also works for a disabled endpoint. Exits with 1 if the event was not delivered.'],
    examples: ['waybill webhook test ep_…', 'waybill webhook test ep_… --json'],
    text: describeTest,
    exitCode: ({ delivered }) => (delivered ? 0 : 1),
  }),
  contractCommand(rotateSecret, {
    name: 'webhook rotate-secret',
    summary: 'Rotate the signing secret of an endpoint and print the new one once',
    args: { EP: 'endpointId' },
    options: {
      overlap: {
        value: 'TIME',
        help: 'How long the old secret also signs, such as 30m or 7d (default 24h)',
        field: 'overlapSeconds',
        read: (text) => readDuration('overlap', text),
      },
    },
    notes: [
      'During the overlap, events carry both signatures, so receivers can verify with either secret. With\n--overlap 0s the old secret becomes invalid immediately.',
    ],
    examples: ['waybill webhook rotate-secret ep_…', 'waybill webhook rotate-secret ep_… --overlap 0s'],
    rejectedWith: 1,
    text: ({ secret, previousSecretUntil: until }) =>
      `${secret}\n\nStore it now: commands do not show it again, but the dashboard does. The old secret ${until === undefined ? 'no longer signs.' : `also signs until ${until}`}`,
    ifLost: (_output, { EP }) =>
      `read the new signing secret in the dashboard, or make another: ${waybill} webhook rotate-secret ${EP}`,
  }),
  contractCommand(listDeliveries, {
    name: 'webhook deliveries',
    summary: 'List the deliveries of an endpoint with all attempts, newest first',
    args: { EP: 'endpointId' },
    options: {
      state: { value: 'STATE', help: `Only deliveries in this state: ${deliveryStates.join(', ')}` },
      cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
      limit: { value: 'N', help: 'Deliveries per page, 1 to 100 (default 20)' },
    },
    examples: ['waybill webhook deliveries ep_… --state failed', 'waybill webhook deliveries ep_… --limit 100 --json'],
    rejectedWith: 1,
    text: (page, { EP }) => formatDeliveries(EP, page),
  }),
  contractCommand(retryDelivery, {
    name: 'webhook retry',
    summary: 'Retry a waiting or finished delivery now',
    args: { DLV: 'deliveryId' },
    examples: ['waybill webhook retry dlv_…'],
    text: ({ endpointId, endpointState }, { DLV }) =>
      endpointState === 'enabled'
        ? `${DLV} is due now.`
        : `${DLV} is waiting because its endpoint is disabled. Enable it: ${waybill} webhook enable ${endpointId}`,
  }),
  contractCommand(recoverDeliveries, {
    name: 'webhook recover',
    summary: 'Redeliver events the endpoint missed since a given time',
    args: { EP: 'endpointId' },
    options: {
      since: { value: 'TIME', help: 'A duration such as 24h or 7d, or a time such as 2026-11-20T09:30:00Z' },
      error: {
        value: 'TEXT',
        help: 'Only deliveries whose last attempt failed with this error, as webhook deliveries shows it',
      },
    },
    notes: [
      'Queues events whose delivery failed and events from before the endpoint was added, as long as they are stored.\nDelivered and waiting events are skipped, so the command can be repeated. To deliver a waiting one now, use\nwaybill webhook retry DLV.',
    ],
    examples: [
      'waybill webhook recover ep_… --since 24h',
      'waybill webhook recover ep_… --since 2026-11-20T09:30:00Z',
      "waybill webhook recover ep_… --since 24h --error 'HTTP 500'",
    ],
    fields: ({ options: { since } }, deps) => ({ since: parseSince(String(since), deps.now()) }),
    run: async ({ call, report }, fields) => {
      let recovered = 0
      let next: string | undefined
      do {
        const part = await call(recoverDeliveries, { ...fields, next })
        recovered += part.recovered
        next = part.next
        if (next !== undefined) report(`${recovered} deliveries queued so far …`)
      } while (next !== undefined)
      return { recovered }
    },
    json: ({ recovered }, { EP }) => ({ endpointId: EP, recovered }),
    text: ({ recovered }, { EP }, { line }) => {
      if (recovered > 0) return `Queued for ${EP}: ${countDeliveries(recovered)}.`
      const isFiltered = line.options['error'] !== undefined
      return isFiltered ? `${EP} has no delivery that failed with this error.` : `${EP} missed no events.`
    },
  }),
]

/** The value is never repeated, because it may hold credentials. */
function parseHeader(text: string): { name: string; value: string } {
  const colon = text.indexOf(':')
  if (colon < 0) throw new UsageError("--header must have the form 'X-Api-Key: value'.")
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() }
}

function parseSince(text: string, now: Date): string {
  const seconds = parseDuration(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1000).toISOString()
  if (Timestamp.safeParse(text).success) return text
  throw new UsageError('--since must be a duration such as 24h or 7d, or a time such as 2026-11-20T09:30:00Z.')
}

function countDeliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}

const shownCharacters = 100

function formatEndpoints(accountId: string, items: Endpoint[]): string {
  if (items.length === 0) return `${accountId} has no endpoints. To add one, see: ${waybill} webhook add --help`
  return items.map(describeEndpoint).join('\n\n')
}

function describeEndpoint(endpoint: Endpoint): string {
  return formatPairs([
    ['Endpoint', endpoint.endpointId],
    ['URL', endpoint.url],
    ['Description', endpoint.description],
    ['Events', endpoint.events.join(', ')],
    ['State', describeState(endpoint)],
    ['Problem', endpoint.failure && inEnglish(describeEndpointFailure(endpoint.failure, (at) => at))],
    ['Waiting', String(endpoint.waiting)],
    ['Delivered', endpoint.lastDeliveredAt ?? 'no recent successful deliveries'],
    ['Old secret', endpoint.previousSecretUntil && `also signs until ${endpoint.previousSecretUntil}`],
    ['Headers', endpoint.hasHeaders ? 'custom headers are set' : undefined],
    ['Limits', describeLimits(endpoint)],
  ])
}

function describeLimits({ maxPerSecond, maxConcurrent }: Endpoint): string | undefined {
  const limits = [
    ...(maxPerSecond === undefined ? [] : [`${maxPerSecond} per second`]),
    ...(maxConcurrent === undefined ? [] : [`${maxConcurrent} concurrent`]),
  ]
  return limits.length === 0 ? undefined : limits.join(', ')
}

function describeState({ state, reason, failingSince }: Endpoint): string {
  if (state === 'disabled') return `disabled: ${reason ?? 'reason unknown'}`
  return failingSince === undefined ? 'enabled' : `enabled; every attempt has failed since ${failingSince}`
}

function describeTest(test: EndpointTest): string {
  const { delivered, error, statusCode, durationMilliseconds, responseStart } = test
  const outcome = delivered ? `Delivered: HTTP ${statusCode}` : `Not delivered: ${error}`
  const response = responseStart === undefined || responseStart === '' ? '' : `\nResponse: ${quote(responseStart)}`
  return `${outcome}, after ${durationMilliseconds} ms.${response}`
}

function formatDeliveries(endpointId: string, { items, nextCursor }: DeliveryPage): string {
  if (items.length === 0) return `No matching deliveries to ${endpointId}.`
  const blocks = items.map(describeDelivery).join('\n\n')
  return nextCursor === undefined ? blocks : `${blocks}\n\nMore: --cursor ${nextCursor}`
}

function describeDelivery(delivery: Delivery): string {
  const { type, messageId, attempts } = delivery
  const heading = formatPairs([
    ['Delivery', delivery.deliveryId],
    [
      'Event',
      `${delivery.eventId} (${type === undefined ? 'no longer stored' : `${type}${messageId === undefined ? '' : ` of ${messageId}`}`})`,
    ],
    ['State', describeDeliveryState(delivery)],
  ])
  return attempts.length === 0 ? heading : `${heading}\n${formatAttempts(attempts).replace(/^/gm, '  ')}`
}

function describeDeliveryState({ state, finishedAt, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting') return `${state} at ${finishedAt}`
  return nextAttemptAt === undefined ? 'waiting: the endpoint is disabled' : `next attempt at ${nextAttemptAt}`
}

function formatAttempts(attempts: Attempt[]): string {
  return formatTable(
    ['ATTEMPT', 'AT', 'TOOK', 'OUTCOME', 'RESPONSE'],
    attempts.map((attempt) => [
      String(attempt.number),
      attempt.startedAt,
      `${attempt.durationMilliseconds} ms`,
      attempt.error ?? `HTTP ${attempt.statusCode}`,
      attempt.responseStart ? quote(attempt.responseStart) : '',
    ]),
  )
}

/** Shortens text from another server to a single line. */
function quote(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text)
}
