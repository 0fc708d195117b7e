import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
import { expect, test, vi } from 'vitest'
import { serve } from '../../../src/cli/commands/serve.ts'
import { parseLine } from '../../../src/cli/syntax.ts'

test('accepts --processes auto on a machine with more cores than processes', async () => {
  using cores = vi.spyOn(os, 'availableParallelism').mockReturnValue(96)
  syncBuiltinESMExports()

  // The number is checked first.
  await expect(serve.run({}, parseLine(serve, ['--processes', 'auto']))).rejects.toThrow('embedded database')

  cores.mockRestore()
  syncBuiltinESMExports()
})
