import { translateServerText } from '../../language/server-text.ts'
import type { Delivery } from '../../../../contracts/dashboard/webhook.ts'

/** Deliveries that differ only in their event: same type, state, answer and hour. */
export interface DeliveryGroup<D extends Delivery = Delivery> {
  key: string
  /** At least one, in the order of the list. */
  deliveries: [D, ...D[]]
}

/** Groups deliveries that look the same, in the order in which the first of each group is listed. */
export function groupDeliveries<D extends Delivery>(deliveries: readonly D[]): DeliveryGroup<D>[] {
  const groups = Map.groupBy(deliveries, (delivery) =>
    [delivery.createdAt.slice(0, 13), delivery.type, delivery.state, describeAnswer(delivery)].join(' '),
  )
  return [...groups].flatMap(([text, [first, ...rest]]) =>
    // The key becomes part of an ID in the page.
    first ? [{ key: text.replaceAll(/[^\w.-]+/g, '-'), deliveries: [first, ...rest] }] : [],
  )
}

/** How the last attempt ended: `HTTP 500`, `Connection refused`, or undefined before the first attempt. */
export function describeAnswer({ attempts }: Pick<Delivery, 'attempts'>): string | undefined {
  const last = attempts.at(-1)
  if (!last) return undefined
  const text = last.error === undefined ? `HTTP ${last.statusCode}` : translateServerText(last.error)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
