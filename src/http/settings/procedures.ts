import {
  isSettingsContract,
  type SettingsContract,
  type SettingsContractTree,
} from '../../../contracts/settings/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { ReadLimit } from '../read-limit.ts'
import type { SettingsCall } from './call.ts'

/** A contract of the dashboard and the verb behind it. The contract's own schema has parsed the input. */
export interface SettingsProcedure {
  /** Dotted name, such as `settings.publicApi.get`. */
  name: string
  contract: SettingsContract
  perform: (deps: Deps, call: SettingsCall, input: never) => Promise<unknown>
}

type VerbTree = { [name: string]: SettingsProcedure['perform'] | VerbTree }

/** Pairs each contract of a tree with its verb; `VerbsOf` has made sure that both have one shape. */
export function pairSettings(contracts: SettingsContractTree, verbs: VerbTree, prefix = ''): SettingsProcedure[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const verb = verbs[key]
    if (isSettingsContract(node))
      return typeof verb === 'function' ? [{ name: prefix + key, contract: node, perform: verb }] : []
    return typeof verb === 'object' ? pairSettings(node, verb, `${prefix}${key}.`) : []
  })
}

/** What the dashboard reads of an account counts with what the holder of its API key reads. */
export function limitSettingsReads(procedures: SettingsProcedure[], reads: ReadLimit): SettingsProcedure[] {
  return procedures.map((procedure) => {
    const { contract, perform } = procedure
    if (contract.kind !== 'query') return procedure
    return {
      ...procedure,
      perform: (deps, call, input: { accountId?: string }) => {
        const read = () => perform(deps, call, input as never)
        return input.accountId === undefined ? read() : reads.run(input.accountId, read)
      },
    }
  })
}
