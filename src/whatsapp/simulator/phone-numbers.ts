import { type Answer, ok } from './http.ts'
import type { SimulatedNumber, SimulatorState } from './state.ts'

const defaultFields =
  'verified_name,code_verification_status,display_phone_number,quality_rating,platform_type,throughput'

/** `GET /<phone number id>`: reference, section 5. */
export function getPhoneNumber(number: SimulatedNumber, query: URLSearchParams): Answer {
  return ok(toNode(number, query))
}

/** `GET /<WABA id>/phone_numbers`. */
export function listPhoneNumbers(state: SimulatorState, wabaId: string, query: URLSearchParams): Answer {
  const numbers = [...state.numbers.values()].filter((number) => number.wabaId === wabaId)
  return ok({ data: numbers.map((number) => toNode(number, query)) })
}

function toNode(number: SimulatedNumber, query: URLSearchParams): object {
  const node = {
    verified_name: number.verifiedName,
    code_verification_status: 'VERIFIED',
    display_phone_number: number.displayPhoneNumber,
    quality_rating: number.qualityRating,
    platform_type: 'CLOUD_API',
    throughput: { level: 'STANDARD' },
    status: number.status,
    name_status: 'APPROVED',
    id: number.phoneNumberId,
  }
  const fields = (query.get('fields') ?? defaultFields).split(',')
  return Object.fromEntries(Object.entries(node).filter(([field]) => field === 'id' || fields.includes(field)))
}
