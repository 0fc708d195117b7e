import type { Attributes, Context, Span } from '@opentelemetry/api'

/** Identifies the active span. */
export type TraceContext = Context

/**
 * Records spans. It is undefined while tracing is off, so that no package of OpenTelemetry is loaded and callers pay only
 * for the check.
 */
export interface Tracing {
  /** Returns the context of the running code; undefined outside a trace. */
  active(): TraceContext | undefined
  /** Runs work in a context, or outside any trace if it is undefined. */
  within<Result>(context: TraceContext | undefined, work: () => Result): Result
  /** Starts a span under a context, or the first one of a new trace. */
  start(description: SpanDescription, parent: TraceContext | undefined): StartedSpan
  /**
   * Runs work in a span under the active one, and ends the span with the work. Work outside a trace, or in one that is
   * not recorded, gets no span.
   */
  child<Result>(description: SpanDescription, work: (span?: Span) => Promise<Result>): Promise<Result>
  /**
   * Runs work on behalf of several callers. It gets a trace of its own, which is linked with the spans of its callers in
   * both directions.
   */
  shared<Result>(
    description: SpanDescription,
    callers: readonly (TraceContext | undefined)[],
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Reads `traceparent` and `tracestate`; undefined if there is no valid trace context. */
  extract(headers: Readonly<Record<string, unknown>>): TraceContext | undefined
  /** Returns `traceparent` and `tracestate` for an outgoing request. */
  inject(context: TraceContext): Record<string, string>
  /** Returns the `traceparent` of a context, so that it can be stored. */
  toTraceparent(context: TraceContext): string | undefined
  /** Returns the context of a stored `traceparent`. */
  fromTraceparent(traceparent: string): TraceContext | undefined
  /** Returns the IDs of the active trace and span for a log line; empty outside a trace. */
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
