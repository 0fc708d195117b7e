import { capitalize, say } from '../../language/facts.ts'
import type { Delivery } from '../../../../contracts/dashboard/webhook.ts'

/** Deliveries that differ only in their event: same type, state, response and hour. */
export interface DeliveryGroup<D extends Delivery = Delivery> {
  key: string
  /** At least one, in list order. */
  deliveries: [D, ...D[]]
}

/**
 * Groups deliveries that look the same. Groups are in the order of their first delivery. Those that are read stay alone,
 * because a row that joins a group closes.
 */
export function groupDeliveries<D extends Delivery>(
  deliveries: readonly D[],
  read: readonly string[] = [],
): DeliveryGroup<D>[] {
  const groups = Map.groupBy(deliveries, (delivery) =>
    read.includes(delivery.deliveryId)
      ? delivery.deliveryId
      : [delivery.createdAt.slice(0, 13), delivery.type, delivery.state, describeLastAttempt(delivery)].join(' '),
  )
  return [...groups].flatMap(([text, [first, ...rest]]) =>
    // The key becomes part of an element ID.
    first ? [{ key: text.replaceAll(/[^\w.-]+/g, '-'), deliveries: [first, ...rest] }] : [],
  )
}

/** The result of the last attempt, such as `HTTP 500` or `Connection refused`; undefined before the first attempt. */
export function describeLastAttempt({ attempts }: Pick<Delivery, 'attempts'>): string | undefined {
  const last = attempts.at(-1)
  if (!last) return undefined
  const text =
    last.error === undefined ? `HTTP ${last.statusCode}` : say({ error: last.error, facts: last.facts }, 'error')
  return capitalize(text)
}
