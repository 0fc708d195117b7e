import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../../../contracts/errors.ts'

/**
 * Bounds what one connection can hold. Node parses pipelined requests (RFC 9112, 9.3.2) for as long as they come,
 * and keeps their answers for as long as the client does not read them.
 */
export interface Connections {
  /** For Fastify's `serverFactory`. */
  createServer(handler: RequestListener, options: ServerOptions): Server
  /** Why this request is rejected before it is routed; undefined for nearly all. */
  findRejection(request: IncomingMessage): ServiceError | undefined
}

export interface ConnectionLimits {
  /** Requests of one connection whose answers have not been written to the network yet. */
  maxUnanswered: number
  /** A client that reads nothing of a waiting answer for this long loses its connection. */
  stallMilliseconds: number
}

interface State {
  unanswered: number
  /** The last request that is answered has come; its answer ends the connection. */
  closing: boolean
  /** Requests that came after it. */
  ignored: number
  /** Bytes that the client had not read at the last look, and when it last read some. */
  unread: number
  readAt: number
}

/** One read of a socket brings some 2,600 of the shortest requests: nobody needs as many before the first answer. */
const maxIgnored = 512

export function limitConnections({ maxUnanswered, stallMilliseconds }: ConnectionLimits): Connections {
  const states = new Map<Socket, State>()
  const rejections = new WeakMap<IncomingMessage, ServiceError>()

  const receive =
    (handler: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request
      const state = states.get(socket)
      // It has ended while its last bytes were parsed.
      if (!state) return
      if (state.closing) {
        // Nothing after the last answer is processed (RFC 9112, 9.6); whoever goes on all the same is cut off.
        state.ignored += 1
        if (state.ignored > maxIgnored) socket.destroy()
        return
      }
      state.unanswered += 1
      response.on('finish', countAnswer)
      const rejection = findProblem(request, state)
      if (rejection) {
        rejections.set(request, rejection)
        state.closing = true
        response.shouldKeepAlive = false
      }
      handler(request, response)
    }

  /** One function for all answers: a closure for each is slower. */
  function countAnswer(this: ServerResponse): void {
    const state = states.get(this.req.socket)
    if (state) state.unanswered -= 1
  }

  function track(socket: Socket): void {
    // Node keeps the address from here on. Of a client that leaves before it was asked for, there is none, though
    // what it sent can still be read.
    if (socket.remoteAddress === undefined) return void socket.destroy()
    states.set(socket, { unanswered: 0, closing: false, ignored: 0, unread: 0, readAt: 0 })
    socket.once('close', () => states.delete(socket))
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

  function findProblem({ rawHeaders, socket }: IncomingMessage, state: State): ServiceError | undefined {
    if (state.unanswered > maxUnanswered) {
      socket.pause()
      return new ServiceError(
        'SERVICE_UNAVAILABLE',
        `This connection has ${maxUnanswered} unanswered requests. Nothing was sent. Read the answers before sending more requests, or use more connections.`,
        { retryAfterSeconds: 1 },
      )
    }
    return countHosts(rawHeaders) > 1
      ? new ServiceError('VALIDATION_ERROR', 'The request has more than one Host header. Send exactly one.')
      : undefined
  }

  return {
    createServer: (handler, options) => {
      // Not a timeout of the socket: for that one, whatever the client sends counts as a sign of life.
      const sweep = setInterval(closeStalled, stallMilliseconds / 10).unref()
      return createServer(options, receive(handler))
        .on('connection', track)
        .on('close', () => clearInterval(sweep))
    },
    findRejection: (request) => rejections.get(request),
  }
}

/** What is written to a client and has not left this process. */
function unreadBytes(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  // Node tells nobody else how much of a large write is left; without it, a write counts when all of it has left.
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}

/** Proxies differ in which of several they believe (RFC 9112, 3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
