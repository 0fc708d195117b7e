import { availableParallelism, cpus } from 'node:os'
import pg from 'pg'

/** Describes the machine of the measurement in one line. */
export async function describeMachine(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  await client.end()
  return [
    new Date().toISOString().slice(0, 10),
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`,
    `Node ${process.versions.node}`,
    `PostgreSQL ${rows[0]?.server_version ?? 'unknown'}`,
    'everything on one machine',
  ].join(', ')
}
