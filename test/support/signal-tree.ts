import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Sends a signal to a process and its children, and returns them. It stops the process before listing its children, so
 * that it cannot start new ones. Resolves after a SIGKILL when all of them are gone.
 */
export async function signalTree(pid: number, signal: NodeJS.Signals): Promise<number[]> {
  send(pid, 'SIGSTOP')
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const children = text.trim().split(' ').map(Number)
  const pids = [pid, ...children].filter((each) => each > 0)
  for (const each of pids) send(each, signal)
  if (signal === 'SIGKILL') for (const each of pids) while (isRunning(each)) await delay(10)
  return pids
}

/** A process that has exited needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal)
}

/** A negative number stands for a process group. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
