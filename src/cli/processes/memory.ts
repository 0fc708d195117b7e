import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { definedOnly } from './start-limits.ts'

/** Values of `--memory`. With `large`, a server process uses more memory for higher throughput. */
export const memorySizes = ['normal', 'large'] as const

/**
 * With a young generation of this size, less garbage survives until it is collected, and collecting takes less time. V8
 * keeps up to three times as much, and reads both flags from the command line only.
 */
export const largeMemoryFlags = ['--min-semi-space-size=32', '--max-semi-space-size=32']

export function hasLargeMemory(): boolean {
  return largeMemoryFlags.every((flag) => process.execArgv.includes(flag))
}

/** Restarts the command with a large young generation: in this process where `execve` exists, otherwise in a child. */
export async function restartWithLargeMemory(): Promise<number> {
  const args = [...process.execArgv, ...largeMemoryFlags, ...process.argv.slice(1)]
  if (process.execve) process.execve(process.execPath, [process.execPath, ...args], definedOnly(process.env))
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  await once(child, 'exit')
  return child.exitCode ?? 1
}
