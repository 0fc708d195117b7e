import type { Attributes, Context, Span } from '@opentelemetry/api'

/** Says which span is active. */
export type TraceContext = Context

/**
 * Records spans. It is absent while tracing is off, and then no package of OpenTelemetry is loaded: whoever records a
 * span checks for it and does nothing else.
 */
export interface Tracing {
  /** The context of the code that is running; undefined outside of a trace. */
  active(): TraceContext | undefined
  /** Runs work in a context; undefined: outside of any trace. */
  within<Result>(context: TraceContext | undefined, work: () => Result): Result
  /** Starts a span under a context, or the first one of a new trace. */
  start(description: SpanDescription, parent: TraceContext | undefined): StartedSpan
  /**
   * Runs work in a span under the active one, which ends with the work. Work that belongs to no trace, or to one that is
   * not recorded, gets no span.
   */
  child<Result>(description: SpanDescription, work: (span?: Span) => Promise<Result>): Promise<Result>
  /**
   * Runs work for several callers at once. No caller is its parent: it gets a trace of its own, and links lead from it
   * to the spans of its callers and back.
   */
  shared<Result>(
    description: SpanDescription,
    callers: readonly (TraceContext | undefined)[],
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Reads `traceparent` and `tracestate`; undefined if there is no valid trace context. */
  extract(headers: Readonly<Record<string, unknown>>): TraceContext | undefined
  /** Returns `traceparent` and `tracestate` for a request to others. */
  inject(context: TraceContext): Record<string, string>
  /** Returns the `traceparent` of a context, to be stored, and the context of a stored one. */
  toTraceparent(context: TraceContext): string | undefined
  fromTraceparent(traceparent: string): TraceContext | undefined
  /** The fields of a log line that was written in a trace. */
  logFields(): object
}

export interface SpanDescription {
  name: string
  kind: 'internal' | 'server' | 'client'
  attributes?: Attributes
}

export interface StartedSpan {
  span: Span
  context: TraceContext
}
