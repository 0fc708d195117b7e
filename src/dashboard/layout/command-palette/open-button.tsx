import { t } from '@lingui/core/macro'
import { Group, Kbd, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { Suspense } from 'react'
import { lazyPart } from '../../ui/lazy-part.tsx'
import styles from './open-button.module.css'

/** Loaded on first use. */
const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette)

/** Opens the command palette, like the shortcuts ⌘K and Ctrl+K. */
export function OpenButton({ accountId }: { accountId: string }) {
  const [opened, { open, close, toggle }] = useDisclosure()
  // Includes fields, in which shortcuts are ignored by default.
  useHotkeys([['mod+K', toggle]], [])
  return (
    <>
      <UnstyledButton
        onClick={open}
        className={styles['button']}
        aria-haspopup="dialog"
        aria-keyshortcuts="Meta+K Control+K"
      >
        <Group gap={8} wrap="nowrap">
          <IconSearch size={16} aria-hidden />
          <Text span size="sm" visibleFrom="sm">{t`Search`}</Text>
          <VisuallyHidden hiddenFrom="sm">{t`Search`}</VisuallyHidden>
          <Kbd size="xs" visibleFrom="md" aria-hidden>
            {isApple() ? '⌘K' : 'Ctrl K'}
          </Kbd>
        </Group>
      </UnstyledButton>
      {opened && (
        <Suspense>
          <CommandPalette accountId={accountId} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}
