import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { type App, buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createInstallation, type Installation, type RunningServer } from '../cli/installation.ts'
import { forFile } from '../support/lifetime.ts'

const waybill = await forFile(createInstallation())
let server: RunningServer | undefined
const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
await waybill.run(['allow-list', 'set', accountId, '192.0.2.1'])
await waybill.run(['account', 'update', accountId, '--rate-limit', '0'])

interface Verified {
  ok: boolean
  items: { ok: boolean; accountId: string; entries: number; head: { sequence: number; hash: string } | null }[]
}

async function verify(...args: string[]): Promise<{ exitCode: number | null } & Verified> {
  const { exitCode, stdout } = await waybill.run(['audit', 'verify', ...args, '--json'])
  return { exitCode, ...(JSON.parse(stdout) as Verified) }
}

test.each(['without a server', 'through a running server'])('lists, verifies and exports the log %s', async (how) => {
  if (how === 'through a running server') server = await waybill.serve()

  const listed = await waybill.run(['audit', 'list', accountId, '--limit', '1'])
  const verified = await verify()
  const exported = await waybill.run(['audit', 'export', accountId, '--json'], { ownProcess: true })
  const unknown = await waybill.run(['audit', 'export', 'acc_none'])

  expect(listed.stdout).toMatch(
    /operator +set the rate limit to 0 a minute +command line +refused\n\nMore: --cursor 3\n$/,
  )
  expect(verified).toMatchObject({ exitCode: 0, ok: true, items: [{ accountId, ok: true, entries: 4 }] })
  const lines = exported.stdout.trimEnd().split('\n')
  expect(exported).toMatchObject({ exitCode: 0, stderr: '' })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { type: 'entry', sequence: 1, what: 'set the allow-list to 192.0.2.1', outcome: 'started' },
    { type: 'entry', sequence: 2, startSequence: 1, outcome: 'done' },
    { type: 'entry', sequence: 3, outcome: 'started' },
    { type: 'entry', sequence: 4, outcome: 'refused' },
    { type: 'head', sequence: 4, hash: verified.items[0]?.head?.hash },
  ])
  expect(unknown).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('There is no account') })
})

test('verifies that a saved head is still part of the log', async () => {
  const [kept] = (await verify(accountId)).items
  await waybill.run(['allow-list', 'set', accountId])

  expect(await verify(accountId, '--expect', kept?.head?.hash.toUpperCase() ?? '')).toMatchObject({ exitCode: 0 })
  const other = await waybill.run(['audit', 'verify', accountId, '--expect', '0'.repeat(64)])
  expect(other).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('no entry has the expected hash') })
  for (const args of [
    ['--expect', '0'.repeat(64)],
    [accountId, '--expect', 'abc'],
  ])
    expect((await waybill.run(['audit', 'verify', ...args])).exitCode).toBe(2)
})

test('exports a long migrated log through the server in order', async () => {
  const other = await createInstallation()
  const app = openApp(other)
  const { accountId: busy } = await createAccount(app.deps, { name: 'Busy' })
  await sql`insert into audit_log_unchained (account_id, id, who, what, address, outcome)
    select ${busy}, 'aud_' || lpad(number::text, 4, '0'), 'ada@example.com', 'did ' || number, '192.0.2.1', 'done'
    from generate_series(1, 1200) as number`.execute(app.deps.db)
  await app.close()
  await other.serve()

  const { stdout } = await other.run(['audit', 'export', busy], { ownProcess: true })
  await other.remove()

  const lines = stdout.trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as { sequence: number; what?: string })
  expect(entries.map(({ sequence }) => sequence)).toEqual([
    ...Array.from({ length: 1201 }, (_, index) => index + 1),
    1201,
  ])
  expect(entries[1199]?.what).toBe('did 1200')
})

test('fails verification of a tampered log and names the first invalid entry', async () => {
  await server?.stop()
  server = undefined
  const app = openApp(waybill)
  await sql`update audit_entries set who = 'mallory' where account_id = ${accountId} and sequence = 2`.execute(
    app.deps.db,
  )
  await app.close()

  const { exitCode, stdout } = await waybill.run(['audit', 'verify'])

  expect(exitCode).toBe(1)
  expect(stdout).toContain(`✗ ${accountId}: broken at entry 2: its hash does not match`)
})

function openApp({ environment }: Installation): App {
  return buildApp(readConfig(environment), { log: pino({ level: 'silent' }) })
}
