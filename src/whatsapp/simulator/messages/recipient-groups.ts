import type { Fact } from '../../../../contracts/facts/fact.ts'
import { outcomeGroups } from '../../../../contracts/facts/outcomes.ts'
import type { SandboxRecipient } from './recipients.ts'

type Behaviour = SandboxRecipient['behaviour']
type Code = Extract<Behaviour, { kind: 'fail' }>['code']

const groupsByCode: Partial<Record<Code, () => Fact>> = {
  100: outcomeGroups.template,
  132001: outcomeGroups.template,
  132007: outcomeGroups.template,
  132015: outcomeGroups.template,
  132016: outcomeGroups.template,
  4: outcomeGroups.throttled,
  80007: outcomeGroups.throttled,
  130429: outcomeGroups.throttled,
  131048: outcomeGroups.throttled,
  131056: outcomeGroups.throttled,
  10: outcomeGroups.account,
  190: outcomeGroups.account,
  368: outcomeGroups.account,
  131031: outcomeGroups.account,
  131042: outcomeGroups.account,
  133010: outcomeGroups.account,
  1: outcomeGroups.whatsApp,
  2: outcomeGroups.whatsApp,
  131000: outcomeGroups.whatsApp,
  131016: outcomeGroups.whatsApp,
  131057: outcomeGroups.whatsApp,
  134101: outcomeGroups.marketing,
  134102: outcomeGroups.marketing,
}

/** Under which heading people look for the recipient. */
export function groupOf({ to, behaviour }: Pick<SandboxRecipient, 'to' | 'behaviour'>): Fact {
  if (to.includes('.')) return outcomeGroups.userId()
  switch (behaviour.kind) {
    case 'fail':
      return (groupsByCode[behaviour.code] ?? outcomeGroups.recipient)()
    case 'by-endpoint':
      return outcomeGroups.marketing()
    case 'respond':
      return outcomeGroups.response()
    case 'accept':
      return groupOfAccepted(to, behaviour)
  }
}

function groupOfAccepted(to: string, behaviour: Extract<Behaviour, { kind: 'accept' }>): Fact {
  const { delayMs, response, actions } = behaviour
  if (delayMs !== undefined || response) return outcomeGroups.response()
  if (actions?.some(({ action }) => action.kind === 'report')) return outcomeGroups.report()
  if (actions) return outcomeGroups.reaction()
  return to.startsWith('1555') ? outcomeGroups.status() : outcomeGroups.spelling()
}
