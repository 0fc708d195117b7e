/** What a request's header fields come as: a `Headers` object, or the record of node:http and its kin. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (isReader(headers)) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function isReader(headers: WebhookHeaders): headers is Extract<WebhookHeaders, { get: unknown }> {
  return typeof headers['get'] === 'function'
}
