import { expect, test } from 'vitest'
import { findNextStep, type Step } from '../../../../src/dashboard/pages/getting-started/steps.ts'

test.each([
  { done: [], next: 'connect' },
  { done: ['key'], next: 'connect' },
  { done: ['connect'], next: 'key' },
  { done: ['connect', 'key'], next: 'send' },
  { done: ['connect', 'key', 'webhook'], next: 'send' },
  { done: ['connect', 'key', 'send'], next: 'webhook' },
  { done: ['connect', 'key', 'send', 'webhook'], next: undefined },
] satisfies { done: Step[]; next: Step | undefined }[])('continues with $next after $done', ({ done, next }) => {
  const isDone = (step: Step) => (done as Step[]).includes(step)
  const progress = { connect: isDone('connect'), key: isDone('key'), send: isDone('send'), webhook: isDone('webhook') }
  expect(findNextStep(progress)).toBe(next)
})
