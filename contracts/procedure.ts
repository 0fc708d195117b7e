import { z } from 'zod'
import type { Fact } from './facts/fact.ts'
import type { ApiErrorCode } from './errors.ts'
import { AccountId } from './fields.ts'

type Kind = 'query' | 'mutation'

/**
 * What limits a procedure, besides the size of its body:
 * `sends`: the account's requests per minute.
 * `reads`: the account's concurrent reads and their time.
 * `changes`: the account's concurrent calls.
 * `uploads`: the account's concurrent uploads.
 * `checks`: questions to WhatsApp and changes at WhatsApp per minute, because WhatsApp limits them per app.
 * `creations`: the same, and templates per hour, which WhatsApp limits too.
 * `tests`: tests that are posted to the chat or to an endpoint of the account.
 * `emails`: tests and changes of the caller's alert emails.
 * `exports`: the caller's exports, each of which the audit log records.
 */
export type Budget = 'sends' | 'reads' | 'changes' | 'uploads' | 'checks' | 'creations' | 'tests' | 'emails' | 'exports'

/**
 * What the audit log says about a change. It must contain no key, token, secret or recipient; undefined logs nothing.
 * `by handler`: only the handler knows whom and what the entry is about. `nothing`: the change concerns only its caller.
 */
export type Audit<Input> = ((input: Input) => Fact | undefined) | 'by handler' | 'nothing'

/** Errors that every API procedure can return. */
const commonErrors = [
  'VALIDATION_ERROR',
  'INVALID_API_KEY',
  'API_DISABLED',
  'IP_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies ApiErrorCode[]

/** Additional errors of every procedure with a body. */
const mutationErrors = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const satisfies ApiErrorCode[]

/** Answers a call of an account that already keeps the server busy with others. */
export const tooManyCalls =
  'There are too many concurrent or too large requests: wait for the answers before sending more. Try again in 1 second.'

/** Answers a read of an account that has used up its time for reads. */
export function tooManyReads(seconds: number): string {
  return `There are too many concurrent reads: request one page after another. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
}

/** Sends are limited by their number, reads by their work, and everything else by concurrency and size. */
const limitExamples = {
  query: tooManyReads(1),
  mutation: tooManyCalls,
} as const satisfies Record<Kind, string>

interface ApiDefinition<
  K extends Kind,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Code extends ApiErrorCode,
> {
  kind: K
  budget: K extends 'query' ? 'reads' | 'exports' : Exclude<Budget, 'reads'>
  /** OpenAPI path; its `{parameters}` are fields of the input. */
  path: `/api/v1/${string}`
  tag: Tag
  summary: string
  description: string
  input: Input
  output: Output
  /** Error codes specific to this procedure; the common ones are added. */
  errors: readonly Code[]
  /** A mutation that changes nothing: its input is too large for a URL. */
  readOnly?: boolean
  /** What a user must have allowed the API key to do. */
  permission?: 'template changes'
  /** The entry in the audit log; by default, none. */
  audit?: Audit<z.output<Input>>
  /** Accepts an `Idempotency-Key` header. */
  idempotent?: boolean
  /** The part of a multipart/form-data body that contains the file. The fields of the input are further parts. */
  fileField?: string
  /** The media types in which a response streams its output, a text, instead of the JSON envelope. */
  streams?: readonly string[]
  example: {
    input: z.input<Input>
    output: z.output<Output>
    /** Example messages that replace those of the error table where they do not fit this procedure. */
    errors?: Partial<Record<ApiErrorCode, string>>
  }
}

type CommonCode<K extends Kind> =
  | (typeof commonErrors)[number]
  | (K extends 'mutation' ? (typeof mutationErrors)[number] : never)

/** A procedure for holders of an API key, served over REST and tRPC. */
export interface ApiProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Code extends ApiErrorCode = ApiErrorCode,
> extends Omit<ApiDefinition<K, Input, Output, Code>, 'budget' | 'readOnly' | 'idempotent' | 'audit'> {
  readonly audience: 'api'
  readonly method: 'GET' | 'POST'
  readonly budget: Budget
  readonly readOnly: boolean
  readonly idempotent: boolean
  readonly audit: Audit<never>
}

/** Defines the contract of an API procedure. */
export function procedure<
  K extends Kind,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Code extends ApiErrorCode = never,
>(definition: ApiDefinition<K, Input, Output, Code>): ApiProcedure<K, Input, Output, Code | CommonCode<K>> {
  const common: readonly ApiErrorCode[] =
    definition.kind === 'mutation' ? [...commonErrors, ...mutationErrors] : commonErrors
  // The cast is needed because TypeScript does not narrow the conditional above.
  const codes = [...new Set([...common, ...definition.errors])] as (Code | CommonCode<K>)[]
  const examples =
    definition.budget === 'sends'
      ? definition.example.errors
      : { RATE_LIMIT_EXCEEDED: limitExamples[definition.kind], ...definition.example.errors }
  const example = { ...definition.example, ...(examples && { errors: examples }) }
  return {
    audience: 'api',
    method: definition.kind === 'query' ? 'GET' : 'POST',
    readOnly: definition.kind === 'query',
    idempotent: false,
    audit: 'nothing',
    ...definition,
    errors: codes,
    example,
  }
}

/** An `owner` may do everything in an account; a `viewer` may only read. */
export const roles = ['owner', 'viewer'] as const
export const Role = z.enum(roles)
export type Role = z.infer<typeof Role>

/**
 * Who may call. `anybody`: without a session, such as the holder of an invitation. `signed-in`: any user with a
 * session. A role: a user who has at least that role in the account that the input names.
 */
type AllowedCaller = 'anybody' | 'signed-in' | Role

interface SessionDefinition<Input extends z.ZodObject, Output extends z.ZodType> {
  summary: string
  /** By default, nothing but the account for a procedure of the dashboard, and nothing at all for the others. */
  input?: Input
  output: Output
}

/** A change must say what the audit log says about it; a read is not logged. */
type Audited<K extends Kind, Input extends z.ZodObject> = K extends 'query'
  ? { audit?: undefined }
  : { audit: Audit<z.output<Input>> }

interface UserPolicy<K extends Kind> {
  kind: K
  budget: K extends 'query' ? 'reads' : Exclude<Budget, 'reads' | 'sends'>
  allowed: AllowedCaller
  /** Whether operators who view the account are rejected. */
  membersOnly?: boolean
}

/** A procedure for dashboard users: called with a session instead of an API key, and served over tRPC only. */
export interface DashboardProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Required<SessionDefinition<Input, Output>> {
  readonly audience: 'dashboard'
  readonly kind: K
  readonly budget: Budget
  readonly allowed: AllowedCaller
  readonly membersOnly: boolean
  readonly audit: Audit<never>
}

/** The input of a procedure for one account, with further fields. */
export function accountInput<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ accountId: AccountId, ...shape })
}

const accountAlone = accountInput({})
const noFields = z.strictObject({})

export function dashboardProcedure<
  K extends Kind,
  Output extends z.ZodType,
  Input extends z.ZodObject = typeof accountAlone,
>(
  definition: UserPolicy<K> & SessionDefinition<Input, Output> & Audited<K, Input>,
): DashboardProcedure<K, Input, Output> {
  return {
    audience: 'dashboard',
    membersOnly: false,
    ...definition,
    input: definition.input ?? byDefault(accountAlone),
    audit: definition.audit ?? 'nothing',
  }
}

/** TypeScript does not see that a type parameter for which there is no value is its default. */
function byDefault<Input extends z.ZodObject>(input: z.ZodObject): Input {
  return input as Input
}

/** Returns a function for the procedures of accounts that share a policy. */
function withPolicy<K extends Kind>(policy: UserPolicy<K>) {
  return <Output extends z.ZodType, Input extends z.ZodObject = typeof accountAlone>(
    definition: SessionDefinition<Input, Output> & Pick<UserPolicy<K>, 'membersOnly'> & Audited<K, Input>,
  ) => dashboardProcedure<K, Output, Input>({ ...policy, ...definition })
}

/** What every member of an account may read. */
export const viewerQuery = withPolicy({ kind: 'query', budget: 'reads', allowed: 'viewer' })

/** What the owners of an account may change. */
export const ownerChange = withPolicy({ kind: 'mutation', budget: 'changes', allowed: 'owner' })

/** What the owners of an account may ask WhatsApp or change there. */
export const ownerCheck = withPolicy({ kind: 'mutation', budget: 'checks', allowed: 'owner' })

/**
 * A procedure for operators of the server, served like those of the dashboard. The caller must be granted operator access
 * on the command line, have an authenticator app, and have signed in with its code.
 */
export interface OperatorProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Required<SessionDefinition<Input, Output>> {
  readonly audience: 'operator'
  readonly kind: K
  readonly budget: Budget
  readonly audit: Audit<never>
}

export function operatorProcedure<
  K extends Kind,
  Output extends z.ZodType,
  Input extends z.ZodObject = typeof noFields,
>(definition: { kind: K } & SessionDefinition<Input, Output> & Audited<K, Input>): OperatorProcedure<K, Input, Output> {
  return {
    audience: 'operator',
    budget: definition.kind === 'query' ? 'reads' : 'changes',
    ...definition,
    input: definition.input ?? byDefault(noFields),
    audit: definition.audit ?? 'nothing',
  }
}

/** A procedure that is called with a session instead of an API key. */
export type SessionProcedure = DashboardProcedure | OperatorProcedure

/**
 * A procedure for operators of the server that only the command line serves, because no user may call it. No limit
 * applies to it.
 */
export interface CommandProcedure<
  K extends Kind = Kind,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Required<CommandDefinition<Input, Output>> {
  readonly audience: 'command line'
  readonly kind: K
  readonly budget: Budget
  readonly audit: Audit<never>
}

type CommandDefinition<Input extends z.ZodObject, Output extends z.ZodType> = Omit<
  SessionDefinition<Input, Output>,
  'summary'
>

export function commandProcedure<K extends Kind, Output extends z.ZodType, Input extends z.ZodObject = typeof noFields>(
  definition: { kind: K } & CommandDefinition<Input, Output> & Audited<K, Input>,
): CommandProcedure<K, Input, Output> {
  return {
    audience: 'command line',
    budget: 'changes',
    ...definition,
    input: definition.input ?? byDefault(noFields),
    audit: definition.audit ?? 'nothing',
  }
}

export type Procedure = ApiProcedure | SessionProcedure | CommandProcedure
export type InputOf<P extends Procedure> = z.output<P['input']>
export type OutputOf<P extends Procedure> = z.output<P['output']>

/** A tree of procedures; its shape is the shape of the tRPC router. */
export interface ProcedureTree<P extends Procedure = Procedure> {
  readonly [name: string]: P | ProcedureTree<P>
}

export function isProcedure<P extends Procedure>(node: P | ProcedureTree<P>): node is P {
  return 'audience' in node && typeof node.audience === 'string'
}

/** Lists every procedure of a tree with its dotted name, such as `message.send`, in tree order. */
export function listProcedures<P extends Procedure = ApiProcedure>(
  tree: ProcedureTree<NoInfer<P>>,
  prefix = '',
): { name: string; contract: P }[] {
  return Object.entries<P | ProcedureTree<P>>(tree).flatMap(([key, node]) => {
    if (isProcedure<P>(node)) return [{ name: prefix + key, contract: node }]
    // TypeScript cannot narrow a type parameter; a node that is not a procedure is a tree.
    return listProcedures<P>(node as ProcedureTree<P>, `${prefix}${key}.`)
  })
}

/** The groups of procedures in the documentation. */
export const tags = {
  Messages:
    'Send approved template messages, and read their statuses. A request that failed with 429 or 503 was not sent: wait as long as `Retry-After` says, then repeat it. After a broken connection, 409, 500 or 504 a message may have been sent; give each send an `Idempotency-Key` of your own, and a retry never sends twice.',
  Codes:
    'One-time codes that prove that a user has a phone number. To keep your own codes, send them with `message.send` instead.',
  Templates: 'The templates that WhatsApp keeps for the account, and the variables that each one needs.',
  Media: 'Files for the headers of templates: upload once, send often.',
  Suppressions:
    'Recipients who opted out. By default, only MARKETING templates are not sent to them; the dashboard and the command line set other categories.',
  Events: 'The events that webhooks report.',
  Accounts: 'Health of the WhatsApp accounts.',
  Webhooks:
    'What Waybill sends to the endpoints of the account, as soon as it happens. Each event is one POST, signed as Standard Webhooks says (standardwebhooks.com): to verify it, give the raw body, the three `webhook-` headers and the secret of the endpoint to a Standard Webhooks library, which exists for most languages. A signature is the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, and its key is the base64-decoded part of the secret after `whsec_`; reject a timestamp that is more than five minutes off. Answer 2xx within 15 seconds, and remember the `webhook-id` of what you have handled: an event can arrive more than once, and later than one that happened after it. Anything else, or no complete response in time, is a failed attempt. It is retried, by default after 5 seconds, 5 minutes, 30 minutes, 2, 5, 10 and 10 hours; a longer `Retry-After` is honoured. Redirects are not followed. An endpoint without a success for five days is disabled.',
} as const

export type Tag = keyof typeof tags
