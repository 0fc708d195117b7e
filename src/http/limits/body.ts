import type { Readable } from 'node:stream'

/**
 * Receives the bodies of callers that are authenticated once their body is complete. Until then, memory and time are
 * limited per body, per address and in total.
 */
export interface BodyReceiver {
  /** Resolves when the body is complete; rejects with the error of the receiver. */
  receive(source: Readable, arrival: Arrival): Promise<ReceivedBody>
  heldBytes(): number
}

interface Arrival {
  address: string
  /** The Content-Length, if any. */
  length: number | undefined
  /** A chunk that has been read before. */
  first?: Buffer
}

export interface ReceivedBody {
  bytes: Buffer
  /** Stops counting the body towards the limits: the sender is authenticated, or the body is dropped. */
  release: () => void
  /** Frees the memory immediately, without waiting for garbage collection. The bytes must not be used afterwards. */
  discard: () => void
}

export interface BodyLimits {
  maxBytes: number
  /** Total bytes of all bodies. */
  maxHeldBytes: number
  /** Total bytes of all bodies from one address. Without TRUST_PROXY, this can be the address of a proxy. */
  maxHeldBytesOfAddress: number
  /** Time from the headers to the end of the body. */
  deadlineMilliseconds: number
  /** Maximum number of chunks of one body: each chunk costs time and memory, however small it is. */
  maxChunks: number
}

export type BodyRejection = 'too_large' | 'too_many_chunks' | 'too_slow' | 'too_many' | 'interrupted'

type ToError = (reason: BodyRejection) => Error

const firstCapacity = 4 * 1024
/** From this size on, the buffer is allocated for the whole body, so that it is not copied again. */
const copiedBytes = 256 * 1024

const deadlineTicks = 10

/** `toError` creates the error with which a body is rejected. */
export function createBodyReceiver(limits: BodyLimits, toError: ToError): BodyReceiver {
  const held = new HeldBytes(limits)
  return {
    receive: (source, arrival) => new ArrivingBody(source, arrival, { limits, held, toError }).received,
    heldBytes: () => held.total,
  }
}

/** Counts the bytes of all bodies, and rejects bodies when they are too many. */
class HeldBytes {
  readonly #limits: BodyLimits
  /** Bodies that are still arriving, oldest first. */
  readonly #arriving = new Set<ArrivingBody>()
  readonly #ofAddress = new Map<string, number>()
  #total = 0
  #clock: NodeJS.Timeout | undefined

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  begin(body: ArrivingBody): void {
    this.#arriving.add(body)
    // One timer for all bodies, because most arrive in one chunk.
    this.#clock ??= setInterval(this.#tick, this.#limits.deadlineMilliseconds / deadlineTicks).unref()
  }

  readonly #tick = (): void => {
    for (const body of this.#arriving) body.tick()
    // Not at each zero: V8 copies a map that shrinks.
    for (const [address, bytes] of this.#ofAddress) if (bytes === 0) this.#ofAddress.delete(address)
    if (this.#arriving.size > 0 || this.#ofAddress.size > 0) return
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  /** From now on, the body is not rejected to make room. Its bytes count until they are released. */
  end(body: ArrivingBody): void {
    this.#arriving.delete(body)
  }

  release(body: ArrivingBody): void {
    this.set(body, 0)
  }

  /** Sets how many bytes a body holds. It may be rejected by that itself. */
  set(body: ArrivingBody, bytes: number): void {
    const change = bytes - body.heldBytes
    body.heldBytes = bytes
    this.#ofAddress.set(body.address, (this.#ofAddress.get(body.address) ?? 0) + change)
    this.#total += change
    if (change > 0) this.#makeRoom(body.address)
  }

  // Rejects the oldest bodies first. A genuine one is complete before it becomes the oldest, while a slow or
  // stalled one does not finish.
  #makeRoom(address: string): void {
    const { maxHeldBytes, maxHeldBytesOfAddress } = this.#limits
    for (const body of this.#arriving) {
      if ((this.#ofAddress.get(address) ?? 0) <= maxHeldBytesOfAddress) break
      if (body.address === address) body.reject('too_many')
    }
    for (const body of this.#arriving) {
      if (this.#total <= maxHeldBytes) break
      body.reject('too_many')
    }
  }
}

/** One body, from its headers to its end. */
class ArrivingBody {
  readonly address: string
  readonly received: Promise<ReceivedBody>
  /** How many bytes count towards the limits. */
  heldBytes = 0
  readonly #source: Readable
  readonly #limits: BodyLimits
  readonly #held: HeldBytes
  readonly #toError: ToError
  /** Content-Length, if any. */
  readonly #length: number | undefined
  readonly #settle: { resolve: (body: ReceivedBody) => void; reject: (error: Error) => void }
  #buffer: Buffer | undefined
  /** Whether the buffer has memory of its own. One that arrived in one chunk shares the socket's read buffer. */
  #isOwn = false
  #size = 0
  #chunks = 0
  #ticks = 0

  constructor(
    source: Readable,
    { address, length, first }: Arrival,
    { limits, held, toError }: { limits: BodyLimits; held: HeldBytes; toError: ToError },
  ) {
    const { promise, ...settle } = Promise.withResolvers<ReceivedBody>()
    this.address = address
    this.received = promise
    this.#source = source
    this.#limits = limits
    this.#held = held
    this.#toError = toError
    this.#length = length
    this.#settle = settle
    held.begin(this)
    source.on('data', this.#append).on('end', this.#finish).on('close', this.#interrupt)
    // A 'close' event follows. Without a listener, the error would be thrown.
    source.on('error', ignore)
    if (first) this.#append(first)
  }

  /** Counts ticks instead of elapsed time: while this process is too busy to read, at most one tick passes. */
  tick(): void {
    // The first one may come at once.
    if (++this.#ticks > deadlineTicks) this.reject('too_slow')
  }

  reject(reason: BodyRejection): void {
    this.#stop()
    this.#discard()
    // Stop reading the rest of the body.
    this.#source.pause()
    this.#settle.reject(this.#toError(reason))
  }

  #stop(): void {
    this.#held.end(this)
    this.#source.off('data', this.#append).off('end', this.#finish).off('close', this.#interrupt)
  }

  readonly #append = (chunk: Buffer): void => {
    this.#chunks++
    const needed = this.#size + chunk.length
    if (needed > this.#limits.maxBytes) return this.reject('too_large')
    if (this.#chunks > this.#limits.maxChunks) return this.reject('too_many_chunks')
    const buffer = this.#store(chunk, needed)
    this.#buffer = buffer
    this.#size = needed
    this.#held.set(this, buffer.length)
  }

  readonly #finish = (): void => {
    this.#stop()
    this.#settle.resolve({
      bytes: this.#buffer?.subarray(0, this.#size) ?? Buffer.alloc(0),
      release: () => this.#held.release(this),
      discard: () => this.#discard(),
    })
  }

  readonly #interrupt = (): void => this.reject('interrupted')

  /** Adds a chunk and returns the buffer that now holds the body. */
  #store(chunk: Buffer, needed: number): Buffer {
    if (!this.#buffer && needed === this.#length) return chunk
    const buffer = this.#buffer && needed <= this.#buffer.length ? this.#buffer : this.#grow(needed)
    chunk.copy(buffer, this.#size)
    return buffer
  }

  // Copies chunks into a separate buffer: a stored chunk would keep the whole socket read in memory.
  #grow(needed: number): Buffer {
    const limit = Math.min(this.#length ?? this.#limits.maxBytes, this.#limits.maxBytes)
    const larger = needed < copiedBytes ? Math.max(firstCapacity, needed * 2) : limit
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(limit, larger)))
    this.#buffer?.copy(grown, 0, 0, this.#size)
    this.#free()
    this.#isOwn = true
    return grown
  }

  #discard(): void {
    this.#free()
    this.#buffer = undefined
    this.#held.release(this)
  }

  /** Frees the buffer. Later reads find it empty. */
  #free(): void {
    const memory = this.#buffer?.buffer
    if (this.#isOwn && memory instanceof ArrayBuffer) memory.transfer(0)
  }
}

function ignore(): void {}
