import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEmbeddedInstallation, type Installation } from '../cli/installation.ts'
import { freePort, type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { reportMissing } from '../support/process.ts'
import { eventually } from '../support/eventually.ts'

const pgbouncer = findPgBouncer()
const message = 'DATABASE_URL points to a connection pooler'

describe.skipIf(pgbouncer === undefined)('behind PgBouncer', () => {
  let postgres: RunningPostgres
  let waybill: Installation
  beforeAll(async () => {
    postgres = await startPostgres()
    const environment = { DATABASE_URL: postgres.url, WAYBILL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    waybill = await createEmbeddedInstallation(environment, { fresh: true })
    await waybill.run(['migrate'])
  })
  afterAll(async () => {
    await waybill.remove()
    await postgres.stop()
  })

  test.each([
    {
      mode: 'transaction mode',
      settings: ['pool_mode = transaction', 'ignore_startup_parameters = statement_timeout, lock_timeout'],
    },
    {
      mode: 'transaction mode with round robin',
      settings: [
        'pool_mode = transaction',
        'server_round_robin = 1',
        'ignore_startup_parameters = statement_timeout, lock_timeout',
      ],
    },
    {
      mode: 'session mode without our timeouts',
      settings: ['pool_mode = session', 'ignore_startup_parameters = statement_timeout, lock_timeout'],
    },
    { mode: 'session mode that rejects our timeouts', settings: ['pool_mode = session'] },
  ])('refuses to run in $mode and reports the reason', async ({ settings }) => {
    await using pooler = await startPgBouncer(postgres.url, settings)
    const env = { DATABASE_URL: pooler.url }

    for (const args of [['serve'], ['migrate'], ['account', 'list']]) {
      const { exitCode, stderr } = await waybill.run(args, { env })
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 1, stderr: expect.stringContaining(message) })
    }
    const doctor = await waybill.run(['doctor', '--json'], { env })
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      ok: false,
      findings: [{ check: 'database', ok: false, fix: expect.stringContaining(message) }],
    })
  })
})

function findPgBouncer(): string | undefined {
  try {
    return execFileSync('sh', ['-c', 'command -v pgbouncer || ls /usr/sbin/pgbouncer'], { encoding: 'utf8' }).trim()
  } catch {
    reportMissing('this test', 'PgBouncer (Debian: apt-get install pgbouncer)')
    return undefined
  }
}

interface PgBouncer extends AsyncDisposable {
  url: string
}

async function startPgBouncer(databaseUrl: string, settings: readonly string[]): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-pgbouncer-'))
  // It refuses to run as root.
  await chmod(folder, 0o755)
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const port = await freePort()
  const file = path.join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'default_pool_size = 5',
    ...settings,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(pgbouncer ?? '', [...asUser, file], { stdio: 'ignore' })
  await eventually(() => connectOnce(port))
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function connectOnce(port: number): Promise<void> {
  const socket = createConnection(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
}
