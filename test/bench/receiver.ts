/**
 * Process: a customer's server that costs as little as a bare node:http server can. It answers a webhook at
 * once, or after the milliseconds given as argument, and counts what arrives by the first part of the path;
 * under `/dead` nothing is ever answered. `/expect/<part>/<count>` starts to count, and
 * `/arrivals/<part>` answers when so many have come.
 */
import { createServer, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

const delayMilliseconds = Number(process.argv[2] ?? 0)

interface Expected {
  count: number
  arrived: number
  firstAt: number
  perSecond: PromiseWithResolvers<number>
}

const expected = new Map<string, Expected>()

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const [, part = '', name = '', count = ''] = (request.url ?? '').split('/')
  request.resume().once('end', () => {
    if (part === 'expect') {
      expected.set(name, { count: Number(count), arrived: 0, firstAt: 0, perSecond: Promise.withResolvers() })
      answer(response)
    } else if (part === 'arrivals') {
      void expected.get(name)?.perSecond.promise.then((perSecond) => answer(response, String(perSecond)))
    } else if (part !== 'dead') {
      noteArrival(expected.get(part))
      if (delayMilliseconds === 0) answer(response)
      else setTimeout(() => answer(response), delayMilliseconds)
    }
  })
})

function answer(response: ServerResponse, text = 'ok'): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': text.length }).end(text)
}

/** The rate is that of all from the first to the last. */
function noteArrival(kind: Expected | undefined): void {
  if (!kind) return
  const now = performance.now()
  if (kind.arrived++ === 0) kind.firstAt = now
  if (kind.arrived === kind.count) kind.perSecond.resolve(((kind.count - 1) * 1000) / (now - kind.firstAt))
}

await listen(server)
