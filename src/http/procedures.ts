import { isContract, type Contract, type ContractTree } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import type { Call } from './call.ts'
import { exemptWaiting } from './load-limit.ts'
import type { ReadLimit } from './read-limit.ts'

/** A contract and the verb behind it. The input has been parsed by the contract's own schema. */
export interface Procedure {
  /** Dotted name, such as `message.send`. */
  name: string
  contract: Contract
  perform: (deps: Deps, call: Call, input: never) => Promise<unknown>
}

type VerbTree = { [name: string]: Procedure['perform'] | VerbTree }

/** Pairs each contract of a tree with its verb; `VerbsOf` has made sure that both have one shape. */
export function pairProcedures(contracts: ContractTree, verbs: VerbTree, prefix = ''): Procedure[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const verb = verbs[key]
    if (isContract(node))
      return typeof verb === 'function' ? [{ name: prefix + key, contract: node, perform: verb }] : []
    return typeof verb === 'object' ? pairProcedures(node, verb, `${prefix}${key}.`) : []
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
