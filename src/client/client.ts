import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client'
import type { AppRouter } from './app-router.ts'

export { safe } from '@trpc/client'
export type { AppRouter } from './app-router.ts'

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
