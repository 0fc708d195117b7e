import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

/** What any call with an API key can meet, whatever the procedure. */
const everyProcedure = [
  'VALIDATION_ERROR',
  'INVALID_API_KEY',
  'API_DISABLED',
  'IP_NOT_ALLOWED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies ErrorCode[]

/** What any call with a body can meet besides. */
const everyMutation = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const satisfies ErrorCode[]

/** What any query can meet besides: reads are limited by their work, sends by their number. */
const everyQuery = ['RATE_LIMIT_EXCEEDED'] as const satisfies ErrorCode[]

const queryExamples = {
  RATE_LIMIT_EXCEEDED: 'This account reads too much at once: read one page after the other. Try again in 1 second.',
}

interface Terms<
  Kind extends 'query' | 'mutation',
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Code extends ErrorCode,
> {
  kind: Kind
  method: Kind extends 'query' ? 'GET' : 'POST'
  /** OpenAPI path; its `{parameters}` are fields of the input. */
  path: `/api/v1/${string}`
  tag: Tag
  summary: string
  description: string
  input: Input
  output: Output
  /** The codes of this procedure alone; what every procedure can answer is added. */
  errors: readonly Code[]
  /** Counts against the account's requests per minute (spec, Limits). */
  rateLimited?: boolean
  /** Takes an `Idempotency-Key` header. */
  idempotent?: boolean
  example: {
    input: z.input<Input>
    output: z.output<Output>
    /** Messages to show for codes whose example in the error table would not fit this procedure. */
    errors?: Partial<Record<ErrorCode, string>>
  }
}

type CommonCode<Kind> =
  | (typeof everyProcedure)[number]
  | (Kind extends 'mutation' ? (typeof everyMutation)[number] : (typeof everyQuery)[number])

export interface Contract<
  Kind extends 'query' | 'mutation' = 'query' | 'mutation',
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Code extends ErrorCode = ErrorCode,
> extends Omit<Terms<Kind, Input, Output, Code>, 'rateLimited' | 'idempotent'> {
  readonly contract: true
  readonly rateLimited: boolean
  readonly idempotent: boolean
}

export type InputOf<C extends Contract> = z.output<C['input']>
export type OutputOf<C extends Contract> = z.output<C['output']>

/** A contract as a value: everything that is promised about one procedure, in one place. */
export function procedure<
  Kind extends 'query' | 'mutation',
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Code extends ErrorCode = never,
>(terms: Terms<Kind, Input, Output, Code>): Contract<Kind, Input, Output, Code | CommonCode<Kind>> {
  const common: readonly ErrorCode[] =
    terms.kind === 'mutation' ? [...everyProcedure, ...everyMutation] : [...everyProcedure, ...everyQuery]
  // The cast names what the line above builds: the type system cannot follow a conditional spread.
  const codes = [...common, ...terms.errors] as (Code | CommonCode<Kind>)[]
  const examples = terms.kind === 'query' ? { ...queryExamples, ...terms.example.errors } : terms.example.errors
  const example = { ...terms.example, ...(examples && { errors: examples }) }
  return { contract: true, rateLimited: false, idempotent: false, ...terms, errors: codes, example }
}

/** A tree of contracts; its shape is the shape of the tRPC router. */
export interface ContractTree {
  readonly [name: string]: Contract | ContractTree
}

export function isContract(node: Contract | ContractTree): node is Contract {
  return 'contract' in node && node.contract === true
}

/** Every contract of a tree with its dotted name, such as `message.send`, in the order of the tree. */
export function listContracts(tree: ContractTree, prefix = ''): { name: string; contract: Contract }[] {
  return Object.entries(tree).flatMap(([key, node]) =>
    isContract(node) ? [{ name: prefix + key, contract: node }] : listContracts(node, `${prefix}${key}.`),
  )
}

/** The groups in which the procedures are shown. */
export const tags = {
  Messages: 'Send approved template messages, and read their statuses.',
  Templates: 'The templates that WhatsApp keeps for the account, and the variables that each one needs.',
  Events: 'The events that webhooks report.',
  Webhooks: 'What Waybill sends to the endpoints of the account, as soon as it happens.',
} as const

export type Tag = keyof typeof tags
