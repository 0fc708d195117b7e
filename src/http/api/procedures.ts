import type { Contracts } from '../../../contracts/index.ts'
import {
  type Contract,
  type ContractTree,
  type InputOf,
  isContract,
  type OutputOf,
} from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { getMessage } from '../../messages/queries/get.ts'
import { listMessages } from '../../messages/queries/list.ts'
import { preview } from '../../messages/send/preview.ts'
import { send } from '../../messages/send/send.ts'
import { getTemplate } from '../../templates/get.ts'
import { listTemplates } from '../../templates/list.ts'
import { listEvents } from '../../webhooks/events/list.ts'
import { exemptWaiting } from '../limits/load-limit.ts'
import type { ReadLimit } from '../limits/read-limit.ts'
import type { Call } from './authorize.ts'

/** A contract and the handler behind it. The input has been parsed by the contract's own schema. */
export interface Procedure {
  /** Dotted name, such as `message.send`. */
  name: string
  contract: Contract
  perform: (deps: Deps, call: Call, input: never) => Promise<unknown>
}

type HandlerTree = { [name: string]: Procedure['perform'] | HandlerTree }

/** Pairs each contract of a tree with its handler; `HandlersOf` has made sure that both have one shape. */
export function pairProcedures(contracts: ContractTree, handlers: HandlerTree, prefix = ''): Procedure[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const handler = handlers[key]
    if (isContract(node))
      return typeof handler === 'function' ? [{ name: prefix + key, contract: node, perform: handler }] : []
    return typeof handler === 'object' ? pairProcedures(node, handler, `${prefix}${key}.`) : []
  })
}

/** A query waits for its turn among the reads of its account; a mutation gives its slot up while it waits for WhatsApp. */
export function limitProcedure(procedure: Procedure, reads: ReadLimit): Procedure {
  const { perform } = procedure
  return {
    ...procedure,
    perform:
      procedure.contract.kind === 'query'
        ? (deps, call, input) => reads.run(call.caller.accountId, () => perform(deps, call, input))
        : (deps, call, input) => perform(exemptWaiting(deps, call.slot), call, input),
  }
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

type Handler<C extends Contract> = (deps: Deps, call: Call, input: InputOf<C>) => Promise<OutputOf<C>>

/** One handler per contract, in the contracts' own shape. */
type HandlersOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends Contract ? Handler<Tree[Name]> : HandlersOf<Tree[Name]>
}

/** What each procedure does. One that is in the contracts and not here does not compile. */
export const handlers: HandlersOf<Contracts> = {
  message: {
    send: async (deps, call, input) => {
      const { message, replayed } = await send(deps, call.caller, input, call.idempotencyKey)
      if (replayed) call.setHeader('Idempotent-Replayed', 'true')
      return message
    },
    preview: (deps, { caller }, input) => preview(deps, caller, input),
    get: (deps, { caller }, input) => getMessage(deps, caller, input),
    list: (deps, { caller }, input) => listMessages(deps, caller, input),
  },
  template: {
    get: (deps, { caller }, input) => getTemplate(deps, caller, input),
    list: (deps, { caller }, input) => listTemplates(deps, caller, input),
  },
  event: {
    list: (deps, { caller }, input) => listEvents(deps, caller, input),
  },
}
