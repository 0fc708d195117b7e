import { isIP, type LookupFunction, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { buildConnector as undiciConnector } from 'undici'
import { findProxy, type ProxySettings } from '../../platform/proxy.ts'
import { buildConnector, errors, openTunnel } from '../../platform/undici.ts'
import { addressOf, type IsAllowed } from '../endpoints/address.ts'
import type { Resolve } from './resolve.ts'

export interface ConnectorOptions {
  resolve: Resolve
  isAllowed: IsAllowed
  connectTimeoutMilliseconds: number
  /** What a server may send for one request, with everything that frames the body. */
  maxResponseBytes: number
  /** Certificates to trust instead of the system's. */
  ca?: string
  proxies?: ProxySettings | undefined
}

/**
 * Creates a connector that only connects to allowed addresses. All addresses of a name must be allowed, and the
 * connection uses the addresses that were checked, which prevents DNS rebinding. A literal IP address is never looked
 * up, so it is checked separately. A proxy gets an address too, because it would resolve a name for itself.
 */
export function createConnector(options: ConnectorOptions): undiciConnector.connector {
  const { isAllowed, connectTimeoutMilliseconds, maxResponseBytes, ca, proxies } = options
  const findAllowed = createAllowedLookup(options)
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMilliseconds,
    lookup: toLookup(findAllowed),
    ...(ca !== undefined && { ca }),
  })
  const openThrough = callbackify(async (proxy: URL, { hostname, port, protocol }: undiciConnector.Options) => {
    const address = addressOf(hostname)
    const addresses = address === undefined ? await findAllowed(hostname) : [address]
    return openFirst(proxy, addresses, port || (protocol === 'https:' ? 443 : 80), connectTimeoutMilliseconds)
  })
  return (target, done) => {
    const callback: undiciConnector.Callback = (...result) => {
      const [, socket] = result
      if (socket) {
        limitResponses(socket, maxResponseBytes)
        keepFirstError(socket)
      }
      done(...result)
    }
    const address = addressOf(target.hostname)
    if (address !== undefined && !isAllowed(address, target.hostname))
      return callback(new AddressNotAllowedError(), null)
    const proxy = findProxy(proxies, target)
    if (!proxy) return connect(target, callback)
    openThrough(proxy, target, (error, httpSocket) => {
      if (error) callback(error, null)
      else if (target.protocol === 'https:') connect({ ...target, httpSocket }, callback)
      else callback(null, httpSocket)
    })
  }
}

/**
 * Closes a connection that sends more bytes for one request than a response can have. The limits of headers and of the
 * body do not count 1xx responses, empty lines, the status line and the extensions of chunks: a server could keep a core
 * busy with them until the timeout.
 */
function limitResponses(socket: Socket, maxBytes: number): void {
  let written = 0
  let before = 0
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket
    if (bytesWritten !== written) {
      written = bytesWritten
      before = bytesRead
    }
    if (bytesRead - before > maxBytes) socket.destroy(new errors.HeadersOverflowError())
  })
}

/**
 * Closes a connection with its first error. In TLS 1.3, a server rejects a client that has no certificate after the handshake:
 * the error is followed by the end of the connection, and undici would report only that.
 */
function keepFirstError(socket: Socket): void {
  socket.once('error', (error) => socket.destroy(error))
}

const maxAddresses = 3

/** IPv4 first, because proxies often have no IPv6. Like a direct connection, it tries the next address after a failure. */
async function openFirst(
  proxy: URL,
  addresses: readonly string[],
  port: string | number,
  timeoutMilliseconds: number,
): Promise<Socket> {
  const [host, ...others] = addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, maxAddresses)
  if (host === undefined) throw new AddressNotAllowedError()
  try {
    return await openTunnel(proxy, { host, port }, timeoutMilliseconds)
  } catch (error) {
    if (others.length === 0) throw error
    return openFirst(proxy, others, port, timeoutMilliseconds)
  }
}

type AllowedLookup = (host: string) => Promise<readonly string[]>

function createAllowedLookup({ resolve, isAllowed }: ConnectorOptions): AllowedLookup {
  return async (host) => {
    const addresses = await resolve(host)
    if (!addresses.every((address) => isAllowed(address, host))) throw new AddressNotAllowedError()
    return addresses
  }
}

function toLookup(findAllowed: AllowedLookup): LookupFunction {
  const find = callbackify(async (host: string) =>
    (await findAllowed(host)).map((address) => ({ address, family: isIP(address) })),
  )
  return (host, { all }, callback) =>
    find(host, (error, found) => {
      const [first] = found ?? []
      if (error || !first) callback(error, all === true ? [] : '')
      else if (all === true) callback(null, found)
      else callback(null, first.address, first.family)
    })
}

class AddressNotAllowedError extends Error {
  readonly code = 'WAYBILL_ADDRESS_NOT_ALLOWED'
  constructor() {
    super('the address is not allowed')
    this.name = 'AddressNotAllowedError'
  }
}
