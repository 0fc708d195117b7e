import { changes } from '../../../contracts/dashboard/changes.ts'
import { defaultEventTypes, messageEventTypes } from '../../../contracts/events.ts'
import { Timestamp } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import { deliveryStates } from '../../../contracts/dashboard/webhook.ts'
import { listDeliveries } from '../../webhooks/deliveries/list.ts'
import { recoverDeliveries } from '../../webhooks/deliveries/recover.ts'
import { deliveryNotFound, retryDelivery } from '../../webhooks/deliveries/retry.ts'
import { findDelivery } from '../../webhooks/deliveries/store.ts'
import { addEndpoint } from '../../webhooks/endpoints/add.ts'
import { disableEndpoint, enableEndpoint, removeEndpoint } from '../../webhooks/endpoints/change.ts'
import { listEndpoints, endpointNotFound } from '../../webhooks/endpoints/endpoint.ts'
import { rotateSecret } from '../../webhooks/endpoints/secrets.ts'
import { findEndpointOwner } from '../../webhooks/endpoints/store.ts'
import { testEndpoint } from '../../webhooks/endpoints/test.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'
import { parseDuration, readDuration } from '../syntax.ts'
import { describeTest, formatDeliveries, formatEndpoints } from '../webhook-text.ts'

export const webhookAdd = dataCommand({
  name: 'webhook add',
  summary: 'Add an endpoint: a URL that receives the events of an account',
  args: ['ACC'],
  options: {
    url: { value: 'URL', help: 'Where to send the events; https, with a public host', required: true },
    events: {
      value: 'TYPES',
      help: `Which events, separated by commas: ${messageEventTypes.join(', ')}; all but ${messageEventTypes.filter((type) => !defaultEventTypes.includes(type)).join(', ')} if not given`,
    },
    description: { value: 'TEXT', help: 'What the endpoint is for' },
    header: { value: "'NAME: VALUE'", help: 'A header to send along; - reads it', secret: true, multiple: true },
  },
  notes: [
    'The secret, which receivers verify the events with, is printed once.\nA header on the command line ends in the history of your shell. With --header - it is read from standard\ninput instead, one line for each. Headers and secrets are kept encrypted.',
  ],
  examples: [
    'waybill webhook add acc_… --url https://shop.example.com/webhooks',
    'waybill webhook add acc_… --url https://shop.example.com/failed --events message.failed --json',
    'waybill webhook add acc_… --url https://shop.example.com/webhooks --header - < header.txt',
  ],
  audit: changes.addEndpoint,
  run: async (deps, { args: [accountId], options }) => {
    const json = await addEndpoint(deps, accountId, {
      url: options.url,
      events: options.events?.split(',').map((type) => type.trim()),
      description: options.description,
      headers: options.header?.map(parseHeader),
    })
    const { endpointId, secret } = json
    return {
      json,
      text: `${secret}\n\nThis is the secret of ${endpointId}. Keep it: no command shows it again; its owners find it in the dashboard.\nTo try the endpoint: waybill webhook test ${endpointId}`,
    }
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
  summary: 'Send to an endpoint again, first of all what waited for it',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook enable ep_…'],
  audit: ({ args: [id] }) => changes.enableEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await enableEndpoint(deps, await requireOwner(deps, id), id)
    return { json, text: `${id} is enabled. Waiting for it: ${json.waiting}, due now.` }
  },
})

export const webhookDisable = dataCommand({
  name: 'webhook disable',
  summary: 'Stop sending to an endpoint; its events wait until it is enabled again',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook disable ep_…'],
  audit: ({ args: [id] }) => changes.disableEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await disableEndpoint(deps, await requireOwner(deps, id), id)
    return { json, text: `${id} is disabled. Waiting for it: ${json.waiting}` }
  },
})

export const webhookRemove = dataCommand({
  name: 'webhook remove',
  summary: 'Forget an endpoint, its secrets, and what waits for it',
  args: ['EP'],
  options: {},
  examples: ['waybill webhook remove ep_…'],
  audit: ({ args: [id] }) => changes.removeEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await removeEndpoint(deps, await requireOwner(deps, id), id)
    const dropped = json.dropped === 0 ? '' : ` With it went ${countDeliveries(json.dropped)} that waited.`
    return { json, text: `${id} is removed.${dropped}` }
  },
})

export const webhookTest = dataCommand({
  name: 'webhook test',
  summary: 'Send an endpoint a test event, once and now, and show what it answered',
  args: ['EP'],
  options: {},
  notes: ['A disabled endpoint is sent it too. Exits with 1 when it was not delivered.'],
  examples: ['waybill webhook test ep_…', 'waybill webhook test ep_… --json'],
  audit: ({ args: [id] }) => changes.testEndpoint(id),
  run: async (deps, { args: [id] }) => {
    const json = await testEndpoint(deps, await requireOwner(deps, id), id)
    return { json, text: describeTest(json), exitCode: json.delivered ? 0 : 1 }
  },
})

export const webhookRotateSecret = dataCommand({
  name: 'webhook rotate-secret',
  summary: 'Give an endpoint a new secret, and print it once',
  args: ['EP'],
  options: { overlap: { value: 'TIME', help: 'How long the old one signs too, such as 30m or 7d; 24h if not given' } },
  notes: [
    'During the overlap each event carries both signatures: receivers verify with either secret. With\n--overlap 0s the old one is dead at once.',
  ],
  examples: ['waybill webhook rotate-secret ep_…', 'waybill webhook rotate-secret ep_… --overlap 0s'],
  audit: ({ args: [id] }) => changes.rotateSecret(id),
  run: async (deps, { args: [id], options: { overlap } }) => {
    const overlapSeconds = overlap === undefined ? undefined : parseDuration('overlap', overlap)
    const json = await rotateSecret(deps, await requireOwner(deps, id), id, { overlapSeconds })
    const old = json.previousSecretUntil
    return {
      json,
      text: `${json.secret}\n\nKeep it: no command shows it again; its owners find it in the dashboard. The old one ${old === undefined ? 'no longer signs.' : `signs too until ${old}`}`,
    }
  },
})

export const webhookDeliveries = dataCommand({
  name: 'webhook deliveries',
  summary: 'List what an endpoint was sent and what waits for it, newest first, with every attempt',
  args: ['EP'],
  options: {
    state: {
      value: 'STATE',
      help: `Only those of this state: ${deliveryStates.join(', ')}`,
      choices: deliveryStates,
    },
    cursor: { value: 'CURSOR', help: 'nextCursor of the page before' },
    limit: { value: 'N', help: 'Deliveries per page, 1 to 100, 20 if not given', number: true },
  },
  examples: ['waybill webhook deliveries ep_… --state failed', 'waybill webhook deliveries ep_… --limit 100 --json'],
  run: async (deps, { args: [id], options: { state, cursor, limit } }) => {
    const page = await listDeliveries(deps, await requireOwner(deps, id), id, {
      state: deliveryStates.find((known) => known === state),
      cursor,
      limit: limit === undefined ? undefined : Number(limit),
    })
    return { json: page, text: formatDeliveries(id, page) }
  },
})

export const webhookRetry = dataCommand({
  name: 'webhook retry',
  summary: 'Make a delivery now: one that waits, or once more one that is finished',
  args: ['DLV'],
  options: {},
  examples: ['waybill webhook retry dlv_…'],
  audit: ({ args: [id] }) => changes.retryDelivery(id),
  run: async (deps, { args: [deliveryId] }) => {
    const place = await findDelivery(deps.db, deliveryId)
    if (!place) throw deliveryNotFound(deliveryId)
    const json = await retryDelivery(deps, place, deliveryId)
    const { endpointId, endpointState } = json
    const text =
      endpointState === 'enabled'
        ? `${deliveryId} is due now.`
        : `${deliveryId} waits: its endpoint is disabled. To enable it: waybill webhook enable ${endpointId}`
    return { json, text }
  },
})

export const webhookRecover = dataCommand({
  name: 'webhook recover',
  summary: 'Send an endpoint every event since a time that it should have got and did not',
  args: ['EP'],
  options: {
    since: { value: 'TIME', help: 'Such as 24h, 7d or 2026-11-20T09:30:00Z', required: true },
  },
  notes: [
    'What failed is made again, and what happened before the endpoint was added is made for the first time, for\nas long as the events are kept. What was delivered or still waits is left alone, so it can be repeated.',
  ],
  examples: ['waybill webhook recover ep_… --since 24h', 'waybill webhook recover ep_… --since 2026-11-20T09:30:00Z'],
  audit: ({ args: [id], options }) => changes.recoverDeliveries(id, options.since),
  run: async (deps, { args: [id], options }, report) => {
    const since = parseSince(options.since, deps.now())
    const json = await recoverDeliveries(deps, await requireOwner(deps, id), id, since, (recovered) =>
      report(`${recovered} queued so far …`),
    )
    const text =
      json.recovered === 0 ? `${id} missed nothing.` : `Queued for ${id}: ${countDeliveries(json.recovered)}.`
    return { json, text }
  },
})

async function requireOwner(deps: Pick<Deps, 'db'>, endpointId: string): Promise<string> {
  const accountId = await findEndpointOwner(deps.db, endpointId)
  if (accountId === undefined) throw endpointNotFound(endpointId)
  return accountId
}

/** What was typed is not repeated: it may authorize. */
function parseHeader(text: string): [name: string, value: string] {
  const colon = text.indexOf(':')
  if (colon < 0) throw new UsageError("--header must look like 'X-Api-Key: value'.")
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
}

function parseSince(text: string, now: Date): Date {
  const seconds = readDuration(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1000)
  if (Timestamp.safeParse(text).success) return new Date(text)
  throw new UsageError('--since must be a time such as 24h, 7d or 2026-11-20T09:30:00Z.')
}

function countDeliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
