import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { replaceAllowList } from './store.ts'

/**
 * Returns the canonical form of an address for comparisons: v4-mapped IPv6 (`::ffff:192.0.2.1`, RFC 4291, 2.5.5.2) and
 * the well-known form of a translator (`64:ff9b::192.0.2.1`, RFC 6052, 2.1), which a server with IPv6 only sees, become
 * IPv4. Undefined if the text is not an address, or has a zone (`%eth0`), which means nothing to other hosts
 * (RFC 4007, 6).
 */
export function normalizeAddress(text: string): string | undefined {
  // Node accepts only four decimal parts without leading zeros, so there is nothing to normalize.
  if (isIPv4(text)) return text
  if (!isStrictAddress(text)) return undefined
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv6 && address.match(nat64)
    ? toEmbeddedIPv4(address).toString()
    : address.toString()
}

const nat64 = ipaddr.parseCIDR('64:ff9b::/96')
/** A network chooses where its translator puts the IPv4 address in these (RFC 8215). */
const localNat64 = ipaddr.parseCIDR('64:ff9b:1::/48')

function toEmbeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

/**
 * Returns the network that counts as one address: a client with an IPv6 address controls its whole /64 (RFC 6177). Behind
 * a local translator, such a network would have all clients with IPv4.
 */
export function networkOf(address: string): string {
  const plain = normalizeAddress(address) ?? address
  if (!plain.includes(':')) return plain
  const isTranslated = isStrictAddress(plain) && ipaddr.parse(plain).match(localNat64)
  return isTranslated ? plain : (normalizeAllowListEntry(`${plain}/64`) ?? plain)
}

/**
 * Returns an allow-list entry in canonical form: an address, or a CIDR range with its host bits cleared. A v4-mapped
 * or translated range becomes an IPv4 range. Undefined if the text is neither.
 */
export function normalizeAllowListEntry(text: string): string | undefined {
  const [address = '', prefixText, ...rest] = text.trim().split('/')
  if (rest.length > 0 || !isStrictAddress(address)) return undefined
  if (prefixText === undefined) return normalizeAddress(address)
  if (!/^\d{1,3}$/.test(prefixText)) return undefined
  return normalizeRange(ipaddr.parse(address), Number(prefixText))
}

function normalizeRange(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string | undefined {
  if (prefix > (address.kind() === 'ipv4' ? 32 : 128)) return undefined
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96)
    return normalizeRange(address.toIPv4Address(), prefix - 96)
  if (address instanceof ipaddr.IPv6 && address.match(nat64) && prefix >= 96)
    return normalizeRange(toEmbeddedIPv4(address), prefix - 96)
  const range = `${address.toString()}/${prefix}`
  const network =
    address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(range) : ipaddr.IPv6.networkAddressFromCIDR(range)
  return `${network.toString()}/${prefix}`
}

/**
 * Accepts four decimal parts or IPv6 without a zone, but not the octal, hexadecimal and short forms of `inet_aton`,
 * which ipaddr.js accepts even within v4-mapped addresses.
 */
function isStrictAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/**
 * Replaces the whole list, only if it is still `replaces`, if given. With an empty list, any address may call.
 */
export async function setAllowList(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  entries: string[],
  replaces?: string[],
): Promise<{ allowList: string[] }> {
  const allowList = parseAllowList(entries)
  if (await replaceAllowList(db, accountId, { from: replaces, to: allowList })) return { allowList }
  await requireAccount(db, accountId)
  throw new ServiceError('SETTING_REFUSED', errorFacts.allowListChanged())
}

/** Returns the entries in canonical form, each once. */
export function parseAllowList(entries: readonly string[]): string[] {
  return [...new Set(entries.map(parseEntry))]
}

function parseEntry(text: string): string {
  const entry = normalizeAllowListEntry(text)
  if (entry === undefined)
    throw new ServiceError('VALIDATION_ERROR', errorFactsWithValues.noAddress({ value: JSON.stringify(text) }), {
      field: 'allowList',
    })
  return entry
}
