import { expect, test } from 'vitest'
import { graceSecondsOf } from '../../../src/webhooks/queue/worker.ts'

test.each([
  { timeoutSeconds: 15, waits: 15 },
  { timeoutSeconds: 25, waits: 25 },
  // The supervisor kills a process that takes 35 seconds to stop.
  { timeoutSeconds: 120, waits: 25 },
])('a stopping worker waits $waits s for attempts with a timeout of $timeoutSeconds s', ({ timeoutSeconds, waits }) => {
  expect(graceSecondsOf(timeoutSeconds)).toBe(waits)
})
