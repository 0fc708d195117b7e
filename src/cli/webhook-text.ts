import { inEnglish } from '../../contracts/facts/fact.ts'
import { describeEndpointFailure } from '../../contracts/dashboard/endpoint-failure.ts'
import type { Attempt, Delivery, Endpoint } from '../../contracts/dashboard/webhook.ts'
import type { DeliveryPage } from '../webhooks/deliveries/delivery.ts'
import type { EndpointTest } from '../webhooks/endpoints/test.ts'
import { formatPairs, formatTable } from './help.ts'
import { waybill } from './program.ts'

const shownCharacters = 100

export function formatEndpoints(accountId: string, items: Endpoint[]): string {
  if (items.length === 0) return `${accountId} has no endpoints. To add one, see: ${waybill} webhook add --help`
  return items.map(describeEndpoint).join('\n\n')
}

export function describeEndpoint(endpoint: Endpoint): string {
  return formatPairs([
    ['Endpoint', endpoint.endpointId],
    ['URL', endpoint.url],
    ['Description', endpoint.description],
    ['Events', endpoint.events.join(', ')],
    ['State', describeState(endpoint)],
    ['Problem', endpoint.failure && inEnglish(describeEndpointFailure(endpoint.failure, (at) => at))],
    ['Waiting', String(endpoint.waiting)],
    ['Delivered', endpoint.lastDeliveredAt ?? 'no recent deliveries'],
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

export function describeTest(test: EndpointTest): string {
  const { delivered, error, statusCode, durationMilliseconds, responseStart } = test
  const outcome = delivered ? `Delivered: HTTP ${statusCode}` : `Not delivered: ${error}`
  const response = responseStart === undefined || responseStart === '' ? '' : `\nResponse: ${quote(responseStart)}`
  return `${outcome}, after ${durationMilliseconds} ms.${response}`
}

export function formatDeliveries(endpointId: string, { items, nextCursor }: DeliveryPage): string {
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
