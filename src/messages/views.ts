import type { Kysely, Selectable } from 'kysely'
import { type View, ViewFilters, viewLimits } from '../../contracts/dashboard/view.ts'
import { invalidField, ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'

interface Person {
  accountId: string
  ownerId: string
}

export async function listViews({ db }: Pick<Deps, 'db'>, { accountId, ownerId }: Person): Promise<View[]> {
  const rows = await db
    .selectFrom('saved_views')
    .select(['name', 'filters'])
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .orderBy('name')
    .execute()
  return rows.map(toView)
}

export function saveView({ db }: Pick<Deps, 'db'>, person: Person, { name, filters }: View): Promise<View> {
  const { accountId, ownerId } = person
  return db.transaction().execute(async (trx) => {
    const names = await lockNames(trx, person)
    if (names.length >= viewLimits.perPerson && !names.includes(name))
      throw invalidField('name', `You have ${viewLimits.perPerson} saved views, which is the limit. Delete one first.`)
    const row = await trx
      .insertInto('saved_views')
      .values({ account_id: accountId, owner_id: ownerId, name, filters: JSON.stringify(filters) })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'owner_id', 'name'])
          .doUpdateSet(({ ref }) => ({ filters: ref('excluded.filters') })),
      )
      .returning(['name', 'filters'])
      .executeTakeFirstOrThrow()
    return toView(row)
  })
}

export function renameView(
  { db }: Pick<Deps, 'db'>,
  person: Person,
  { name, newName }: { name: string; newName: string },
): Promise<View> {
  return db.transaction().execute(async (trx) => {
    const names = await lockNames(trx, person)
    if (newName !== name && names.includes(newName))
      throw invalidField('newName', 'You already have a view with this name.')
    const row = await trx
      .updateTable('saved_views')
      .set({ name: newName })
      .where('account_id', '=', person.accountId)
      .where('owner_id', '=', person.ownerId)
      .where('name', '=', name)
      .returning(['name', 'filters'])
      .executeTakeFirst()
    if (!row) throw viewNotFound()
    return toView(row)
  })
}

export async function deleteView({ db }: Pick<Deps, 'db'>, person: Person, name: string): Promise<void> {
  const row = await db
    .deleteFrom('saved_views')
    .where('account_id', '=', person.accountId)
    .where('owner_id', '=', person.ownerId)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst()
  if (!row) throw viewNotFound()
}

/** Locks the membership, so that two tabs together do not pass the limit. */
async function lockNames(trx: Kysely<Database>, { accountId, ownerId }: Person): Promise<string[]> {
  await trx
    .selectFrom('owner_roles')
    .select('owner_id')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .forUpdate()
    .execute()
  const rows = await trx
    .selectFrom('saved_views')
    .select('name')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .execute()
  return rows.map(({ name }) => name)
}

function viewNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'name: you have no view with this name.')
}

/** A filter that another version of Waybill wrote, and this one does not know, is left out. */
function toView({ name, filters }: Pick<Selectable<Database['saved_views']>, 'name' | 'filters'>): View {
  const stored: unknown = JSON.parse(filters)
  const known = Object.entries(ViewFilters.shape).flatMap(([field, schema]) => {
    const value: unknown = typeof stored === 'object' && stored !== null ? Reflect.get(stored, field) : undefined
    const { data } = schema.safeParse(value)
    return data === undefined ? [] : [[field, data]]
  })
  return { name, filters: ViewFilters.parse(Object.fromEntries(known)) }
}
