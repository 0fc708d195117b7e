import type { Benchmark } from '../benchmark.ts'
import { compareDeliveries } from '../compare-deliveries.ts'
import { endpointUrls } from '../deliverer.ts'
import { startOurDeliverer } from '../our-deliverer.ts'
import { startPgBossDeliverer } from '../pg-boss-deliverer.ts'
import type { Goal, Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import { startReceiver } from '../start-receiver.ts'

const receivers: { milliseconds: number; measure: string; goal?: Goal }[] = [
  { milliseconds: 0, measure: 'deliveries/s, the receiver responds immediately', goal: { atLeast: 2.5 } },
  { milliseconds: 50, measure: 'deliveries/s, the receiver takes 50 ms' },
]

/** From a full queue to signed and recorded POSTs, by one worker process. */
export const deliveries: Benchmark = {
  name: 'deliveries',
  against: 'pg-boss, the same POST as a job',
  run: async (stage) => {
    const rows: Row[] = []
    for (const receiver of receivers) rows.push(await measure(stage, receiver))
    return rows
  },
}

async function measure(stage: Stage, { milliseconds, ...line }: (typeof receivers)[number]): Promise<Row> {
  await using upstream = await startProcess('test/bench/upstream.ts')
  await using receiver = await startReceiver({ milliseconds })
  await using ours = await startOurDeliverer(stage, {
    upstreamUrl: upstream.url,
    urls: endpointUrls(receiver.url, 'ours'),
  })
  await using other = await startPgBossDeliverer(stage, endpointUrls(receiver.url, 'other'))
  // Awaited here, before the processes end.
  return await compareDeliveries(stage, { ours, other }, { count: stage.isQuick ? 4_000 : 16_000, receiver }, line)
}
