import { ActionIcon, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useCopy } from './use-copy.ts'

interface CopyFieldProps {
  label: string
  value: string
  description?: string
}

/** A value to be taken elsewhere, such as an address or an ID. */
export function CopyField({ label, value, description }: CopyFieldProps) {
  const { copied, copy } = useCopy(value)
  const action = copied ? 'Copied' : `Copy ${label}`
  return (
    <TextInput
      label={label}
      {...(description !== undefined && { description })}
      value={value}
      readOnly
      onFocus={(event) => event.currentTarget.select()}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      rightSection={
        <Tooltip label={action}>
          <ActionIcon variant="subtle" color="gray" aria-label={action} onClick={() => void copy()}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      }
    />
  )
}
