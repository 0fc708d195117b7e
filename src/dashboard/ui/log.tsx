import { msg } from '@lingui/core/macro'
import { Button, Text } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { translate } from '../language/i18n.ts'
import { EmptyState } from './placeholders.tsx'

const texts = {
  messages: {
    none: msg`No matching messages`,
    noneInNewest: msg`No matches in the newest messages`,
    showAll: msg`Show all messages`,
    onlyNewest: msg`Only the newest messages were searched. Load more to search older ones.`,
  },
  requests: {
    none: msg`No matching requests`,
    noneInNewest: msg`No matches in the newest requests`,
    showAll: msg`Show all requests`,
    onlyNewest: msg`Only the newest requests were searched. Load more to search older ones.`,
  },
}
type Log = keyof typeof texts

interface NoMatchesProps {
  of: Log
  /** `newest` if older items have not been searched yet. */
  among: 'all' | 'newest'
  onClear: () => void
  children: ReactNode
}

export function NoMatches({ of, among, onClear, children }: NoMatchesProps) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title={translate(among === 'all' ? texts[of].none : texts[of].noneInNewest)}
      action={
        <Button variant="default" onClick={onClear}>
          {translate(texts[of].showAll)}
        </Button>
      }
    >
      {children}
    </EmptyState>
  )
}

/** Shown below an incomplete page if older items may also match. */
export function OnlyNewestSearched({ of }: { of: Log }) {
  return (
    <Text size="sm" c="dimmed" ta="center" mt="md">
      {translate(texts[of].onlyNewest)}
    </Text>
  )
}

interface ErrorTextProps {
  code: string | undefined
  /** In the language of the reader, if it is one of our sentences. */
  text: string | undefined
}

/** An error in a log row: its code, then its meaning. */
export function ErrorText({ code, text }: ErrorTextProps) {
  return (
    <>
      <Text span inherit ff="monospace" fz="xs">
        {code}
      </Text>{' '}
      <Text span inherit c="dimmed">
        {text}
      </Text>
    </>
  )
}
