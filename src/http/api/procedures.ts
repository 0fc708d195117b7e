import type { InputOf, OutputOf, Procedure, ProcedureTree } from '../../../contracts/procedure.ts'
import { isProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { depsOfRequest, type Slot } from '../limits/load-limit.ts'
import type { ReadLimit } from '../limits/read-limit.ts'

/** What every authorized call carries; each audience adds what its handlers need. */
export interface ProcedureCall {
  /** The account that the call is about; undefined when it names none. */
  accountId: string | undefined
  slot: Slot | null
  /** Told of each message that the call causes or repeats. */
  noteMessage?: ((messageId: string) => void) | undefined
}

/** A contract and the handler behind it. The input has been parsed by the contract's own schema. */
export interface ServedProcedure<P extends Procedure = Procedure, Call = never> {
  /** Dotted name, such as `message.send`. */
  name: string
  contract: P
  perform: (deps: Deps, call: Call, input: never) => Promise<unknown>
}

type Handler<P extends Procedure, Call> = (deps: Deps, call: Call, input: InputOf<P>) => Promise<OutputOf<P>>

/** One handler per contract, in the contracts' own shape. A contract without a handler does not compile. */
export type HandlersOf<Tree, Call> = {
  [Name in keyof Tree]: Tree[Name] extends Procedure ? Handler<Tree[Name], Call> : HandlersOf<Tree[Name], Call>
}

type HandlerTree<Call> = { [name: string]: ServedProcedure<Procedure, Call>['perform'] | HandlerTree<Call> }

/** Pairs each contract of a tree with its handler; `HandlersOf` has made sure that both have one shape. */
export function pairProcedures<P extends Procedure, Call>(
  contracts: ProcedureTree<P>,
  handlers: HandlerTree<Call>,
  prefix = '',
): ServedProcedure<P, Call>[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const handler = handlers[key]
    if (isProcedure<P>(node))
      return typeof handler === 'function' ? [{ name: prefix + key, contract: node, perform: handler }] : []
    // As in `listProcedures`: what is no procedure is a tree.
    return typeof handler === 'object' ? pairProcedures(node as ProcedureTree<P>, handler, `${prefix}${key}.`) : []
  })
}

/**
 * A query waits for its turn among the reads of its account, whoever reads; a mutation gives up its slot while it
 * waits for WhatsApp.
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

/** Procedures under their dotted names, as a tRPC router takes them. */
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
