import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { buildConnector as undiciConnector } from 'undici'
import { buildConnector } from '../../platform/undici.ts'
import { addressOf } from '../endpoints/address.ts'
import type { Resolve } from './resolve.ts'

export interface ConnectorOptions {
  resolve: Resolve
  isAllowed: (address: string) => boolean
  connectTimeoutMilliseconds: number
  /** Certificates to trust instead of the system's. */
  ca?: string
}

/**
 * Creates a connector that only connects to allowed addresses. All addresses of a name must be allowed, and the
 * connection uses the addresses that were checked, which prevents DNS rebinding. A literal IP address is never looked
 * up, so it is checked separately.
 */
export function createConnector(options: ConnectorOptions): undiciConnector.connector {
  const { resolve, isAllowed, connectTimeoutMilliseconds, ca } = options
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMilliseconds,
    lookup: createLookup(resolve, isAllowed),
    ...(ca !== undefined && { ca }),
  })
  return (target, callback) => {
    const address = addressOf(target.hostname)
    if (address !== undefined && !isAllowed(address)) callback(new AddressNotAllowedError(), null)
    else connect(target, callback)
  }
}

function createLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  const findAllowed = callbackify(async (host: string) => {
    const addresses = await resolve(host)
    if (!addresses.every(isAllowed)) throw new AddressNotAllowedError()
    return addresses.map((address) => ({ address, family: isIP(address) }))
  })
  return (host, { all }, callback) =>
    findAllowed(host, (error, found) => {
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
