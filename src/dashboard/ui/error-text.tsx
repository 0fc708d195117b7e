import { Text } from '@mantine/core'

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
