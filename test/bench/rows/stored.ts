import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer } from '../customer.ts'
import { startProcess } from '../start-process.ts'
import { storeWeeksOfMessages } from '../stored-messages.ts'

const connections = 128
const storedMessages = { thorough: 5_000_000, quick: 500_000 }

/** The effect of many stored messages on a send. */
export const stored: Benchmark = {
  name: 'stored',
  against: 'an empty database',
  run: async (stage) => {
    const count = stage.isQuick ? storedMessages.quick : storedMessages.thorough
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using grown = await createCustomer(stage, upstream.url)
    await using empty = await createCustomer(stage, upstream.url)
    await storeWeeksOfMessages(grown, count)
    await using ours = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: grown.environment })
    await using other = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: empty.environment })
    const targets = { ours: grown.sendThrough(ours.url), other: empty.sendThrough(other.url) }
    const comparison = await compare(targets, connections, stage.rounds)
    const measure = `sends/s with ${count.toLocaleString('en')} messages stored, ${connections} connections`
    return [toRow(comparison, 'perSecond', { measure, goal: { atLeast: 0.9 } })]
  },
}
