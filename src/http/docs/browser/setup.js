/* global Scalar */
// The dashboard hands over a newly generated key. It survives reloads of this tab, and is gone when the tab is closed.
const apiKey = sessionStorage.getItem('waybill-docs-api-key')

// A real message costs money and reaches a person, so it is sent only after a confirmation.
const isSimulated = document.body.dataset.simulated === 'true'
const sends = /\/api\/v1\/(?:message|code)\/send$/
const keyHeader = 'Idempotency-Key'
const documentedKey = 'order-1042-shipped'
const documentedMessage = 'msg_01kah3b9mzf5vt2d0wq8r6x4ye'
const send = window.fetch.bind(window)
/** `crypto.randomUUID` exists only on https and on this machine. */
const randomHex = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join('')
window.fetch = async (input, init) => {
  const request = new Request(input, init)
  if (request.method === 'GET' && request.url.includes(documentedMessage)) return read(request)
  // Not `input`: the body of a request can be read once.
  if (request.method !== 'POST' || !sends.test(new URL(request.url).pathname)) return send(request)
  if (!isSimulated && !confirm('This sends a real WhatsApp message, which WhatsApp may charge for. Send it?'))
    throw new DOMException('Not sent.', 'AbortError')
  // With the key of the example, a second attempt would replay the first one, or fail with another body.
  if (request.headers.get(keyHeader) === documentedKey) request.headers.set(keyHeader, `docs-${randomHex()}`)
  return send(request)
}

/** Reads the newest message of the account in place of the one in the examples, which does not exist. */
async function read({ url, headers }) {
  const list = await send(new URL('/api/v1/message?limit=1', url), { headers })
  const newest = list.ok ? (await list.json()).data.items[0] : undefined
  return send(newest ? url.replace(documentedMessage, newest.messageId) : url, { headers })
}

// Disable everything that calls or links to another host.
Scalar.createApiReference('#docs', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // The theme button in the header covers both the guides and the reference.
  hideDarkModeToggle: true,
  forceDarkModeState: document.documentElement.dataset.theme,
  documentDownloadType: 'direct',
  orderSchemaPropertiesBy: 'preserve',
  persistAuth: false,
  ...(apiKey && {
    authentication: { preferredSecurityScheme: 'ApiKey', securitySchemes: { ApiKey: { value: apiKey } } },
  }),
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})

// Scalar's default placeholder looks like a stored key.
new MutationObserver(() => {
  for (const input of document.querySelectorAll('#docs input[placeholder^="QUxM"]'))
    input.placeholder = 'Paste your API key'
}).observe(document.querySelector('#docs'), { childList: true, subtree: true })
