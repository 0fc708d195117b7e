import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface WaitingRequest {
  request: IncomingMessage
  response: ServerResponse
  handler: RequestListener
}

/** If the bodies of a connection's waiting requests take more, nothing else is read from it. */
const maxWaitingBytes = 64 * 1024
/** A single socket read holds up to about 2,600 minimal requests. No legitimate client pipelines more than this limit. */
const maxIgnoredRequests = 512
/** Sweeps after which a connection on which nothing has arrived is no longer waited for: about a second. */
const maxEmptySweeps = 2
/** How long the rest of a body is read and discarded after the last response of a connection. */
export const lingerMilliseconds = 5_000

/** A connection, its requests until their responses are written, and the responses that its client has not read. */
export class Connection {
  readonly socket: Socket
  readonly #maxConcurrent: number
  /** Requests whose responses have not been written to the network yet. */
  unanswered = 0
  /** Requests that are being handled or whose responses are unread; `#waiting` are those that wait for them. */
  #handling = 0
  readonly #waiting: WaitingRequest[] = []
  /** Bytes of the bodies of waiting requests, which Node buffers. */
  #waitingBytes = 0
  /** Bytes of large responses that the client has not read. */
  unreadBytes = 0
  readonly #unreadResponses = new Set<() => void>()
  /** The connection closes after the response to its latest request. */
  #isClosing = false
  #ignoredRequests = 0
  #isGone = false
  /** Bytes that the client had read at the last sweep, and the time when it last read some. */
  #readBytes = -1
  #readAt = 0
  /** The latest request, until its body is complete, and the number of sweeps that found it incomplete. */
  #receiving: IncomingMessage | undefined
  #bodySweeps = 0
  /** Bytes that had arrived at the last sweep, and the number of sweeps since the last ones. */
  #arrivedBytes = -1
  #silentSweeps = 0

  constructor(socket: Socket, maxConcurrent: number) {
    this.socket = socket
    this.#maxConcurrent = maxConcurrent
    // Node resumes a paused connection whenever a handler reads a body.
    const resume = socket.resume.bind(socket)
    // Not assigned as it is created: V8 would create it in the old space, where it would keep a closed connection.
    const resumeWithRoom = () => (this.#isFull ? socket : resume())
    socket.resume = resumeWithRoom
    const close = socket.destroySoon.bind(socket)
    const closeAfterBody = () => this.#closeAfterBody(close)
    socket.destroySoon = closeAfterBody
  }

  /**
   * Returns whether a request is to be answered. A server ignores requests after its last response (RFC 9112, 9.6), and
   * disconnects a client that keeps sending.
   */
  accepts(response: ServerResponse): boolean {
    if (this.#isClosing) {
      this.#ignoredRequests += 1
      if (this.#ignoredRequests > maxIgnoredRequests) this.socket.destroy()
      return false
    }
    this.unanswered += 1
    response.on('finish', this.#handleNext)
    return true
  }

  closeAfter(response: ServerResponse): void {
    this.#isClosing = true
    response.shouldKeepAlive = false
  }

  /** Handles a request, now or when an earlier one has been answered. */
  handle(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    if (this.#handling < this.#maxConcurrent) {
      this.#handling += 1
      this.#begin(request, response, handler)
      return
    }
    this.#waiting.push({ request, response, handler })
    this.#waitingBytes += bodyBytes(request)
    if (this.#isFull) this.socket.pause()
  }

  /** One closure for all responses, because one for each is slower. */
  readonly #handleNext = () => {
    if (this.#isGone) return
    this.unanswered -= 1
    const next = this.#waiting.shift()
    if (!next) {
      this.#handling -= 1
      return
    }
    const wasFull = this.#isFull
    this.#waitingBytes -= bodyBytes(next.request)
    this.#begin(next.request, next.response, next.handler)
    if (wasFull && !this.#isFull) this.socket.resume()
  }

  #begin(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    // From here on its body can arrive: while a request waits, nothing reads it.
    this.#receiving = request
    this.#bodySweeps = 0
    handler(request, response)
  }

  /**
   * After the last response of a connection, Node closes it. If the client still sends its body, as with the defaults of
   * nginx, that is an error with which the client loses the response. So the connection is closed after the body.
   */
  #closeAfterBody(close: () => void): void {
    const request = this.#receiving
    // A later request than the one that was answered is not read any more.
    if (!request || request.complete || this.unanswered > 1) return close()
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), lingerMilliseconds)
    request
      .once('end', close)
      .once('close', () => clearTimeout(timer))
      .resume()
  }

  get #isFull(): boolean {
    return this.#waitingBytes > maxWaitingBytes
  }

  /** Counts a large response until the client has read it or is gone, and then calls `onRead`. */
  countUnread(response: ServerResponse, bytes: number, onRead: () => void): void {
    const forget = () => {
      if (!this.#unreadResponses.delete(forget)) return
      this.unreadBytes -= bytes
      onRead()
    }
    this.#unreadResponses.add(forget)
    this.unreadBytes += bytes
    response.once('finish', forget)
  }

  /** Called at intervals. Returns whether the client has read nothing of a pending response for this long. */
  isStalled(at: number, milliseconds: number): boolean {
    const isPending = this.socket.writableLength > 0
    const readBytes = countReadBytes(this.socket)
    if (!isPending || readBytes !== this.#readBytes) this.#readAt = at
    this.#readBytes = readBytes
    return isPending && at - this.#readAt >= milliseconds
  }

  /**
   * Called at intervals. Returns whether the body of the latest request has not arrived within so many of them. Counting
   * them needs no clock for each request, and most bodies arrive with their headers.
   */
  isBodyOverdue(maxSweeps: number, mayTakeLong: (request: IncomingMessage) => boolean): boolean {
    const receiving = this.#receiving
    if (receiving?.complete === true) this.#receiving = undefined
    if (!receiving || receiving.complete || mayTakeLong(receiving) || ++this.#bodySweeps <= maxSweeps) return false
    this.#receiving = undefined
    return true
  }

  /**
   * Called at intervals. Returns, once, whether nothing of an incomplete request has arrived within so many of them. Without
   * a request, its headers may be incomplete. A connection on which nothing has ever arrived was opened in advance, as
   * browsers do: the first bytes of a request follow at once.
   */
  isSilent(maxSweeps: number): boolean {
    const { bytesRead } = this.socket
    const isWaiting = this.unanswered === 0 || this.#receiving?.complete === false
    this.#silentSweeps = isWaiting && bytesRead === this.#arrivedBytes ? this.#silentSweeps + 1 : 0
    this.#arrivedBytes = bytesRead
    return this.#silentSweeps === (bytesRead === 0 ? maxEmptySweeps : maxSweeps)
  }

  /** Stops reading, so that the rest of a rejected request cannot reach a handler, but lets the client read the response. */
  closeSoon(): void {
    this.socket.pause()
    setTimeout(() => this.socket.destroy(), 1_000).unref()
  }

  /** The socket has closed: waiting requests are not handled any more. */
  end(): void {
    this.#isGone = true
    for (const forget of this.#unreadResponses) forget()
  }
}

/** The size of a body; that of a chunked one is unknown. */
function bodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return maxWaitingBytes
  return Number(headers['content-length'] ?? 0)
}

/**
 * Bytes that have left this process. How much is left does not tell whether a client reads, because a stream replaces what
 * it has read.
 */
function countReadBytes(socket: Socket): number {
  // Only the internal handle knows how much of a large write has left.
  const { _handle: handle } = socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } }
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0)
}
