import { Anchor, Button, Group } from '@mantine/core'
import { IconMessages, IconSearchOff } from '@tabler/icons-react'
import { Link } from 'react-router'
import { sendMessage } from '../../../../contracts/api/message.ts'
import { useAccount } from '../../session/account.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'

/** How the first one is sent. */
export function NoMessageYet() {
  const { accountId } = useAccount()
  return (
    <Section title="No message yet">
      <EmptyState
        icon={IconMessages}
        title="Send your first message"
        action={
          <Group gap="sm" justify="center">
            <Button component={Link} to={`/${accountId}/public-api`}>
              Get an API key
            </Button>
            <Button component="a" href="/docs" target="_blank" variant="default">
              Read the documentation
            </Button>
          </Group>
        }
      >
        Every message that your application sends through the API is listed here, with what became of it. You can try
        one from the page{' '}
        <Anchor component={Link} to={`/${accountId}/templates`} inherit underline="always">
          Templates
        </Anchor>{' '}
        too.
      </EmptyState>
      <CodeBlock label="How to send a message" code={describeSend()} />
    </Section>
  )
}

/** `newest`: older ones have not been looked through yet. */
export function NothingMatches({ among, onClear }: { among: 'all' | 'newest'; onClear: () => void }) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title={among === 'all' ? 'No message matches' : 'None of the newest messages matches'}
      action={
        <Button variant="default" onClick={onClear}>
          Show all messages
        </Button>
      }
    >
      Filters look for the whole value: the full number, the full name of the template, the full external ID.
    </EmptyState>
  )
}

function describeSend(): string {
  const body = JSON.stringify(sendMessage.example.input, null, 2).replaceAll('\n', '\n  ')
  return `curl ${window.location.origin}${sendMessage.path} \\
  -H "X-API-Key: $WAYBILL_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`
}
