import { createTRPCClient, httpLink, isTRPCClientError, safe as safeTrpc } from '@trpc/client'
import type { ApiErrorCode, ErrorData } from '../../contracts/errors.ts'
import type { Contracts } from '../../contracts/index.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import type { InputOfCall } from './templates.ts'
import type { AppRouter, OutputOfCall } from './trpc.ts'

export type { CallOptions, ClientOptions } from './options.ts'
export { type MediaToUpload, uploadMedia } from './upload.ts'
export type { ApprovedTemplates, SendMessageInput } from './templates.ts'
export type { AppRouter, RootTypesOf, RouterRecordOf, ServiceErrorShape } from './trpc.ts'

/**
 * The functions of the client, one per procedure: `client.message.send.mutate({ … })`. They are declared without the types
 * of tRPC's client, which only compile in projects with DOM types.
 */
export type WaybillClient = ClientOf<Contracts>

export type ClientOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends ApiProcedure ? FunctionOf<Tree[Name]> : ClientOf<Tree[Name]>
}

type FunctionOf<C extends ApiProcedure> = C['kind'] extends 'query' ? { query: Calling<C> } : { mutate: Calling<C> }

type Calling<C extends ApiProcedure> = (
  input: InputOfCall<C>,
  options?: CallOptions,
) => Call<OutputOfCall<C>, C['errors'][number]>

declare const codes: unique symbol

/** The promise of a call. Its type carries the error codes of its procedure, for `safe`. */
export interface Call<Output, Code extends ApiErrorCode> extends Promise<Output> {
  readonly [codes]?: Code
}

/** The error of a failed call. `data` is absent if no response from Waybill was received, for example after a network failure. */
export interface WaybillError<Code extends ApiErrorCode = ApiErrorCode> extends Error {
  readonly data?: ErrorData<Code> | null | undefined
}

export type SafeResult<Output, Code extends ApiErrorCode> =
  | readonly [data: Output, error: undefined]
  | readonly [data: undefined, error: WaybillError<Code>]

/**
 * Creates a typed client: `client.message.send.mutate({ … })`. Each call is one HTTP request, so an idempotency key belongs
 * to one send: `mutate(input, { context: { idempotencyKey: 'order-1042' } })`. Wrap a call in `safe()` to get its error
 * as a value, typed with the error codes of the procedure.
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

/** Awaits a call without throwing: `const [message, error] = await safe(client.message.get.query({ … }))`. */
export async function safe<Output, Code extends ApiErrorCode>(
  call: Call<Output, Code>,
): Promise<SafeResult<Output, Code>> {
  // tRPC types this promise with a brand that it does not export.
  return safeTrpc(call as never) as Promise<SafeResult<Output, Code>>
}

/** Whether a caught value is the error of a client call. */
export function isWaybillError(error: unknown): error is WaybillError {
  return isTRPCClientError(error)
}
