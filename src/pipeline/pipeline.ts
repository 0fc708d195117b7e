import type { Procedure } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import { withSlotPaused } from '../platform/concurrency-slot.ts'
import { assertTemplateChangesEnabled } from '../templates/changes/template-account.ts'
import { audited } from '../users/audit/audit.ts'
import type { SpendBudget } from './budgets.ts'
import type { CallCost, WorkLimiter } from './work-limiter.ts'
import type { ProcedureCall, ServedProcedure } from './procedures.ts'
import type { ReadLimiter } from './read-limiter.ts'

/** What limits the calls of this process. */
export interface CallLimiters {
  workLimiter: WorkLimiter
  readLimiter: ReadLimiter
  spend: SpendBudget
}

/** A call whose caller is authorized and whose input is not decoded yet. */
export interface UnparsedCall<Input> {
  /** Size of the body and of the URL. */
  bytes: number
  /**
   * What has been charged before: `work` if a batch was admitted with the cost of all its calls, `whole` if the call counts
   * among the concurrent ones of its account, too.
   */
  charged?: 'work' | 'whole'
  /** Whether the batch of the call had to wait. */
  hasWaited?: boolean
  /** Decodes and validates the input. */
  parse: () => Promise<Input> | Input
}

/** Milliseconds of a call that no rate limit counts, such as a preview: mostly its statements and its answer. */
const workOfCall = 0.2

/**
 * What a call costs before its body is parsed. Sends, and calls that wait for WhatsApp, an endpoint or a file, have budgets
 * of their own; a waiting call would occupy a slot for as long as it takes.
 */
export function costOf({ budget }: Pick<Procedure, 'budget'>, bytes: number): CallCost {
  const counted = budget === 'changes' || budget === 'emails'
  return { bytes, work: budget === 'sends' ? 0 : workOfCall, counted }
}

/** The steps of every call after its caller was authorized, through any interface. */
export class Pipeline {
  readonly workLimiter: WorkLimiter
  readonly #deps: Deps
  readonly #limiters: CallLimiters

  constructor(deps: Deps, limiters: CallLimiters) {
    this.#deps = deps
    this.#limiters = limiters
    this.workLimiter = limiters.workLimiter
  }

  /** Limits, parses, audits and handles a call. */
  async run<P extends Procedure, Call extends ProcedureCall>(
    procedure: ServedProcedure<P, Call>,
    call: Call,
    unparsed: UnparsedCall<unknown>,
  ): Promise<unknown> {
    const { workLimiter } = this
    const { workKey } = call
    const { charged, bytes } = unparsed
    const cost = costOf(procedure.contract, bytes)
    const counts = cost.counted && charged !== 'whole'
    const waiting = charged && !counts ? undefined : workLimiter.acquire(workKey, charged ? onlyCounted : cost)
    if (waiting) await waiting
    const hasWaited = waiting !== undefined || unparsed.hasWaited === true
    // Passed on, because awaiting it in a block that releases takes 360 bytes for each send.
    if (!counts) return this.#parseAndPerform(procedure, call, unparsed, hasWaited)
    try {
      return await this.#parseAndPerform(procedure, call, unparsed, hasWaited)
    } finally {
      workLimiter.release(workKey)
    }
  }

  #parseAndPerform<P extends Procedure, Call extends ProcedureCall>(
    procedure: ServedProcedure<P, Call>,
    call: Call,
    unparsed: UnparsedCall<unknown>,
    hasWaited: boolean,
  ): Promise<unknown> {
    if (hasWaited) return call.assertStillAllowed().then(() => this.#parseAndPerform(procedure, call, unparsed, false))
    const { bytes, parse } = unparsed
    const parsing = this.workLimiter.measure(call.workKey, bytes, parse)
    if (parsing instanceof Promise) return parsing.then((input) => this.#perform(procedure, call, input))
    return this.#perform(procedure, call, parsing)
  }

  #perform<P extends Procedure, Call extends ProcedureCall>(
    procedure: ServedProcedure<P, Call>,
    call: Call,
    input: unknown,
  ): Promise<unknown> {
    const { budget } = procedure.contract
    switch (budget) {
      case 'sends':
        return handle(this.#deps, procedure, call, input)
      case 'reads':
        // A call without an account is one of a user, or of an unknown caller in a network.
        return this.#limiters.readLimiter.run(call.accountId ?? call.workKey, async (hasWaited) => {
          if (hasWaited) await call.assertStillAllowed()
          return handle(this.#deps, procedure, call, input)
        })
      case 'changes':
        return this.#change(procedure, call, input)
      case 'uploads':
        return withSlotPaused(call.slot, () => this.#change(procedure, call, input))
      default:
        this.#limiters.spend(budget, call)
        return withSlotPaused(call.slot, () => this.#change(procedure, call, input))
    }
  }

  async #change<P extends Procedure, Call extends ProcedureCall>(
    procedure: ServedProcedure<P, Call>,
    call: Call,
    input: unknown,
  ): Promise<unknown> {
    const { contract } = procedure
    if (contract.audience === 'api' && contract.permission === 'template changes')
      await assertTemplateChangesEnabled(this.#deps, call.accountId ?? '')
    return auditAndHandle(this.#deps, procedure, call, input)
  }
}

/** The last steps of a call. Operators on the command line take only these: no limit applies to them. */
export async function auditAndHandle<P extends Procedure, Call extends ProcedureCall>(
  deps: Deps,
  procedure: ServedProcedure<P, Call>,
  call: Call,
  input: unknown,
): Promise<unknown> {
  const { name, contract } = procedure
  const { accountId, address } = call
  const { audit } = contract
  // The contract's own schema has parsed the input.
  const what = typeof audit === 'function' ? audit(input as never) : undefined
  if (what === undefined) return handle(deps, procedure, call, input)
  if (accountId === undefined) throw new Error(`${name} names no account in whose audit log it could be recorded`)
  return audited(deps, { accountId, who: call.actor(), what, address }, () => handle(deps, procedure, call, input))
}

/** Parsing the output for users removes fields that the contract does not name. */
function handle<P extends Procedure, Call extends ProcedureCall>(
  deps: Deps,
  { contract, perform }: ServedProcedure<P, Call>,
  call: Call,
  input: unknown,
): Promise<unknown> {
  const result = perform(deps, call, input as never)
  return contract.audience === 'api' ? result : result.then((output) => contract.output.parse(output))
}

const onlyCounted: CallCost = { bytes: 0, work: 0, counted: true }
