import type { Contracts } from '../../contracts/index.ts'
import type { Contract, InputOf, OutputOf } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import { getMessage } from '../message/get.ts'
import { listMessages } from '../message/list.ts'
import { preview } from '../message/preview.ts'
import { send } from '../message/send.ts'
import { getTemplate } from '../template/get.ts'
import { listTemplates } from '../template/list.ts'
import { listEvents } from '../webhook/list-events.ts'
import type { Call } from './call.ts'

type Verb<C extends Contract> = (deps: Deps, call: Call, input: InputOf<C>) => Promise<OutputOf<C>>

/** One verb per contract, in the contracts' own shape. */
type VerbsOf<Tree> = { [Name in keyof Tree]: Tree[Name] extends Contract ? Verb<Tree[Name]> : VerbsOf<Tree[Name]> }

/** What each procedure does. One that is in the contracts and not here does not compile. */
export const verbs: VerbsOf<Contracts> = {
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
