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
import { NavLink as RouterLink } from 'react-router'
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

export function Navigation({ accountId }: { accountId: string | undefined }) {
  const { accounts } = useOwner()
  const account = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  return (
    <AppShell.Navbar p="sm" aria-label="Settings">
      <AppShell.Section grow component={ScrollArea}>
        <Text size="xs" fw={600} c="dimmed" px="sm" py="xs" component="h2">
          Settings
        </Text>
        {account &&
          entries.map(({ path, label, icon: Icon }) => (
            <RouterLink key={path} to={`/${account.accountId}/${path}`} style={{ textDecoration: 'none' }}>
              {({ isActive }) => (
                <NavLink
                  component="span"
                  label={label}
                  active={isActive}
                  leftSection={<Icon size={18} stroke={1.6} />}
                  mb={2}
                  fw={isActive ? 600 : 400}
                  style={{ borderRadius: 'var(--mantine-radius-md)' }}
                />
              )}
            </RouterLink>
          ))}
      </AppShell.Section>
    </AppShell.Navbar>
  )
}
