import { errors } from 'undici'

/** Why an attempt brought no answer, in texts that the customer reads: stable, and nothing of our insides. */
const texts: Record<string, string> = {
  // One text for a name without an address and for a private one: two would tell about our network.
  WAYBILL_ADDRESS_NOT_ALLOWED: unusableHost(),
  ENOTFOUND: unusableHost(),
  ENODATA: unusableHost(),
  EAI_AGAIN: unusableHost(),
  ESERVFAIL: unusableHost(),
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: timedOut(),
  UND_ERR_CONNECT_TIMEOUT: timedOut(),
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the host is not reachable',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: the certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: the certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the certificate is not trusted',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_INVALID_ARG: 'the request could not be built: see the headers of the endpoint',
}

function unusableHost(): string {
  return 'the host could not be resolved, or is not public'
}

export function timedOut(): string {
  return 'timed out'
}

export function describeAttemptError(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = texts[code]
  if (known !== undefined) return known
  if (error instanceof errors.HTTPParserError) return 'the answer is not HTTP'
  if (/CERT|TLS|SSL|SIGNATURE|CRL|EPROTO/.test(code)) return 'TLS: no secure connection'
  return 'the connection broke'
}
