/** A received request. */
export interface ReceivedRequest {
  method: string
  /** Path without version and query: `/<id>/messages`. */
  path: string
  version?: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  /** The body if it is an uploaded sample; otherwise empty. */
  bytes: Buffer
  /** Parsed if it is JSON or a form, in which a file is `{filename, type, size, sha256}`; otherwise the text. */
  body: unknown
}

/** A request with a valid token for the object `id` and, if there is one, its edge. */
export interface RoutedRequest extends ReceivedRequest {
  id: string
  edge: string | undefined
}
