import { Text } from '@mantine/core'
import { translateServerText } from '../language/server-text.ts'

interface ErrorTextProps {
  code: string | undefined
  /** In the words of the server. */
  text: string | undefined
}

/** An error in the row of a log: its code, then what it means. */
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
