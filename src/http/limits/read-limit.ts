import { ServiceError } from '../../../contracts/errors.ts'

/** What the reads of one account may take from this process and its database. */
export interface ReadLimits {
  /** Reads of an account at the database at once; others wait. */
  maxAtOnce: number
  /** Reads that wait; what comes beyond is rejected at once. */
  maxWaiting: number
  /** A read that waits for this long is rejected. */
  maxWaitMilliseconds: number
  /**
   * Milliseconds of reading that an account gains each millisecond. More than one: a client that reads one page after
   * the other takes one at the most, so it is never rejected, however slow its pages are.
   */
  workPerMillisecond: number
  /** Milliseconds of reading that an account can have saved up, or can owe after reads that took long. */
  maxSavedMilliseconds: number
}

export interface ReadLimit {
  /** Runs a read when its account has work to spare, or throws RATE_LIMIT_EXCEEDED. */
  run<Result>(accountId: string, read: () => Promise<Result>): Promise<Result>
}

export const readLimits: ReadLimits = {
  maxAtOnce: 2,
  maxWaiting: 128,
  maxWaitMilliseconds: 1_000,
  workPerMillisecond: 1.2,
  maxSavedMilliseconds: 2_000,
}

interface AccountReads {
  atOnce: number
  /** Resolve when the read may start. */
  waiting: Set<() => void>
  saved: number
  savedAt: number
  wakeUp: NodeJS.Timeout | undefined
}

/**
 * Limits the reads of each account, so that those of one do not slow down the sends of others. What is too much waits
 * a moment before it is rejected, which slows down even a client that repeats a rejected read at once.
 */
export function createReadLimit(
  limits: ReadLimits = readLimits,
  clock: () => number = () => performance.now(),
): ReadLimit {
  const accounts = new Map<string, AccountReads>()

  function readsOf(accountId: string): AccountReads {
    let reads = accounts.get(accountId)
    if (!reads) {
      reads = { atOnce: 0, waiting: new Set(), saved: limits.maxSavedMilliseconds, savedAt: clock(), wakeUp: undefined }
      accounts.set(accountId, reads)
    }
    return reads
  }

  /** Each read spends as it runs, so that what it will have cost need not be known. */
  function settle(reads: AccountReads): void {
    const at = clock()
    const gained = (at - reads.savedAt) * (limits.workPerMillisecond - reads.atOnce)
    const most = limits.maxSavedMilliseconds
    reads.saved = Math.max(-most, Math.min(most, reads.saved + gained))
    reads.savedAt = at
  }

  const mayStart = (reads: AccountReads) => reads.atOnce < limits.maxAtOnce && reads.saved > 0

  function startWaiting(reads: AccountReads): void {
    for (const start of reads.waiting) {
      if (!mayStart(reads)) break
      reads.waiting.delete(start)
      reads.atOnce += 1
      start()
    }
    clearTimeout(reads.wakeUp)
    const gain = limits.workPerMillisecond - reads.atOnce
    if (reads.waiting.size === 0 || reads.saved > 0 || gain <= 0) return
    // Otherwise the end of a read comes first.
    reads.wakeUp = setTimeout(
      () => {
        settle(reads)
        startWaiting(reads)
      },
      -reads.saved / gain + 1,
    )
  }

  function waitForStart(reads: AccountReads): Promise<void> {
    if (reads.waiting.size >= limits.maxWaiting) throw tooManyReads(reads)
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(deadline)
        resolve()
      }
      const deadline = setTimeout(() => {
        reads.waiting.delete(start)
        settle(reads)
        reject(tooManyReads(reads))
      }, limits.maxWaitMilliseconds)
      reads.waiting.add(start)
      startWaiting(reads)
    })
  }

  function tooManyReads({ saved }: AccountReads): ServiceError {
    const seconds = Math.max(1, Math.ceil(-saved / limits.workPerMillisecond / 1_000))
    return new ServiceError(
      'RATE_LIMIT_EXCEEDED',
      `This account reads too much at once: read one page after the other. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
      { retryAfterSeconds: seconds },
    )
  }

  return {
    run: async (accountId, read) => {
      const reads = readsOf(accountId)
      settle(reads)
      if (reads.waiting.size === 0 && mayStart(reads)) reads.atOnce += 1
      else await waitForStart(reads)
      try {
        return await read()
      } finally {
        settle(reads)
        reads.atOnce -= 1
        startWaiting(reads)
        const isFresh = reads.atOnce === 0 && reads.waiting.size === 0 && reads.saved >= limits.maxSavedMilliseconds
        if (isFresh) accounts.delete(accountId)
      }
    },
  }
}
