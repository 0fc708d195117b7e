import { request } from 'undici'

/** A connection to the inspector of another Node process (Chrome DevTools Protocol). */
export interface Inspector extends AsyncDisposable {
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
export async function connectInspector(address: string): Promise<Inspector> {
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
