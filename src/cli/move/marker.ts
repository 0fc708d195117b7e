import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Database } from '../../platform/db/schema.ts'
import { codeOf } from '../../platform/error-code.ts'
import { replaceFile } from '../../platform/files.ts'

/** The file in the data folder that marks its database as moved or being moved. It contains no secret. */
const MoveMarker = z.object({
  /** Also stored in the target, so that a move only continues in the database where it began. */
  moveId: z.string(),
  state: z.enum(['moving', 'moved']),
  /** Host, port and database name. */
  target: z.string(),
  startedAt: z.string(),
})
export type MoveMarker = z.infer<typeof MoveMarker>

function markerFile(dataDir: string): string {
  return path.join(dataDir, 'move.json')
}

/** Returns undefined if the database was never moved. Throws if the file cannot be read, because it may have been moved. */
export function readMoveMarker(dataDir: string): MoveMarker | undefined {
  let text: string
  try {
    text = readFileSync(markerFile(dataDir), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  return MoveMarker.parse(JSON.parse(text))
}

export function writeMoveMarker(dataDir: string, marker: MoveMarker): void {
  replaceFile(markerFile(dataDir), `${JSON.stringify(marker)}\n`, 0o600)
}

export function removeMoveMarker(dataDir: string): void {
  rmSync(markerFile(dataDir), { force: true })
}

/** Returns why the embedded database cannot be used; undefined if it can. */
export function describeMove(dataDir: string): string | undefined {
  const marker = readMoveMarker(dataDir)
  if (!marker) return undefined
  const { state, target } = marker
  return state === 'moved'
    ? `The database in ${dataDir} was moved to ${target}. Set DATABASE_URL to use it there. To use the old data again, delete ${markerFile(dataDir)}. They lack everything that was sent since the move.`
    : `The database in ${dataDir} is being moved to ${target}. Run waybill move again to continue, or waybill move --cancel to use it here again.`
}

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
