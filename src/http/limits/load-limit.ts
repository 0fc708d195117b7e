import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../../../contracts/errors.ts'
import { hashApiKey, isApiKey } from '../../accounts/api-key.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import type { WhatsApp } from '../../whatsapp/whatsapp.ts'
import { createShares, type Share } from './shares.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The place of this request among those at work; null until it has one. */
    slot: Slot | null
  }
}

/** The place of one request among those that this process works on at once. */
export interface Slot {
  /** Of the API key that the request presents; undefined when it presents none, or one of the wrong form. */
  readonly keyHash: Uint8Array | undefined
  /** From here on the request counts for its API key instead of its address: the key is somebody's. */
  recognize(): void
  /** The same, but waiting for WhatsApp does not count: it costs us nothing. */
  exempt(whatsapp: WhatsApp): WhatsApp
}

/** The dependencies of one request: what it waits for WhatsApp does not count. */
export function exemptWaiting(deps: Deps, slot: Slot | null): Deps {
  return slot === null ? deps : { ...deps, whatsapp: slot.exempt(deps.whatsapp) }
}

/** At eight thousand sends a second each of them waits a sixteenth of a second at the most. */
const maxConcurrentRequests = 512

/**
 * Limits how many requests of the routes of this context (Fastify: encapsulation) this process works on at once;
 * health and pages are not limited. What comes beyond is refused before anything is done for it, since a queue
 * without bound serves nobody: at twice the load, those who are served are served as fast as before.
 */
export function registerLoadLimit(app: FastifyInstance, registry: Registry, max = maxConcurrentRequests): void {
  const shares = createShares(max)
  /** As many as a connection had at once; a released one makes room for the next. */
  const slotsOf = new WeakMap<Socket, RequestSlot[]>()
  const refused = new Counter({
    name: 'waybill_http_requests_refused_total',
    help: 'Requests refused because this process was at work on as many as it can.',
    registers: [registry],
  })
  registry.registerMetric(
    new Gauge({
      name: 'waybill_http_requests_at_work',
      help: 'Requests that this process is at work on, without those that wait for WhatsApp.',
      registers: [],
      collect() {
        this.set(shares.total())
      },
    }),
  )

  /** Of a pipelined request that waits for its turn to answer, only the connection tells that its client left. */
  function releaseWithConnection(socket: Socket, slot: RequestSlot): void {
    const slots = slotsOf.get(socket)
    if (slots) {
      const place = slots.findIndex(({ isReleased }) => isReleased)
      if (place === -1) slots.push(slot)
      else slots[place] = slot
      return
    }
    const created = [slot]
    slotsOf.set(socket, created)
    socket.once('close', () => {
      for (const open of created) open.release()
    })
  }

  app.decorateRequest('slot', null)
  // After the body has come and been read: a caller that is slow to send holds nothing of ours.
  app.addHook('preHandler', (request, _reply, done) => {
    // One that left while its body was read: its connection tells of no end any more.
    if (request.raw.socket.destroyed) return
    const keyHash = presentedKey(request)
    const keyName = keyHash?.toString('latin1')
    const share = shares.admit(() => networkOf(request.ip), keyName)
    if (!share) {
      refused.inc()
      return done(
        new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Nothing was sent. Try again in a moment.', {
          retryAfterSeconds: 1,
        }),
      )
    }
    const slot = new RequestSlot(share, keyHash, () => (keyName === undefined ? share : shares.recognize(keyName)))
    releaseWithConnection(request.raw.socket, slot)
    request.slot = slot
    return done()
  })
  // The work is done: how long the client takes to read the answer is no concern of the others.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.slot instanceof RequestSlot) request.slot.release()
    done()
  })
}

function presentedKey({ headers }: FastifyRequest): Buffer | undefined {
  const apiKey = headers['x-api-key']
  // A hash, so that no key is kept.
  return typeof apiKey === 'string' && isApiKey(apiKey) ? hashApiKey(apiKey) : undefined
}

class RequestSlot implements Slot {
  readonly keyHash: Uint8Array | undefined
  #share: Share
  readonly #shareOfKey: () => Share
  isReleased = false
  #waits = false

  constructor(share: Share, keyHash: Uint8Array | undefined, shareOfKey: () => Share) {
    this.keyHash = keyHash
    this.#share = share
    this.#shareOfKey = shareOfKey
    share.take()
  }

  recognize(): void {
    const share = this.#shareOfKey()
    if (share === this.#share || this.isReleased) return
    this.#share.release()
    this.#share = share
    share.take()
  }

  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    if (this.#waits) this.#share.resume()
    this.#share.release()
  }

  exempt(whatsapp: WhatsApp): WhatsApp {
    return {
      ...whatsapp,
      sendTemplate: async (...call: Parameters<WhatsApp['sendTemplate']>) => {
        this.#wait(true)
        try {
          return await whatsapp.sendTemplate(...call)
        } finally {
          this.#wait(false)
        }
      },
    }
  }

  #wait(waits: boolean): void {
    this.#waits = waits
    if (this.isReleased) return
    if (waits) this.#share.pause()
    else this.#share.resume()
  }
}
