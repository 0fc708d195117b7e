import type { EventType } from '../../../../contracts/events.ts'
import { webhooks } from '../../../../contracts/webhooks.ts'
import { translateServerText } from '../../language/server-text.ts'

/** When an event is sent, as the documentation says it. A checkbox needs no word that one has to ask for it. */
export function describeEvent(type: EventType): string {
  return translateServerText(webhooks[type].description.replace(/ Opt-in\.$/, ''))
}
