import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../support/server.ts'
import { clients } from './clients.ts'
import { type Row, writeTable } from './matrix.ts'
import { checks, prepareScenario } from './scenario.ts'
import { reportMissing } from '../support/process.ts'
import { listMissing, run } from './tools.ts'

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
