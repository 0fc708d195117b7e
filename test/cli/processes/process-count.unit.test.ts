import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readProcesses } from '../../../src/cli/commands/serve.ts'

test('starts as many processes as it may on a machine with more cores', () => {
  const cores = vi.spyOn(os, 'availableParallelism').mockReturnValue(96)
  syncBuiltinESMExports()
  onTestFinished(() => {
    cores.mockRestore()
    syncBuiltinESMExports()
  })

  expect(readProcesses('auto', { kind: 'postgres', url: 'postgres://h/d' })).toBe(64)
})
