import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { deactivateWhatsAppAccount, removeWhatsAppAccount } from '../../src/whatsapp-accounts/change.ts'
import { listWhatsAppAccounts } from '../../src/whatsapp-accounts/whatsapp-account.ts'
import { readDatabaseClock } from '../../src/platform/db/clock.ts'
import { storeSubmitted } from '../../src/templates/changes/store.ts'
import { findLastSync } from '../../src/templates/store.ts'
import { syncTemplates, syncWaba } from '../../src/templates/sync.ts'
import type { ListedTemplate } from '../../src/whatsapp/template-management.ts'
import { createTestDeps, nextPhoneNumberId, tokenRefused, unreachable } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())
let deps: ReturnType<typeof createTestDeps>
let accountId: string
beforeEach(async () => {
  deps = createTestDeps(database)
  accountId = (await createAccount(deps, { name: 'Sync' })).accountId
})

async function add(wabaId: string, accessToken: string): Promise<string> {
  const input = { phoneNumberId: nextPhoneNumberId(), wabaId, accessToken }
  return (await addWhatsAppAccount(deps, accountId, input)).whatsAppAccountId
}

function listed(name: string, more: Partial<ListedTemplate> = {}): ListedTemplate {
  return {
    id: '900719925474099312',
    name,
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameterFormat: 'POSITIONAL',
    components: [{ type: 'BODY', text: `Hello {{1}}, "${name}"` }],
    ...more,
  }
}

function found(...templates: ListedTemplate[]) {
  return { ok: true, value: templates } as const
}

function stored() {
  return deps.db
    .selectFrom('templates')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('waba_id')
    .orderBy('name')
    .orderBy('language')
    .execute()
}

async function statuses(): Promise<Record<string, string>> {
  const rows = await stored()
  return Object.fromEntries(rows.map((row) => [`${row.waba_id} ${row.name} ${row.language}`, row.status]))
}

test('stores every template that WhatsApp lists', async () => {
  await add('1', 'A')
  const shipped = listed('shipped', { qualityScore: 'GREEN' })
  deps.listings['1 A'] = found(shipped, listed('shipped', { language: 'es', status: 'PENDING' }), listed('odd name'))

  expect(await syncTemplates(deps, accountId)).toEqual({ synced: 3, approved: 2 })

  expect(await statuses()).toEqual({
    '1 odd name en': 'APPROVED',
    '1 shipped en': 'APPROVED',
    '1 shipped es': 'PENDING',
  })
  expect((await stored())[1]).toMatchObject({
    whatsapp_template_id: shipped.id,
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: shipped.components,
    quality_score: 'GREEN',
    rejected_reason: null,
  })
})

test('updates changed templates and marks missing ones as DELETED', async () => {
  await add('1', 'A')
  deps.listings['1 A'] = found(listed('stays'), listed('changes'), listed('goes'))
  await syncTemplates(deps, accountId)

  deps.listings['1 A'] = found(listed('stays'), listed('changes', { status: 'PAUSED' }))
  expect(await syncTemplates(deps, accountId)).toEqual({ synced: 2, approved: 1 })

  expect(await statuses()).toEqual({ '1 changes en': 'PAUSED', '1 goes en': 'DELETED', '1 stays en': 'APPROVED' })
})

test('makes a template sendable when it is listed again', async () => {
  await add('1', 'A')
  for (const listing of [found(listed('back')), found(), found(listed('back'))]) {
    deps.listings['1 A'] = listing
    await syncTemplates(deps, accountId)
  }

  expect(await statuses()).toEqual({ '1 back en': 'APPROVED' })
})

test('ignores the list of a sync that ends after a later one', async () => {
  await add('1', 'A')
  const requested = Promise.withResolvers<void>()
  const response = Promise.withResolvers<ReturnType<typeof found>>()
  const listTemplates = () => {
    requested.resolve()
    return response.promise
  }
  const overtaken = syncTemplates({ ...deps, whatsapp: { ...deps.whatsapp, listTemplates } }, accountId)
  await requested.promise
  deps.listings['1 A'] = found(listed('both', { status: 'PAUSED' }))
  await syncTemplates(deps, accountId)

  response.resolve(found(listed('both'), listed('gone')))
  await overtaken

  expect(await statuses()).toEqual({ '1 both en': 'PAUSED' })
})

test('keeps all templates if one is created while they are listed', async () => {
  await add('100', 'secret')
  deps.listings['100 secret'] = found(listed('a'), listed('b', { status: 'PENDING' }))
  await syncTemplates(deps, accountId)
  deps.whatsapp.listTemplates = async () => {
    const created = { template: listed('c'), requestedCategory: 'UTILITY', at: await readDatabaseClock(deps.db) }
    await storeSubmitted(deps.db, { accountId, wabaId: '100' }, created)
    return found(listed('a'), listed('b'))
  }
  await syncTemplates(deps, accountId)

  expect(await statuses()).toEqual({ '100 a en': 'APPROVED', '100 b en': 'APPROVED', '100 c en': 'APPROVED' })
})

test('stores what WhatsApp lists after a clock was ahead', async () => {
  await add('1', 'A')
  deps.listings['1 A'] = found(listed('goes'), listed('stays'))
  await syncTemplates({ ...deps, now: () => new Date(Date.now() + 3_600_000) }, accountId)
  deps.listings['1 A'] = found(listed('stays', { status: 'PAUSED' }))
  await syncTemplates(deps, accountId)
  expect(await statuses()).toEqual({ '1 goes en': 'DELETED', '1 stays en': 'PAUSED' })

  // The clock of the database was ahead, or a version that stored the time of a node synced.
  const future = sql<Date>`now() + interval '1 hour'`
  await deps.db.updateTable('whatsapp_accounts').set({ templates_synced_at: future }).execute()
  await deps.db.updateTable('templates').set({ synced_at: future, status: 'APPROVED' }).execute()
  await syncTemplates(deps, accountId)

  expect(await statuses()).toEqual({ '1 goes en': 'DELETED', '1 stays en': 'PAUSED' })
})

test('lists each WABA once with its own token, even if several numbers share it', async () => {
  await add('1', 'A')
  await add('1', 'B')
  await add('2', 'C')
  deps.listings['1 A'] = found(listed('one'))
  deps.listings['2 C'] = found(listed('two'))

  expect(await syncTemplates(deps, accountId)).toEqual({ synced: 2, approved: 2 })

  expect(await statuses()).toEqual({ '1 one en': 'APPROVED', '2 two en': 'APPROVED' })
})

test('changes nothing in any WABA if a list fails', async () => {
  await add('1', 'A')
  await add('2', 'B')
  deps.listings['1 A'] = found(listed('one'))
  deps.listings['2 B'] = found(listed('two'))
  await syncTemplates(deps, accountId)

  deps.listings['1 A'] = found()
  deps.listings['2 B'] = unreachable
  await expect(syncTemplates(deps, accountId)).rejects.toThrow('WhatsApp is unavailable')

  expect(await statuses()).toEqual({ '1 one en': 'APPROVED', '2 two en': 'APPROVED' })
  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([{ active: true }, { active: true }])
})

test('deactivates an account with a rejected token and tries the next account of the WABA', async () => {
  const refused = await add('1', 'A')
  const other = await add('1', 'B')
  deps.listings['1 A'] = tokenRefused
  deps.listings['1 B'] = found(listed('one'))

  expect(await syncTemplates(deps, accountId)).toEqual({ synced: 1, approved: 1 })

  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([
    { whatsAppAccountId: refused, active: false, reason: 'WhatsApp rejected it (190): Access token has expired' },
    { whatsAppAccountId: other, active: true },
  ])
})

test('skips a deactivated WhatsApp account and fails without another one', async () => {
  const id = await add('1', 'A')
  await deactivateWhatsAppAccount(deps, { accountId, whatsAppAccountId: id })
  deps.listings['1 A'] = found(listed('one'))

  await expect(syncTemplates(deps, accountId)).rejects.toThrow('has no active WhatsApp account')
  expect(await syncWaba(deps, accountId, '1')).toEqual({ ok: false, reason: expect.stringContaining('WABA 1') })
  expect(await stored()).toEqual([])
})

test('syncs a single WABA', async () => {
  await add('1', 'A')
  await add('2', 'B')
  deps.listings['2 B'] = found(listed('two'))

  expect(await syncWaba(deps, accountId, '2')).toEqual({ ok: true, synced: 1, approved: 1 })

  expect(await statuses()).toEqual({ '2 two en': 'APPROVED' })
})

test('records when a WABA was last synced, even if it has no templates', async () => {
  await add('1', 'A')
  await add('2', 'B')
  deps.listings['2 B'] = found()
  const before = await findLastSync(deps.db, accountId, '1')
  const later = await readDatabaseClock(deps.db)

  await syncWaba(deps, accountId, '2')

  expect((await findLastSync(deps.db, accountId, '2'))?.getTime()).toBeGreaterThanOrEqual(later.getTime())
  expect(await findLastSync(deps.db, accountId, '1')).toEqual(before)
})

test('deletes templates with the last WhatsApp account of their WABA', async () => {
  await add('1', 'A')
  const second = await add('2', 'B')
  const third = await add('2', 'C')
  deps.listings['1 A'] = found(listed('one'))
  deps.listings['2 B'] = found(listed('two'))
  await syncTemplates(deps, accountId)

  await removeWhatsAppAccount(deps, { accountId, whatsAppAccountId: second })
  expect(Object.keys(await statuses())).toEqual(['1 one en', '2 two en'])
  await removeWhatsAppAccount(deps, { accountId, whatsAppAccountId: third })
  expect(Object.keys(await statuses())).toEqual(['1 one en'])
})

test('stores thousands of templates at once and deduplicates them', async () => {
  await add('1', 'A')
  const many = Array.from({ length: 3000 }, (_, index) => listed(`template_${index % 2990}`))
  deps.listings['1 A'] = found(...many)

  expect(await syncTemplates(deps, accountId)).toEqual({ synced: 2990, approved: 2990 })

  expect(await stored()).toHaveLength(2990)
})
