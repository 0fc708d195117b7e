import type { InputOf, OutputOf, Procedure, ProcedureTree } from '../../../contracts/procedure.ts'
import { isProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { depsOfRequest, type Slot } from '../limits/load-limit.ts'
import type { ReadLimit } from '../limits/read-limit.ts'

/** The data of every authorized call. Each audience adds what its handlers need. */
export interface ProcedureCall {
  /** The account that the call is about; undefined if it names none. */
  accountId: string | undefined
  slot: Slot | null
  /** Called with the ID of each message that the call sends or replays. */
  onMessage?: ((messageId: string) => void) | undefined
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

/**
 * Queries of all audiences share the read limit of their account. A mutation does not count towards the limit of
 * concurrent requests while it waits for WhatsApp.
 */
export function limitProcedures<P extends Procedure, Call extends ProcedureCall>(
  procedures: ServedProcedure<P, Call>[],
  reads: ReadLimit,
): ServedProcedure<P, Call>[] {
  return procedures.map((procedure) => {
    const { contract, perform } = procedure
    const limited: typeof perform =
      contract.kind === 'mutation'
        ? (deps, call, input) => perform(depsOfRequest(deps, call), call, input)
        : (deps, call, input) => {
            const read = () => perform(deps, call, input)
            return call.accountId === undefined ? read() : reads.run(call.accountId, read)
          }
    return { ...procedure, perform: limited }
  })
}

/** Procedures nested by their dotted names, as a tRPC router expects them. */
export interface ProcedureRecord<T> {
  [name: string]: T | ProcedureRecord<T>
}

export function placeProcedure<T extends object>(
  record: ProcedureRecord<T>,
  [name = '', ...rest]: string[],
  procedure: T,
): void {
  if (rest.length === 0) {
    record[name] = procedure
    return
  }
  const inner = (record[name] ??= {})
  // Contracts and their namespaces never share a name.
  placeProcedure(inner as ProcedureRecord<T>, rest, procedure)
}
