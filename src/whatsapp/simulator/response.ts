/** How the simulator responds to a request: with a response, or with a failure. */
export type SimulatedResponse =
  | { kind: 'json'; status: number; body: unknown }
  /** A response of a proxy or a broken server. */
  | { kind: 'text'; status: number; contentType: string; text: string; headers?: Record<string, string> }
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
