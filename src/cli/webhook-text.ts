import type { Attempt, Delivery, Endpoint } from '../../contracts/dashboard/webhook.ts'
import type { DeliveryPage } from '../webhooks/deliveries/list.ts'
import type { EndpointTest } from '../webhooks/endpoints/test.ts'
import { formatPairs, formatTable } from './help.ts'

const shownCharacters = 100

export function formatEndpoints(accountId: string, items: Endpoint[]): string {
  if (items.length === 0) return `${accountId} has no endpoint yet. How to add one: waybill webhook add --help`
  return items.map(describeEndpoint).join('\n\n')
}

function describeEndpoint(endpoint: Endpoint): string {
  return formatPairs([
    ['Endpoint', endpoint.endpointId],
    ['URL', endpoint.url],
    ['Description', endpoint.description],
    ['Events', endpoint.events.join(', ')],
    ['State', describeState(endpoint)],
    ['Waiting', String(endpoint.waiting)],
    ['Delivered', endpoint.lastDeliveredAt ?? 'nothing lately'],
    ['Old secret', endpoint.previousSecretUntil && `signs too until ${endpoint.previousSecretUntil}`],
    ['Headers', endpoint.hasHeaders ? 'some of its own' : undefined],
  ])
}

function describeState({ state, reason, failingSince }: Endpoint): string {
  if (state === 'disabled') return `disabled: ${reason ?? 'no reason was kept'}`
  return failingSince === undefined ? 'enabled' : `enabled; every attempt has failed since ${failingSince}`
}

export function describeTest(test: EndpointTest): string {
  const { delivered, error, statusCode, durationMilliseconds, responseStart } = test
  const outcome = delivered ? `Delivered: HTTP ${statusCode}` : `Not delivered: ${error}`
  const answer = responseStart === undefined || responseStart === '' ? '' : `\nIt answered: ${quote(responseStart)}`
  return `${outcome}, after ${durationMilliseconds} ms.${answer}`
}

export function formatDeliveries(endpointId: string, { items, nextCursor }: DeliveryPage): string {
  if (items.length === 0) return `There is no such delivery to ${endpointId}.`
  const blocks = items.map(describeDelivery).join('\n\n')
  return nextCursor === undefined ? blocks : `${blocks}\n\nMore: --cursor ${nextCursor}`
}

function describeDelivery(delivery: Delivery): string {
  const { type, messageId, attempts } = delivery
  const heading = formatPairs([
    ['Delivery', delivery.deliveryId],
    ['Event', `${delivery.eventId} (${type === undefined ? 'no longer kept' : `${type} of ${messageId}`})`],
    ['State', describeDeliveryState(delivery)],
  ])
  return attempts.length === 0 ? heading : `${heading}\n${formatAttempts(attempts).replace(/^/gm, '  ')}`
}

function describeDeliveryState({ state, finishedAt, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting') return `${state} at ${finishedAt}`
  return nextAttemptAt === undefined ? 'waiting: the endpoint is disabled' : `waiting for ${nextAttemptAt}`
}

function formatAttempts(attempts: Attempt[]): string {
  return formatTable(
    ['ATTEMPT', 'AT', 'TOOK', 'OUTCOME', 'ANSWER'],
    attempts.map((attempt) => [
      String(attempt.number),
      attempt.startedAt,
      `${attempt.durationMilliseconds} ms`,
      attempt.error ?? `HTTP ${attempt.statusCode}`,
      attempt.responseStart ? quote(attempt.responseStart) : '',
    ]),
  )
}

/** On one line, and not for ever: it is what somebody else wrote. */
function quote(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text)
}
