import { rekey as rekeySecrets } from '../../accounts/rekey.ts'
import { rekeyContents, type RekeyedContents } from '../../messages/contents/contents.ts'
import { describeProgress, migrate as migrateDatabase } from '../../platform/db/migrate/migrate.ts'
import { dataCommand } from '../command.ts'
import { listStoredSecrets } from '../stored-secrets.ts'

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

export const rekey = dataCommand({
  name: 'rekey',
  summary: 'Encrypt every stored secret with the first key of WAYBILL_SECRET_KEY',
  args: [],
  options: {},
  notes: [
    'To rotate the key: append the new key (WAYBILL_SECRET_KEY=old,new) and restart every process, so that all can read it.\nThen put it first (new,old), restart every process again and run this command. Remove the old key after 24 hours, when no\nidempotency key depends on it. A single process needs only the second step. The embedded database keeps the same list in\nsecret.key in its data folder.',
  ],
  examples: ['waybill rekey'],
  run: async (deps) => {
    const secrets = await rekeySecrets(deps, listStoredSecrets)
    const messageContents = await rekeyContents(deps)
    return { json: { ...secrets, messageContents }, text: describe(secrets, messageContents) }
  },
})

function describe(
  { secrets, rekeyed }: { secrets: number; rekeyed: number },
  { stored, rekeyed: rekeyedContents, unreadable }: RekeyedContents,
): string {
  return [
    `Re-encrypted ${rekeyed} of ${secrets} stored secrets.`,
    ...(stored === 0 ? [] : [`Re-encrypted the contents of ${rekeyedContents} of ${stored} messages.`]),
    ...(unreadable === 0
      ? []
      : [
          `The contents of ${unreadable} messages cannot be decrypted with any key of WAYBILL_SECRET_KEY. They remain until they expire.`,
        ]),
  ].join('\n')
}
