import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock, CopyField } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'

/** Generators whose clients the test suite runs, with the same commands. */
const generators = [
  {
    name: 'TypeScript: openapi-typescript',
    command: (url: string) => `npx openapi-typescript ${url}/openapi.json --output waybill.ts`,
  },
  {
    name: 'Python: openapi-python-client',
    command: (url: string) => `openapi-python-client generate --url ${url}/openapi.json`,
  },
  {
    name: 'Go: oapi-codegen',
    command: (url: string) =>
      `curl -s ${url}/openapi.json -o openapi.json\ngo run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -package waybill openapi.json > waybill.go`,
  },
  ...(['java', 'php', 'ruby', 'rust'] as const).map((language) => ({
    name: `${{ java: 'Java', php: 'PHP', ruby: 'Ruby', rust: 'Rust' }[language]}: openapi-generator`,
    command: (url: string) =>
      `openapi-generator-cli generate --input-spec ${url}/openapi.json --generator-name ${language} --output waybill`,
  })),
]

/** Commands that generate types and clients from this server. */
export function ClientsSection() {
  const [chosen, setChosen] = useState(generators[0]?.name ?? '')
  const url = window.location.origin
  const generator = generators.find(({ name }) => name === chosen)
  return (
    <Section
      id="clients"
      title={t`Clients and types`}
      description={
        <Trans>
          Checks your code against this account’s templates and this server’s API. See{' '}
          <Anchor href="/docs/typescript" inherit>
            TypeScript client
          </Anchor>
          .
        </Trans>
      }
    >
      <Stack>
        <CopyField
          label={t`Types of your templates`}
          description={t`With the TypeScript client, a misspelled template or a missing variable then does not compile.`}
          value={`npx --package=${url}/client/waybill-client.tgz waybill-client types --url ${url}`}
        />
        <Select
          label={t`Generated client`}
          maw={360}
          allowDeselect={false}
          data={generators.map(({ name }) => name)}
          value={chosen}
          onChange={(value) => setChosen(value ?? chosen)}
        />
        {generator && <CodeBlock label={t`Command for a generated client`} code={generator.command(url)} />}
      </Stack>
    </Section>
  )
}
