import { sql } from 'kysely'
import { createAccount, updateAccount } from '../../src/accounts/account.ts'
import { generateKey } from '../../src/accounts/api-key.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { importRateCards } from '../../src/messages/costs/rate-cards.ts'
import { foldCounts } from '../../src/messages/queries/counts-store.ts'
import { addSuppression, importSuppressions } from '../../src/messages/suppressions/suppressions.ts'
import { createPartitions } from '../../src/platform/db/partitions.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { announceEndpoints } from '../../src/webhooks/alerts/announce-endpoints.ts'
import { announceThresholds } from '../../src/webhooks/alerts/rules/announce-thresholds.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { demoTemplates } from '../../src/whatsapp/simulator/templates/demo-templates.ts'
import type { TestServer } from '../support/server.ts'
import type { StoppedClock } from './clock.ts'
import { endpoints } from './customer-endpoints.ts'
import { createSales } from './sales.ts'

/** A Thursday afternoon. */
export const now = new Date('2026-11-19T15:42:30Z')
const minute = 60_000
const day = 24 * 60 * minute
/** When the shop was opened. */
export const opened = new Date(now.getTime() - 34 * day)
/** Endpoints were added late, so that their deliveries finish soon. */
const endpointsAdded = new Date(now.getTime() - 3 * day)

/** The data that the pages of the gallery show. */
export interface Shop {
  accountId: string
  messageId: string
  endpointId: string
  whatsAppAccountId: string
  /** The ID of an account that has just been created. */
  emptyAccountId: string
}

/** Fills the server with five weeks of a shop that sends order notices, reminders and login codes. */
export async function openShop(server: TestServer, clock: StoppedClock): Promise<Shop> {
  const { deps } = server
  for (const time of [opened, now]) await createPartitions(deps.db, time)
  await importRateCards(deps, rateCard)
  const account = await createShop(server)
  const sales = createSales(server, account, { clock, until: now })
  for (const { time, messages } of listTimes(opened, endpointsAdded)) {
    await clock.moveTo(time)
    await sales.sendAt(time, messages)
  }
  await clock.moveTo(endpointsAdded)
  const endpointId = await addEndpoints(server, account)
  for (const { time, messages } of listTimes(endpointsAdded, now)) {
    await clock.moveTo(time)
    await sales.sendAt(time, messages)
    await untilDelivered(server)
  }
  await clock.moveTo(now)
  await finish(server, account)
  const { accountId: emptyAccountId } = await createAccount(deps, { name: 'New shop' })
  return { ...account, endpointId, messageId: sales.lastRead(), emptyAccountId }
}

const rateCard = [
  'valid_from,currency,market,countries,marketing,utility,authentication',
  '2026-10-01,EUR,Spain,ES,0.0509,0.0170,0.0170',
  '2026-10-01,EUR,Germany,DE,0.1131,0.0456,0.0456',
  '2026-10-01,EUR,France,FR,0.0712,0.0248,0.0248',
  '2026-10-01,EUR,Portugal,PT,0.0512,0.0191,0.0191',
].join('\n')

async function createShop({ deps, simulator, url }: TestServer) {
  const { accountId } = await createAccount(deps, { name: 'Northwind Books' })
  await updateAccount(deps, accountId, { rateLimit: 600, templateChangesEnabled: true, timeZone: 'Europe/Madrid' })
  const { apiKey } = await generateKey(deps, accountId)
  const numbers = [
    { displayPhoneNumber: '+34 911 23 45 67', verifiedName: 'Northwind Books' },
    { displayPhoneNumber: '+49 30 5550 1234', verifiedName: 'Northwind Bücher' },
  ]
  const whatsAppAccountIds: string[] = []
  for (const [index, shown] of numbers.entries()) {
    const phoneNumberId = `10604210000001${index}`
    const wabaId = `20931770000004${index}`
    const accessToken = `gallery-access-token-${index}`
    for (const template of demoTemplates) simulator.templatesOf(wabaId).add(template)
    simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken, messagingLimit: 'TIER_10K', ...shown })
    const added = await addWhatsAppAccount(deps, accountId, { phoneNumberId, wabaId, accessToken })
    whatsAppAccountIds.push(added.whatsAppAccountId)
  }
  await syncTemplates(deps, accountId)
  const [whatsAppAccountId = '', germanAccountId = ''] = whatsAppAccountIds
  return { accountId, apiKey, url, whatsAppAccountId, germanAccountId }
}

async function addEndpoints({ deps }: TestServer, { accountId }: { accountId: string }): Promise<string> {
  await addEndpoint(deps, accountId, { url: endpoints.orders, description: 'Order system' })
  const { endpointId } = await addEndpoint(deps, accountId, { url: endpoints.crm, description: 'Customer database' })
  await addEndpoint(deps, accountId, { url: endpoints.archive, description: 'Archive', events: ['message.failed'] })
  return endpointId
}

/** Five times a day, fewer messages at weekends; in the last hours, every few minutes. */
function* listTimes(from: Date, until: Date): Generator<{ time: Date; messages: number }> {
  const fine = now.getTime() - 150 * minute
  const next = (at: number) => (at < fine ? Math.min(at + day / 5, fine) : at + 3 * minute + 17_000)
  for (let at = from.getTime(); at < until.getTime(); at = next(at)) {
    const time = new Date(at)
    const isWeekend = time.getUTCDay() % 6 === 0
    yield { time, messages: at >= fine ? 1 : isWeekend ? 9 : 22 }
  }
}

/** Waits until the workers have made all due deliveries. */
async function untilDelivered({ deps }: TestServer): Promise<void> {
  for (;;) {
    const due = await deps.db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('due_at', '<=', sql<Date>`now()`)
      .limit(1)
      .execute()
    if (due.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function finish({ deps }: TestServer, { accountId }: { accountId: string }): Promise<void> {
  // The statuses of the shop are applied directly, without a callback.
  await deps.db
    .updateTable('whatsapp_account_health')
    .set({
      number_status: 'CONNECTED',
      callback_url: 'https://waybill.example.com/webhooks/whatsapp',
      last_callback_at: now,
      last_status_at: now,
    })
    .where('account_id', '=', accountId)
    .execute()
  const recipients = ['34655010203', '34655010877', '491715550101']
  const caller = { accountId, actor: () => 'API key' }
  await importSuppressions(deps, caller, { recipients, allMessages: false })
  await addSuppression(deps, caller, { to: '33655501234', allMessages: true })
  await foldCounts(deps.db)
  await announceEndpoints(deps)
  await announceThresholds(deps)
  // The duration of a call differs between runs.
  await sql`update api_requests set duration_ms = 21 + ('x' || substr(md5(id), 1, 4))::bit(16)::integer % 70`.execute(
    deps.db,
  )
}
