import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../../../contracts/errors.ts'
import { errorFacts } from '../../../contracts/facts/errors.ts'
import { hashApiKey, isApiKey } from '../../accounts/api-key.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { ConcurrencySlot } from '../../platform/concurrency-slot.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The slot of this request; null until it is admitted. */
    slot: RequestSlot | null
  }
}

/** The slot of one request among the concurrent requests of this process. */
export interface RequestSlot extends ConcurrencySlot {
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
export function registerConcurrencyLimit(app: FastifyInstance, registry: Registry, max = maxConcurrentRequests): void {
  const shares = createShares(max)
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
    const slot = new CountedSlot(share, shares, keyHash)
    releaseOnClose(request.raw.socket, slot)
    request.slot = slot
    return done()
  })
  // Release before the response is written: a client that reads slowly holds no slot.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.slot instanceof CountedSlot) request.slot.release()
    done()
  })
}

/** The slots of each connection. A released slot is overwritten by the next one. */
const slotsOf = new WeakMap<Socket, CountedSlot[]>()

/** The response of a pipelined request may never start, so its slot is also released when the connection closes. */
function releaseOnClose(socket: Socket, slot: CountedSlot): void {
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

function presentedKey({ headers }: FastifyRequest): string | undefined {
  const apiKey = headers['x-api-key']
  // Only the hash is kept, never the key.
  return typeof apiKey === 'string' && isApiKey(apiKey) ? hashApiKey(apiKey) : undefined
}

class CountedSlot implements RequestSlot {
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

/** The concurrent requests of one API key or one address. */
interface Share {
  take(): void
  release(): void
  /** A request that was taken does not count until it is resumed; it still belongs to this share. */
  pause(): void
  resume(): void
}

interface Shares {
  /**
   * Returns the share that counts a new request, or undefined if the request is rejected. The address counts when the
   * key is not recognized.
   */
  admit(address: () => string, keyHash: string | undefined): Share | undefined
  /** Returns the share of an API key that has just been found valid. */
  recognize(keyHash: string): Share
  total(): number
}

/** Number of recognized keys. Requests with other keys count for their address until one of them is authenticated. */
const maxRecognized = 10_000

/**
 * Divides `max` concurrent requests among API keys. A single key may use all of them. If another key sends a request at
 * the limit, it is admitted beyond the limit (by up to a quarter), and the key with the most requests is rejected until
 * the total falls again. So no key can starve the others, and a single key loses nothing. Anyone can invent keys, so a
 * request counts for its address until its key has been authenticated.
 */
function createShares(max: number): Shares {
  const reserve = Math.ceil(max / 4)
  const ofKeys = new Map<string, CountedShare>()
  const ofAddresses = new Map<string, CountedShare>()
  const active = new Set<CountedShare>()
  let total = 0

  class CountedShare implements Share {
    held = 0
    #paused = 0
    readonly #onEmpty: () => void

    constructor(onEmpty: () => void) {
      this.#onEmpty = onEmpty
    }

    take(): void {
      total += 1
      this.held += 1
      if (this.held === 1) active.add(this)
    }

    release(): void {
      this.#discount()
      this.forgetIfEmpty()
    }

    pause(): void {
      this.#paused += 1
      this.#discount()
    }

    resume(): void {
      this.#paused -= 1
      this.take()
    }

    forgetIfEmpty(): void {
      if (this.held === 0 && this.#paused === 0) this.#onEmpty()
    }

    #discount(): void {
      total -= 1
      this.held -= 1
      if (this.held === 0) active.delete(this)
    }
  }

  function shareOfAddress(address: string): CountedShare {
    let share = ofAddresses.get(address)
    if (!share) ofAddresses.set(address, (share = new CountedShare(() => ofAddresses.delete(address))))
    return share
  }

  function shareOfKey(keyHash: string): CountedShare {
    const [oldest] = ofKeys.size < maxRecognized ? [] : ofKeys.keys()
    if (oldest !== undefined) ofKeys.delete(oldest)
    const share = new CountedShare(() => {})
    ofKeys.set(keyHash, share)
    return share
  }

  const holdsMost = ({ held }: CountedShare) => active.values().every((other) => other.held <= held)

  return {
    admit: (address, keyHash) => {
      const share = (keyHash !== undefined && ofKeys.get(keyHash)) || shareOfAddress(address())
      const isRejected = total >= max && (total >= max + reserve || holdsMost(share))
      if (!isRejected) return share
      share.forgetIfEmpty()
      return undefined
    },
    recognize: (keyHash) => ofKeys.get(keyHash) ?? shareOfKey(keyHash),
    total: () => total,
  }
}
