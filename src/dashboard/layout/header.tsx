import { AppShell, Burger, Group } from '@mantine/core'
import { AccountSwitcher } from './account-switcher.tsx'
import { Logo } from './logo.tsx'
import { UserMenu } from './user-menu.tsx'

interface HeaderProps {
  accountId: string | undefined
  /** The navigation of a phone. */
  menu: { opened: boolean; toggle: () => void }
}

export function Header({ accountId, menu }: HeaderProps) {
  return (
    <AppShell.Header px="md">
      <Group h="100%" justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <Burger
            hiddenFrom="sm"
            size="sm"
            opened={menu.opened}
            onClick={menu.toggle}
            aria-label={menu.opened ? 'Close the menu' : 'Open the menu'}
            aria-expanded={menu.opened}
          />
          <Logo />
          <AccountSwitcher accountId={accountId} />
        </Group>
        <UserMenu />
      </Group>
    </AppShell.Header>
  )
}
