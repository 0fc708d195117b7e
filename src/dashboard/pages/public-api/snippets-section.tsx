import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Group, Select, SimpleGrid, Stack, Tabs, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sendMessage, type SendMessageRequest } from '../../../../contracts/api/message.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock, CopyField } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { SandboxRecipientSelect } from '../templates/sandbox-recipient-select.tsx'
import { fillSnippet, readSnippets, type Snippet } from './fill-snippet.ts'
import { TextLink } from '../../ui/button.tsx'

interface SnippetsSectionProps {
  /** Only available right after the key was generated. */
  apiKey: string | undefined
}

/** The guide's examples in each language, with a template of the account. */
export function SnippetsSection({ apiKey = 'YOUR_API_KEY' }: SnippetsSectionProps) {
  const { accountId } = useAccount()
  const templates = useSendableTemplates()
  const [chosen, setChosen] = useState<string>()
  const [to, setTo] = useState<string>()
  const examples = templates.data ?? []
  const example = examples.find((example) => nameOf(example) === chosen) ?? examples[0] ?? sendMessage.example.input
  const request = { ...example, to: to === undefined || to === '' ? example.to : to }
  return (
    <Section
      id="example-request"
      title={t`Example request`}
      description={
        <Trans>
          The key belongs in the environment of your server, not in the code. For details, see{' '}
          <Anchor href="/docs" inherit>
            the documentation
          </Anchor>
          .
        </Trans>
      }
    >
      <Stack>
        {templates.isSuccess && examples.length === 0 && (
          <Text size="sm">
            <Trans>
              This account has no sendable template yet, so the request below uses a placeholder.{' '}
              <TextLink to={`/${accountId}/templates`} inherit>
                View templates
              </TextLink>
            </Trans>
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          {examples.length > 0 && (
            <Select
              label={t`Template`}
              description={t`Its own example values are filled in.`}
              searchable
              allowDeselect={false}
              data={examples.map((example) => ({ value: nameOf(example), label: nameOf(example) }))}
              value={nameOf(example)}
              nothingFoundMessage={t`No such template`}
              onChange={(value) => setChosen(value ?? undefined)}
            />
          )}
          <TextInput
            label={t`Recipient`}
            description={t`Country code and number, digits only.`}
            inputMode="numeric"
            placeholder={example.to}
            value={to ?? ''}
            error={to !== undefined && /\D/.test(to) ? t`Use digits only.` : undefined}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
        </SimpleGrid>
        <SandboxRecipientSelect disabled={false} onChoose={setTo} />
        <CopyField label={t`Environment variable`} value={`export WAYBILL_API_KEY=${apiKey}`} />
        <Languages request={request} />
      </Stack>
    </Section>
  )
}

function Languages({ request }: { request: SendMessageRequest }) {
  const snippets = useSnippets()
  if (snippets.isPending) return <LoadingSkeleton lines={6} />
  if (snippets.isError) return <ErrorAlert error={snippets.error} onRetry={() => snippets.refetch()} />
  const [first] = snippets.data
  return (
    <Tabs defaultValue={first?.label ?? ''} keepMounted={false}>
      <Tabs.List mb="md">
        {snippets.data.map(({ label }) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.data.map((snippet) => (
        <Tabs.Panel key={snippet.label} value={snippet.label}>
          <CodeBlock
            label={snippet.language === 'sh' ? t`curl command` : t`${snippet.label} code`}
            code={fillSnippet(snippet, { url: window.location.origin, request })}
          />
        </Tabs.Panel>
      ))}
      <Group mt="xs">
        <Text size="xs" c="dimmed">
          <Trans>
            Add an{' '}
            <Anchor href="/docs/idempotency" inherit>
              Idempotency-Key
            </Anchor>{' '}
            to every send of your application, so that a repeated request sends nothing twice.
          </Trans>
        </Text>
      </Group>
    </Tabs>
  )
}

/** Reads the snippets from the guide that this server serves, where they are maintained and tested. */
function useSnippets() {
  return useQuery({
    queryKey: ['guide-snippets'],
    queryFn: async ({ signal }): Promise<Snippet[]> => {
      const response = await fetch('/docs/index.md', { signal })
      const snippets = response.ok ? readSnippets(await response.text()) : []
      if (snippets.length === 0) throw new Error('no examples in the guide')
      return snippets
    },
    staleTime: Infinity,
  })
}

function nameOf({ template, language }: SendMessageRequest): string {
  return `${template} (${language})`
}

/** Example requests of the sendable templates. */
function useSendableTemplates() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: ['templates', accountId, 'sendable'],
    queryFn: async ({ signal }) => {
      const { items } = await api.template.list.query({ accountId, status: 'APPROVED', limit: 100 }, { signal })
      return items.flatMap(({ sendable, example }) => (sendable && example ? [example] : []))
    },
    staleTime: 60_000,
  })
}
