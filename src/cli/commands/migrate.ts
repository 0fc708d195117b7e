import { migrate as migrateDatabase } from '../../platform/db/migrate.ts'
import { dataCommand } from '../command.ts'

export const migrate = dataCommand({
  name: 'migrate',
  summary: 'Bring the database up to date',
  args: [],
  options: {},
  needsSchema: false,
  notes: ['Servers do this as they start. Of several that start together one migrates and the others wait.'],
  examples: ['waybill migrate', 'waybill migrate --json'],
  run: async (deps) => {
    const applied = await migrateDatabase(deps.db)
    return {
      json: { applied },
      text: applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`,
    }
  },
})
