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
import type { Meter } from '../../pipeline/meter.ts'

/**
 * Bounds the memory of one connection. Node parses pipelined requests (RFC 9112, 9.3.2) as fast as they arrive and
 * buffers their responses until the client reads them.
 */
interface Connections {
  /** For Fastify's `serverFactory`. */
  createServer(handler: RequestListener, options: ServerOptions): Server
  /** Returns the error for a request that is rejected before routing; undefined for most requests. */
  findRejection(request: IncomingMessage): ServiceError | undefined
  /**
   * Counts the bytes of a response until the client has read them or is gone, and then calls `onRead`. If clients leave
   * more unread than this process may hold, the connection that holds the most is closed.
   */
  countUnread(response: ServerResponse, bytes: number, onRead: () => void): void
}

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
  /** Returns whether a request has limits of its own. */
  mayTakeLong(request: IncomingMessage): boolean
}

interface State {
  unanswered: number
  /** Requests that are being handled or whose responses are unread, and those that wait for them. */
  handling: number
  waiting: Waiting[]
  /** Bytes of the bodies of waiting requests, which Node buffers. */
  waitingBytes: number
  /** Large responses that the client has not read, and their bytes. */
  unreadResponses: Set<() => void>
  unreadBytes: number
  /** The connection closes after the response to its latest request. */
  closing: boolean
  /** Requests received after `closing` was set. */
  ignored: number
  /** Bytes that the client had not read at the last sweep, and the time when it last read some. */
  unread: number
  readAt: number
  /** The latest request, until its body is complete, and the number of sweeps that found it incomplete. */
  receiving: IncomingMessage | undefined
  bodySweeps: number
}

interface Waiting {
  request: IncomingMessage
  response: ServerResponse
  handler: RequestListener
}

/** If the bodies of a connection's waiting requests take more, nothing else is read from it. */
const maxWaitingBytes = 64 * 1024
/** A single socket read holds up to about 2,600 minimal requests. No legitimate client pipelines more than this limit. */
const maxIgnoredRequests = 512
/** Number of checks within the time that a body may take. */
const maxBodySweeps = 10

export function limitConnections({
  maxUnanswered,
  maxConcurrent,
  maxUnreadBytes,
  stallMilliseconds,
  bodyMilliseconds,
  mayTakeLong,
}: ConnectionLimits): Connections {
  const states = new Map<Socket, State>()
  let totalUnreadBytes = 0
  const rejections = new WeakMap<IncomingMessage, ServiceError>()

  const receive =
    (handler: RequestListener, find = findProblem): RequestListener =>
    (request, response) => {
      const { socket } = request
      const state = states.get(socket)
      // The connection closed while its last bytes were parsed.
      if (!state) return
      if (state.closing) {
        // A server ignores requests after the last response (RFC 9112, 9.6). A client that keeps sending is
        // disconnected.
        state.ignored += 1
        if (state.ignored > maxIgnoredRequests) socket.destroy()
        return
      }
      state.unanswered += 1
      response.on('finish', countResponse)
      const rejection = find(request, state)
      if (rejection) {
        rejections.set(request, rejection)
        state.closing = true
        response.shouldKeepAlive = false
      }
      if (state.handling >= maxConcurrent) {
        wait(socket, state, { request, response, handler })
        return
      }
      state.handling += 1
      expectBody(state, request)
      handler(request, response)
    }

  /** Shared by all responses, because a closure for each response is slower. */
  function countResponse(this: ServerResponse): void {
    const state = states.get(this.req.socket)
    if (!state) return
    state.unanswered -= 1
    const next = state.waiting.shift()
    if (next) {
      const wasFull = isFull(state)
      const { request, response, handler } = next
      state.waitingBytes -= bytesOf(request)
      expectBody(state, request)
      handler(request, response)
      if (wasFull && !isFull(state)) this.req.socket.resume()
    } else state.handling -= 1
  }

  function wait(socket: Socket, state: State, waiting: Waiting): void {
    state.waiting.push(waiting)
    state.waitingBytes += bytesOf(waiting.request)
    if (isFull(state)) socket.pause()
  }

  function countUnread(response: ServerResponse, bytes: number, onRead: () => void): void {
    const state = states.get(response.req.socket)
    if (!state) return onRead()
    const forget = () => {
      if (!state.unreadResponses.delete(forget)) return
      state.unreadBytes -= bytes
      totalUnreadBytes -= bytes
      onRead()
    }
    state.unreadResponses.add(forget)
    state.unreadBytes += bytes
    totalUnreadBytes += bytes
    response.once('finish', forget)
    if (totalUnreadBytes > maxUnreadBytes) closeLargest()
  }

  function closeLargest(): void {
    let largest: { socket: Socket; unreadBytes: number } | undefined
    for (const [socket, { unreadBytes }] of states)
      if (!socket.destroyed && unreadBytes > (largest?.unreadBytes ?? 0)) largest = { socket, unreadBytes }
    largest?.socket.destroy()
  }

  function track(socket: Socket): void {
    // Node keeps the address from here on. If the client disconnects first, the address is unavailable, although
    // what it sent can still be read.
    const { remoteAddress } = socket
    if (remoteAddress === undefined) return void socket.destroy()
    // Node adds the name of the network interface to a link-local address. It is no part of the address.
    const [address = ''] = remoteAddress.split('%', 1)
    if (address !== remoteAddress) Object.defineProperty(socket, 'remoteAddress', { value: address })
    const state: State = {
      unanswered: 0,
      handling: 0,
      waiting: [],
      waitingBytes: 0,
      unreadResponses: new Set(),
      unreadBytes: 0,
      closing: false,
      ignored: 0,
      unread: 0,
      readAt: 0,
      receiving: undefined,
      bodySweeps: 0,
    }
    states.set(socket, state)
    // Node resumes a paused connection whenever a handler reads a body.
    const resume = socket.resume.bind(socket)
    socket.resume = () => (isFull(state) ? socket : resume())
    socket.once('close', () => {
      states.delete(socket)
      for (const forget of state.unreadResponses) forget()
    })
  }

  function closeStalled(): void {
    const at = performance.now()
    for (const [socket, state] of states) {
      const unread = unreadBytes(socket)
      if (unread === 0 || state.unread === 0 || unread < state.unread) state.readAt = at
      state.unread = unread
      if (unread > 0 && at - state.readAt >= stallMilliseconds) socket.destroy()
    }
  }

  /** Counts sweeps instead of reading the clock for each request, because most bodies arrive with their headers. */
  function endSlowBodies(server: Server): void {
    for (const [socket, state] of states) {
      const { receiving } = state
      if (!receiving) continue
      if (receiving.complete) state.receiving = undefined
      else if (!mayTakeLong(receiving) && ++state.bodySweeps > maxBodySweeps) {
        state.receiving = undefined
        server.emit('clientError', new RequestTimeoutError(), socket)
        closeAfterResponse(socket)
      }
    }
  }

  function findProblem({ rawHeaders, headers, socket, httpVersion }: IncomingMessage, state: State) {
    if (state.unanswered > maxUnanswered) {
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

  return {
    createServer: (handler, options) => {
      // A socket timeout does not work here: incoming data resets it, even if the client reads nothing.
      const sweep = setInterval(closeStalled, stallMilliseconds / 10).unref()
      const server = createServer(options, receive(handler))
        .on('connection', track)
        .on('checkExpectation', receive(handler, rejectExpectation))
        .on('connect', (_request, socket: Socket) => server.emit('clientError', new ConnectMethodError(), socket))
      const bodySweep = setInterval(() => endSlowBodies(server), bodyMilliseconds / maxBodySweeps).unref()
      return server.on('close', () => {
        clearInterval(sweep)
        clearInterval(bodySweep)
      })
    },
    findRejection: (request) => rejections.get(request),
    countUnread,
  }
}

/** From when its request is handled: while it waits, nothing reads a body, so that it cannot arrive. */
function expectBody(state: State, request: IncomingMessage): void {
  state.receiving = request
  state.bodySweeps = 0
}

function isFull({ waitingBytes }: State): boolean {
  return waitingBytes > maxWaitingBytes
}

/** The size of a body; that of a chunked one is unknown. */
function bytesOf({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return maxWaitingBytes
  return Number(headers['content-length'] ?? 0)
}

/** Stops reading, so that the rest of a rejected request cannot reach a handler, but lets the client read the response. */
function closeAfterResponse(socket: Socket): void {
  socket.pause()
  setTimeout(() => socket.destroy(), 1_000).unref()
}

/** The error with which Node reports a request that takes too long. */
class RequestTimeoutError extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT'
}

/** Bytes written to the socket that have not left this process. */
function unreadBytes(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  // Only the internal handle knows how much of a large write is left. Without it, a write counts until it is complete.
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
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
