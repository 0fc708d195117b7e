import { z } from 'zod'
import { fail } from '../errors.ts'
import type { SimulatedResponse } from '../exchange.ts'

/** By `id` or by `link`, never by both (reference, section 1.1). */
const Media = z
  .looseObject({ id: z.string().min(1).optional(), link: z.url({ protocol: /^https?$/ }).optional() })
  .refine(({ id, link }) => (id === undefined) !== (link === undefined), {
    params: { rule: 'must have either id or link' },
  })

const Degrees = z.union([z.string(), z.number()])
const Text = z.string().optional()

const Parameter = z.looseObject({
  type: z.string(),
  text: z.unknown().optional(),
  parameter_name: Text,
  image: Media.optional(),
  video: Media.optional(),
  document: Media.optional(),
  location: z.looseObject({ latitude: Degrees.optional(), longitude: Degrees.optional() }).optional(),
  product: z.looseObject({ product_retailer_id: Text, catalog_id: Text }).optional(),
  payload: Text,
  coupon_code: Text,
  action: z
    .looseObject({
      flow_token: Text,
      flow_action_data: z.looseObject({}).optional(),
      thumbnail_product_retailer_id: Text,
      sections: z
        .array(
          z.looseObject({
            title: z.string(),
            product_items: z.array(z.looseObject({ product_retailer_id: z.string() })),
          }),
        )
        .optional(),
    })
    .optional(),
})
export type Parameter = z.infer<typeof Parameter>

/** The values that the Graph API v24.0 lists when it rejects another one (frappe_whatsapp, issue 188). */
const subTypes = [
  'booking_confirmation',
  'catalog',
  'copy_code',
  'flow',
  'mpm',
  'order_details',
  'quick_reply',
  'reminder',
  'url',
  'voice_call',
] as const

const Button = z.object({
  type: z.literal('button'),
  sub_type: z.enum(subTypes),
  index: z.coerce.number().int().min(0).max(9),
  parameters: z.array(Parameter).default([]),
})
export type SentButton = z.infer<typeof Button>

const Header = z.object({ type: z.literal('header'), parameters: z.array(Parameter).default([]) })
const Body = z.object({ type: z.literal('body'), parameters: z.array(Parameter).default([]) })

const Section = z.discriminatedUnion('type', [Header, Body, Button])

const Carousel = z.object({
  type: z.literal('carousel'),
  cards: z.array(z.object({ card_index: z.int().min(0).max(9), components: z.array(Section).default([]) })),
})

const LimitedTimeOffer = z.object({
  type: z.literal('limited_time_offer'),
  parameters: z.array(
    z.looseObject({
      type: z.literal('limited_time_offer'),
      limited_time_offer: z.looseObject({ expiration_time_ms: z.int().positive() }),
    }),
  ),
})

/** Overrides the title under which the first URL button's address opens (reference 2, section 1). */
const TapTarget = z.object({ type: z.literal('tap_target_configuration'), parameters: z.array(z.looseObject({})) })

const Components = z.array(z.discriminatedUnion('type', [Header, Body, Button, Carousel, LimitedTimeOffer, TapTarget]))

/**
 * `components` of a send request. Meta's examples write their types in lower case, its enums and clients such as pywa in
 * upper case; both are accepted.
 */
export const SendComponents = z.preprocess(lowerTypes, Components)
export type SendComponents = z.infer<typeof SendComponents>
/** The components that both messages and cards of a carousel can have. */
export type SectionComponents = z.infer<typeof Section>[]

/** Converts each `type` and `sub_type` to lower case, including nested ones. */
function lowerTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerTypes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, nested]) => [
      key,
      (key === 'type' || key === 'sub_type') && typeof nested === 'string' ? nested.toLowerCase() : lowerTypes(nested),
    ]),
  )
}

/** Returns WhatsApp's error for a text: reference, section 3.2. */
export function checkValue({ type, text }: Parameter): SimulatedResponse | undefined {
  // Currency and date parameters are objects. Waybill sends none, so only their presence is checked.
  if (type !== 'text') return undefined
  if (typeof text !== 'string' || text.trim() === '') {
    return requiredMissing('Parameter of type text is missing text value')
  }
  return /[\n\r\t]| {5,}/.test(text)
    ? parameterProblem('Param text cannot have new-line/tab characters or more than 4 consecutive spaces')
    : undefined
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g

/** Returns each placeholder once, in order of first use. */
export function placeholdersOf(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map(([, name = '']) => name))]
}

export function lengthWithoutPlaceholders(text: string): number {
  return [...text.replaceAll(placeholder, '')].length
}

export function countMismatch(where: string, given: number, expected: number): SimulatedResponse {
  return fail({
    status: 400,
    code: 132000,
    title: 'Number of parameters does not match the expected number of params',
    details: `${where}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  })
}

export function parameterProblem(details: string): SimulatedResponse {
  return fail({ status: 400, code: 132018, title: "There's an issue with the parameters in your template", details })
}

export function requiredMissing(details: string): SimulatedResponse {
  return fail({ status: 400, code: 131008, title: 'Required parameter is missing', details })
}

export function invalidValue(details: string): SimulatedResponse {
  return fail({ status: 400, code: 131009, title: 'Parameter value is not valid', details })
}
