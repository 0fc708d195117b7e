import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Group, Kbd, Modal, Stack, Switch, Table, Text, Tooltip } from '@mantine/core'
import { IconKeyboard } from '@tabler/icons-react'
import { translate } from '../../language/i18n.ts'
import { shortcuts, useShortcutsSetting } from './log-keys.ts'

interface ShortcutsButtonProps {
  opened: boolean
  onOpen: () => void
  onClose: () => void
}

/** Opens the list of shortcuts, where they can also be turned off. */
export function ShortcutsButton({ opened, onOpen, onClose }: ShortcutsButtonProps) {
  const { isOn, set } = useShortcutsSetting()
  return (
    <>
      <Tooltip label={t`Keyboard shortcuts (?)`}>
        <ActionIcon visibleFrom="sm" variant="default" size={36} aria-label={t`Keyboard shortcuts`} onClick={onOpen}>
          <IconKeyboard size={18} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={onClose} title={t`Keyboard shortcuts`} centered size="sm">
        <Stack>
          <Table verticalSpacing={6} horizontalSpacing={0} withRowBorders={false} aria-label={t`Keyboard shortcuts`}>
            <Table.Tbody>
              {shortcuts.map(({ keys, does }) => (
                <Table.Tr key={keys[0]}>
                  <Table.Td>{translate(does)}</Table.Td>
                  <Table.Td>
                    <Group gap={6} justify="flex-end">
                      {keys.map((key) => (
                        <Kbd key={key}>{key}</Kbd>
                      ))}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Text size="xs" c="dimmed">
            <Trans>Arrow keys work while the focus is in the list. No shortcut works while you type in a field.</Trans>
          </Text>
          <Switch
            label={t`Use shortcuts of a single character`}
            checked={isOn}
            onChange={({ currentTarget: { checked } }) => set(checked)}
          />
        </Stack>
      </Modal>
    </>
  )
}
