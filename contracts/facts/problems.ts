import { defineFacts, type Fact, type FactParam, inEnglish, type Sentence } from './fact.ts'

const facts = defineFacts('problem', {
  required: 'is required',
  string: 'must be a string',
  number: 'must be a number',
  boolean: 'must be a boolean',
  array: 'must be an array',
  object: 'must be an object',
  wholeNumber: 'must be a whole number',
  wholeNumberUpTo: 'must be a whole number from 1 to {max}',
  empty: 'must not be empty',
  atLeast: 'must be at least {min}',
  atMost: 'must be at most {max}',
  leastSeconds: 'must be at least {min} seconds',
  aDay: 'must be at most a day',
  atLeastCharacters: 'must have at least {min} characters',
  atMostCharacters: 'must have at most {maxLength} characters',
  atMostEntries: 'must have at most {max} entries',
  atMostHeaders: 'must have at most {max} headers',
  atMostDays: 'must be at most {max} days',
  controlCharacters: 'must not contain control characters',
  phoneNumber:
    'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222)',
  language: 'must be a template language code such as en or en_US (with an underscore)',
  failureCode: 'must be an error code such as 131026, WHATSAPP_UNAVAILABLE or UNKNOWN',
  email: 'must be an email address, such as ada@example.com',
  timeZone: 'must be the name of a time zone, such as Europe/Madrid',
  timeOfDay: 'must be a time of day such as 22:00',
  sameTime: 'must differ from the start',
  pin: 'must be six digits',
  metaId: 'must be digits only, as WhatsApp Manager shows it; it is not the telephone number',
  metaSecret: 'must not be empty or hold a space',
  noEvents: 'must name at least one event',
  endpointUrl:
    'must be an https URL with a public host that exists, without user name, password or fragment, such as https://example.com/webhooks',
  currentPassword: 'must be your current password, because you can already sign in to this server',
})

const factsOfSchemas = new Map<string, Fact>()

type Message<Create> = Create extends () => Fact ? () => string : (params: Record<ParamOf<Create>, FactParam>) => string
type ParamOf<Create> = Create extends (params: Record<infer Name extends string, FactParam>) => Fact ? Name : never

function toMessage(
  create: (params: Record<string, FactParam>) => Fact,
): (params?: Record<string, FactParam>) => string {
  return (params = {}) => {
    const fact = create(params)
    const english = inEnglish(fact)
    factsOfSchemas.set(english, fact)
    return english
  }
}

/**
 * What is wrong with a field, without the subject and the full stop: messages for schemas, whose errors have texts only.
 * `readProblem` returns the fact of a message. Call them with constants, because each is kept.
 */
// `Object.fromEntries` loses the names.
export const problems = Object.fromEntries(
  Object.entries(facts).map(([name, create]) => [name, toMessage(create)]),
) as { readonly [Name in keyof typeof facts]: Message<(typeof facts)[Name]> }

export function readProblem(message: string): Sentence {
  return factsOfSchemas.get(message) ?? message
}
