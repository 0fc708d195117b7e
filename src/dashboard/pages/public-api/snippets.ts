/** What a snippet sends, and where to. */
export interface SnippetFacts {
  url: string
  apiKey: string
  template: string
  language: string
  variables: Record<string, string>
}

/** A number that belongs to nobody we know, to be replaced. */
const recipient = '34600111222'

export function toCurl({ url, apiKey, template, language, variables }: SnippetFacts): string {
  const body = JSON.stringify({ to: recipient, template, language, ...(isFilled(variables) && { variables }) }, null, 2)
  return [
    `curl -X POST ${url}/api/v1/message/send \\`,
    `  -H ${quoteForShell(`X-API-Key: ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoteForShell(body)}`,
  ].join('\n')
}

export function toTypeScript({ url, apiKey, template, language, variables }: SnippetFacts): string {
  const entries = Object.entries(variables).map(([key, value]) => `${quote(key)}: ${quote(value)}`)
  return [
    `import { createClient } from 'waybill/client'`,
    ``,
    `const waybill = createClient({`,
    `  url: ${quote(url)},`,
    `  apiKey: ${quote(apiKey)},`,
    `})`,
    ``,
    `const sent = await waybill.message.send.mutate({`,
    `  to: ${quote(recipient)},`,
    `  template: ${quote(template)},`,
    `  language: ${quote(language)},`,
    ...(entries.length > 0 ? [`  variables: { ${entries.join(', ')} },`] : []),
    `})`,
    `console.log(sent.messageId, sent.status)`,
  ].join('\n')
}

function isFilled(variables: Record<string, string>): boolean {
  return Object.keys(variables).length > 0
}

/** Within single quotes a shell takes everything as it is, except for the quote itself (POSIX, 2.2.2). */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `'${inner.replaceAll("'", "\\'")}'`
}
