import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Text } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'

export const ribbonHeight = 30

/** Above the header of every page in the sandbox. */
export function SandboxRibbon() {
  return (
    <Group
      role="note"
      aria-label={t`Sandbox`}
      h={ribbonHeight}
      px="md"
      gap={6}
      wrap="nowrap"
      justify="center"
      bg="var(--mantine-color-yellow-light)"
      c="var(--mantine-color-yellow-light-color)"
      style={{ whiteSpace: 'nowrap', overflow: 'hidden' }}
    >
      <IconFlask size={15} aria-hidden />
      <Text span size="xs" fw={700}>{t`Sandbox`}</Text>
      <Text span size="xs" truncate>
        <Trans>
          WhatsApp is simulated
          <Text span inherit visibleFrom="sm">
            : messages reach no phone and cost nothing
          </Text>
        </Trans>
      </Text>
    </Group>
  )
}
