/* global Scalar */
// The dashboard leaves a key that it has just generated. Read once: from then on, only the memory of this page has it.
const keyName = 'waybill-docs-api-key'
const apiKey = sessionStorage.getItem(keyName)
sessionStorage.removeItem(keyName)

// Everything that would ask another host, or point to one, is off.
Scalar.createApiReference('#docs', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // The button in the header switches the guides and the reference.
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

// Scalar's own placeholder looks like a key that is already stored.
new MutationObserver(() => {
  for (const input of document.querySelectorAll('#docs input[placeholder^="QUxM"]'))
    input.placeholder = 'Paste your API key'
}).observe(document.querySelector('#docs'), { childList: true, subtree: true })
