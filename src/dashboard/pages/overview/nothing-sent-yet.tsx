import { Anchor, Button, Group } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'

/** Where a new account begins. */
export function NothingSentYet() {
  const { accountId } = useAccount()
  return (
    <Section title="No message yet">
      <EmptyState
        icon={IconSend}
        title="Send your first message"
        action={
          <Group gap="sm" justify="center">
            <Button component={Link} to={`/${accountId}/public-api`}>
              Open Public API
            </Button>
            <Button component="a" href="/docs" target="_blank" variant="default">
              Read the documentation
            </Button>
          </Group>
        }
      >
        Your application sends messages through the public API: get a key and an example there. You can try a message
        from the page{' '}
        <Anchor component={Link} to={`/${accountId}/templates`} inherit underline="always">
          Templates
        </Anchor>{' '}
        too. How many were sent, delivered and read, and why some failed, is shown here from then on.
      </EmptyState>
    </Section>
  )
}
