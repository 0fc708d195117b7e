import { Anchor, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'

interface SnippetsSectionProps {
  /** Known only right after it was generated. */
  apiKey: string | undefined
}

export function SnippetsSection({ apiKey = 'YOUR_API_KEY' }: SnippetsSectionProps) {
  const { accountId } = useAccount()
  const template = useSendableTemplate()
  const snippet: SnippetInput = {
    url: window.location.origin,
    apiKey,
    template: template.data?.name ?? 'order_shipped',
    language: template.data?.language ?? 'en',
    variables: template.data ? exampleVariables(template.data.placeholders) : { '1': 'Ada', '2': 'WB-1042' },
  }
  return (
    <Section
      title="Example request"
      description={
        <>
          Replace the number with your own (digits only) and run the request. For details, see{' '}
          <Anchor href="/docs" inherit>
            the documentation
          </Anchor>
          .
        </>
      }
    >
      {template.isSuccess && !template.data && (
        <Text size="sm" mb="md">
          This account has no sendable template yet, so the request below uses a placeholder.{' '}
          <Anchor component={Link} to={`/${accountId}/templates`} inherit>
            View templates
          </Anchor>
        </Text>
      )}
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl">
          <CodeBlock label="curl command" code={toCurl(snippet)} />
        </Tabs.Panel>
        <Tabs.Panel value="typescript">
          <CodeBlock label="TypeScript code" code={toTypeScript(snippet)} />
        </Tabs.Panel>
      </Tabs>
    </Section>
  )
}

/** The first sendable template; null if there is none. */
function useSendableTemplate() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: ['templates', accountId, 'sendable'],
    queryFn: async () => {
      const { items } = await settings.template.list.query({ accountId, status: 'APPROVED', limit: 100 })
      return items.find(({ sendable }) => sendable) ?? null
    },
    staleTime: 60_000,
  })
}

function exampleVariables(placeholders: { key: string; example?: string | undefined }[]): Record<string, string> {
  return Object.fromEntries(placeholders.map(({ key, example }) => [key, example ?? 'text']))
}

interface SnippetInput {
  url: string
  apiKey: string
  template: string
  language: string
  variables: Record<string, string>
}

/** A placeholder number. */
const recipient = '34600111222'

function toCurl({ url, apiKey, template, language, variables }: SnippetInput): string {
  const body = JSON.stringify({ to: recipient, template, language, ...(isFilled(variables) && { variables }) }, null, 2)
  return [
    `curl -X POST ${url}/api/v1/message/send \\`,
    `  -H ${quoteForShell(`X-API-Key: ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoteForShell(body)}`,
  ].join('\n')
}

function toTypeScript({ url, apiKey, template, language, variables }: SnippetInput): string {
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

/** In single quotes, a shell takes every character literally except the quote itself (POSIX, 2.2.2). */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `'${inner.replaceAll("'", "\\'")}'`
}
