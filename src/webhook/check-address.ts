import type { AddressVerdict } from '../webhook-sender.ts'
import { addressOf, checkEndpointUrl } from './address.ts'
import { isMissingName, type Resolve } from './resolve.ts'

export interface AddressRules {
  allowPrivate: boolean
  isAllowed: (address: string) => boolean
  resolve: Resolve
}

/**
 * Whether we would send there, when an endpoint is made. A name that does not exist is refused as a private one is:
 * whoever could tell them apart could list the names of our network. A resolver that does not answer just now is
 * no reason to refuse it: the addresses are checked again at each connection.
 */
export async function checkAddress(
  text: string,
  { allowPrivate, isAllowed, resolve }: AddressRules,
): Promise<AddressVerdict> {
  const url = checkEndpointUrl(text, { allowPrivate })
  if (!url) return 'refused'
  if (addressOf(url.hostname) !== undefined) return 'allowed'
  try {
    const addresses = await resolve(url.hostname)
    return addresses.every(isAllowed) ? 'allowed' : 'refused'
  } catch (error) {
    return isMissingName(error) ? 'refused' : 'allowed'
  }
}
