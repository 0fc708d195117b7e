import { rekey as rekeySecrets } from '../../accounts/rekey.ts'
import { dataCommand } from '../command.ts'
import { listStoredSecrets } from '../rekey-all.ts'

export const rekey = dataCommand({
  name: 'rekey',
  summary: 'Encrypt every stored secret with the first key of WAYBILL_SECRET_KEY',
  args: [],
  options: {},
  notes: [
    'To rotate the key: put the new key before the old one (WAYBILL_SECRET_KEY=new,old), restart every process,\nrun this command, and remove the old key after 24 hours, when no idempotency key depends on it. The embedded database stores its keys in secret.key in the data\nfolder, in the same format.',
  ],
  examples: ['waybill rekey'],
  run: async (deps) => {
    const json = await rekeySecrets(deps, listStoredSecrets)
    return { json, text: `Re-encrypted ${json.rekeyed} of ${json.secrets} stored secrets.` }
  },
})
