import type { z } from 'zod'
import type { SettingsContract } from '../../../../contracts/settings/procedure.ts'
import type { Deps } from '../../../deps.ts'
import type { SettingsCall } from '../call.ts'

export type Verb<C extends SettingsContract> = (
  deps: Deps,
  call: SettingsCall,
  input: z.output<C['input']>,
) => Promise<z.output<C['output']>>

/** One verb per contract, in the contracts' own shape. */
export type VerbsOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends SettingsContract ? Verb<Tree[Name]> : VerbsOf<Tree[Name]>
}
