import { rekey as rekeySecrets } from '../../accounts/rekey.ts'
import { dataCommand } from '../command.ts'
import { listStoredSecrets } from '../rekey-all.ts'

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
    const json = await rekeySecrets(deps, listStoredSecrets)
    return { json, text: `Re-encrypted ${json.rekeyed} of ${json.secrets} stored secrets.` }
  },
})
