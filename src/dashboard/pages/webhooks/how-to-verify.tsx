import { Anchor, Code, Stack, Text } from '@mantine/core'
import { CodeBlock } from '../../ui/code-block.tsx'

/** What the application does with the secret. */
export function HowToVerify() {
  return (
    <Stack gap="xs">
      <Text size="sm">In TypeScript or JavaScript, take the events with the Waybill package:</Text>
      <CodeBlock label="How to verify an event" code={example} />
      <Text size="sm" c="dimmed">
        In any other language, give the raw body, the <Code>webhook-</Code> headers and the secret to a{' '}
        <Anchor href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer" inherit underline="always">
          Standard Webhooks
        </Anchor>{' '}
        library.
      </Text>
    </Stack>
  )
}

/** The receiver of our own package, in the fewest lines. */
const example = `import { createFetchWebhookHandler } from 'waybill/webhook'

export const POST = createFetchWebhookHandler({
  secret: process.env.WEBHOOK_SECRET ?? '',
  on: {
    'message.failed': ({ data }) => console.error(data.error.message),
  },
})`
