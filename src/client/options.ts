// `dom` and `@types/node` both declare these; a project with neither of them compiles too.
type AbortSignalOfPlatform = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean }
type FetchOfPlatform = typeof globalThis extends { fetch: infer T }
  ? T
  : (url: string, init?: object) => Promise<{ readonly ok: boolean; json(): Promise<unknown> }>
export type BlobOfPlatform = typeof globalThis extends { Blob: { prototype: infer T } } ? T : object

export interface ClientOptions {
  /** Where Waybill runs, such as `https://waybill.example.com`. */
  url: string
  /** The account's API key. Keep it on the server side (spec, Authentication, 7). */
  apiKey: string
  fetch?: FetchOfPlatform | undefined
}

export interface CallOptions {
  /** A send with an idempotency key can be repeated safely: the message is sent once. */
  context?: { idempotencyKey?: string | undefined } | undefined
  signal?: AbortSignalOfPlatform | undefined
}
