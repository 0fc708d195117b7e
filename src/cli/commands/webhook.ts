import { changes } from '../../../contracts/changes.ts'
import { defaultEventTypes, eventTypes } from '../../../contracts/events.ts'
import { Timestamp } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import { deliveryStates, LastError, nameEndpointFields } from '../../../contracts/dashboard/webhook.ts'
import { listDeliveries } from '../../webhooks/deliveries/list.ts'
import { recoverDeliveries } from '../../webhooks/deliveries/recover.ts'
import { deliveryNotFound, retryDelivery } from '../../webhooks/deliveries/retry.ts'
import { findDelivery } from '../../webhooks/deliveries/store.ts'
import { addEndpoint } from '../../webhooks/endpoints/add.ts'
import { disableEndpoint, enableEndpoint, removeEndpoint } from '../../webhooks/endpoints/change.ts'
import { listEndpoints, endpointNotFound } from '../../webhooks/endpoints/endpoint.ts'
import { rotateSecret } from '../../webhooks/endpoints/secrets.ts'
import { findAccountOfEndpoint } from '../../webhooks/endpoints/store.ts'
import { testEndpoint } from '../../webhooks/endpoints/test.ts'
import { updateEndpoint } from '../../webhooks/endpoints/update.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'
import { parseDuration, readDuration } from '../syntax.ts'
import { describeTest, formatDeliveries, formatEndpoints } from '../webhook-text.ts'

export const webhookAdd = dataCommand({
  name: 'webhook add',
  summary: 'Add an endpoint: a URL that receives the events of an account',
  args: ['ACC'],
  options: {
    url: { value: 'URL', help: 'URL of the endpoint: https with a public host', required: true },
    events: {
      value: 'TYPES',
      help: `Event types, separated by commas: ${eventTypes.join(', ')} (default: ${defaultEventTypes.join(', ')})`,
    },
    description: { value: 'TEXT', help: 'Description of the endpoint' },
    header: {
      value: "'NAME: VALUE'",
      help: 'Extra request header; - reads it from standard input',
      secret: true,
      multiple: true,
    },
    'max-per-second': { value: 'N', help: 'At most this many deliveries per second, over all workers', number: true },
    'max-concurrent': { value: 'N', help: 'At most this many concurrent requests, over all workers', number: true },
  },
  notes: [
    'Prints the signing secret once; receivers use it to verify events.\nA header on the command line stays in the history of your shell. With --header - it is read from standard\ninput instead, one line per header. Headers and secrets are stored encrypted.',
  ],
  examples: [
    'waybill webhook add acc_… --url https://shop.example.com/webhooks',
    'waybill webhook add acc_… --url https://shop.example.com/failed --events message.failed --json',
    'waybill webhook add acc_… --url https://shop.example.com/webhooks --header - < header.txt',
  ],
  audit: ({ options }) => changes.addEndpoint(options.url),
  run: async (deps, { args: [accountId], options }) => {
    const json = await addEndpoint(deps, accountId, {
      url: options.url,
      events: options.events?.split(',').map((type) => type.trim()),
      description: options.description,
      headers: options.header?.map(parseHeader),
      maxPerSecond: readNumber(options['max-per-second']),
      maxConcurrent: readNumber(options['max-concurrent']),
    })
    const { endpointId, secret } = json
    return {
      json,
      text: `${secret}\n\nThis is the signing secret of ${endpointId}. Store it now: commands do not show it again, but the dashboard does.\nTo test the endpoint: waybill webhook test ${endpointId}`,
      ifLost: `read the signing secret of ${endpointId} in the dashboard, or make another: waybill webhook rotate-secret ${endpointId}`,
    }
  },
})

export const webhookUpdate = dataCommand({
  name: 'webhook update',
  summary: 'Change the URL, events, description, headers or limits of an endpoint',
  args: ['EP'],
  options: {
    url: { value: 'URL', help: 'New URL: https with a public host' },
    events: { value: 'TYPES', help: `New event types, separated by commas: ${eventTypes.join(', ')}` },
    description: { value: 'TEXT', help: "New description; '' removes it" },
    header: {
      value: "'NAME: VALUE'",
      help: 'Extra request header, replaces all existing ones; - reads it from standard input',
      secret: true,
      multiple: true,
    },
    'no-headers': { help: 'Remove all extra request headers' },
    'max-per-second': { value: 'N', help: 'At most this many deliveries per second; none removes the limit' },
    'max-concurrent': { value: 'N', help: 'At most this many concurrent requests; none removes the limit' },
  },
  notes: [
    'The signing secret and the delivery history stay. If the new URL has another host, extra headers are removed\nunless --header gives them again, because they may hold credentials for the previous host.',
  ],
  examples: [
    'waybill webhook update ep_… --events message.delivered,message.read,message.failed',
    'waybill webhook update ep_… --url https://shop.example.com/webhooks --header - < header.txt',
    'waybill webhook update ep_… --max-per-second 50 --max-concurrent none',
  ],
  audit: ({ args: [id], options }) => changes.updateEndpoint(id, listChanged(options)),
  run: async (deps, { args: [id], options }) => {
    if (options.header !== undefined && options['no-headers'] === true)
      throw new UsageError('--header and --no-headers cannot be combined.')
    const limits = {
      maxPerSecond: readLimit('max-per-second', options['max-per-second']),
      maxConcurrent: readLimit('max-concurrent', options['max-concurrent']),
    }
    const json = await updateEndpoint(deps, await requireAccountId(deps, id), id, {
      url: options.url,
      events: options.events?.split(',').map((type) => type.trim()),
      description: options.description,
      headers: options['no-headers'] === true ? [] : options.header?.map(parseHeader),
      ...limits,
    })
    const cleared = json.headersCleared ? ' Its extra headers were removed because the host changed.' : ''
    return { json, text: `${id} is updated.${cleared}\nTo test the endpoint: waybill webhook test ${id}` }
  },
})

export const webhookList = dataCommand({
  name: 'webhook list',
  summary: 'List the endpoints of an account, oldest first',
  args: ['ACC'],
  options: {},
  examples: ['waybill webhook list acc_…', 'waybill webhook list acc_… --json'],
  run: async (deps, { args: [accountId] }) => {
    const items = await listEndpoints(deps, accountId)
    return { json: { items }, text: formatEndpoints(accountId, items) }
  },
})

export const webhookEnable = dataCommand({
  name: 'webhook enable',
  summary: 'Enable an endpoint and send its waiting deliveries',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook enable ep_…'],
  audit: ({ args: [id] }) => changes.enableEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await enableEndpoint(deps, await requireAccountId(deps, id), id)
    return { json, text: `${id} is enabled. Waiting deliveries, now due: ${json.waiting}` }
  },
})

export const webhookDisable = dataCommand({
  name: 'webhook disable',
  summary: 'Disable an endpoint; its deliveries wait until it is enabled again',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook disable ep_…'],
  audit: ({ args: [id] }) => changes.disableEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await disableEndpoint(deps, await requireAccountId(deps, id), id)
    return { json, text: `${id} is disabled. Waiting deliveries: ${json.waiting}` }
  },
})

export const webhookRemove = dataCommand({
  name: 'webhook remove',
  summary: 'Remove an endpoint with its secrets and waiting deliveries',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook remove ep_…'],
  audit: ({ args: [id] }) => changes.removeEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await removeEndpoint(deps, await requireAccountId(deps, id), id)
    const dropped = json.dropped === 0 ? '' : ` Deleted ${countDeliveries(json.dropped)} that were waiting.`
    return { json, text: `${id} is removed.${dropped}` }
  },
})

export const webhookTest = dataCommand({
  name: 'webhook test',
  summary: 'Send a test event to an endpoint and show the response',
  args: ['EP'],
  options: {},
  notes: ['Also works for a disabled endpoint. Exits with 1 if the event was not delivered.'],
  examples: ['waybill webhook test ep_…', 'waybill webhook test ep_… --json'],
  audit: ({ args: [id] }) => changes.testEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await testEndpoint(deps, await requireAccountId(deps, id), id)
    return { json, text: describeTest(json), exitCode: json.delivered ? 0 : 1 }
  },
})

export const webhookRotateSecret = dataCommand({
  name: 'webhook rotate-secret',
  summary: 'Rotate the signing secret of an endpoint and print the new one once',
  args: ['EP'],
  options: { overlap: { value: 'TIME', help: 'How long the old secret also signs, such as 30m or 7d (default 24h)' } },
  notes: [
    'During the overlap, events carry both signatures, so receivers can verify with either secret. With\n--overlap 0s the old secret becomes invalid immediately.',
  ],
  examples: ['waybill webhook rotate-secret ep_…', 'waybill webhook rotate-secret ep_… --overlap 0s'],
  audit: ({ args: [id] }) => changes.rotateSecret(id),
  run: async (deps, { args: [id], options: { overlap } }) => {
    const overlapSeconds = overlap === undefined ? undefined : parseDuration('overlap', overlap)
    const json = await rotateSecret(deps, await requireAccountId(deps, id), id, { overlapSeconds })
    const old = json.previousSecretUntil
    return {
      json,
      text: `${json.secret}\n\nStore it now: commands do not show it again, but the dashboard does. The old secret ${old === undefined ? 'no longer signs.' : `also signs until ${old}`}`,
      ifLost: `read the new signing secret in the dashboard, or make another: waybill webhook rotate-secret ${id}`,
    }
  },
})

export const webhookDeliveries = dataCommand({
  name: 'webhook deliveries',
  summary: 'List the deliveries of an endpoint with all attempts, newest first',
  args: ['EP'],
  options: {
    state: {
      value: 'STATE',
      help: `Only deliveries in this state: ${deliveryStates.join(', ')}`,
      choices: deliveryStates,
    },
    cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
    limit: { value: 'N', help: 'Deliveries per page, 1 to 100 (default 20)', number: true },
  },
  examples: ['waybill webhook deliveries ep_… --state failed', 'waybill webhook deliveries ep_… --limit 100 --json'],
  run: async (deps, { args: [id], options: { state, cursor, limit } }) => {
    const page = await listDeliveries(deps, await requireAccountId(deps, id), id, {
      state: deliveryStates.find((known) => known === state),
      cursor,
      limit: limit === undefined ? undefined : Number(limit),
    })
    return { json: page, text: formatDeliveries(id, page) }
  },
})

export const webhookRetry = dataCommand({
  name: 'webhook retry',
  summary: 'Retry a waiting or finished delivery now',
  args: ['DLV'],
  options: {},
  examples: ['waybill webhook retry dlv_…'],
  audit: ({ args: [id] }) => changes.retryDelivery(id),
  run: async (deps, { args: [deliveryId] }) => {
    const delivery = await findDelivery(deps.db, deliveryId)
    if (!delivery) throw deliveryNotFound(deliveryId)
    const json = await retryDelivery(deps, delivery, deliveryId)
    const { endpointId, endpointState } = json
    const text =
      endpointState === 'enabled'
        ? `${deliveryId} is due now.`
        : `${deliveryId} is waiting because its endpoint is disabled. Enable it: waybill webhook enable ${endpointId}`
    return { json, text }
  },
})

export const webhookRecover = dataCommand({
  name: 'webhook recover',
  summary: 'Redeliver events the endpoint missed since a given time',
  args: ['EP'],
  options: {
    since: {
      value: 'TIME',
      help: 'A duration such as 24h or 7d, or a time such as 2026-11-20T09:30:00Z',
      required: true,
    },
    error: {
      value: 'TEXT',
      help: 'Only deliveries whose last attempt failed with this error, as webhook deliveries shows it',
    },
  },
  notes: [
    'Queues events whose delivery failed and events from before the endpoint was added, as long as they are stored.\nDelivered and waiting events are skipped, so the command can be repeated.',
  ],
  examples: [
    'waybill webhook recover ep_… --since 24h',
    'waybill webhook recover ep_… --since 2026-11-20T09:30:00Z',
    "waybill webhook recover ep_… --since 24h --error 'HTTP 500'",
  ],
  audit: ({ args: [id], options }) => changes.recoverDeliveries(id, options.since, options.error),
  run: async (deps, { args: [id], options }, report) => {
    const since = parseSince(options.since, deps.now())
    const error = parseLastError(options.error)
    const onProgress = (recovered: number) => report(`${recovered} deliveries queued so far …`)
    const json = await recoverDeliveries(deps, await requireAccountId(deps, id), id, since, onProgress, { error })
    const none = error === undefined ? `${id} missed no events.` : `${id} has no delivery that failed with this error.`
    const text = json.recovered === 0 ? none : `Queued for ${id}: ${countDeliveries(json.recovered)}.`
    return { json, text }
  },
})

/** Names the changed fields, for the audit log. */
function listChanged(options: {
  [Name in 'url' | 'events' | 'description' | 'header' | 'no-headers' | 'max-per-second' | 'max-concurrent']?: unknown
}) {
  const { url, events, description, header, 'no-headers': noHeaders } = options
  const { 'max-per-second': maxPerSecond, 'max-concurrent': maxConcurrent } = options
  return nameEndpointFields({
    url,
    events,
    description,
    headers: header ?? noHeaders,
    maxPerSecond: toLimit(maxPerSecond),
    maxConcurrent: toLimit(maxConcurrent),
  })
}

function toLimit(option: unknown): unknown {
  return option === undefined ? undefined : option === 'none' ? null : Number(option)
}

function readNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function readLimit(name: string, text: string | undefined): number | null | undefined {
  if (text === 'none') return null
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a number, or none.`)
  return readNumber(text)
}

async function requireAccountId(deps: Pick<Deps, 'db'>, endpointId: string): Promise<string> {
  const accountId = await findAccountOfEndpoint(deps.db, endpointId)
  if (accountId === undefined) throw endpointNotFound(endpointId)
  return accountId
}

/** The value is never repeated, because it may hold credentials. */
function parseHeader(text: string): [name: string, value: string] {
  const colon = text.indexOf(':')
  if (colon < 0) throw new UsageError("--header must have the form 'X-Api-Key: value'.")
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
}

function parseSince(text: string, now: Date): Date {
  const seconds = readDuration(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1000)
  if (Timestamp.safeParse(text).success) return new Date(text)
  throw new UsageError('--since must be a duration such as 24h or 7d, or a time such as 2026-11-20T09:30:00Z.')
}

function parseLastError(text: string | undefined): string | undefined {
  const parsed = LastError.optional().safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError(`--error ${parsed.error.issues[0]?.message}.`)
}

function countDeliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
