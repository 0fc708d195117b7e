import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../../contracts/errors.ts'
import type { Database } from '../schema.ts'

/** Exists in a database while `waybill move` fills it. */
export const moveTable = 'waybill_move'

/** A server must not use a database that holds only part of the data. */
export async function rejectUnfinishedMove(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass(${moveTable}) is not null as exists`.execute(db)
  if (rows[0]?.exists)
    throw new ServiceError(
      'SETTING_REFUSED',
      'The database is the target of an unfinished move. Run waybill move again on the machine of the embedded database.',
    )
}
