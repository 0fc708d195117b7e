import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export function canCountSystemCalls(): boolean {
  return spawnSync('strace', ['-V']).status === 0
}

/** Counts the system calls of all threads of a process while `work` runs. They are slow meanwhile. */
export async function countSystemCalls(pid: number, work: () => Promise<void>): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-strace-'))
  try {
    const report = path.join(folder, 'report')
    const strace = spawn('strace', ['-c', '-f', '-o', report, '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(strace, 'exit')
    // Its first output says that it is attached, or why it is not.
    const [output] = (await once(strace.stderr, 'data')) as [Buffer]
    if (!output.includes('attached')) throw new Error(`strace cannot attach: ${output.toString()}`)
    await work()
    strace.kill('SIGINT')
    await ended
    return readTotal(await readFile(report, 'utf8'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the last line, such as `100.00    0.123456           3     41234       310 total`. */
function readTotal(report: string): number {
  const total = report.split('\n').find((line) => line.endsWith(' total'))
  const calls = total?.trim().split(/\s+/)[3]
  if (calls === undefined) throw new Error(`strace reported no total:\n${report}`)
  return Number(calls)
}
