import { startBareDeliverer } from '../bare-deliverer.ts'
import type { Benchmark } from '../benchmark.ts'
import { compareDeliveries } from '../compare-deliveries.ts'
import { endpointUrls } from '../deliverer.ts'
import { startOurDeliverer } from '../our-deliverer.ts'
import { startProcess } from '../start-process.ts'
import { startReceiver } from '../start-receiver.ts'

/** The cost of the queue, the leases and the records, which the other side lacks. */
export const deliveriesBare: Benchmark = {
  name: 'deliveries-bare',
  against: 'a bare loop of signed POSTs, no database',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using receiver = await startReceiver()
    await using ours = await startOurDeliverer(stage, {
      upstreamUrl: upstream.url,
      urls: endpointUrls(receiver.url, 'ours'),
    })
    await using other = await startBareDeliverer(endpointUrls(receiver.url, 'other'))
    const rounds = { count: stage.isQuick ? 4_000 : 16_000, receiver }
    const measure = 'deliveries/s, the receiver responds immediately'
    return [await compareDeliveries(stage, { ours, other }, rounds, { measure, goal: { atLeast: 0.65 } })]
  },
}
