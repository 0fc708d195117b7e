import {
  Avatar,
  Group,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
  type MantineColorScheme,
} from '@mantine/core'
import { IconCheck, IconDeviceDesktop, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import { notifyFailure } from '../api/notify.ts'
import { signOut } from '../api/sign-in.ts'
import { useOwner } from '../session/session.ts'

const schemes = [
  { scheme: 'auto', label: 'As the system', icon: IconDeviceDesktop },
  { scheme: 'light', label: 'Light', icon: IconSun },
  { scheme: 'dark', label: 'Dark', icon: IconMoon },
] as const satisfies { scheme: MantineColorScheme; label: string; icon: typeof IconSun }[]

export function UserMenu() {
  const { name, email } = useOwner()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = useSignOut()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton px={6} py={4} style={{ borderRadius: 'var(--mantine-radius-md)' }}>
          <Group gap="xs" wrap="nowrap">
            <Avatar color="waybill" radius="xl" size={32} aria-hidden>
              <IconUser size={18} />
            </Avatar>
            <Text size="sm" visibleFrom="sm" maw={160} truncate>
              {name}
            </Text>
            <VisuallyHidden>Profile, appearance and sign out</VisuallyHidden>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {email}
          </Text>
        </Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>
          Profile
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            closeMenuOnClick={false}
            leftSection={<Icon size={16} />}
            rightSection={colorScheme === scheme ? <IconCheck size={14} aria-label="chosen" /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** What was read of the accounts goes with the session. */
function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    try {
      await signOut()
    } catch (error) {
      notifyFailure(error)
      return
    }
    await navigate('/sign-in')
    queryClient.clear()
  }
}
