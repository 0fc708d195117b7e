import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { View } from '../../contracts/dashboard/view.ts'
import { quotaFacts } from '../../contracts/facts/errors.ts'
import { erase } from '../support/erase.ts'
import { forFile } from '../support/lifetime.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { accountWithOwner, signedInOwner, type TestOwner } from '../support/user.ts'
import { startTestServer } from '../support/server.ts'

const quota = 3

const server = await forFile(
  startTestServer({ deps: { quotas: { suppressions: 1, templates: 1, savedViews: quota } } }),
)

async function listViews(person: TestOwner, accountId: string): Promise<View[]> {
  return (await person.query<{ items: View[] }>('view.list', { accountId })).data.items
}

const failures = { name: 'Failures', filters: { status: 'failed', range: '24h' } }

test('saves, replaces, renames and deletes a view', async () => {
  const { accountId, owner } = await accountWithOwner(server)

  expect((await owner.mutate('view.save', { accountId, ...failures })).data).toEqual(failures)
  const replaced = { name: 'Failures', filters: { errorCode: '131026', template: 'order_shipped' } }
  await owner.mutate('view.save', { accountId, ...replaced, name: '  Failures ' })
  expect(await listViews(owner, accountId)).toEqual([replaced])

  await owner.mutate('view.rename', { accountId, name: 'Failures', newName: 'Unreachable' })
  expect(await listViews(owner, accountId)).toEqual([{ ...replaced, name: 'Unreachable' }])

  await owner.mutate('view.delete', { accountId, name: 'Unreachable' })
  expect(await listViews(owner, accountId)).toEqual([])
})

test('saves a view of the messages whose outcome is unknown', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const unknown = { name: 'Unknown', filters: { status: 'pending', outcome: 'unknown' } }

  expect((await owner.mutate('view.save', { accountId, ...unknown })).data).toEqual(unknown)

  expect(await listViews(owner, accountId)).toEqual([unknown])
})

test('shows views only to the user who saved them, and only in their account', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  await owner.mutate('view.save', { accountId, ...failures })
  await viewer.mutate('view.save', { accountId, name: 'Mine', filters: {} })

  expect(await listViews(owner, accountId)).toEqual([failures])
  expect(await listViews(viewer, accountId)).toEqual([{ name: 'Mine', filters: {} }])
  expect(await viewer.mutate('view.delete', { accountId, name: 'Failures' })).toMatchObject({ statusCode: 404 })
  expect(await viewer.mutate('view.rename', { accountId, name: 'Failures', newName: 'Taken' })).toMatchObject({
    statusCode: 404,
  })
  expect(await listViews(owner, accountId)).toEqual([failures])
})

test('rejects a new name that another view has', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  await owner.mutate('view.save', { accountId, ...failures })
  await owner.mutate('view.save', { accountId, name: 'Other', filters: {} })

  const response = await owner.mutate('view.rename', { accountId, name: 'Other', newName: 'Failures' })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { newName: expect.any(String) } } } })
})

test.each([
  { name: '', filters: {} },
  { name: 'x'.repeat(61), filters: {} },
  { name: 'a\u0000b', filters: {} },
  { name: 'x', filters: { status: 'lost' } },
  { name: 'x', filters: { search: 'x'.repeat(256) } },
  { name: 'x', filters: { unknown: 'x' } },
  { name: 'x', filters: 'status=failed' },
])('rejects an invalid view: %o', async (view) => {
  const { accountId, owner } = await accountWithOwner(server)

  expect(await owner.mutate('view.save', { accountId, ...view })).toMatchObject({ statusCode: 400 })
})

test('keeps no more views of a user than the quota, even if they are saved concurrently', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const names = Array.from({ length: quota + 3 }, (_, index) => `View ${index}`)

  const responses = await Promise.all(names.map((name) => owner.mutate('view.save', { accountId, name, filters: {} })))

  expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(quota)
  const views = await listViews(owner, accountId)
  expect(views).toHaveLength(quota)
  expect(responses.find(({ statusCode }) => statusCode === 400)?.error?.data).toMatchObject({
    facts: { name: quotaFacts.savedViews({ views: quota, quota }) },
  })
  // An existing view can still be replaced.
  const again = await owner.mutate('view.save', { accountId, ...failures, name: views[0]?.name })
  expect(again.statusCode).toBe(200)
})

test('saves no view of a member who is removed at the same moment', async () => {
  const { accountId, owner } = await accountWithOwner(server)

  const saving = await server.deps.db.transaction().execute(async (trx) => {
    await sql`delete from owner_roles where account_id = ${accountId}`.execute(trx)
    const started = owner.mutate('view.save', { accountId, ...failures })
    await expect.poll(() => lockWaits(server.deps.db, '%"owner_roles"%')).toHaveLength(1)
    return { started }
  })

  expect(await saving.started).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
})

test('deletes views with the membership', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  await viewer.mutate('view.save', { accountId, ...failures })

  await owner.mutate('member.remove', { accountId, email: viewer.email })

  const { db } = server.deps
  expect(await db.selectFrom('saved_views').select('name').where('account_id', '=', accountId).execute()).toEqual([])
})

test('erases views that contain the number of an erased recipient', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  await owner.mutate('view.save', { accountId, ...failures })
  await owner.mutate('view.save', { accountId, name: 'Ada', filters: { to: '34600777888' } })
  await owner.mutate('view.save', { accountId, name: 'About 34600777888', filters: {} })

  await erase(server, '34600777888', accountId)

  expect(await listViews(owner, accountId)).toEqual([failures])
})

test('omits stored filters that this version does not support', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  await owner.mutate('view.save', { accountId, ...failures })
  await server.deps.db
    .updateTable('saved_views')
    .set({ filters: JSON.stringify({ status: 'failed', continent: 'EU', range: 'ever' }) })
    .where('account_id', '=', accountId)
    .execute()

  expect(await listViews(owner, accountId)).toEqual([{ name: 'Failures', filters: { status: 'failed' } }])
})
