import type { FastifyInstance } from 'fastify'
import type { Meter } from '../../pipeline/meter.ts'
import type { Connections } from './connections.ts'

/** Smaller responses are bounded by their number per connection. */
const minBytes = 16 * 1024

/** Writing a response to the network. */
const millisecondsPerByte = 0.000_005

/** Counts large responses for their account until the client has read them, because they stay in memory until then. */
export function boundUnread(app: FastifyInstance, connections: Connections, meter: Meter): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isLarge = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= minBytes
    if (isLarge) {
      const bytes = payload.length
      const accountId = request.trace?.accountId
      if (accountId !== undefined) {
        meter.charge(accountId, bytes * millisecondsPerByte)
        meter.addUnread(accountId, bytes)
      }
      connections.countUnread(reply.raw, bytes, () => {
        if (accountId !== undefined) meter.addUnread(accountId, -bytes)
      })
    }
    done()
  })
}
