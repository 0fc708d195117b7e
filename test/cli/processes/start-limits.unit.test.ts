import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = `
  const { limitStartMemory, liftStartLimits } = await import(process.argv[1])
  limitStartMemory(['serve'], { DATABASE_URL: 'postgres://localhost' })
  liftStartLimits({ isEmbedded: false })`

test('sets only flags that V8 knows', async () => {
  const limits = new URL('../../../src/cli/processes/start-limits.ts', import.meta.url).href
  const run = (code: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code, '--', limits])

  const { stderr: unknown } = await run(`import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--no-such')`)
  expect(unknown).not.toBe('')
  expect(await run(script)).toEqual({ stdout: '', stderr: '' })
})
