import { STATUS_CODES } from 'node:http'
import { refer, type Operation, type Reference, type Response } from './document.ts'

/**
 * A status that means the same in every operation is described once, under the name that HTTP gives it:
 * takes those responses out of the operations and returns them.
 */
export function hoistSharedResponses(operations: Operation[]): Record<string, Response> {
  const meanings = Map.groupBy(
    operations.flatMap(({ responses }) => Object.entries(responses)),
    ([status]) => status,
  )
  const hoisted: Record<string, Response> = {}
  for (const [status, entries] of meanings) {
    const [first, ...others] = entries.map(([, response]) => response)
    if (!first || isReference(first) || others.length === 0) continue
    if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) continue
    const name = nameStatus(status)
    hoisted[name] = first
    for (const { responses } of operations) if (status in responses) responses[status] = refer('responses', name)
  }
  return hoisted
}

/** 413 becomes `PayloadTooLarge`. */
function nameStatus(status: string): string {
  return (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, '')
}

function isReference(response: Response | Reference): response is Reference {
  return '$ref' in response
}
