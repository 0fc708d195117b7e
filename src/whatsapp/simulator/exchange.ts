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

/** How the simulator responds to a request: with a response, or with a failure. */
export type SimulatedResponse =
  | { kind: 'json'; status: number; body: unknown }
  /** A response of a proxy or a broken server. */
  | { kind: 'text'; status: number; contentType: string; text: string; headers?: Record<string, string | string[]> }
  | { kind: 'bytes'; status: number; contentType: string; bytes: Buffer }
  /** Announces the whole body, writes half of it and closes the connection. */
  | { kind: 'cut-off'; status: number; body: unknown }
  /** Closes the connection without sending anything. */
  | { kind: 'drop' }
  /** Never responds; the connection stays open until the client or the simulator closes it. */
  | { kind: 'silence' }
  | { kind: 'late'; delayMs: number; response: SimulatedResponse }

export function ok(body: unknown): SimulatedResponse {
  return { kind: 'json', status: 200, body }
}

/** Returns the names in a `fields` parameter, without what is nested in them: `id,subscribed_apps{id,name}` names two. */
function namesIn(fields: string): string[] {
  return fields
    .replace(/\{[^}]*\}/g, '')
    .split(',')
    .map((field) => field.trim().replace(/\..*$/, ''))
}

/** Returns the requested fields of a node, or the default ones. `id` is always included. */
export function pickFields(node: object, query: URLSearchParams, defaults: readonly string[]): object {
  const given = query.get('fields')
  const wanted = new Set(given === null ? defaults : namesIn(given))
  return Object.fromEntries(Object.entries(node).filter(([field]) => field === 'id' || wanted.has(field)))
}
