import { AsyncLocalStorage } from 'node:async_hooks'
import { format } from 'node:util'
import { main } from '../../src/cli/main.ts'

interface Printed {
  stdout: string
  stderr: string
}

/** The output of each command, since several can run concurrently. */
const printing = new AsyncLocalStorage<Printed>()

/** Runs a command in this process, to save the second that a new process takes to start. */
export async function runHere(
  args: string[],
  environment: NodeJS.ProcessEnv,
): Promise<Printed & { exitCode: number | null }> {
  const printed: Printed = { stdout: '', stderr: '' }
  const exitCode = await printing.run(printed, () => main(args, environment))
  return { exitCode, ...printed }
}

/** Passes output outside of commands to the console of the test. */
function capture(method: 'log' | 'error', stream: keyof Printed): void {
  const original = console[method]
  console[method] = (...values: unknown[]) => {
    const printed = printing.getStore()
    if (printed) printed[stream] += `${format(...values)}\n`
    else original.apply(console, values)
  }
}

capture('log', 'stdout')
capture('error', 'stderr')
