import { Tooltip, UnstyledButton } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'

/** A word with its meaning, which shows on hover, focus and touch. */
export function Explained({ meaning, children }: { meaning: string; children: string }) {
  return (
    <Tooltip label={meaning} multiline w={240} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        c="inherit"
        style={{ display: 'inline-flex', alignItems: 'center', gap: '0.25rem', cursor: 'help' }}
      >
        {children}
        <IconInfoCircle size={14} aria-hidden />
      </UnstyledButton>
    </Tooltip>
  )
}
