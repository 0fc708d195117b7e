import { Anchor, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { sendMessage, type SendMessageRequest } from '../../../../contracts/api/message.ts'
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
    body: template.data?.example ?? sendMessage.example.input,
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

interface SnippetInput {
  url: string
  apiKey: string
  /** A request that is accepted as it is. */
  body: SendMessageRequest
}

function toCurl({ url, apiKey, body }: SnippetInput): string {
  return [
    `curl -X POST ${url}/api/v1/message/send \\`,
    `  -H ${quoteForShell(`X-API-Key: ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoteForShell(JSON.stringify(body, null, 2))}`,
  ].join('\n')
}

function toTypeScript({ url, apiKey, body }: SnippetInput): string {
  return [
    `import { createClient } from 'waybill/client'`,
    ``,
    `const waybill = createClient({`,
    `  url: ${quote(url)},`,
    `  apiKey: ${quote(apiKey)},`,
    `})`,
    ``,
    `const sent = await waybill.message.send.mutate({`,
    ...Object.entries(body).map(([name, value]) => `  ${name}: ${toLiteral(value)},`),
    `})`,
    `console.log(sent.messageId, sent.status)`,
  ].join('\n')
}

/** A JSON value as it is written in TypeScript. */
function toLiteral(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(([name, inner]) => `${toKey(name)}: ${toLiteral(inner)}`)
  return `{ ${entries.join(', ')} }`
}

function toKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quote(name)
}

/** In single quotes, a shell takes every character literally except the quote itself (POSIX, 2.2.2). */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `'${inner.replaceAll("'", "\\'")}'`
}
