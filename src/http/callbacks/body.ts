import type { Readable } from 'node:stream'

/**
 * Receives the bodies of callbacks. The signature can only be checked once the body is complete, so until then the
 * sender is unauthenticated: memory and time are limited per body, per address and in total.
 */
export interface BodyReceiver {
  /**
   * Resolves when the body is complete; rejects with a `CallbackRejectedError`. `length` is the Content-Length, if any.
   */
  receive(source: Readable, sender: { address: string; length: number | undefined }): Promise<ReceivedBody>
  heldBytes(): number
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

export type RejectionReason = 'too_large' | 'too_slow' | 'too_many' | 'interrupted'

/** Reports why the body of a callback was not received. */
export class CallbackRejectedError extends Error {
  readonly statusCode: number
  readonly reason: RejectionReason
  constructor(reason: RejectionReason) {
    super(rejections[reason].text)
    this.name = 'CallbackRejectedError'
    this.statusCode = rejections[reason].statusCode
    this.reason = reason
  }
}

const rejections = {
  too_large: { statusCode: 413, text: 'The callback is larger than 3 MiB or has too many chunks.' },
  too_slow: { statusCode: 408, text: 'The body of the callback did not arrive in time.' },
  too_many: { statusCode: 503, text: 'Too many callbacks are arriving at once. Retry this callback.' },
  interrupted: { statusCode: 400, text: 'The connection closed before the body of the callback was complete.' },
} as const satisfies Record<RejectionReason, { statusCode: number; text: string }>

const firstCapacity = 4 * 1024
/** From this size on, the buffer is allocated for the whole body, so that it is not copied again. */
const copiedBytes = 256 * 1024

const deadlineTicks = 10

interface Transfer {
  address: string
  heldBytes: number
  fail: (reason: RejectionReason) => void
}

export function createBodyReceiver(limits: BodyLimits): BodyReceiver {
  /** Bodies that are still arriving, oldest first. */
  const arriving = new Set<Transfer>()
  const heldOf = new Map<string, number>()
  let held = 0

  function hold(transfer: Transfer, bytes: number): void {
    const change = bytes - transfer.heldBytes
    transfer.heldBytes = bytes
    held += change
    const heldOfAddress = (heldOf.get(transfer.address) ?? 0) + change
    if (heldOfAddress === 0) heldOf.delete(transfer.address)
    else heldOf.set(transfer.address, heldOfAddress)
    if (change > 0) makeRoom(transfer)
  }

  // Rejects the oldest bodies first. A genuine callback is complete before it becomes the oldest, while a slow or
  // stalled one does not finish.
  function makeRoom(newest: Transfer): void {
    const { address } = newest
    const isFull = () => (heldOf.get(address) ?? 0) > limits.maxHeldBytesOfAddress
    if (isFull())
      for (const transfer of arriving) {
        if (transfer.address === address) transfer.fail('too_many')
        if (!isFull()) break
      }
    if (held > limits.maxHeldBytes)
      for (const transfer of arriving) {
        transfer.fail('too_many')
        if (held <= limits.maxHeldBytes) break
      }
  }

  function receive(
    source: Readable,
    { address, length }: { address: string; length: number | undefined },
  ): Promise<ReceivedBody> {
    const { promise, resolve, reject } = Promise.withResolvers<ReceivedBody>()
    let buffer: Buffer | undefined
    let isOwn = false
    let [size, chunks] = [0, 0]
    const transfer: Transfer = { address, heldBytes: 0, fail }
    const release = () => hold(transfer, 0)
    // Counts ticks instead of elapsed time: while this process is too busy to read, at most one tick passes.
    let ticks = 0
    const timer = setInterval(() => {
      if (++ticks === deadlineTicks) fail('too_slow')
    }, limits.deadlineMilliseconds / deadlineTicks)
    const discard = () => {
      // A body that arrived in one chunk shares its memory with the socket's read buffer and must not be freed.
      if (buffer && isOwn) free(buffer)
      buffer = undefined
      release()
    }
    arriving.add(transfer)

    function stop(): void {
      clearInterval(timer)
      arriving.delete(transfer)
      source.off('data', append).off('end', finish).off('close', interrupt)
    }
    function fail(reason: RejectionReason): void {
      stop()
      discard()
      // Stop reading the rest of the body.
      source.pause()
      reject(new CallbackRejectedError(reason))
    }
    function append(chunk: Buffer): void {
      chunks++
      if (size + chunk.length > limits.maxBytes || chunks > limits.maxChunks) return fail('too_large')
      const needed = size + chunk.length
      if (!buffer && needed === length) buffer = chunk
      else {
        if (!buffer || needed > buffer.length) buffer = grow(buffer?.subarray(0, size), needed)
        chunk.copy(buffer, size)
      }
      size = needed
      hold(transfer, buffer.length)
    }
    // Copies chunks into a separate buffer: a stored chunk would keep the whole socket read in memory.
    function grow(old: Buffer | undefined, needed: number): Buffer {
      const limit = Math.min(length ?? limits.maxBytes, limits.maxBytes)
      const larger = needed < copiedBytes ? Math.max(firstCapacity, needed * 2) : limit
      const capacity = Math.max(needed, Math.min(limit, larger))
      const grown = Buffer.allocUnsafeSlow(capacity)
      old?.copy(grown)
      if (old && isOwn) free(old)
      isOwn = true
      return grown
    }
    function finish(): void {
      stop()
      resolve({ bytes: buffer?.subarray(0, size) ?? Buffer.alloc(0), release, discard })
    }
    function interrupt(): void {
      fail('interrupted')
    }
    source.on('data', append).on('end', finish).on('close', interrupt)
    // A 'close' event follows. Without a listener, the error would be thrown.
    source.on('error', ignore)
    return promise
  }

  return { receive, heldBytes: () => held }
}

function ignore(): void {}

/** Frees a buffer that has its own memory. Later reads find it empty. */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
