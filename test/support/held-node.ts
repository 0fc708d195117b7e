import { nodeForTest, type TestServer, type TestServerOptions } from './server.ts'

/** A node that can hold its statements before they reach the database, except for the readiness check. */
export interface HeldNode {
  node: TestServer
  hold: () => void
  release: () => void
  /** The number of held statements. */
  held: () => number
}

/** Starts a node that shares the database of another server, until the test ends. */
export async function startHeldNode(beside: TestServer, server: TestServerOptions['server'] = {}): Promise<HeldNode> {
  const waiting = new Set<() => void>()
  let holds = false
  const db = new Proxy(beside.deps.db, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      if (property !== 'executeQuery') return value.bind(target) as unknown
      return async (...args: Parameters<typeof target.executeQuery>): Promise<unknown> => {
        // A real node has a connection of its own for it.
        const isReadinessCheck = 'sql' in args[0] && args[0].sql === 'select 1'
        if (holds && !isReadinessCheck) await new Promise<void>((resolve) => waiting.add(resolve))
        return Reflect.apply(value, target, args)
      }
    },
  })
  const node = await nodeForTest(beside, { server, deps: { db, secrets: beside.deps.secrets } })
  return {
    node,
    hold: () => {
      holds = true
    },
    release: () => {
      holds = false
      for (const resolve of waiting) resolve()
      waiting.clear()
    },
    held: () => waiting.size,
  }
}
