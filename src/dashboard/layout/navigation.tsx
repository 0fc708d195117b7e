import { AppShell, NavLink, ScrollArea, Text } from '@mantine/core'
import {
  IconBrandWhatsapp,
  IconChartBar,
  IconHistory,
  IconKey,
  IconMessages,
  IconTemplate,
  IconWebhook,
} from '@tabler/icons-react'
import { NavLink as RouterLink, useLocation } from 'react-router'
import { useOwner } from '../session/session.ts'

const entries = [
  { path: 'overview', label: 'Overview', icon: IconChartBar },
  { path: 'public-api', label: 'Public API', icon: IconKey },
  { path: 'whatsapp-accounts', label: 'WhatsApp accounts', icon: IconBrandWhatsapp },
  { path: 'templates', label: 'Templates', icon: IconTemplate },
  { path: 'messages', label: 'Messages', icon: IconMessages },
  { path: 'webhooks', label: 'Webhooks', icon: IconWebhook },
  { path: 'audit-log', label: 'Audit log', icon: IconHistory },
]

interface NavigationProps {
  accountId: string | undefined
  /** On a phone, where it is behind a button. */
  opened: boolean
}

export function Navigation({ accountId, opened }: NavigationProps) {
  const { accounts } = useOwner()
  const section = useLocation().pathname.split('/')[2]
  const account = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  return (
    <AppShell.Navbar p="sm" aria-label="Settings" className="navigation" data-opened={opened || undefined}>
      <AppShell.Section grow component={ScrollArea}>
        <Text size="xs" fw={600} c="dimmed" px="sm" py="xs">
          Settings
        </Text>
        {account &&
          entries.map(({ path, label, icon: Icon }) => (
            <NavLink
              key={path}
              component={RouterLink}
              to={`/${account.accountId}/${path}`}
              label={label}
              active={section === path}
              leftSection={<Icon size={18} stroke={1.6} />}
              mb={2}
              c={section === path ? undefined : 'var(--mantine-color-text)'}
              fw={section === path ? 600 : 400}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          ))}
      </AppShell.Section>
    </AppShell.Navbar>
  )
}
