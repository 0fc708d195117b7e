import { type View, ViewFilters } from '../../../contracts/dashboard/view.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import { errorFacts, quotaFacts } from '../../../contracts/facts/errors.ts'
import type { Deps } from '../../deps.ts'
import { findViews, lockViews, type Person, removeView, updateViewName, upsertView, type ViewRow } from './store.ts'

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
