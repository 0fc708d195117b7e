import ipaddr from 'ipaddr.js'

/**
 * Whether an allow-list lets an address call, as the server will judge; an empty one lets everybody.
 * Undefined when an entry is neither an address nor a range, which the server will refuse anyway.
 */
export function covers(allowList: string[], address: string): boolean | undefined {
  if (allowList.length === 0) return true
  const ranges = allowList.map(readRange)
  if (!ranges.every((range) => range !== undefined)) return undefined
  if (!ipaddr.isValid(address)) return false
  const caller = ipaddr.process(address)
  return ranges.some(([network, prefix]) => network.kind() === caller.kind() && caller.match([network, prefix]))
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function readRange(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return unmapped(ipaddr.parseCIDR(entry))
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.process(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** `::ffff:192.0.2.0/120` is `192.0.2.0/24` (RFC 4291, 2.5.5.2). */
function unmapped([network, prefix]: Range): Range {
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && prefix >= 96)
    return [network.toIPv4Address(), prefix - 96]
  return [network, prefix]
}
