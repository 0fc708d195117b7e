import { defaultOutput } from '../../client/types/generate.ts'
import { localCommand } from '../command.ts'
import { ReportedError, UsageError } from '../failure.ts'

export const types = localCommand({
  name: 'types',
  summary: 'Write TypeScript declarations of the approved templates of an account',
  args: [],
  options: {
    url: { value: 'URL', help: 'Where Waybill runs', required: true },
    'api-key': { value: 'KEY', help: 'The API key of the account (default: WAYBILL_API_KEY)', secret: true },
    'account-id': { value: 'WA', help: 'Templates of this WhatsApp account instead of the default one' },
    output: { value: 'FILE', help: `Where to write (default: ${defaultOutput})` },
    check: { help: 'Write nothing; exit with 1 and name the templates if the file is out of date' },
  },
  notes: [
    'With this file in a project, the client accepts only these templates, with their variables and languages. It reads them over the public API; waybill-client types does the same.',
  ],
  examples: [
    'WAYBILL_API_KEY=… waybill types --url https://waybill.example.com',
    'WAYBILL_API_KEY=… waybill types --url https://waybill.example.com --output src/templates.d.ts --check',
  ],
  run: async (environment, { options }) => {
    const apiKey = options['api-key'] ?? environment['WAYBILL_API_KEY']
    if (apiKey === undefined || apiKey === '') throw new UsageError('The API key is missing: set WAYBILL_API_KEY.')
    // Imported here, because other commands start faster without it.
    const { TypesError, updateTypes } = await import('../../client/cli/types.ts')
    const { json, text, isCurrent } = await updateTypes({
      url: options.url,
      apiKey,
      accountId: options['account-id'],
      output: options.output ?? defaultOutput,
      isCheck: options.check === true,
    }).catch((error: unknown) => {
      if (!(error instanceof TypesError)) throw error
      throw new ReportedError({ error: error.message, exitCode: error.isUsage ? 2 : 1 })
    })
    return { json, text, exitCode: isCurrent ? 0 : 1 }
  },
})
