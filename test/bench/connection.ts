import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A keep-alive connection that carries one request at a time. */
export interface Connection {
  /**
   * Resolves when the whole response has arrived: a 200, or a 503 of an overloaded server. Throws on any other status.
   */
  exchange(): Promise<Outcome>
  close(): void
}

export type Outcome = 'served' | 'refused'

/** Throws on a 503 response, which would falsify the figure. */
export function assertServed(outcome: Outcome): void {
  if (outcome !== 'served') throw new Error('refused with a 503')
}

const outcomes = new Map<string, Outcome>([
  ['200', 'served'],
  ['503', 'refused'],
])

/** `nextRequest` returns the bytes of each request; they are sent before the next call. */
export async function openConnection(url: string, nextRequest: () => Buffer): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return new SocketConnection(socket, nextRequest)
}

class SocketConnection implements Connection {
  readonly #socket: Socket
  readonly #nextRequest: () => Buffer
  #received: Buffer | undefined
  #pending: PromiseWithResolvers<Outcome> | undefined

  constructor(socket: Socket, nextRequest: () => Buffer) {
    this.#socket = socket
    this.#nextRequest = nextRequest
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error) => this.#pending?.reject(error))
      .on('close', () => this.#pending?.reject(new Error('the server closed the connection')))
  }

  exchange(): Promise<Outcome> {
    this.#pending = Promise.withResolvers()
    this.#socket.write(this.#nextRequest())
    return this.#pending.promise
  }

  close(): void {
    this.#pending = undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    const received = this.#received ? Buffer.concat([this.#received, chunk]) : chunk
    const complete = isComplete(received)
    this.#received = complete ? undefined : received
    if (!complete) return
    const outcome = outcomes.get(received.toString('latin1', 9, 12))
    if (outcome) this.#pending?.resolve(outcome)
    else this.#pending?.reject(new Error(`not a 200:\n${received.toString()}`))
  }
}

/** With one request in progress, everything after the response head is its body. */
function isComplete(received: Buffer): boolean {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const head = received.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return received.length >= headEnd + 4 + Number(length)
  return received.toString('latin1', received.length - 5) === '0\r\n\r\n'
}
