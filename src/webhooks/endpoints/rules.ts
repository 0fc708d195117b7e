import { z } from 'zod'
import { readProblem } from '../../../contracts/facts/problems.ts'
import type { Sentence } from '../../../contracts/facts/fact.ts'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { type EventType as EndpointEventType, eventTypes } from '../../../contracts/events.ts'
import { MaxConcurrent, MaxPerSecond } from '../../../contracts/dashboard/webhook.ts'
import { singleLine } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import { isReservedHeader } from '../sender/attempt.ts'
import { urlProblem } from './address.ts'

const Url = singleLine(2048)
const Description = singleLine(200)
const EventType = z.enum(eventTypes)

export type HeaderList = readonly (readonly [name: string, value: string])[]

export function checkEvents(events: readonly string[]): EndpointEventType[] {
  const unknown = events.find((event) => !EventType.safeParse(event).success)
  if (unknown !== undefined || events.length === 0)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `${unknown === undefined ? 'No event type was given' : `The event type ${JSON.stringify(unknown)} does not exist`}. Event types are ${eventTypes.join(', ')}.`,
      { field: 'events' },
    )
  return eventTypes.filter((type) => events.includes(type))
}

export function checkDescription(text: string | undefined): string | null {
  if (text === undefined) return null
  const description = Description.safeParse(text.trim())
  if (!description.success)
    throw new ServiceError(
      'VALIDATION_ERROR',
      errorFactsWithValues.endpointDescription({ value: problemOf(description.error) }),
      {
        field: 'description',
      },
    )
  return description.data
}

/** Null removes a limit. */
export interface EndpointLimits {
  maxPerSecond?: number | null | undefined
  maxConcurrent?: number | null | undefined
}

/** Returns the given limits. */
export function checkLimits({ maxPerSecond, maxConcurrent }: EndpointLimits) {
  return {
    ...(maxPerSecond !== undefined && { maxPerSecond: checkLimit('maxPerSecond', maxPerSecond) }),
    ...(maxConcurrent !== undefined && { maxConcurrent: checkLimit('maxConcurrent', maxConcurrent) }),
  }
}

const limitRules = {
  maxPerSecond: { rule: MaxPerSecond, name: 'number of deliveries per second' },
  maxConcurrent: { rule: MaxConcurrent, name: 'number of concurrent requests' },
}

function checkLimit(field: keyof typeof limitRules, value: number | null): number | null {
  if (value === null) return null
  const { rule, name } = limitRules[field]
  const checked = rule.safeParse(value)
  if (!checked.success)
    throw new ServiceError('VALIDATION_ERROR', `The maximum ${name} ${checked.error.issues[0]?.message}.`, { field })
  return checked.data
}

/** Error messages do not include the URL, because its query often contains a token. */
export async function checkUrl({ webhooks }: Pick<Deps, 'webhooks'>, url: string): Promise<void> {
  const checked = Url.safeParse(url)
  if (!checked.success)
    throw new ServiceError('VALIDATION_ERROR', errorFactsWithValues.endpointUrl({ value: problemOf(checked.error) }), {
      field: 'url',
    })
  if ((await webhooks.check(url)) === 'refused')
    throw new ServiceError('VALIDATION_ERROR', errorFactsWithValues.endpointUrl({ value: urlProblem }), {
      field: 'url',
    })
}

function problemOf({ issues }: z.ZodError): Sentence {
  return readProblem(issues[0]?.message ?? '')
}

const maxHeaders = 20
/** Many servers reject requests whose headers exceed 8 or 16 KiB. */
const maxTotalLength = 4096

/** Checks custom headers. Error messages do not include values, because they may be credentials. */
export function checkHeaders(headers: HeaderList): Record<string, string> {
  if (headers.length > maxHeaders)
    throw new ServiceError('SETTING_REFUSED', `An endpoint can have at most ${maxHeaders} headers.`)
  for (const [name, value] of headers) checkHeader(name, value)
  const names = headers.map(([name]) => name.toLowerCase())
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate !== undefined)
    throw new ServiceError('SETTING_REFUSED', `The header ${duplicate} was given twice. Header names must be unique.`)
  if (headers.flat().join('').length > maxTotalLength)
    throw new ServiceError(
      'SETTING_REFUSED',
      `The headers of an endpoint can have at most ${maxTotalLength} characters in total.`,
    )
  return Object.fromEntries(headers)
}

function checkHeader(name: string, value: string): void {
  // A token (RFC 9110, 5.6.2).
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new ServiceError(
      'SETTING_REFUSED',
      'A header name must consist of letters, digits and hyphens, such as X-Api-Key.',
    )
  if (isReservedHeader(name) || name.toLowerCase().startsWith('content-'))
    throw new ServiceError('SETTING_REFUSED', `The header ${name} is reserved. Choose another name.`)
  // Visible ASCII with inner spaces and tabs, which every server accepts (RFC 9110, 5.5).
  if (!/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new ServiceError(
      'SETTING_REFUSED',
      `The value of the header ${name} is empty or contains a character that is not allowed in headers.`,
    )
}
