import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client'
import type { TRPCBuiltRouter, TRPCErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { ApiErrorCode, ErrorData } from '../../contracts/errors.ts'
import type { Contracts } from '../../contracts/index.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'

export { safe } from '@trpc/client'

export type WaybillClient = TRPCClient<AppRouter>

export interface ClientOptions {
  /** Where Waybill runs, such as `https://waybill.example.com`. */
  url: string
  /** The account's API key. Keep it on the server side (spec, Authentication, 7). */
  apiKey: string
  fetch?: typeof globalThis.fetch
}

/**
 * A typed client: `client.message.send.mutate({ … })`. Each call is one HTTP request, so that an
 * idempotency key belongs to one send: `mutate(input, { context: { idempotencyKey: 'order-1042' } })`.
 * Wrap a call in `safe()` to have its error as a value, with the codes of that very procedure.
 */
export function createClient({ url, apiKey, fetch }: ClientOptions): WaybillClient {
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: new URL('/trpc', url).href,
        headers: ({ op }) => {
          const { idempotencyKey } = op.context
          return {
            'X-API-Key': apiKey,
            ...(typeof idempotencyKey === 'string' && { 'Idempotency-Key': idempotencyKey }),
          }
        },
        ...(fetch && { fetch }),
      }),
    ],
  })
}

/** An error as it travels over tRPC: `data.code` is the code that REST answers too. */
export type ServiceErrorShape<Code extends ApiErrorCode = ApiErrorCode> = TRPCErrorShape<ErrorData<Code>>

interface TypesOf<C extends ApiProcedure> {
  input: z.input<C['input']>
  output: z.output<C['output']>
  meta: object
  errorShape: ServiceErrorShape<C['errors'][number]>
}

type ProcedureOf<C extends ApiProcedure> = C['kind'] extends 'query'
  ? TRPCQueryProcedure<TypesOf<C>>
  : TRPCMutationProcedure<TypesOf<C>>

export type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends ApiProcedure ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
}

/** The root types of the router; a client needs no more of the server than this. */
export interface RootTypesOf<Context extends object> {
  ctx: Context
  meta: object
  errorShape: ServiceErrorShape
  transformer: false
}

/** The type of the tRPC router, made from the contracts alone: it drags in no server code. */
export type AppRouter = TRPCBuiltRouter<RootTypesOf<object>, RouterRecordOf<Contracts>>
