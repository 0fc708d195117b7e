import { Anchor, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Section } from '../../ui/section.tsx'
import { toCurl, toTypeScript, type SnippetFacts } from './snippets.ts'

interface SnippetsSectionProps {
  /** Known only just after it was generated. */
  apiKey: string | undefined
}

export function SnippetsSection({ apiKey = 'YOUR_API_KEY' }: SnippetsSectionProps) {
  const { accountId } = useAccount()
  const template = useSendableTemplate()
  const facts: SnippetFacts = {
    url: window.location.origin,
    apiKey,
    template: template.data?.name ?? 'order_shipped',
    language: template.data?.language ?? 'en',
    variables: template.data ? exampleVariables(template.data.placeholders) : { '1': 'Ada', '2': 'WB-1042' },
  }
  return (
    <Section
      title="Send a first message"
      description={
        <>
          Replace the number with one of your own, digits only, and run it.{' '}
          <Anchor href="/docs" inherit>
            The documentation
          </Anchor>{' '}
          has everything else.
        </>
      }
    >
      {template.isSuccess && !template.data && (
        <Text size="sm" mb="md">
          No template of this account can be sent yet, so the one below is an example.{' '}
          <Anchor component={Link} to={`/${accountId}/templates`} inherit>
            See your templates
          </Anchor>
        </Text>
      )}
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl">
          <CodeBlock label="curl command" code={toCurl(facts)} />
        </Tabs.Panel>
        <Tabs.Panel value="typescript">
          <CodeBlock label="TypeScript code" code={toTypeScript(facts)} />
        </Tabs.Panel>
      </Tabs>
    </Section>
  )
}

/** The first template that a send would take now; null when there is none. */
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
