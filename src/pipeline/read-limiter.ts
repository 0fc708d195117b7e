import { ServiceError } from '../../contracts/errors.ts'
import { tooManyReads } from '../../contracts/procedure.ts'
import { forgetSome } from '../platform/bounded-map.ts'

/** How much of this process and its database the reads of one account may use. */
export interface ReadLimits {
  /** Concurrent database reads of an account; further reads wait. */
  maxConcurrent: number
  /** Maximum number of waiting reads; further reads are rejected immediately. */
  maxWaiting: number
  /** Maximum wait of a read; then it is rejected. */
  maxWaitMilliseconds: number
  /**
   * Reading time in milliseconds that an account gains per millisecond. It is greater than one, so a client that reads
   * one page after another is never rejected, however slow its pages are.
   */
  workPerMillisecond: number
  /** Maximum reading time in milliseconds that an account can accumulate, or owe after slow reads. */
  maxCreditMilliseconds: number
}

export interface ReadLimiter {
  /**
   * Runs `read` when its account has reading time left, or throws RATE_LIMIT_EXCEEDED. `key`: the account, or the user or
   * network of a call without one. `hasWaited`: its caller may have lost access meanwhile.
   */
  run<Result>(key: string, read: (hasWaited: boolean) => Promise<Result>): Promise<Result>
}

export const readLimits: ReadLimits = {
  maxConcurrent: 2,
  maxWaiting: 128,
  maxWaitMilliseconds: 1_000,
  workPerMillisecond: 1.2,
  maxCreditMilliseconds: 2_000,
}

interface AccountReads {
  running: number
  /** Callbacks that start the waiting reads. */
  waiting: Set<() => void>
  credit: number
  creditedAt: number
  wakeUp: NodeJS.Timeout | undefined
}

/**
 * Limits the reads of each account, so that one account does not slow down the sends of others. A read beyond the limit
 * waits briefly before it is rejected, which also slows down clients that retry immediately.
 */
export function createReadLimiter(
  limits: ReadLimits = readLimits,
  clock: () => number = () => performance.now(),
): ReadLimiter {
  const accounts = new Map<string, AccountReads>()

  function readsOf(key: string): AccountReads {
    let reads = accounts.get(key)
    if (!reads) {
      forgetSome(accounts, (other) => {
        settle(other)
        return isFresh(other)
      })
      reads = {
        running: 0,
        waiting: new Set(),
        credit: limits.maxCreditMilliseconds,
        creditedAt: clock(),
        wakeUp: undefined,
      }
      accounts.set(key, reads)
    }
    return reads
  }

  /** Whether it would start with the same values, once it is settled. */
  function isFresh(reads: AccountReads): boolean {
    return reads.running === 0 && reads.waiting.size === 0 && reads.credit >= limits.maxCreditMilliseconds
  }

  /** Charges running reads for the elapsed time, so that no cost has to be estimated in advance. */
  function settle(reads: AccountReads): void {
    const at = clock()
    const gained = (at - reads.creditedAt) * (limits.workPerMillisecond - reads.running)
    const most = limits.maxCreditMilliseconds
    reads.credit = Math.max(-most, Math.min(most, reads.credit + gained))
    reads.creditedAt = at
  }

  const mayStart = (reads: AccountReads) => reads.running < limits.maxConcurrent && reads.credit > 0

  function startWaiting(reads: AccountReads): void {
    for (const start of reads.waiting) {
      if (!mayStart(reads)) break
      reads.waiting.delete(start)
      reads.running += 1
      start()
    }
    clearTimeout(reads.wakeUp)
    const gain = limits.workPerMillisecond - reads.running
    if (reads.waiting.size === 0 || reads.credit > 0 || gain <= 0) return
    // Without a timer, the end of a running read starts the next one.
    reads.wakeUp = setTimeout(
      () => {
        settle(reads)
        startWaiting(reads)
      },
      -reads.credit / gain + 1,
    )
  }

  function waitForStart(reads: AccountReads): Promise<void> {
    if (reads.waiting.size >= limits.maxWaiting) throw rejection(reads)
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(deadline)
        resolve()
      }
      const deadline = setTimeout(() => {
        reads.waiting.delete(start)
        settle(reads)
        reject(rejection(reads))
      }, limits.maxWaitMilliseconds)
      reads.waiting.add(start)
      startWaiting(reads)
    })
  }

  function rejection({ credit }: AccountReads): ServiceError {
    const seconds = Math.max(1, Math.ceil(-credit / limits.workPerMillisecond / 1_000))
    return new ServiceError('RATE_LIMIT_EXCEEDED', tooManyReads(seconds), { retryAfterSeconds: seconds })
  }

  return {
    run: async (key, read) => {
      const reads = readsOf(key)
      settle(reads)
      const hasWaited = reads.waiting.size > 0 || !mayStart(reads)
      if (hasWaited) await waitForStart(reads)
      else reads.running += 1
      try {
        return await read(hasWaited)
      } finally {
        settle(reads)
        reads.running -= 1
        startWaiting(reads)
        if (isFresh(reads)) accounts.delete(key)
      }
    },
  }
}
