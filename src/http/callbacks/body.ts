import type { Readable } from 'node:stream'

/**
 * Receives the bodies of callbacks. Until the signature is checked, which takes the whole body, its sender can be
 * anybody: what a body and what all of them can hold is bounded, and so is its time.
 */
export interface BodyReceiver {
  /** Resolves when the body is whole. Rejects with a `CallbackRefusedError`. `length`: as announced, if it is. */
  receive(source: Readable, sender: { address: string; length: number | undefined }): Promise<ReceivedBody>
  heldBytes(): number
}

export interface ReceivedBody {
  bytes: Buffer
  /** The sender is known, or the body is given up: it no longer counts. */
  release: () => void
  /** Nobody needs the bytes any more: their memory is free at once, without a garbage collection. */
  discard: () => void
}

export interface BodyLimits {
  maxBytes: number
  /** Of all bodies. */
  maxHeldBytes: number
  /** Of all bodies from one address. Without TRUST_PROXY the address can be that of a proxy. */
  maxHeldBytesOfAddress: number
  /** From the headers to the end of the body. */
  deadlineMilliseconds: number
  /** Pieces in which a body may come: each costs time and memory, however small it is. */
  maxPieces: number
}

export type RefusalReason = 'too_large' | 'too_slow' | 'too_many' | 'interrupted'

/** Why the body of a callback was not received. */
export class CallbackRefusedError extends Error {
  readonly statusCode: number
  readonly reason: RefusalReason
  constructor(reason: RefusalReason) {
    super(refusals[reason].text)
    this.name = 'CallbackRefusedError'
    this.statusCode = refusals[reason].statusCode
    this.reason = reason
  }
}

const refusals = {
  too_large: { statusCode: 413, text: 'The callback is larger than 3 MiB, or comes in too many pieces.' },
  too_slow: { statusCode: 408, text: 'The body of the callback did not arrive in time.' },
  too_many: { statusCode: 503, text: 'Too many callbacks arrive at once. Send this one again.' },
  interrupted: { statusCode: 400, text: 'The body of the callback ended early.' },
} as const satisfies Record<RefusalReason, { statusCode: number; text: string }>

const firstCapacity = 4 * 1024
/** A body that has come so far gets room for all of it: it is not copied again. */
const copiedBytes = 256 * 1024

const deadlineTicks = 10

interface Transfer {
  address: string
  heldBytes: number
  refuse: (reason: RefusalReason) => void
}

export function createBodyReceiver(limits: BodyLimits): BodyReceiver {
  /** Those that are still coming in, the oldest first. */
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

  // The oldest gives way: a genuine callback has arrived by the time that it would be the oldest, while one that
  // trickles or has stalled becomes it.
  function makeRoom(newest: Transfer): void {
    const { address } = newest
    const isFull = () => (heldOf.get(address) ?? 0) > limits.maxHeldBytesOfAddress
    if (isFull())
      for (const transfer of arriving) {
        if (transfer.address === address) transfer.refuse('too_many')
        if (!isFull()) break
      }
    if (held > limits.maxHeldBytes)
      for (const transfer of arriving) {
        transfer.refuse('too_many')
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
    let [size, pieces] = [0, 0]
    const transfer: Transfer = { address, heldBytes: 0, refuse }
    const release = () => hold(transfer, 0)
    // In ticks: while this process was too busy to read, at most one of them passes.
    let ticks = 0
    const timer = setInterval(() => {
      if (++ticks === deadlineTicks) refuse('too_slow')
    }, limits.deadlineMilliseconds / deadlineTicks)
    const discard = () => {
      // One that came in a single piece is a part of what was read from the socket, and not ours to free.
      if (buffer && isOwn) free(buffer)
      buffer = undefined
      release()
    }
    arriving.add(transfer)

    function stop(): void {
      clearInterval(timer)
      arriving.delete(transfer)
      source.off('data', take).off('end', finish).off('close', interrupt)
    }
    function refuse(reason: RefusalReason): void {
      stop()
      discard()
      // Nothing of it is read any more.
      source.pause()
      reject(new CallbackRefusedError(reason))
    }
    function take(piece: Buffer): void {
      pieces++
      if (size + piece.length > limits.maxBytes || pieces > limits.maxPieces) return refuse('too_large')
      const needed = size + piece.length
      if (!buffer && needed === length) buffer = piece
      else {
        if (!buffer || needed > buffer.length) buffer = grow(buffer?.subarray(0, size), needed)
        piece.copy(buffer, size)
      }
      size = needed
      hold(transfer, buffer.length)
    }
    // A buffer of its own: kept by itself, each piece would hold all of the read that it came in.
    function grow(old: Buffer | undefined, needed: number): Buffer {
      const most = Math.min(length ?? limits.maxBytes, limits.maxBytes)
      const larger = needed < copiedBytes ? Math.max(firstCapacity, needed * 2) : most
      const capacity = Math.max(needed, Math.min(most, larger))
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
      refuse('interrupted')
    }
    source.on('data', take).on('end', finish).on('close', interrupt)
    // 'close' follows; without a listener the error would be thrown.
    source.on('error', ignore)
    return promise
  }

  return { receive, heldBytes: () => held }
}

function ignore(): void {}

/** Of a buffer with memory of its own. Whoever reads it afterwards finds nothing. */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
