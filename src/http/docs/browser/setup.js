/* global Scalar */
// The dashboard hands over a newly generated key. It is removed here, so that only this page's memory keeps it.
const keyName = 'waybill-docs-api-key'
const apiKey = sessionStorage.getItem(keyName)
sessionStorage.removeItem(keyName)

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
