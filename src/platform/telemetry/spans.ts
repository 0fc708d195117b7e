import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { codeOf } from '../error-code.ts'
import type { SpanDescription, StartedSpan, Tracing } from './tracing.ts'

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

/** A span drops further links. */
const maxLinks = 128

const getter = {
  get: (headers: Readonly<Record<string, unknown>>, name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : undefined
  },
  keys: (headers: object) => Object.keys(headers),
}

const setter = {
  set: (headers: Record<string, string>, name: string, value: string) => {
    headers[name] = value
  },
}

/** Nothing here is global: each tracer has its own active context. */
export function createTracing(tracer: Tracer, { propagates }: { propagates: boolean }): Tracing {
  const storage = new AsyncLocalStorage<Context | undefined>()
  const propagator = new W3CTraceContextPropagator()
  const active = () => storage.getStore()

  function start(
    { name, kind, attributes }: SpanDescription,
    parent: Context | undefined,
    links?: Link[],
  ): StartedSpan {
    const options = { kind: kinds[kind], ...(attributes && { attributes }), ...(links && { links }) }
    const span = tracer.startSpan(name, options, parent ?? ROOT_CONTEXT)
    return { span, context: trace.setSpan(parent ?? ROOT_CONTEXT, span) }
  }

  async function run<Result>({ span, context }: StartedSpan, work: () => Promise<Result>): Promise<Result> {
    try {
      return await storage.run(context, work)
    } catch (error) {
      recordError(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  const extract = (headers: Readonly<Record<string, unknown>>) => {
    const context = propagator.extract(ROOT_CONTEXT, headers, getter)
    return context === ROOT_CONTEXT ? undefined : context
  }

  const inject = (context: Context) => {
    const headers: Record<string, string> = {}
    propagator.inject(context, headers, setter)
    return headers
  }

  return {
    active,
    within: (context, work) => storage.run(context, work),
    start: (description, parent) => start(description, parent),
    child: (description, work) => {
      const parent = active()
      if (!isRecorded(parent)) return work()
      const started = start(description, parent)
      return run(started, () => work(started.span))
    },
    shared: (description, callers, work) => {
      const recorded = [...new Set(callers)].filter(isRecorded)
      // Switches the context, because the work would otherwise be attributed to the first caller.
      if (callers.length < 2 || recorded.length === 0) return storage.run(recorded[0], work)
      const spans = recorded.slice(0, maxLinks).flatMap((caller) => trace.getSpan(caller) ?? [])
      const started = start(
        { ...description, attributes: { ...description.attributes, 'db.operation.batch.size': callers.length } },
        undefined,
        spans.map((span) => ({ context: span.spanContext() })),
      )
      for (const span of spans) span.addLink({ context: started.span.spanContext() })
      return run(started, work)
    },
    extract: (headers) => (propagates ? extract(headers) : undefined),
    inject: (context) => (propagates ? inject(context) : {}),
    toTraceparent: (context) => inject(context)['traceparent'],
    fromTraceparent: (traceparent) => extract({ traceparent }),
    logFields: () => {
      const context = active()
      const spanContext = context && trace.getSpanContext(context)
      if (!spanContext || !isSpanContextValid(spanContext)) return {}
      const { traceId, spanId, traceFlags } = spanContext
      return { trace_id: traceId, span_id: spanId, trace_flags: (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01' }
    },
  }
}

/** An ended span cannot be a parent: work that outlives its request, such as a timer, is not part of its trace. */
function isRecorded(context: Context | undefined): context is Context {
  return context !== undefined && trace.getSpan(context)?.isRecording() === true
}

/** Records only codes and types, because an error message can quote user data. */
function recordError(span: Span, error: unknown): void {
  const code = codeOf(error)
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) span.setAttribute('db.response.status_code', code)
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : typeof error))
  span.setStatus({ code: SpanStatusCode.ERROR })
}
