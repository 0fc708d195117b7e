import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { buildConnector as undiciConnector, Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import buildConnector from 'undici/lib/core/connect.js'
import errors from 'undici/lib/core/errors.js'
import symbols from 'undici/lib/core/symbols.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { authorizeAtProxy, findProxy, type ProxySettings } from './proxy.ts'

/**
 * The parts of undici that a server uses, imported from their own files: its index also loads `fetch`, WebSocket, caches
 * and mocks, which are a megabyte of source and 80 more modules.
 */

export { buildConnector, errors }

/**
 * How long an idle connection stays open, however long the server promises to keep it. undici counts the promised time in
 * ticks, which are late in a busy process: after a minute, it would send on a connection that the server closes, and never
 * learn whether the request arrived.
 */
const keepAliveMaxTimeout = 4_000

/** Creates an agent for any number of origins. */
export function createAgent(options: Agent.Options = {}): Agent {
  return skipContinue(new Agent({ keepAliveMaxTimeout, ...options }))
}

type PoolOptions = Pool.Options & { connect: { timeout: number } }

/** Creates a pool of connections to one origin: directly, or through the proxy that the settings name for it. */
export function createPool(origin: string, settings: PoolOptions, proxies: ProxySettings | undefined): Dispatcher {
  const options = { keepAliveMaxTimeout, ...settings }
  const proxy = findProxy(proxies, new URL(origin))
  if (!proxy) return skipContinue(new Pool(origin, options))
  if (origin.startsWith('http:')) return forwardThrough(proxy, new URL(origin), options)
  const { timeout } = options.connect
  return skipContinue(new Pool(origin, { ...options, connect: tunnelThrough(proxy, timeout) }))
}

/** A proxy takes http requests as they are, with the whole URL (RFC 9112, 3.2.2). */
function forwardThrough(proxy: URL, { origin, host }: URL, options: PoolOptions): Dispatcher {
  const added = { host, ...authorizeAtProxy(proxy) }
  return skipContinue(new Pool(proxy.origin, options)).compose(
    (dispatch) =>
      ({ path, headers, ...request }, handler) =>
        dispatch({ ...request, origin: proxy.origin, path: origin + path, headers: { ...headers, ...added } }, handler),
  )
}

function tunnelThrough(proxy: URL, timeoutMilliseconds: number): undiciConnector.connector {
  const secure = buildConnector({ allowH2: false, timeout: timeoutMilliseconds })
  const open = callbackify(({ hostname, port }: undiciConnector.Options) =>
    openTunnel(proxy, { host: hostname, port: port || 443 }, timeoutMilliseconds),
  )
  return (target, callback) =>
    open(target, (error, httpSocket) => {
      if (error) callback(error, null)
      else secure({ ...target, httpSocket }, callback)
    })
}

const continueStatus = 100
const processingStatus = 102

interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** Holds at most one object: the class of the parsers. */
const patched = new WeakSet<object>()

/**
 * undici closes a connection that sends `100 Continue` unasked, and has no option for it. A client must skip such a
 * response (RFC 9110, 15.2), as undici does with `102 Processing`, so its parser gets 102 instead. The first connection
 * gives access to the parser, which undici does not export.
 */
function skipContinue<T extends Dispatcher>(dispatcher: T): T {
  return dispatcher.once('connect', (_origin, targets) => {
    // undici has no types for its internal fields. The last target is the client, which has a connection now.
    const client = targets.at(-1) as unknown as Record<symbol, Record<symbol, Parser> | undefined>
    const instance = client[symbols.kSocket]?.[symbols.kParser]
    const parser = instance && (Object.getPrototypeOf(instance) as Parser)
    if (!parser || patched.has(parser)) return
    patched.add(parser)
    const { onHeadersComplete } = parser
    parser.onHeadersComplete = function (status, upgrade, keepAlive) {
      return onHeadersComplete.call(this, status === continueStatus ? processingStatus : status, upgrade, keepAlive)
    }
  })
}

/** `dispatcher.request`, which undici's index adds to dispatchers. */
export function requestThrough(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return request.call(dispatcher, options)
}

/** The proxy cannot be reached, or did not connect to the server. Nothing was sent to the server. */
export class ProxyError extends Error {
  readonly code = 'WAYBILL_PROXY_FAILED'
  /** What the proxy responded; undefined if it did not. */
  readonly status: number | undefined
  constructor(status?: number) {
    super(status === undefined ? 'the proxy cannot be reached' : `the proxy responded HTTP ${status}`)
    this.name = 'ProxyError'
    this.status = status
  }
}

/** Opens a connection to a server through a proxy (RFC 9110, 9.3.6). If `host` is a name, the proxy resolves it. */
export function openTunnel(
  proxy: URL,
  { host, port }: { host: string; port: string | number },
  timeoutMilliseconds: number,
): Promise<Socket> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? requestByHttps : requestByHttp)({
      hostname: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...authorizeAtProxy(proxy) },
      agent: false,
    })
    const timer = setTimeout(() => request.destroy(new Error('no response in time')), timeoutMilliseconds)
    request.once('connect', (response, socket: Socket, head) => {
      clearTimeout(timer)
      if (response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        return resolve(socket.setNoDelay(true))
      }
      socket.on('error', () => {}).destroy()
      reject(new ProxyError(response.statusCode))
    })
    request.on('error', () => {
      clearTimeout(timer)
      reject(new ProxyError())
    })
    request.end()
  })
}
