import { defineFacts, readerOf } from './fact.ts'

/**
 * Why an attempt to deliver an event failed, other than by its status code. The texts are stored as the keys of failures,
 * so they must not change.
 */
export const deliveryFailures = defineFacts('delivery', {
  // Missing names and private addresses share a text, because different texts would reveal names in our network.
  unusableHost: 'the host could not be resolved, or is not public',
  addressNotAllowed: 'the address is not allowed',
  connectionRefused: 'connection refused',
  timedOut: 'timed out',
  unreachable: 'the host is not reachable',
  proxyFailed: 'the proxy of this server did not connect to the host',
  certificateExpired: 'TLS: the certificate has expired',
  certificateOfAnotherHost: 'TLS: the certificate is for another host',
  certificateNotTrusted: 'TLS: the certificate is not trusted',
  certificateNotYetValid: 'TLS: the certificate is not valid yet',
  outdatedTls: 'TLS: the server supports neither TLS 1.2 nor 1.3',
  noHttp1: 'TLS: the server does not support HTTP/1.1',
  handshakeRejected: 'TLS: the server rejected the connection',
  notSecure: 'TLS: no secure connection',
  headersTooLarge: 'the response headers are too large',
  unusableRequest: 'the request could not be built: check the headers of the endpoint',
  unreadableSecret: 'the signing secret of the endpoint cannot be decrypted',
  unreadableHeaders: 'the headers of the endpoint cannot be decrypted: set them again',
  notHttp: 'the response is not valid HTTP',
  incompleteResponse: 'the connection closed before the response was complete',
  connectionLost: 'the connection was lost',
})

/** Why an endpoint is disabled. The texts are stored, as those of `deliveryFailures`. */
export const disabledReasons = defineFacts('disabled', {
  byOperator: 'disabled by an operator',
  byUser: 'disabled by a user',
  // Stored by earlier versions.
  byOwner: 'disabled by its owner',
  gone: 'it answered 410 Gone',
  failing: 'no attempt has succeeded for five days',
})

/** How an endpoint fails, and what to do about it. */
export const endpointFacts = defineFacts('endpoint', {
  failing: 'Failing since {since}: {error}.',
  failingWithHint: 'Failing since {since}: {error}; {hint}.',
  failingVariously: 'Failing in several ways since {since}. Last error: {error}.',
  failingVariouslyWithHint: 'Failing in several ways since {since}. Last error: {error}; {hint}.',
  timedOutAfter: 'timed out after {duration}',
  hint: {
    event: 'check that your application accepts the event',
    secret: 'check the signing secret',
    path: 'check the path of the URL',
    method: 'your application must accept POST requests',
    proxy: 'check the proxy in front of your application',
    size: 'let your application accept larger requests',
    rate: 'limit the deliveries per second',
    redirect: 'enter the URL that it redirects to',
    certificate: 'renew the certificate',
    chain: 'send the whole certificate chain',
    host: 'get a certificate for the host in the URL',
    validity: 'get a certificate that is already valid',
    tls: 'enable TLS 1.2 or 1.3',
    http1: 'enable HTTP/1.1',
    handshake: 'check whether your server requires a client certificate, or lacks current cipher suites',
    https: 'check that the port of the URL serves HTTPS',
    name: 'check the host in the URL, which must have a public address',
    address: 'enter a URL with a public address',
    start: 'start your application, and check the port in the URL',
    network: 'check that your server is online and its firewall lets requests in',
    slow: 'let your application answer before it processes the event',
    http: 'check that the URL leads to your application',
    headers: 'let your application send fewer response headers',
    log: 'look for the error in the log of your application',
    operator: 'ask your Waybill administrator to run waybill doctor',
    outboundProxy: 'ask your Waybill administrator to check the outbound proxy',
  },
})

export const readDeliveryFailure = readerOf(deliveryFailures)
export const readDisabledReason = readerOf(disabledReasons)
