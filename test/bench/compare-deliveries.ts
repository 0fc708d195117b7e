import type { Deliverer } from './deliverer.ts'
import type { Row } from './row.ts'
import type { Stage } from './stage.ts'
import type { Receiver } from './start-receiver.ts'
import { summarize, type Sides } from './summarize.ts'

export interface DeliveryRounds {
  /** Deliveries of a round. */
  count: number
  /** Where they arrive: each side's begin with its own part. */
  receiver: Receiver
}

const sides = ['ours', 'other'] as const

/**
 * Both sides deliver the same number by turns, each with the machine to itself; what counts is the time from
 * the first arrival to the last. Throws unless all of them are recorded as delivered.
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
  // Compiles the code and fills the caches of both.
  await both()
  const rounds: Sides<number>[] = []
  while (rounds.length < stage.rounds.count) rounds.push(await both())
  return summarize(rounds, { ...line, unit: 'per second' })
}
