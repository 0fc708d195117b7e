/**
 * Process: a customer's server at minimum cost. It responds to a webhook immediately or after the milliseconds given as
 * argument, and counts arrivals by the first path segment. It never responds under `/dead`. `/expect/<part>/<count>`
 * starts a count, and `/arrivals/<part>` responds when it is reached.
 */
import { createSocketServer, listen } from './socket-server.ts'

const delayMilliseconds = Number(process.argv[2] ?? 0)

interface Expected {
  count: number
  arrived: number
  firstAt: number
  perSecond: PromiseWithResolvers<number>
}

const expected = new Map<string, Expected>()

const server = createSocketServer(({ path }, respond) => {
  const [, part = '', name = '', count = ''] = path.split('/')
  if (part === 'expect') {
    expected.set(name, { count: Number(count), arrived: 0, firstAt: 0, perSecond: Promise.withResolvers() })
    respond('true')
  } else if (part === 'arrivals') {
    void expected.get(name)?.perSecond.promise.then((perSecond) => respond(String(perSecond)))
  } else if (part !== 'dead') {
    noteArrival(expected.get(part))
    if (delayMilliseconds === 0) respond('true')
    else setTimeout(() => respond('true'), delayMilliseconds)
  }
})

/** The rate covers all arrivals from the first to the last. */
function noteArrival(kind: Expected | undefined): void {
  if (!kind) return
  const now = performance.now()
  if (kind.arrived++ === 0) kind.firstAt = now
  if (kind.arrived === kind.count) kind.perSecond.resolve(((kind.count - 1) * 1000) / (now - kind.firstAt))
}

await listen(server)
