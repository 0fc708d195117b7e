/** A received request. */
export interface ReceivedRequest {
  method: string
  /** Path without version and query: `/<id>/messages`. */
  path: string
  version?: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  /** Of a body that is neither JSON nor a form. */
  bytes: Buffer
  /** Parsed if it is JSON or a form, in which a file is `{filename, type, size, sha256}`; otherwise the text. */
  body: unknown
}

/** A request by a valid token, about the object `id` and one of its edges. */
export interface RoutedRequest extends ReceivedRequest {
  id: string
  edge: string | undefined
}
