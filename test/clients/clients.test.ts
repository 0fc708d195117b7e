import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Check, checks, prepareScenario } from './scenario.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { clients } from './clients.ts'
import { reportMissing } from '../support/process.ts'
import { listMissing, run } from './tools.ts'

/** The result of a run for one client. */
interface Row {
  language: string
  generator: string
  document: string
  failed: readonly string[]
  lacks: Partial<Record<Check, string>>
}

const guide = path.resolve(import.meta.dirname, '../../docs/contributing/testing.md')
const block = /(<!-- measured:clients -->\n\n)([^]*?)(\n\n<!-- \/measured:clients -->)/

/** Replaces the table in the guide. Needs every toolchain: a client that did not run has no row. */
async function writeTable(rows: readonly Row[]): Promise<void> {
  const text = await readFile(guide, 'utf8')
  await writeFile(
    guide,
    text.replace(block, (_, before: string, __, after: string) => before + print(rows) + after),
  )
}

function print(rows: readonly Row[]): string {
  const head = ['Language', 'Generator', 'OpenAPI', ...checks]
  return [head, head.map(() => '-'), ...rows.map(toCells)].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function toCells({ language, generator, document, failed, lacks }: Row): string[] {
  const results = checks.map((check) => (failed.includes(check) ? `no: it ${lacks[check] ?? 'fails'}` : 'yes'))
  return [language, generator, document, ...results]
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(async () => {
  if (process.env['WRITE_TABLE'] === 'true') await writeTable(clients.flatMap(({ name }) => rows.get(name) ?? []))
  await server?.close()
})

/** The results of this run by the name of the client. */
const rows = new Map<string, Row>()

for (const client of clients) {
  const { name, language, generator, document = '3.1', needs, lacks = {}, build } = client
  const missing = listMissing(needs)
  if (missing.length > 0) reportMissing(`the client ${name}`, missing.join(' and '))

  test
    .skipIf(missing.length > 0)
    .concurrent(
      `the ${language} client of ${generator} sends once, reads errors, lists every page and uploads a file`,
      async () => {
        const { folder, command, args, environment } = await build()
        const { environment: given, examine } = await prepareScenario(server)

        const failed = await examine(await run(folder, command, args, { ...environment, ...given }))

        rows.set(name, { language, generator, document, failed: Object.keys(failed), lacks })
        for (const check of checks) if (failed[check] !== undefined && lacks[check] === undefined) throw failed[check]
        expect(Object.keys(failed)).toEqual(Object.keys(lacks))
      },
    )
}
