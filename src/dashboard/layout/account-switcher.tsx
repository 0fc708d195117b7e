import { Button, Menu, Text } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useLocation, useNavigate } from 'react-router'
import { useOwner } from '../session/session.ts'

/** The name of the account; a menu when there are several. */
export function AccountSwitcher({ accountId }: { accountId: string | undefined }) {
  const { accounts } = useOwner()
  const navigate = useNavigate()
  const section = useLocation().pathname.split('/')[2] ?? ''
  const current = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  if (!current) return null
  if (accounts.length === 1)
    return (
      <Text c="dimmed" size="sm" truncate pl="xs" visibleFrom="xs">
        {current.name}
      </Text>
    )
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          rightSection={<IconSelector size={14} />}
          aria-label={`Account: ${current.name}. Switch account`}
          styles={{ root: { minWidth: 0 } }}
        >
          {current.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={400} style={{ overflowY: 'auto' }}>
        {accounts.map(({ accountId, name, role }) => (
          <Menu.Item
            key={accountId}
            onClick={() => void navigate(`/${accountId}/${section}`)}
            rightSection={accountId === current.accountId ? <IconCheck size={14} aria-label="chosen" /> : null}
          >
            <Text size="sm" truncate>
              {name}
            </Text>
            <Text size="xs" c="dimmed">
              {role === 'owner' ? 'Owner' : 'Viewer'}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
