import { Box, Code, Group, Stack, Text } from '@mantine/core'
import type { Attempt } from '../../../../contracts/dashboard/webhook.ts'
import { describeDuration } from '../../ui/describe-duration.ts'
import { describeExactly } from '../../ui/describe-time.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'

/** Each try of a delivery, and what the endpoint answered. */
export function AttemptList({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Not tried yet.
      </Text>
    )
  return (
    <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
      {attempts.map((attempt) => (
        <Box component="li" key={attempt.number}>
          <Group gap="xs" fz="sm">
            <Text span inherit fw={500}>
              Attempt {attempt.number}
            </Text>
            <StatusBadge tone={attempt.error === undefined ? 'good' : 'bad'}>
              {attempt.statusCode === undefined ? 'No answer' : `HTTP ${attempt.statusCode}`}
            </StatusBadge>
            <Text span inherit c="dimmed">
              <time dateTime={attempt.startedAt}>{describeExactly(attempt.startedAt)}</time> ·{' '}
              {describeDuration(attempt.durationMilliseconds)}
            </Text>
          </Group>
          <AnswerOf answer={attempt} />
        </Box>
      ))}
    </Stack>
  )
}

interface Answer {
  statusCode?: number | undefined
  error?: string | undefined
  responseStart?: string | undefined
}

/** Why it failed, where the status code does not say it, and the first bytes of the answer. */
export function AnswerOf({ answer: { statusCode, error, responseStart } }: { answer: Answer }) {
  return (
    <>
      {error !== undefined && error !== `HTTP ${statusCode}` && (
        <Text size="sm" mt={4}>
          {toSentence(error)}
        </Text>
      )}
      {responseStart !== undefined && responseStart !== '' && (
        <Code
          block
          mt={6}
          mah={160}
          bg="var(--mantine-color-body)"
          bd="1px solid var(--mantine-color-default-border)"
          tabIndex={0}
          role="region"
          aria-label="Start of the answer"
          style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {responseStart}
        </Code>
      )}
    </>
  )
}

/** What the server notes down begins in lower case: `disabled by its owner`. */
export function toSentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(start) ? start : `${start}.`
}
