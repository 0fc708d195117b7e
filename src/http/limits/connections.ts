import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { WorkLimiter } from '../../pipeline/work-limiter.ts'
import { Connection } from './connection.ts'

export interface ConnectionLimits {
  /** Maximum requests of one connection whose responses have not been written to the network yet. */
  maxUnanswered: number
  /** Maximum requests of one connection that are handled at the same time; further ones wait. */
  maxConcurrent: number
  /** Maximum bytes of large responses that all clients together leave unread. */
  maxUnreadBytes: number
  /** A connection is closed if its client reads no bytes of a pending response for this long. */
  stallMilliseconds: number
  /** If the body of a request takes this long, the server sends an error response and closes the connection. */
  bodyMilliseconds: number
  /** Once the server closes, it no longer waits for a request of which nothing has arrived for this long. */
  silenceMilliseconds: number
  /** Returns whether a request has limits of its own. */
  mayTakeLong(request: IncomingMessage): boolean
}

/** Number of checks within the time that a body may take, and within the time that it may stop arriving. */
const maxBodySweeps = 10

/**
 * Bounds the memory of each connection. Node parses pipelined requests (RFC 9112, 9.3.2) as fast as they arrive and buffers
 * their responses until the client reads them.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Map<Socket, Connection>()
  readonly #rejections = new WeakMap<IncomingMessage, ServiceError>()
  #unreadBytes = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** For Fastify's `serverFactory`. */
  createServer(handler: RequestListener, options: ServerOptions): Server {
    const { stallMilliseconds, bodyMilliseconds } = this.#limits
    const server = createServer(
      options,
      this.#receive(handler, (request, connection) => this.#findProblem(request, connection)),
    )
      .on('connection', (socket: Socket) => this.#track(socket))
      .on('checkExpectation', this.#receive(handler, rejectExpectation))
      .on('connect', (_request, socket: Socket) => server.emit('clientError', new ConnectMethodError(), socket))
    // A socket timeout does not work here: incoming data resets it, even if the client reads nothing.
    const stalls = setInterval(() => this.#closeStalled(), stallMilliseconds / 10).unref()
    const bodies = setInterval(() => this.#endSlowBodies(server), bodyMilliseconds / maxBodySweeps).unref()
    return server.on('close', () => {
      clearInterval(stalls)
      clearInterval(bodies)
    })
  }

  /** Call it when the server begins to close: clients that stop sending in the middle of a request would delay that. */
  endSilentRequests(server: Server): void {
    const sweep = () => {
      for (const connection of this.#open.values())
        if (connection.isSilent(maxBodySweeps)) endRequest(server, connection, new SilentRequestError())
    }
    const silences = setInterval(sweep, this.#limits.silenceMilliseconds / maxBodySweeps).unref()
    server.once('close', () => clearInterval(silences))
  }

  /** Returns the error for a request that is rejected before routing; undefined for most requests. */
  findRejection(request: IncomingMessage): ServiceError | undefined {
    return this.#rejections.get(request)
  }

  /**
   * Counts the bytes of a response until the client has read them or is gone, and then calls `onRead`. If clients leave
   * more unread than this process may hold, the connection that holds the most is closed.
   */
  countUnread(response: ServerResponse, bytes: number, onRead: () => void): void {
    const connection = this.#open.get(response.req.socket)
    if (!connection) return onRead()
    this.#unreadBytes += bytes
    connection.countUnread(response, bytes, () => {
      this.#unreadBytes -= bytes
      onRead()
    })
    if (this.#unreadBytes > this.#limits.maxUnreadBytes) this.#closeLargest()
  }

  #receive(
    handler: RequestListener,
    findProblem: (request: IncomingMessage, connection: Connection) => ServiceError | undefined,
  ): RequestListener {
    return (request, response) => {
      const connection = this.#open.get(request.socket)
      // Without one, the connection closed while its last bytes were parsed.
      if (!connection?.accepts(response)) return
      const problem = findProblem(request, connection)
      if (problem) {
        this.#rejections.set(request, problem)
        connection.closeAfter(response)
      }
      connection.handle(request, response, handler)
    }
  }

  #findProblem({ rawHeaders, headers, httpVersion }: IncomingMessage, { unanswered, socket }: Connection) {
    const { maxUnanswered } = this.#limits
    if (unanswered > maxUnanswered) {
      socket.pause()
      return new ServiceError(
        'SERVICE_UNAVAILABLE',
        `This connection has ${maxUnanswered} unanswered requests. Nothing was sent. Read the answers before sending more requests, or use more connections.`,
        { retryAfterSeconds: 1 },
      )
    }
    const repeated = findRepeatedHeader(rawHeaders)
    if (repeated !== undefined)
      return new ServiceError('VALIDATION_ERROR', `The request has more than one ${repeated} header. Send exactly one.`)
    if (headers.host === undefined && httpVersion !== '1.0')
      return new ServiceError('VALIDATION_ERROR', 'The request has no Host header. Send exactly one.')
    return undefined
  }

  #track(socket: Socket): void {
    // Node keeps the address from here on. If the client disconnects first, the address is unavailable, although
    // what it sent can still be read.
    const { remoteAddress } = socket
    if (remoteAddress === undefined) return void socket.destroy()
    // Node adds the name of the network interface to a link-local address. It is not part of the address.
    const [address = ''] = remoteAddress.split('%', 1)
    if (address !== remoteAddress) Object.defineProperty(socket, 'remoteAddress', { value: address })
    const connection = new Connection(socket, this.#limits.maxConcurrent)
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      connection.end()
    })
  }

  #closeLargest(): void {
    let largest: Connection | undefined
    for (const connection of this.#open.values())
      if (!connection.socket.destroyed && connection.unreadBytes > (largest?.unreadBytes ?? 0)) largest = connection
    largest?.socket.destroy()
  }

  #closeStalled(): void {
    const at = performance.now()
    for (const connection of this.#open.values())
      if (connection.isStalled(at, this.#limits.stallMilliseconds)) connection.socket.destroy()
  }

  #endSlowBodies(server: Server): void {
    for (const connection of this.#open.values())
      if (connection.isBodyOverdue(maxBodySweeps, this.#limits.mayTakeLong))
        endRequest(server, connection, new RequestTimeoutError())
  }
}

/** Answers a request that does not arrive completely. */
function endRequest(server: Server, connection: Connection, error: Error): void {
  server.emit('clientError', error, connection.socket)
  connection.closeSoon()
}

/** The error with which Node reports a request that takes too long. */
class RequestTimeoutError extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT'
}

/** The error for a request that stops arriving while the server closes. */
class SilentRequestError extends Error {
  readonly code = 'WAYBILL_SILENT_REQUEST'
}

/**
 * Headers that choose the caller, the request or its format, as they are written. Node takes the first of some of them and
 * joins the others with commas, and proxies differ (RFC 9112, 3.2). No two have the same length.
 */
const singleHeaders = ['Host', 'X-API-Key', 'Content-Type', 'Authorization', 'Idempotency-Key']
const singleHeaderByLength = new Map(singleHeaders.map((name) => [name.length, { name, lower: name.toLowerCase() }]))

/** Returns the name of a header that may occur once and occurs more often. */
function findRepeatedHeader(rawHeaders: readonly string[]): string | undefined {
  // A bit for each length, because a set for each request is slower.
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index] ?? ''
    const single = singleHeaderByLength.get(length)
    if (single === undefined || rawHeaders[index]?.toLowerCase() !== single.lower) continue
    if ((found & (1 << length)) !== 0) return single.name
    found |= 1 << length
  }
  return undefined
}

function rejectExpectation(): ServiceError {
  return new ServiceError('VALIDATION_ERROR', 'The Expect header may only have the value 100-continue. Leave it out.')
}

/** The error for a CONNECT request, which Node would otherwise leave without an answer. */
class ConnectMethodError extends Error {
  readonly code = 'WAYBILL_CONNECT_METHOD'
}

/** Smaller responses are bounded by their number per connection. */
const minBytes = 16 * 1024

/** Writing a response to the network. */
const millisecondsPerByte = 0.000_005

/** Counts large responses for their account until the client has read them, because they stay in memory until then. */
export function limitUnreadResponses(app: FastifyInstance, connections: Connections, workLimiter: WorkLimiter): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isLarge = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= minBytes
    if (isLarge) {
      const bytes = payload.length
      const accountId = request.trace?.accountId
      if (accountId !== undefined) {
        workLimiter.charge(accountId, bytes * millisecondsPerByte)
        workLimiter.addUnread(accountId, bytes)
      }
      connections.countUnread(reply.raw, bytes, () => {
        if (accountId !== undefined) workLimiter.addUnread(accountId, -bytes)
      })
    }
    done()
  })
}
