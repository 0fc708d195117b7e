import type { EventType } from '../../../../contracts/events.ts'
import { eventFacts } from '../../../../contracts/facts/events.ts'
import { sayFact } from '../../language/facts.ts'

/** The documented description of an event, without "Opt-in.", which a checkbox makes obvious. */
export function describeEvent(type: EventType): string {
  return sayFact(eventFacts[type]())
}
