import { ActionIcon, Group, Text, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useCopy } from './use-copy.ts'

interface CopyableProps {
  value: string
  /** What it is, within a sentence, such as `WABA ID`. */
  label: string
}

/** An ID within a text, and the button that takes it along. */
export function Copyable({ label, value }: CopyableProps) {
  const { copied, copy } = useCopy(value)
  const action = copied ? 'Copied' : `Copy ${label}`
  return (
    <Group component="span" gap={4} wrap="nowrap" align="center" display="inline-flex" maw="100%">
      <Text component="span" ff="monospace" fz={13} style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Text>
      <Tooltip label={action}>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={action} onClick={() => void copy()}>
          {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}
