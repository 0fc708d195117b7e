import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { problems, readProblem } from '../../../contracts/facts/problems.ts'
import type { WebhookConfig } from '../../platform/config.ts'
import { isMissingName, type Resolve } from '../sender/resolve.ts'
import type { AddressCheck } from '../sender/webhook-sender.ts'

/** One text for all problems, because naming the failed rule would reveal details of our network. */
export const urlProblem = readProblem(problems.endpointUrl())

/** Special-purpose addresses (IANA registry, RFC 6890) and addresses that cloud providers reserve. */
const specialIPv4 = parseRanges([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and Alibaba's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform: a public address that only its own machines can reach
  '169.254.0.0/16', // link-local, and most clouds' metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and Oracle's metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast relays
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
])

/**
 * Global unicast. It excludes loopback, v4-mapped and v4-compatible addresses, the local-use NAT64 prefix, unique local
 * (with Amazon's metadata), link-local, site-local and multicast.
 */
const globalIPv6 = parseRanges(['2000::/3'])
const specialIPv6 = parseRanges([
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: contains an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
])

/** Returns whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv4) return !isIn(parsed, specialIPv4)
  const embedded = findTranslatedIPv4(parsed)
  if (embedded) return !isIn(embedded, specialIPv4)
  return isIn(parsed, globalIPv6) && !isIn(parsed, specialIPv6)
}

const nat64 = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * Returns the IPv4 address that a translator connects to. In networks with IPv6 only, DNS64 adds such an address for
 * each IPv4 address of a name (RFC 6052, 2.1).
 */
function findTranslatedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  return address.match(nat64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined
}

/**
 * Names that never resolve to the public internet: of IANA's registry of special-use domain names (RFC 6761, 6762, 7686,
 * 8375, 8880, 9462, 9476, 9665), those that local networks use (RFC 6762, appendix G), ICANN's `internal`, and the
 * `localdomain` of hosts files. Not `example`, which examples need.
 */
const privateNames =
  /(^|\.)(alt|invalid|local|localhost|onion|test|(home|ipv4only|resolver|service)\.arpa|corp|home|internal|intranet|lan|localdomain|private)$/

type EndpointRules = Pick<WebhookConfig, 'allowPrivate' | 'privateHosts'>

/**
 * Returns the parsed URL if it is allowed. Its host name is not resolved here, because addresses are checked at each
 * connection. `allowPrivate` is for development.
 */
export function checkEndpointUrl(text: string, { allowPrivate, privateHosts }: EndpointRules): URL | undefined {
  const url = URL.parse(text)
  if (!url || url.username !== '' || url.password !== '' || text.includes('#')) return undefined
  if (allowPrivate || isListed(url.hostname, privateHosts))
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  return url.protocol === 'https:' && isPublicHost(url.hostname) ? url : undefined
}

/** Returns which addresses a connection to a host may use. */
export function allowAddresses({ allowPrivate, privateHosts }: EndpointRules): IsAllowed {
  return (address, host) => allowPrivate || isPublicAddress(address) || isListed(host, privateHosts)
}

export type IsAllowed = (address: string, host: string) => boolean

function isListed(host: string, hosts: readonly string[] = []): boolean {
  const name = addressOf(host) ?? host.replace(/\.$/, '')
  return hosts.some((listed) => (listed.startsWith('*.') ? name.endsWith(listed.slice(1)) : name === listed))
}

/** `host` must be from a parsed URL, because the WHATWG parser normalizes unusual spellings of IP addresses. */
export function isPublicHost(host: string): boolean {
  const address = addressOf(host)
  if (address !== undefined) return isPublicAddress(address)
  const name = host.replace(/\.$/, '')
  // A name without a dot can only resolve in the local network, and no name server has a longer one (RFC 1035, 2.3.4).
  return name.includes('.') && name.length <= 253 && !/[^.]{64}/.test(name) && !privateNames.test(name)
}

/** Returns the address if the host is a literal IP address, such as `[::1]` or `127.0.0.1`. */
export function addressOf(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  return isIP(bare) === 0 ? undefined : bare
}

type Range = ReturnType<typeof ipaddr.parseCIDR>

function parseRanges(ranges: string[]): Range[] {
  return ranges.map((range) => ipaddr.parseCIDR(range))
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: Range[]): boolean {
  return ranges.some((range) => address.match(range))
}

export interface AddressRules extends EndpointRules {
  isAllowed: IsAllowed
  resolve: Resolve
}

/**
 * Checks the URL of a new endpoint. Non-existent names are rejected like private ones, because the difference would
 * reveal names in our network. A failed DNS lookup does not cause a rejection, because addresses are checked again at
 * each connection.
 */
export async function checkAddress(
  text: string,
  { isAllowed, resolve, ...rules }: AddressRules,
): Promise<AddressCheck> {
  const url = checkEndpointUrl(text, rules)
  if (!url) return 'refused'
  if (addressOf(url.hostname) !== undefined) return 'allowed'
  try {
    const addresses = await resolve(url.hostname)
    return addresses.every((address) => isAllowed(address, url.hostname)) ? 'allowed' : 'refused'
  } catch (error) {
    return isMissingName(error) ? 'refused' : 'allowed'
  }
}
