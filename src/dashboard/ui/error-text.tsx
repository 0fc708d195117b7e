import { Text } from '@mantine/core'
import { translateServerText } from '../language/server-text.ts'

interface ErrorTextProps {
  code: string | undefined
  /** The server's English text. */
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
        {text !== undefined && translateServerText(text)}
      </Text>
    </>
  )
}
