import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/** The kernel counts in hundredths of a second (`getconf CLK_TCK`). */
const tickMicroseconds = 10_000

interface ProcessTimes {
  pid: number
  parent: number
  /** User and system time of the process. */
  own: number
  /** User and system time of its children that have ended. */
  ended: number
}

/** Microseconds of user and system time that a process has used, according to `/proc`. */
export async function readCpuTime(pid: number): Promise<number> {
  return (await readTimes(pid)).own
}

/** The same for a whole PostgreSQL server on this machine, including its ended processes. */
export async function readPostgresCpuTime(postmaster: number): Promise<number> {
  const { own, ended } = await readTimes(postmaster)
  const children = (await listProcesses()).filter(({ parent }) => parent === postmaster)
  const times = await Promise.all(children.map(readScheduledTime))
  return own + ended + times.reduce((sum, time) => sum + time, 0)
}

/** The parent process of a PostgreSQL that runs on this machine. */
export async function findPostmaster(url: string): Promise<number> {
  // Its backend ends with the connection.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return (await readTimes(rows[0]?.pid ?? NaN)).parent
  } finally {
    await client.end()
  }
}

/**
 * CPU time of a process with one thread in the scheduler's own precision, because a hundredth of a second of each
 * connection is much. Kernels without these statistics show the coarser time.
 */
async function readScheduledTime({ pid, own }: ProcessTimes): Promise<number> {
  const statistics = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '')
  const nanoseconds = Number(statistics.split(' ')[0])
  return nanoseconds > 0 ? nanoseconds / 1000 : own
}

async function listProcesses(): Promise<ProcessTimes[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  // A process can end while it is read.
  const read = await Promise.all(pids.map((pid) => readTimes(Number(pid)).catch(() => undefined)))
  return read.filter((times) => times !== undefined)
}

/** Fields of proc(5), counted after the name of the program, which may contain spaces. */
async function readTimes(pid: number): Promise<ProcessTimes> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return {
    pid,
    parent: field(4),
    own: (field(14) + field(15)) * tickMicroseconds,
    ended: (field(16) + field(17)) * tickMicroseconds,
  }
}
