import type { Kysely, Selectable } from 'kysely'
import type { Database, SavedViewsTable } from '../../platform/db/schema.ts'

/** A member of an account. */
export interface Person {
  accountId: string
  userId: string
}

export type ViewRow = Pick<Selectable<SavedViewsTable>, 'name' | 'filters'>

/** Ordered by name. */
export function findViews(db: Kysely<Database>, { accountId, userId }: Person): Promise<ViewRow[]> {
  return db
    .selectFrom('saved_views')
    .select(['name', 'filters'])
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .orderBy('name')
    .execute()
}

/** Locks the membership, so that concurrent requests cannot exceed the limit. */
export async function lockViews(trx: Kysely<Database>, person: Person): Promise<ViewRow[]> {
  await trx
    .selectFrom('owner_roles')
    .select('owner_id')
    .where('account_id', '=', person.accountId)
    .where('owner_id', '=', person.userId)
    .forUpdate()
    .execute()
  return findViews(trx, person)
}

/** Replaces the view of this name. */
export function upsertView(
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
export function updateViewName(
  trx: Kysely<Database>,
  { accountId, userId }: Person,
  { name, newName }: { name: string; newName: string },
): Promise<ViewRow | undefined> {
  return trx
    .updateTable('saved_views')
    .set({ name: newName })
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .where('name', '=', name)
    .returning(['name', 'filters'])
    .executeTakeFirst()
}

/** Returns whether there was such a view. */
export async function removeView(db: Kysely<Database>, { accountId, userId }: Person, name: string): Promise<boolean> {
  const row = await db
    .deleteFrom('saved_views')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}
