import { z } from 'zod'
import type { ApiErrorCode } from './errors.ts'
import { CustomerId } from './fields.ts'

type Kind = 'query' | 'mutation'

/** What any call with an API key can meet, whatever the procedure. */
const everyProcedure = [
  'VALIDATION_ERROR',
  'INVALID_API_KEY',
  'API_DISABLED',
  'IP_NOT_ALLOWED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies ApiErrorCode[]

/** What any call with a body can meet besides. */
const everyMutation = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const satisfies ApiErrorCode[]

/** What any query can meet besides: reads are limited by their work, sends by their number. */
const everyQuery = ['RATE_LIMIT_EXCEEDED'] as const satisfies ApiErrorCode[]

const queryExamples = {
  RATE_LIMIT_EXCEEDED:
    'This account has too many concurrent reads: request one page after another. Try again in 1 second.',
}

interface ApiTerms<K extends Kind, Input extends z.ZodObject, Output extends z.ZodType, Code extends ApiErrorCode> {
  kind: K
  method: K extends 'query' ? 'GET' : 'POST'
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
  /** The part of a multipart/form-data body that holds a file, where JSON has `link`. */
  fileField?: string
  example: {
    input: z.input<Input>
    output: z.output<Output>
    /** Messages to show for codes whose example in the error table would not fit this procedure. */
    errors?: Partial<Record<ApiErrorCode, string>>
  }
}

type CommonCode<K extends Kind> =
  | (typeof everyProcedure)[number]
  | (K extends 'mutation' ? (typeof everyMutation)[number] : (typeof everyQuery)[number])

/** A procedure for holders of an API key, served over REST and tRPC. */
export interface ApiProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Code extends ApiErrorCode = ApiErrorCode,
> extends Omit<ApiTerms<K, Input, Output, Code>, 'rateLimited' | 'idempotent'> {
  readonly audience: 'api'
  readonly rateLimited: boolean
  readonly idempotent: boolean
}

/** The contract of an API procedure as a value: everything that is promised about it, in one place. */
export function procedure<
  K extends Kind,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Code extends ApiErrorCode = never,
>(terms: ApiTerms<K, Input, Output, Code>): ApiProcedure<K, Input, Output, Code | CommonCode<K>> {
  const common: readonly ApiErrorCode[] =
    terms.kind === 'mutation' ? [...everyProcedure, ...everyMutation] : [...everyProcedure, ...everyQuery]
  // The cast names what the line above builds: the type system cannot follow a conditional spread.
  const codes = [...common, ...terms.errors] as (Code | CommonCode<K>)[]
  const examples = terms.kind === 'query' ? { ...queryExamples, ...terms.example.errors } : terms.example.errors
  const example = { ...terms.example, ...(examples && { errors: examples }) }
  return { audience: 'api', rateLimited: false, idempotent: false, ...terms, errors: codes, example }
}

/** `owner` may do everything in an account, `viewer` reads. */
export const roles = ['owner', 'viewer'] as const
export const Role = z.enum(roles)
export type Role = z.infer<typeof Role>

/**
 * Who may call. `anybody`: without a session, such as the holder of an invitation. `signed-in`: any user with a
 * session. A role: a user who has at least that role in the account that the input names.
 */
type AllowedCaller = 'anybody' | 'signed-in' | Role

interface DashboardTerms<K extends Kind, Input extends z.ZodObject, Output extends z.ZodType> {
  kind: K
  allowed: AllowedCaller
  /** Whether operators who view the account are rejected. */
  membersOnly?: boolean
  summary: string
  input: Input
  output: Output
  /** The audit log's words for a change; without words nothing is logged. No key, token, secret or recipient. */
  audit?: (input: z.output<Input>) => string | undefined
}

/** A procedure for users of the dashboard: served over tRPC only, to a session instead of an API key. */
export interface DashboardProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Omit<DashboardTerms<K, Input, Output>, 'audit' | 'membersOnly'> {
  readonly audience: 'dashboard'
  readonly membersOnly: boolean
  audit: ((input: never) => string | undefined) | undefined
}

export function dashboardProcedure<K extends Kind, Input extends z.ZodObject, Output extends z.ZodType>(
  terms: DashboardTerms<K, Input, Output>,
): DashboardProcedure<K, Input, Output> {
  return { audience: 'dashboard', audit: undefined, membersOnly: false, ...terms }
}

/**
 * A procedure for operators of the server, served like those of the dashboard. Its caller needs the grant of the command
 * line, an authenticator app, and a session that was started with its code.
 */
export interface OperatorProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Omit<DashboardProcedure<K, Input, Output>, 'audience' | 'allowed' | 'membersOnly'> {
  readonly audience: 'operator'
}

export function operatorProcedure<K extends Kind, Input extends z.ZodObject, Output extends z.ZodType>(
  terms: Omit<DashboardTerms<K, Input, Output>, 'allowed' | 'membersOnly'>,
): OperatorProcedure<K, Input, Output> {
  return { audience: 'operator', audit: undefined, ...terms }
}

/** A procedure that is called with a session instead of an API key. */
export type SessionProcedure = DashboardProcedure | OperatorProcedure

/** The input of a procedure about one account, and whatever else it takes. */
export function ofAccount<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ accountId: CustomerId, ...shape })
}

export type Procedure = ApiProcedure | SessionProcedure
export type InputOf<P extends Procedure> = z.output<P['input']>
export type OutputOf<P extends Procedure> = z.output<P['output']>

/** A tree of procedures; its shape is the shape of the tRPC router. */
export interface ProcedureTree<P extends Procedure = Procedure> {
  readonly [name: string]: P | ProcedureTree<P>
}

export function isProcedure<P extends Procedure>(node: P | ProcedureTree<P>): node is P {
  return 'audience' in node && typeof node.audience === 'string'
}

/** Every procedure of a tree with its dotted name, such as `message.send`, in the order of the tree. */
export function listProcedures<P extends Procedure = ApiProcedure>(
  tree: ProcedureTree<NoInfer<P>>,
  prefix = '',
): { name: string; contract: P }[] {
  return Object.entries<P | ProcedureTree<P>>(tree).flatMap(([key, node]) => {
    if (isProcedure<P>(node)) return [{ name: prefix + key, contract: node }]
    // A type parameter cannot be excluded by narrowing: what is no procedure is a tree.
    return listProcedures<P>(node as ProcedureTree<P>, `${prefix}${key}.`)
  })
}

/** The groups in which the procedures are shown. */
export const tags = {
  Messages:
    'Send approved template messages, and read their statuses. A request that failed with 409, 429 or 503 was not sent: wait as long as `Retry-After` says, then repeat it. After a broken connection, 500 or 504 a message may have been sent; give each send an `Idempotency-Key` of your own, and a retry never sends twice.',
  Codes:
    'One-time codes that prove that a user has a phone number. To keep your own codes, send them with `message.send` instead.',
  Templates: 'The templates that WhatsApp keeps for the account, and the variables that each one needs.',
  Media: 'Files for the headers of templates: upload once, send often.',
  Suppressions:
    'Recipients who opted out. By default, only MARKETING templates are not sent to them; the dashboard and the command line set other categories.',
  Events: 'The events that webhooks report.',
  Accounts: 'Health of the WhatsApp accounts.',
  Webhooks:
    'What Waybill sends to the endpoints of the account, as soon as it happens. Each event is one POST, signed as Standard Webhooks says (standardwebhooks.com): to verify it, give the raw body, the three `webhook-` headers and the secret of the endpoint to a Standard Webhooks library, which exists for most languages. Answer 2xx within 15 seconds, and remember the `webhook-id` of what you have handled: an event can arrive more than once, and later than one that happened after it.',
} as const

export type Tag = keyof typeof tags
