import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { request } from 'undici'
import { accessTokenPurpose } from '../../../src/whatsapp-accounts/secrets.ts'
import type { Benchmark } from '../benchmark.ts'
import { readCpuTime } from '../cpu-time.ts'
import { createCustomer, type Customer } from '../customer.ts'
import { readPeakBytes } from '../resident-bytes.ts'
import type { Row } from '../row.ts'
import { startProcess } from '../start-process.ts'
import { summarize } from '../summarize.ts'

const whatsAppAccounts = 20_000
/** WhatsApp accounts of one account. */
const numbers = 10
/** How long WhatsApp takes for each of the reads of a check. */
const readMilliseconds = 300
const scrapeMilliseconds = 5_000
const readyMilliseconds = 100
const metricsToken = 'bench'

/** How often per second, with a check and a sync every 30 minutes and a count every minute. */
const needed = { checked: whatsAppAccounts / 1_800, synced: whatsAppAccounts / 1_800, counted: whatsAppAccounts / 60 }
type Work = Record<keyof typeof needed, number>

/** Background work of one process for 20,000 WhatsApp accounts that are all due at its start. */
export const accounts: Benchmark = {
  name: 'accounts',
  against: 'what the intervals need',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts', { args: ['0', String(readMilliseconds)] })
    await using customer = await createCustomer(stage, upstream.url)
    await addWhatsAppAccounts(customer)
    await using server = await startProcess('src/cli/waybill.js', {
      args: ['serve'],
      environment: { ...customer.environment, METRICS_TOKEN: metricsToken },
    })
    // The first pass of each job begins some seconds after the start.
    while ((await readWork(customer)).synced < 100) await delay(100)
    const [before, cpuBefore] = [await readWork(customer), await readCpuTime(server.pid)]
    const seconds = stage.isQuick ? 20 : 40
    const endsAt = performance.now() + seconds * 1_000
    const [scrapes, checks] = await Promise.all([
      poll(`${server.url}/metrics`, scrapeMilliseconds, endsAt),
      poll(`${server.url}/readyz`, readyMilliseconds, endsAt),
    ])
    const [after, cpuAfter] = [await readWork(customer), await readCpuTime(server.pid)]
    const rate = (work: keyof Work, measure: string): Row =>
      summarize([{ ours: (after[work] - before[work]) / seconds, other: needed[work] }], {
        measure,
        unit: 'per second',
        goal: { atLeast: 1 },
      })
    return [
      rate('checked', 'WhatsApp accounts checked'),
      rate('synced', 'WhatsApp accounts whose templates were listed'),
      rate('counted', 'WhatsApp accounts whose messages were counted'),
      figure('slowest `/metrics`', 'ms', Math.max(...scrapes), { oursAtMost: 100 }),
      figure('slowest `/readyz`', 'ms', Math.max(...checks), { oursAtMost: 100 }),
      figure('CPU time in a second', 'ms', (cpuAfter - cpuBefore) / 1_000 / seconds),
      figure('peak of resident memory', 'MB', (await readPeakBytes(server.pid)) / 1e6),
    ]
  },
}

function figure(measure: string, unit: Row['unit'], ours: number, goal?: Row['goal']): Row {
  return summarize([{ ours, other: NaN }], { measure, unit, goal })
}

async function addWhatsAppAccounts({ deps }: Customer): Promise<void> {
  const accountIds = Array.from({ length: whatsAppAccounts / numbers }, () => deps.newId('acc'))
  const ids = Array.from({ length: whatsAppAccounts }, () => deps.newId('wa'))
  const tokens = ids.map((id, index) => deps.secrets.encrypt(`token of ${index}`, accessTokenPurpose(id)))
  await sql`
    insert into accounts
    select (jsonb_populate_record(a, jsonb_build_object('id', new.id))).*
    from accounts a, unnest(${accountIds}::text[]) new (id)`.execute(deps.db)
  await sql`
    with added as (
      insert into whatsapp_accounts
        (id, account_id, phone_number_id, waba_id, access_token_encrypted, is_default, created_at)
      select id, (${accountIds}::text[])[1 + (n - 1) / ${numbers}::integer], 1e15::bigint + n, 2e15::bigint + n, token,
        n % ${numbers}::integer = 1, now()
      from unnest(${ids}::text[], ${tokens}::text[]) with ordinality new (id, token, n)
      returning id, account_id
    )
    insert into whatsapp_account_health (whatsapp_account_id, account_id) select id, account_id from added`.execute(
    deps.db,
  )
}

async function readWork({ deps }: Customer): Promise<Work> {
  const { rows } = await sql<Work>`
    select count(number_checked_at)::integer as checked, count(templates_synced_at)::integer as synced,
      count(*) filter (where next_traffic_at > now())::integer as counted
    from whatsapp_account_health h join whatsapp_accounts w on w.id = h.whatsapp_account_id`.execute(deps.db)
  const [work] = rows
  if (!work) throw new Error('a count has one row')
  return work
}

/** Resolves to the milliseconds of each response. */
async function poll(url: string, everyMilliseconds: number, endsAt: number): Promise<number[]> {
  const times: number[] = []
  while (performance.now() < endsAt) {
    const startedAt = performance.now()
    const response = await request(url, { headers: { authorization: `Bearer ${metricsToken}` } })
    await response.body.dump()
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
    times.push(performance.now() - startedAt)
    await delay(everyMilliseconds)
  }
  return times
}
