import { rekey as rekeySecrets } from '../../accounts/rekey.ts'
import { dataCommand } from '../command.ts'
import { listStoredSecrets } from '../rekey-all.ts'

export const rekey = dataCommand({
  name: 'rekey',
  summary: 'Encrypt every stored secret under the first key of WAYBILL_SECRET_KEY',
  args: [],
  options: {},
  notes: [
    'To change the key: put the new one before the old one (WAYBILL_SECRET_KEY=new,old), restart every process,\nrun this, then take the old one out. The embedded database keeps its key in secret.key in the data folder,\nin the same form.',
  ],
  examples: ['waybill rekey'],
  run: async (deps) => {
    const json = await rekeySecrets(deps, listStoredSecrets)
    return { json, text: `${json.rekeyed} of ${json.secrets} stored secrets were encrypted anew.` }
  },
})
