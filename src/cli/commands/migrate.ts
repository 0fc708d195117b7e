import { describeProgress } from '../../platform/db/migrate/migration.ts'
import { migrate as migrateDatabase } from '../../platform/db/migrate/migrate.ts'
import { dataCommand } from '../command.ts'

export const migrate = dataCommand({
  name: 'migrate',
  summary: 'Apply pending database migrations',
  args: [],
  options: {},
  needsSchema: false,
  notes: ['Servers do this at startup. If several start together, one migrates and the others wait.'],
  examples: ['waybill migrate', 'waybill migrate --json'],
  run: async (deps, _line, { report }) => {
    const applied = await migrateDatabase(deps.db, { onProgress: (progress) => report(describeProgress(progress)) })
    return {
      json: { applied },
      text: applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`,
    }
  },
})
