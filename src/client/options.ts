// `dom` and `@types/node` both declare these types. The fallbacks are for projects with neither.
type AbortSignalOfPlatform = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean }
type FetchOfPlatform = typeof globalThis extends { fetch: infer T }
  ? T
  : (url: string, init?: object) => Promise<{ readonly ok: boolean; json(): Promise<unknown> }>
export type BlobOfPlatform = typeof globalThis extends { Blob: { prototype: infer T } } ? T : object

export interface ClientOptions {
  /** URL of the Waybill server, such as `https://waybill.example.com`. */
  url: string
  /** The account's API key. Keep it on the server side. */
  apiKey: string
  fetch?: FetchOfPlatform | undefined
}

export interface CallOptions {
  /** With an idempotency key, a send can be retried safely: the message is sent once. */
  context?: { idempotencyKey?: string | undefined } | undefined
  signal?: AbortSignalOfPlatform | undefined
}
