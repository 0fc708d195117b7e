import { Anchor, Code, Stack, Text } from '@mantine/core'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyField } from '../../ui/copy-field.tsx'

/** The secret, and what to do with it. */
export function SigningSecret({ secret }: { secret: string }) {
  return (
    <Stack gap="sm">
      <CopyField
        label="Signing secret"
        value={secret}
        description="Your application verifies with it that an event comes from here. Treat it like a password."
      />
      <HowToVerify />
    </Stack>
  )
}

function HowToVerify() {
  return (
    <>
      <CodeBlock label="How to verify an event" code={example} />
      <Text size="sm" c="dimmed">
        In any other language, give the raw body, the <Code>webhook-</Code> headers and the secret to a{' '}
        <Anchor href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer" inherit underline="always">
          Standard Webhooks
        </Anchor>{' '}
        library.{' '}
        <Anchor href="/docs#description/webhooks" target="_blank" inherit underline="always">
          How events are signed
        </Anchor>
      </Text>
    </>
  )
}

/** The receiver of our own package, in the fewest lines. */
const example = `import { createFetchWebhookHandler } from 'waybill/webhook'

export const POST = createFetchWebhookHandler({
  secret: process.env.WEBHOOK_SECRET ?? '',
  on: {
    'message.failed': ({ data }) => console.error(data.externalId, data.error.message),
  },
})`
