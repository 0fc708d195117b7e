/**
 * Process: WhatsApp and a customer's server in one, so that a single clock measures the time from a status to its
 * webhook. `POST /measure` with `ArrivalOptions` sends callbacks with one status each at a steady rate and responds
 * with `ArrivalResult` when all webhooks have arrived.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { writeCallbacks } from './callbacks.ts'
import { assertServed, openConnection } from './connection.ts'
import { listen } from './socket-server.ts'
import type { ArrivalOptions, ArrivalResult } from './run-load.ts'
import { numbered } from './numbered-ids.ts'

/** More than can be in progress at this rate. */
const connections = 256

/** When the status of each message was sent, and its latency once the webhook has arrived. */
const sentAt = new Map<string, number>()
const took: number[] = []
let allArrived = Promise.withResolvers<void>()
let expected = 0

async function handle(request: IncomingMessage): Promise<string> {
  // Only run-load.ts starts this process, so requests are its own or webhooks.
  const body = await json(request)
  if (request.url === '/measure') return JSON.stringify(await measure(body as ArrivalOptions))
  noteArrival((body as { data: { messageId: string } }).data.messageId)
  return 'ok'
}

function noteArrival(messageId: string): void {
  const startedAt = sentAt.get(messageId)
  if (startedAt === undefined) return
  sentAt.delete(messageId)
  took.push(performance.now() - startedAt)
  if (took.length === expected) allArrived.resolve()
}

async function measure({ callbacks, perSecond, count }: ArrivalOptions): Promise<ArrivalResult> {
  took.length = 0
  expected = count
  allArrived = Promise.withResolvers()
  const nextCallback = writeCallbacks(callbacks)
  const opened = await Promise.all(
    Array.from({ length: connections }, () => openConnection(callbacks.url, nextCallback)),
  )
  const startedAt = performance.now()
  const exchanges: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    await delay(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()))
    sentAt.set(numbered(callbacks.messages.idStart, callbacks.sent + index), performance.now())
    const connection = opened[index % connections]
    if (!connection) throw new Error('no connection')
    exchanges.push(connection.exchange().then(assertServed))
  }
  await Promise.all([...exchanges, allArrived.promise])
  for (const connection of opened) connection.close()
  const sorted = took.toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(count * 0.5)] ?? NaN, p99: sorted[Math.floor(count * 0.99)] ?? NaN }
}

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  void handle(request).then((body) => response.end(body))
})

await listen(server)
