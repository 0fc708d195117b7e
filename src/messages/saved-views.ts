import type { Kysely, Selectable } from 'kysely'
import { type View, ViewFilters } from '../../contracts/dashboard/view.ts'
import { invalidField, ServiceError } from '../../contracts/errors.ts'
import { errorFacts, quotaFacts } from '../../contracts/facts/errors.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'

export async function listViews({ db }: Pick<Deps, 'db'>, person: Person): Promise<View[]> {
  return (await findViews(db, person)).map(toView)
}

export function saveView(
  { db, quotas }: Pick<Deps, 'db' | 'quotas'>,
  person: Person,
  { name, filters }: View,
): Promise<View> {
  return db.transaction().execute(async (trx) => {
    const views = await lockViews(trx, person)
    if (views.length >= quotas.savedViews && !views.some((view) => view.name === name))
      throw invalidField('name', quotaFacts.savedViews({ views: views.length, quota: quotas.savedViews }))
    return toView(await upsertView(trx, person, { name, filters: JSON.stringify(filters) }))
  })
}

export function renameView(
  { db }: Pick<Deps, 'db'>,
  person: Person,
  names: { name: string; newName: string },
): Promise<View> {
  return db.transaction().execute(async (trx) => {
    const views = await lockViews(trx, person)
    if (names.newName !== names.name && views.some(({ name }) => name === names.newName))
      throw invalidField('newName', errorFacts.viewNameTaken())
    const row = await updateViewName(trx, person, names)
    if (!row) throw viewNotFound()
    return toView(row)
  })
}

export async function deleteView({ db }: Pick<Deps, 'db'>, person: Person, name: string): Promise<void> {
  if (!(await removeView(db, person, name))) throw viewNotFound()
}

function viewNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'name: you have no view with this name.')
}

/** Leaves out filters that another version of Waybill has stored and this one does not support. */
function toView({ name, filters }: ViewRow): View {
  const stored: unknown = JSON.parse(filters)
  const known = Object.entries(ViewFilters.shape).flatMap(([field, schema]) => {
    const value: unknown = typeof stored === 'object' && stored !== null ? Reflect.get(stored, field) : undefined
    const { data } = schema.safeParse(value)
    return data === undefined ? [] : [[field, data]]
  })
  return { name, filters: ViewFilters.parse(Object.fromEntries(known)) }
}

/** A member of an account. */
interface Person {
  accountId: string
  userId: string
}

type ViewRow = Pick<Selectable<Database['saved_views']>, 'name' | 'filters'>

/** Ordered by name. */
function findViews(db: Kysely<Database>, { accountId, userId }: Person): Promise<ViewRow[]> {
  return db
    .selectFrom('saved_views')
    .select(['name', 'filters'])
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .orderBy('name')
    .execute()
}

/** Locks the membership, so that concurrent requests cannot exceed the limit. Throws if it has just ended. */
async function lockViews(trx: Kysely<Database>, person: Person): Promise<ViewRow[]> {
  const membership = await trx
    .selectFrom('owner_roles')
    .select('owner_id')
    .where('account_id', '=', person.accountId)
    .where('owner_id', '=', person.userId)
    .forUpdate()
    .executeTakeFirst()
  if (!membership) throw new ServiceError('NOT_FOUND', errorFacts.notYourAccount())
  return findViews(trx, person)
}

/** Replaces the view of this name. */
function upsertView(
  trx: Kysely<Database>,
  { accountId, userId }: Person,
  { name, filters }: ViewRow,
): Promise<ViewRow> {
  return trx
    .insertInto('saved_views')
    .values({ account_id: accountId, owner_id: userId, name, filters })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'owner_id', 'name'])
        .doUpdateSet(({ ref }) => ({ filters: ref('excluded.filters') })),
    )
    .returning(['name', 'filters'])
    .executeTakeFirstOrThrow()
}

/** Undefined if there is no view of this name. */
function updateViewName(
  trx: Kysely<Database>,
  { accountId, userId }: Person,
  { name, newName }: { name: string; newName: string },
): Promise<ViewRow | undefined> {
  return trx
    .updateTable('saved_views')
    .set({ name: newName })
    .where((eb) => eb.and({ account_id: accountId, owner_id: userId, name }))
    .returning(['name', 'filters'])
    .executeTakeFirst()
}

/** Returns whether there was such a view. */
async function removeView(db: Kysely<Database>, { accountId, userId }: Person, name: string): Promise<boolean> {
  const row = await db
    .deleteFrom('saved_views')
    .where((eb) => eb.and({ account_id: accountId, owner_id: userId, name }))
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}
