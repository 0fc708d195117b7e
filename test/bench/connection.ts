import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { varying } from './example.ts'

/** The request to send again and again. */
export interface Target {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}

/** A kept-alive connection that carries one request at a time. */
export interface Connection {
  /** Resolves when the whole answer is there; throws unless it is a 200. */
  exchange(): Promise<void>
  close(): void
}

export async function openConnection(target: Target): Promise<Connection> {
  const { hostname, port } = new URL(target.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return new SocketConnection(socket, target)
}

class SocketConnection implements Connection {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #places: number[]
  #received: Buffer | undefined
  #pending: PromiseWithResolvers<void> | undefined

  constructor(socket: Socket, target: Target) {
    this.#socket = socket
    this.#request = writeRequest(target)
    this.#places = findVarying(this.#request)
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error) => this.#pending?.reject(error))
      .on('close', () => this.#pending?.reject(new Error('the server closed the connection')))
  }

  exchange(): Promise<void> {
    writeNextNumber(this.#request, this.#places)
    this.#pending = Promise.withResolvers()
    this.#socket.write(this.#request)
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
    if (received.toString('latin1', 9, 12) === '200') this.#pending?.resolve()
    else this.#pending?.reject(new Error(`not a 200:\n${received.toString()}`))
  }
}

function writeRequest({ url, path, headers, body }: Target): Buffer {
  const fields = { host: new URL(url).host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`)
}

function findVarying(request: Buffer): number[] {
  const places: number[] = []
  for (let at = request.indexOf(varying); at !== -1; at = request.indexOf(varying, at + 1)) places.push(at)
  return places
}

const numbers = 10 ** varying.length
/** Shares no factor with `numbers`, so that all of them come before one comes again, in no order. */
const step = 7_368_787
let number = Date.now() % numbers

function writeNextNumber(request: Buffer, places: number[]): void {
  number = (number + step) % numbers
  for (let index = varying.length - 1, rest = number; index >= 0; index--, rest = Math.trunc(rest / 10))
    for (const place of places) request[place + index] = 48 + (rest % 10)
}

/** With one request in flight, what comes after the head is its body and nothing else. */
function isComplete(received: Buffer): boolean {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const head = received.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return received.length >= headEnd + 4 + Number(length)
  return received.toString('latin1', received.length - 5) === '0\r\n\r\n'
}
