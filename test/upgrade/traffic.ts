import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import type { ServeProcess } from '../support/process.ts'

const clients = 8
const pauseMilliseconds = 10
const example = sendMessage.example.input

/** A send and its response. */
export interface Sent {
  key: string
  /** 0: no response. */
  statusCode: number
  messageId: string | undefined
  error: string | undefined
  milliseconds: number
}

export interface Traffic {
  sent: readonly Sent[]
  /** Later sends go to these servers in turn. */
  sendTo(...servers: ServeProcess[]): void
  stop(): Promise<void>
}

/** Sends a message under an idempotency key. */
export async function sendOnce(server: ServeProcess, key: string): Promise<Sent> {
  const startedAt = performance.now()
  const body = { ...example, variables: { '1': 'Ada', '2': key }, externalId: key }
  const sent = await server.send(inject('installed').apiKey, body, { 'idempotency-key': key }).then(
    (response) => ({
      statusCode: response.statusCode,
      messageId: response.body.data?.messageId,
      error: response.body.error?.message,
    }),
    (error: unknown) => ({ statusCode: 0, messageId: undefined, error: String(error) }),
  )
  return { key, ...sent, milliseconds: Math.round(performance.now() - startedAt) }
}

/** Starts clients that send without retries, one message after the other. */
export function startTraffic(name: string, first: ServeProcess): Traffic {
  const sent: Sent[] = []
  let servers = [first]
  const over = new AbortController()

  async function sendContinuously(client: number): Promise<void> {
    for (let number = 0; !over.signal.aborted; number++) {
      const server = servers[number % servers.length] ?? first
      sent.push(await sendOnce(server, `${name}-${client}-${number}`))
      await delay(pauseMilliseconds)
    }
  }
  const load = Promise.all(Array.from({ length: clients }, (_, client) => sendContinuously(client)))
  return {
    sent,
    sendTo: (...next) => void (servers = next),
    stop: async () => {
      over.abort()
      await load
    },
  }
}
