import { afterAll, beforeAll, test } from 'vitest'
import { startTestServer, type TestServer } from '../support/server.ts'
import { clients } from './clients.ts'
import { prepareScenario } from './scenario.ts'
import { listMissing, run } from './tools.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.close())

for (const { name, language, generator, needs, hidesHeaders = false, build } of clients) {
  const missing = listMissing(needs)
  if (missing.length > 0) console.warn(`Skipped: the client ${name} needs ${missing.join(' and ')}.`)

  test.skipIf(missing.length > 0)(
    `the ${language} client of ${generator} sends once, reads errors and lists every page`,
    async () => {
      const { folder, command, args, environment } = await build()
      const { environment: given, expectReport } = await prepareScenario(server)

      const output = await run(folder, command, args, { ...environment, ...given })

      await expectReport(output, { hidesHeaders })
    },
  )
}
