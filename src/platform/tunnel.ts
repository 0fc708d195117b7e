import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { authorizeAtProxy } from './proxy.ts'

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
