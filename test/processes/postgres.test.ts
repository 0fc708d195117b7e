import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminUrl } from '../support/database.ts'
import { run, withDatabase } from '../support/postgres.ts'
import { createEmbeddedInstallation, type Installation } from '../cli/installation.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

describe('with DATABASE_URL', () => {
  const name = `waybill_cli_${randomBytes(6).toString('hex')}`
  let waybill: Installation
  beforeAll(async () => {
    await run(adminUrl(), `create database ${name}`)
    waybill = await createEmbeddedInstallation({
      DATABASE_URL: withDatabase(adminUrl(), name),
      WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
    })
  })
  afterAll(async () => {
    await waybill.remove()
    await run(adminUrl(), `drop database ${name} with (force)`)
  })

  test('migrates although the reader of its progress has gone', async () => {
    const url = withDatabase(adminUrl(), `${name}_unread`)
    await run(adminUrl(), `create database ${name}_unread`)
    const migrating = spawn(process.execPath, [entry, 'migrate'], {
      env: { ...waybill.environment, DATABASE_URL: url },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    migrating.stderr.destroy()
    await once(migrating, 'close')
    await run(adminUrl(), `drop database ${name}_unread with (force)`)

    expect(migrating.exitCode).toBe(0)
  })

  test('tells the user to migrate an outdated schema', async () => {
    const { exitCode, stderr } = await waybill.run(['account', 'list'])
    expect(exitCode).toBe(1)
    expect(stderr).toBe('The database schema is out of date. Run: waybill migrate\n')
    expect((await waybill.run(['doctor'])).stdout).toContain('→ waybill migrate')
  })

  test('migrates once when servers and migrations start together', async () => {
    const [first, second, migrated] = await Promise.all([waybill.serve(), waybill.serve(), waybill.run(['migrate'])])

    expect(migrated.exitCode).toBe(0)
    // Any of the three may be the one that migrates.
    for (const line of migrated.stderr.split('\n').filter(Boolean))
      expect(line).toMatch(/^(Another process is migrating the database\. Waiting for it\.|Appl(ying|ied) \d{4}-\S+)/)
    expect(await waybill.json(['migrate'])).toEqual({ applied: [] })
    expect(await waybill.json(['account', 'list'])).toEqual({ items: [] })
    for (const server of [first, second]) expect(await server.stop()).toMatchObject({ exitCode: 0 })
  })

  test('reports at its start that the secret key does not belong to the database', async () => {
    const { accountId } = (await waybill.json(['account', 'create', '--name', 'Shop'])) as { accountId: string }
    await waybill.json(['key', 'generate', accountId])
    const right = await waybill.serve()
    const wrong = await waybill.serve({ env: { WAYBILL_SECRET_KEY: randomBytes(32).toString('base64') } })

    const [{ stderr: ofRight }, { stderr: ofWrong }] = [await right.stop(), await wrong.stop()]

    expect(ofRight).not.toContain('WAYBILL_SECRET_KEY')
    expect(ofWrong).toContain('WAYBILL_SECRET_KEY is not the key of this database')
  })

  test('reports an unreachable database promptly on one line', async () => {
    const env = { DATABASE_URL: 'postgres://waybill:hushhush@127.0.0.1:9/none' }

    expect(await waybill.run(['account', 'list'], { env })).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'The database cannot be used: nothing is listening on 127.0.0.1:9. Check the host and port in DATABASE_URL, and that PostgreSQL is running and listens on this address.\n',
    })
    const doctor = await waybill.run(['doctor', '--json'], { env })
    expect(doctor.exitCode).toBe(1)
    expect(JSON.parse(doctor.stdout)).toMatchObject({ ok: false, findings: [{ check: 'database', ok: false }] })
  })
})
