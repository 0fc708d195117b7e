import type { EventType } from '../../../../contracts/events.ts'
import { webhooks } from '../../../../contracts/webhooks.ts'
import { translateServerText } from '../../language/server-text.ts'

/** The documented description of an event, without "Opt-in.", which a checkbox makes obvious. */
export function describeEvent(type: EventType): string {
  return translateServerText(webhooks[type].description.replace(/ Opt-in\.$/, ''))
}
