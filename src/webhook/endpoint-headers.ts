import { OperatorError } from '../account/operator-error.ts'
import { isReservedHeader } from './request-headers.ts'

const maxHeaders = 20
/** Servers refuse requests whose header section is long, the usual limit being 8 or 16 KiB. */
const maxTotalLength = 4096

/** Checks an endpoint's own headers. A value is never repeated, nor what may be one: it may authorize. */
export function checkHeaders(headers: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  if (headers.length > maxHeaders) throw new OperatorError(`An endpoint can have ${maxHeaders} headers at most.`)
  for (const [name, value] of headers) checkHeader(name, value)
  const names = headers.map(([name]) => name.toLowerCase())
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new OperatorError(`The header ${twice} was given twice.`)
  if (headers.flat().join('').length > maxTotalLength)
    throw new OperatorError(`The headers of an endpoint can have ${maxTotalLength} characters at most, all together.`)
  return Object.fromEntries(headers)
}

function checkHeader(name: string, value: string): void {
  // A token (RFC 9110, 5.6.2).
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new OperatorError('The name of a header has letters, digits and hyphens only, such as X-Api-Key.')
  if (isReservedHeader(name) || name.toLowerCase().startsWith('content-'))
    throw new OperatorError(`The header ${name} is Waybill's to set, or the connection's. Choose another name.`)
  // Visible ASCII with spaces and tabs inside: what every server takes (RFC 9110, 5.5).
  if (!/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new OperatorError(`The value of the header ${name} is empty, or holds a character that headers cannot carry.`)
}
