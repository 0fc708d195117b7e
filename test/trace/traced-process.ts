import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { request } from 'undici'
import { freePort } from '../support/postgres.ts'
import { root, type RunningProcess, startProcess } from '../bench/start-process.ts'

/** A connection to the inspector of another Node process (Chrome DevTools Protocol). */
interface Inspector extends AsyncDisposable {
  send(method: string, params?: object): Promise<Record<string, unknown>>
  /**
   * Calls `listener` with the breakpoints at which the process has stopped, until the returned function is called. That
   * resolves when the last call has ended.
   */
  onPaused(listener: (breakpointIds: string[]) => Promise<void>): () => Promise<void>
}

interface Incoming {
  id?: number
  method?: string
  params?: { hitBreakpoints?: string[] }
  result?: Record<string, unknown>
  error?: { message: string }
}

/** `address` is that of `--inspect`, such as `http://127.0.0.1:9229`. */
async function connectInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(await findTarget(address))
  const opened = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('error', () => opened.reject(new Error(`no connection to the inspector at ${address}`)))
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  let listener: ((breakpointIds: string[]) => Promise<void>) | undefined
  let listening: Promise<void> | undefined
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result = {}, error } = JSON.parse(String(data)) as Incoming
    if (method === 'Debugger.paused') listening = listener?.(params?.hitBreakpoints ?? [])
    const answer = id === undefined ? undefined : waiting.get(id)
    if (id === undefined || !answer) return
    waiting.delete(id)
    if (error) answer.reject(new Error(error.message))
    else answer.resolve(result)
  })
  await opened.promise
  let last = 0
  return {
    send: (method, params = {}) => {
      const answer = Promise.withResolvers<Record<string, unknown>>()
      waiting.set(++last, answer)
      socket.send(JSON.stringify({ id: last, method, params }))
      return answer.promise
    },
    onPaused: (given) => {
      listener = given
      return async () => {
        listener = undefined
        await listening
      }
    },
    [Symbol.asyncDispose]: () => {
      const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve()))
      socket.close()
      return closed
    },
  }
}

async function findTarget(address: string): Promise<string> {
  const { body } = await request(`${address}/json/list`)
  const [target] = (await body.json()) as { webSocketDebuggerUrl: string }[]
  if (!target) throw new Error(`nothing to inspect at ${address}`)
  return target.webSocketDebuggerUrl
}

/** A server process whose executed files can be listed. */
export interface TracedProcess extends RunningProcess {
  /**
   * The files that `act` executes each time, relative to the repository, in the order of their first call. What runs in
   * the background is not among them, unless it runs each time. `prepare` is called before each `act` and is not traced.
   */
  trace(act: () => Promise<unknown>, options?: { prepare?: () => Promise<void> }): Promise<string[]>
}

/** Loads what is only loaded by the first requests, and fills caches. */
const warmUps = 20
const repetitions = 5

/** Where a function begins, in the text of its file. */
interface Start {
  scriptId: string
  offset: number
}

export async function startTraced(args: string[], environment: Record<string, string>): Promise<TracedProcess> {
  await using resources = new AsyncDisposableStack()
  const port = await freePort()
  const nodeArgs = [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http']
  // V8 counts nothing for functions whose bytecode comes from the cache.
  const uncached = { ...environment, NODE_DISABLE_COMPILE_CACHE: '1' }
  const running = resources.use(await startProcess('src/cli/waybill.js', { args, environment: uncached, nodeArgs }))
  const inspector = resources.use(await connectInspector(`http://127.0.0.1:${port}`))
  const kept = resources.move()
  return {
    ...running,
    trace: async (act, { prepare = async () => {} } = {}) => {
      const run = async () => {
        await prepare()
        await inspector.send('Profiler.takePreciseCoverage')
        await act()
        return listExecuted(await inspector.send('Profiler.takePreciseCoverage'))
      }
      await inspector.send('Profiler.enable')
      await inspector.send('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
      for (let count = 0; count < warmUps; count++) await run()
      const runs: Map<string, Start[]>[] = []
      while (runs.length < repetitions) runs.push(await run())
      await inspector.send('Profiler.disable')
      const executed = new Map([...(runs[0] ?? [])].filter(([file]) => runs.every((one) => one.has(file))))
      await prepare()
      const ordered = await listByFirstCall(inspector, executed, act)
      return [...ordered, ...[...executed.keys()].filter((file) => !ordered.includes(file))]
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

interface Coverage {
  result: {
    scriptId: string
    url: string
    functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[]
  }[]
}

/** The functions that were called, by file. */
function listExecuted(coverage: unknown): Map<string, Start[]> {
  // The protocol's type of `takePreciseCoverage`.
  const { result } = coverage as Coverage
  const files = result.flatMap(({ scriptId, url, functions }): [string, Start[]][] => {
    const file = relativeToRoot(url)
    const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    if (file === undefined || called.length === 0) return []
    return [[file, called.map(({ ranges }) => ({ scriptId, offset: ranges[0]?.startOffset ?? 0 }))]]
  })
  return new Map(files)
}

const ours = ['src', 'contracts'].map((folder) => `${pathToFileURL(path.join(root, folder)).href}/`)

function relativeToRoot(url: string): string | undefined {
  return ours.some((folder) => url.startsWith(folder)) ? path.relative(root, fileURLToPath(url)) : undefined
}

/** Stops at the first call of each file: a breakpoint at the start of each function, until one of the file is reached. */
async function listByFirstCall(
  inspector: Inspector,
  executed: ReadonlyMap<string, readonly Start[]>,
  act: () => Promise<unknown>,
): Promise<string[]> {
  await inspector.send('Debugger.enable')
  // The background must not stop before somebody listens.
  await inspector.send('Debugger.setBreakpointsActive', { active: false })
  const fileOf = new Map<string, string>()
  for (const [file, starts] of executed) {
    const text = await readFile(path.join(root, file), 'utf8')
    for (const { scriptId, offset } of starts) {
      const location = { scriptId, ...positionAt(text, offset) }
      // Two functions can begin at the same place.
      const set = await inspector.send('Debugger.setBreakpoint', { location }).catch(() => undefined)
      if (set) fileOf.set(String(set['breakpointId']), file)
    }
  }
  const files = new Set<string>()
  const stopListening = inspector.onPaused(async (breakpointIds) => {
    for (const id of breakpointIds) {
      const file = fileOf.get(id)
      if (file === undefined || files.has(file)) continue
      files.add(file)
      const passed = [...fileOf].filter(([, other]) => other === file)
      for (const [breakpointId] of passed) await inspector.send('Debugger.removeBreakpoint', { breakpointId })
    }
    await inspector.send('Debugger.resume')
  })
  await inspector.send('Debugger.setBreakpointsActive', { active: true })
  await act()
  await inspector.send('Debugger.setBreakpointsActive', { active: false })
  // What runs in the background can have stopped at the last moment.
  await stopListening()
  await inspector.send('Debugger.disable')
  return [...files]
}

/** Removing types from a file keeps its positions. */
function positionAt(text: string, offset: number): { lineNumber: number; columnNumber: number } {
  const before = text.slice(0, offset)
  return { lineNumber: before.split('\n').length - 1, columnNumber: offset - before.lastIndexOf('\n') - 1 }
}
