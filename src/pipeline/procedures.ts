import type { InputOf, OutputOf, Procedure, ProcedureTree } from '../../contracts/procedure.ts'
import { isProcedure } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import type { ConcurrencySlot } from '../platform/concurrency-slot.ts'

/** The data of every authorized call. Each audience adds what its handlers need. */
export interface ProcedureCall {
  /** The account that the call is about; undefined if it names none. */
  accountId: string | undefined
  /** Whose work counts: the account, or the user or network of a call without one. */
  workKey: string
  slot: ConcurrencySlot | null
  /** The caller's address, after `TRUST_PROXY`. */
  address: string
  /** The caller's name in the audit log. */
  actor(): string
  /** Authorizes the caller again: a call may have waited while its key was replaced or its user removed. */
  assertStillAllowed(): Promise<void>
}

/** A contract and the handler behind it. The input has been parsed by the contract's own schema. */
export interface ServedProcedure<P extends Procedure = Procedure, Call = never> {
  /** Dotted name, such as `message.send`. */
  name: string
  contract: P
  perform: (deps: Deps, call: Call, input: never) => Promise<unknown>
}

type Handler<P extends Procedure, Call> = (deps: Deps, call: Call, input: InputOf<P>) => Promise<OutputOf<P>>

/** One handler per contract, in the same tree shape. A contract without a handler does not compile. */
export type HandlersOf<Tree, Call> = {
  [Name in keyof Tree]: Tree[Name] extends Procedure ? Handler<Tree[Name], Call> : HandlersOf<Tree[Name], Call>
}

type HandlerTree<Call> = { [name: string]: ServedProcedure<Procedure, Call>['perform'] | HandlerTree<Call> }

/** Pairs each contract of a tree with its handler; `HandlersOf` guarantees that both trees have the same shape. */
export function pairProcedures<P extends Procedure, Call>(
  contracts: ProcedureTree<P>,
  handlers: HandlerTree<Call>,
  prefix = '',
): ServedProcedure<P, Call>[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const handler = handlers[key]
    if (isProcedure<P>(node))
      return typeof handler === 'function' ? [{ name: prefix + key, contract: node, perform: handler }] : []
    // As in `listProcedures`, a node that is not a procedure is a tree.
    return typeof handler === 'object' ? pairProcedures(node as ProcedureTree<P>, handler, `${prefix}${key}.`) : []
  })
}
