import { ServiceError } from '../../contracts/errors.ts'
import { forgetSome } from '../platform/bounded-map.ts'
import { tooManyCalls } from '../../contracts/procedure.ts'

/** How much of the main thread and of the memory of this process the calls of one account may use. */
export interface WorkLimits {
  /** Milliseconds of the main thread that an account gains per millisecond, for parsing and answering. */
  workPerMillisecond: number
  /** Maximum credit: work in milliseconds that an account can do at once. */
  maxCreditMilliseconds: number
  /**
   * Concurrent calls that neither read nor count towards the rate limit; further ones wait. Below the number of connections
   * for transactions (pool.ts), because all changes of an account may wait for one of its rows.
   */
  maxConcurrent: number
  /** Maximum bytes of responses that the account's clients have not read yet. */
  maxUnreadBytes: number
  /** Maximum number of waiting calls; further calls are rejected immediately. */
  maxWaiting: number
  /** Maximum wait of a call; then it is rejected. */
  maxWaitMilliseconds: number
}

/** What a call costs before its body is parsed. */
export interface CallCost {
  /** Size of the body or of the query. */
  bytes: number
  /** Work in milliseconds that does not depend on the body. */
  work: number
  /** Whether the call counts towards the limit of concurrent calls; it then ends with `release`. */
  counted: boolean
}

/** Limits the work that each account causes in this process, before the body of a call is parsed. */
export interface WorkLimiter {
  /** Admits a call: undefined at once, or a promise if it waits. Throws or rejects with RATE_LIMIT_EXCEEDED. */
  acquire(key: string, cost: CallCost): Promise<void> | undefined
  /** Adds work. */
  charge(key: string, milliseconds: number): void
  /** Runs synchronous work on a body of so many bytes, and adds the time that it takes. */
  measure<Result>(key: string, bytes: number, work: () => Result): Result
  /** Ends a counted call. */
  release(key: string): void
  /** Adds bytes of a response that the client has not read, or subtracts them once it has. */
  addUnread(key: string, bytes: number): void
}

export const workLimits: WorkLimits = {
  workPerMillisecond: 0.25,
  maxCreditMilliseconds: 10,
  maxConcurrent: 4,
  maxUnreadBytes: 4 * 1024 * 1024,
  maxWaiting: 512,
  maxWaitMilliseconds: 5_000,
}

/** Receiving, checking and storing a body, apart from parsing it. The bodies of most calls are below the free size. */
const millisecondsPerByte = 0.000_06
const freeBytes = 4 * 1024

/**
 * The most that work on a body is charged, several times what the worst bodies take. The measured time is longer when the
 * process was paused, for example on a busy machine: an account would wait for what others used.
 */
const maxMilliseconds = { perByte: 0.001, ofAnyBody: 0.1 }

interface AccountUse {
  credit: number
  creditedAt: number
  running: number
  unreadBytes: number
  waiting: Set<WaitingCall>
  wakeUp: NodeJS.Timeout | undefined
}

interface WaitingCall {
  cost: CallCost
  start: () => void
}

/**
 * An account that parses large bodies waits until it has gained the time for the next one, so the event loop is free for
 * others most of the time. Small bodies, such as those of sends, always stay far below the limit.
 */
export function createWorkLimiter(
  limits: WorkLimits = workLimits,
  clock: () => number = () => performance.now(),
): WorkLimiter {
  const accounts = new Map<string, AccountUse>()

  function useOf(key: string): AccountUse {
    let use = accounts.get(key)
    if (!use) {
      forgetSome(accounts, isFresh)
      use = {
        credit: limits.maxCreditMilliseconds,
        creditedAt: clock(),
        running: 0,
        unreadBytes: 0,
        waiting: new Set(),
        wakeUp: undefined,
      }
      accounts.set(key, use)
    }
    return use
  }

  /** Whether it would start with the same values. */
  function isFresh(use: AccountUse): boolean {
    settle(use)
    const isIdle = use.running === 0 && use.unreadBytes === 0 && use.waiting.size === 0
    return isIdle && use.credit >= limits.maxCreditMilliseconds
  }

  function settle(use: AccountUse): void {
    const at = clock()
    use.credit = Math.min(limits.maxCreditMilliseconds, use.credit + (at - use.creditedAt) * limits.workPerMillisecond)
    use.creditedAt = at
  }

  function mayStart(use: AccountUse, { counted }: CallCost): boolean {
    return use.credit > 0 && use.unreadBytes < limits.maxUnreadBytes && (!counted || use.running < limits.maxConcurrent)
  }

  function start(use: AccountUse, { bytes, work, counted }: CallCost): void {
    use.credit -= Math.max(0, bytes - freeBytes) * millisecondsPerByte + work
    if (counted) use.running += 1
  }

  /** One call per turn of the event loop: parsing several in a row would block it. */
  function startNext(use: AccountUse): void {
    settle(use)
    for (const waiting of use.waiting) {
      if (!mayStart(use, waiting.cost)) continue
      use.waiting.delete(waiting)
      start(use, waiting.cost)
      waiting.start()
      break
    }
    schedule(use)
  }

  /** Without a timer, the end of a running call or of a response starts the next one. */
  function schedule(use: AccountUse): void {
    clearTimeout(use.wakeUp)
    use.wakeUp = undefined
    const [next] = use.waiting
    if (!next) return
    if (use.credit <= 0) use.wakeUp = setTimeout(startNext, -use.credit / limits.workPerMillisecond + 1, use)
    else if (use.waiting.values().some(({ cost }) => mayStart(use, cost))) use.wakeUp = setTimeout(startNext, 0, use)
  }

  function wait(use: AccountUse, cost: CallCost): Promise<void> {
    if (use.waiting.size >= limits.maxWaiting) throw rejection()
    return new Promise((resolve, reject) => {
      const waiting: WaitingCall = {
        cost,
        start: () => {
          clearTimeout(deadline)
          resolve()
        },
      }
      const deadline = setTimeout(() => {
        use.waiting.delete(waiting)
        reject(rejection())
      }, limits.maxWaitMilliseconds)
      use.waiting.add(waiting)
      if (use.wakeUp === undefined) schedule(use)
    })
  }

  function charge(key: string, milliseconds: number): void {
    const use = accounts.get(key)
    if (use) use.credit -= milliseconds
  }

  return {
    acquire: (key, cost) => {
      const use = useOf(key)
      settle(use)
      if (use.waiting.size > 0 || !mayStart(use, cost)) return wait(use, cost)
      start(use, cost)
      return undefined
    },
    charge,
    measure: (key, bytes, work) => {
      const startedAt = clock()
      try {
        return work()
      } finally {
        charge(key, Math.min(clock() - startedAt, bytes * maxMilliseconds.perByte + maxMilliseconds.ofAnyBody))
      }
    },
    release: (key) => {
      const use = useOf(key)
      use.running -= 1
      if (use.waiting.size > 0) startNext(use)
    },
    addUnread: (key, bytes) => {
      const use = useOf(key)
      use.unreadBytes += bytes
      if (bytes < 0 && use.waiting.size > 0) startNext(use)
    },
  }
}

function rejection(): ServiceError {
  return new ServiceError('RATE_LIMIT_EXCEEDED', tooManyCalls, { retryAfterSeconds: 1 })
}
