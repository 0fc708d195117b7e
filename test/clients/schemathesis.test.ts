import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { sendMessage } from '../../contracts/api/message.ts'
import { WhatsAppAccountId, MessageId } from '../../contracts/fields.ts'
import { updateAccount } from '../../src/accounts/account.ts'
import { encodeId, type IdPrefix } from '../../src/platform/ids.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { reportMissing } from '../support/process.ts'
import { document, listMissing, pythonCommand, run as runCommand } from './tools.ts'

/**
 * Schemathesis generates requests from the OpenAPI document, valid and invalid, and checks each response against it.
 * `schemathesis/checks.py` lists the accepted findings.
 */

const templateChanges = '/template/(create|update|delete|duplicate)$'

/** Template changes run separately, because a deleted template can no longer be sent. */
const runs = [
  { name: 'all but template changes', seconds: 90, filter: ['--exclude-path-regex', templateChanges] },
  { name: 'template changes', seconds: 30, filter: ['--include-path-regex', templateChanges] },
]
/** A busy machine generates fewer cases; fewer than this per operation mean that the run is broken. */
const leastCases = 5

/** The first account and message have the IDs of the document's examples, so that requests with them succeed. */
const exampleIds = new Map<IdPrefix, string>([
  ['wa', exampleOf(WhatsAppAccountId)],
  ['msg', exampleOf(MessageId)],
])

function exampleOf(schema: z.ZodType): string {
  return z.array(z.string()).min(1).parse(schema.meta()?.['examples'])[0] ?? ''
}

function newId(prefix: IdPrefix, at?: Date): string {
  const example = exampleIds.get(prefix)
  exampleIds.delete(prefix)
  return example ?? encodeId(prefix, at?.getTime() ?? Date.now(), randomBytes(10))
}

let server: TestServer
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waybill-schemathesis-'))
  server = await startTestServer({ deps: { newId } })
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

const Summary = z.object({
  operations: z.object({ selected: z.int(), tested: z.int() }),
  test_cases: z.object({ generated: z.int(), unique_failures: z.int() }),
})

const missing = listMissing(['python3'])
if (missing.length > 0) reportMissing('Schemathesis', missing.join(' and '))

test.skipIf(missing.length > 0).each(runs)(
  'generated requests get the answers that the document describes: $name',
  async (run) => {
    const account = await server.account()
    await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
    for (let count = 0; count < 3; count++) await account.post('/api/v1/message/send', sendMessage.example.input)
    const report = path.join(folder, 'report.json')

    const command = await pythonCommand('st', 'schemathesis/requirements.txt')
    // One worker: with two, Python 3.11 occasionally fails in `ast` (python/cpython#106905).
    const limits = ['--max-time', String(run.seconds), '--workers', '1', '--continue-on-failure', '--no-shrink']
    const checks = ['--checks', 'all', '--exclude-checks', 'positive_data_acceptance']
    const target = [document, '--url', server.url, '--header', `X-API-Key: ${account.apiKey}`, ...run.filter]
    // The command fails if a check does; the error then contains its output.
    const settings = path.join(import.meta.dirname, 'schemathesis')
    const configuration = ['--config-file', path.join(settings, 'schemathesis.toml')]
    await runCommand(
      folder,
      command,
      [...configuration, 'run', ...target, ...checks, ...limits, '--report-json-path', report],
      { SCHEMATHESIS_HOOKS: 'checks', PYTHONPATH: settings },
    )

    const { operations, test_cases: cases } = Summary.parse(JSON.parse(await readFile(report, 'utf8')))
    console.log(`Schemathesis: ${cases.generated} cases of ${operations.tested} operations (${run.name}), no finding.`)
    expect(operations.tested).toBe(operations.selected)
    expect(cases.generated).toBeGreaterThan(leastCases * operations.tested)
    expect(cases.unique_failures).toBe(0)
  },
)
