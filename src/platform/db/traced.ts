import type { CompiledQuery, DatabaseConnection, Dialect, Kysely, QueryResult } from 'kysely'
import { type BatchOptions, createBatcher } from '../batch.ts'
import type { SpanDescription, TraceContext, Tracing } from '../telemetry/tracing.ts'
import type { Database } from './schema.ts'
import { nameOf } from './statement.ts'

const tracings = new WeakMap<Kysely<Database>, Tracing>()

/** Returns undefined while tracing is off. */
export function tracingOf(db: Kysely<Database>): Tracing | undefined {
  return tracings.get(db)
}

export function setTracing(db: Kysely<Database>, tracing: Tracing): void {
  tracings.set(db, tracing)
}

/** Records a span for each statement that runs in a trace. */
export function traceDialect(dialect: Dialect, tracing: Tracing): Dialect {
  return {
    createDriver: () => {
      const driver = dialect.createDriver()
      const acquire = driver.acquireConnection.bind(driver)
      driver.acquireConnection = async (...options) => traceConnection(await acquire(...options), tracing)
      return driver
    },
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

/** Connections that are already instrumented; a driver can return the same object again. */
const traced = new WeakSet<DatabaseConnection>()

function traceConnection(connection: DatabaseConnection, tracing: Tracing): DatabaseConnection {
  if (traced.has(connection)) return connection
  traced.add(connection)
  const execute = connection.executeQuery.bind(connection)
  return Object.assign(connection, {
    executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
      tracing.child(describeStatement(query.sql), () => execute<Row>(query)),
  })
}

/** The text of a statement is left out: its name says more, and some texts contain values. */
function describeStatement(text: string): SpanDescription {
  const name = nameOf(text) ?? /^\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? 'statement'
  return { name, kind: 'client', attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name } }
}

/** Like `createBatcher`, with a span for each call. The span of a batch of several calls is linked with theirs. */
export function createTracedBatcher<Item, Result>(
  tracing: Tracing,
  name: string,
  { run, groupOf, ...options }: BatchOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  interface Traced {
    item: Item
    caller: TraceContext | undefined
  }
  const call = createBatcher<Traced, Result>({
    ...options,
    run: (calls) =>
      tracing.shared(
        describeBatch(name),
        calls.map(({ caller }) => caller),
        () => run(calls.map(({ item }) => item)),
      ),
    ...(groupOf && { groupOf: ({ item }) => groupOf(item) }),
  })
  return (item) => tracing.child({ name, kind: 'internal' }, () => call({ item, caller: tracing.active() }))
}

function describeBatch(name: string): SpanDescription {
  return {
    name: `${name} batch`,
    kind: 'internal',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': name },
  }
}

/** An item of a batch, with the trace that it belongs to while tracing is on. */
export interface TracedItem {
  trace?: TraceContext | undefined
}

/** Stores the active trace in each item, because a batch can belong to several traces. */
export function withTrace<Item extends TracedItem>(
  tracing: Tracing | undefined,
  items: readonly Item[],
): readonly Item[] {
  const trace = tracing?.active()
  return trace ? items.map((item) => ({ ...item, trace })) : items
}

/** Runs a batch in a span that is linked with the traces of its parts. All items of a part belong to one trace. */
export function runInLinkedSpan<Result>(
  tracing: Tracing | undefined,
  name: string,
  parts: readonly (readonly TracedItem[])[],
  work: () => Promise<Result>,
): Promise<Result> {
  if (!tracing) return work()
  const callers = parts.map(([first]) => first?.trace)
  return tracing.shared(describeBatch(name), callers, work)
}
