/** What the simulator does with a request: an answer, or one of the ways to go wrong. */
export type Answer =
  | { kind: 'json'; status: number; body: unknown }
  /** Whatever a proxy or a broken server might write. */
  | { kind: 'text'; status: number; contentType: string; text: string; headers?: Record<string, string> }
  /** Announces the whole body, writes half of it and closes. */
  | { kind: 'cut-off'; status: number; body: unknown }
  /** Closes the connection without a byte. */
  | { kind: 'drop' }
  /** Never answers; the connection stays open until the client or the simulator closes it. */
  | { kind: 'silence' }
  | { kind: 'late'; delayMs: number; answer: Answer }

export function ok(body: unknown): Answer {
  return { kind: 'json', status: 200, body }
}
