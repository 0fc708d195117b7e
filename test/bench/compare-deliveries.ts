import type { Deliverer } from './deliverer.ts'
import { type Row, type Sides, summarize } from './row.ts'
import type { Stage } from './stage.ts'
import type { Receiver } from './start-receiver.ts'

export interface DeliveryRounds {
  /** The number of deliveries per round. */
  count: number
  /** Receives the webhooks; the path of each side starts with its own prefix. */
  receiver: Receiver
}

const sides = ['ours', 'other'] as const

/**
 * Both sides deliver the same number alternately, each with the machine to itself. The result is the time from the first to
 * the last arrival. Throws unless all are recorded as delivered.
 */
export async function compareDeliveries(
  stage: Stage,
  deliverers: Sides<Deliverer>,
  { count, receiver }: DeliveryRounds,
  line: Pick<Row, 'measure' | 'goal'>,
): Promise<Row> {
  const deliver = async (side: (typeof sides)[number]) => {
    const perSecond = await receiver.receive(side, count, () => deliverers[side].deliver(count))
    await deliverers[side].settled()
    return perSecond
  }
  const both = async () => ({ ours: await deliver('ours'), other: await deliver('other') })
  // Warms up the compiler and caches of both sides.
  await both()
  const rounds: Sides<number>[] = []
  while (rounds.length < stage.rounds.count) rounds.push(await both())
  return summarize(rounds, { ...line, unit: 'per second' })
}
