import { Button, Text } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EmptyState } from './placeholders.tsx'

interface NoMatchesProps {
  /** The items of the log, such as `messages`. */
  of: string
  /** `newest` if older items have not been searched yet. */
  among: 'all' | 'newest'
  onClear: () => void
  children: ReactNode
}

export function NoMatches({ of, among, onClear, children }: NoMatchesProps) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title={among === 'all' ? `No matching ${of}` : `No matches in the newest ${of}`}
      action={
        <Button variant="default" onClick={onClear}>
          Show all {of}
        </Button>
      }
    >
      {children}
    </EmptyState>
  )
}

/** Shown below a page with fewer items than fit, if older ones can match as well. */
export function OnlyNewestSearched({ of }: { of: string }) {
  return (
    <Text size="sm" c="dimmed" ta="center" mt="md">
      Only the newest {of} were searched. Load more to search older ones.
    </Text>
  )
}
