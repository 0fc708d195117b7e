import { errorFacts } from '../../../contracts/facts/errors.ts'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../../../contracts/errors.ts'
import { hashApiKey, isApiKey } from '../../accounts/api-key.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Pausable } from '../../platform/pausable.ts'
import { createShares, type Share, type Shares } from './shares.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The slot of this request; null until it is admitted. */
    slot: Slot | null
  }
}

/** The slot of one request among the concurrent requests of this process. */
export interface Slot extends Pausable {
  /** Hash of the API key in the request; undefined if the request has no key or a malformed one. */
  readonly keyHash: string | undefined
  /**
   * Counts the request for its API key instead of its address from now on. Call it once the key is known to be valid.
   */
  recognize(): void
}

/** At 8,000 sends a second, a request waits at most 1/16 of a second. */
const maxConcurrentRequests = 512

/**
 * Limits the concurrent requests of the routes in this Fastify context; health checks and pages are not limited.
 * Requests beyond the limit are rejected before any work is done: at twice the load, admitted requests stay as fast as
 * before, whereas an unbounded queue would slow down everyone.
 */
export function registerLoadLimit(app: FastifyInstance, registry: Registry, max = maxConcurrentRequests): void {
  const shares = createShares(max)
  /** The slots of each connection. A released slot is overwritten by the next one. */
  const slotsOf = new WeakMap<Socket, RequestSlot[]>()
  const rejected = new Counter({
    name: 'waybill_http_requests_refused_total',
    help: 'Requests rejected because this process reached its limit of concurrent requests.',
    registers: [registry],
  })
  registry.registerMetric(
    new Gauge({
      name: 'waybill_http_requests_at_work',
      help: 'Concurrent requests of this process, without those that wait for WhatsApp.',
      registers: [],
      collect() {
        this.set(shares.total())
      },
    }),
  )

  /** The response of a pipelined request may never start, so its slot is also released when the connection closes. */
  function releaseOnClose(socket: Socket, slot: RequestSlot): void {
    const slots = slotsOf.get(socket)
    if (slots) {
      const index = slots.findIndex(({ isReleased }) => isReleased)
      if (index === -1) slots.push(slot)
      else slots[index] = slot
      return
    }
    const created = [slot]
    slotsOf.set(socket, created)
    socket.once('close', () => {
      for (const open of created) open.release()
    })
  }

  app.decorateRequest('slot', null)
  // Runs after the body has been received, so that a slow upload holds no slot.
  app.addHook('preHandler', (request, _reply, done) => {
    // If the client disconnected during the upload, the close event has already fired and would not release the slot.
    if (request.raw.socket.destroyed) return
    const keyHash = presentedKey(request)
    const share = shares.admit(() => networkOf(request.ip), keyHash)
    if (!share) {
      rejected.inc()
      return done(
        new ServiceError('SERVICE_UNAVAILABLE', errorFacts.busy(), {
          retryAfterSeconds: 1,
        }),
      )
    }
    const slot = new RequestSlot(share, shares, keyHash)
    releaseOnClose(request.raw.socket, slot)
    request.slot = slot
    return done()
  })
  // Release before the response is written: a client that reads slowly holds no slot.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.slot instanceof RequestSlot) request.slot.release()
    done()
  })
}

function presentedKey({ headers }: FastifyRequest): string | undefined {
  const apiKey = headers['x-api-key']
  // Only the hash is kept, never the key.
  return typeof apiKey === 'string' && isApiKey(apiKey) ? hashApiKey(apiKey) : undefined
}

class RequestSlot implements Slot {
  readonly keyHash: string | undefined
  #share: Share
  readonly #shares: Shares
  isReleased = false
  #pauses = 0

  constructor(share: Share, shares: Shares, keyHash: string | undefined) {
    this.keyHash = keyHash
    this.#share = share
    this.#shares = shares
    share.take()
  }

  recognize(): void {
    if (this.keyHash === undefined || this.isReleased) return
    const share = this.#shares.recognize(this.keyHash)
    if (share === this.#share) return
    this.#share.release()
    this.#share = share
    share.take()
  }

  /** The response is about to be written. */
  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    if (this.#pauses > 0) this.#share.resume()
    this.#share.release()
  }

  /** A request can have several waits at once. */
  pause(): void {
    this.#pauses += 1
    if (this.#pauses === 1 && !this.isReleased) this.#share.pause()
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0 && !this.isReleased) this.#share.resume()
  }
}
