import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listMissing } from '../../clients/tools.ts'
import { sendableDemoTemplates } from '../../support/demo-templates.ts'
import { reportMissing } from '../../support/process.ts'
import { startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

/** The sandbox's templates show what can be sent, so each is sent in every way that a reader may try. */

let server: TestServer
let account: TestAccount
beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
})
afterAll(() => server?.close())

const to = '34600111222'
const missing = listMissing(['curl'])
if (missing.length > 0) reportMissing('sending the demo templates with curl', 'curl')

/** The example send request in the text of the template. */
async function readExample(name: string, language: string) {
  const { example } = await account.trpc.template.get.query({ name, language })
  if (!example) throw new Error('the template has no example')
  return { ...example, to }
}

function sentToWhatsApp(name: string): unknown[] {
  return server.simulator.requests.filter(
    ({ path, body }) =>
      path === `/${account.phoneNumberId}/messages` && JSON.stringify(body).includes(`"name":"${name}"`),
  )
}

test.each(sendableDemoTemplates)('sends $name ($language) by tRPC', async ({ name, language }) => {
  const before = sentToWhatsApp(name).length
  const sent = await account.trpc.message.send.mutate(await readExample(name, language))

  expect(sent).toMatchObject({ status: 'sent', template: name, to })
  expect(sentToWhatsApp(name)).toHaveLength(before + 1)
})

test.skipIf(missing.length > 0).each(sendableDemoTemplates)(
  'sends $name ($language) with curl',
  async ({ name, language }) => {
    const headers = { 'X-API-Key': account.apiKey, 'Content-Type': 'application/json' }
    const options = Object.entries(headers).flatMap(([key, value]) => ['--header', `${key}: ${value}`])
    const read = await promisify(execFile)('curl', [
      '--silent',
      ...options,
      `${server.url}/api/v1/template/${name}/${language}`,
    ])
    const { example } = (JSON.parse(read.stdout) as { data: { example: object } }).data
    const body = JSON.stringify({ ...example, to })

    const { stdout } = await promisify(execFile)('curl', [
      '--silent',
      ...options,
      '--data',
      body,
      `${server.url}/api/v1/message/send`,
    ])

    expect(JSON.parse(stdout)).toMatchObject({ success: true, data: { status: 'sent', template: name, to } })
  },
)

test('are all approved templates of the sandbox', async () => {
  const { items } = await account.trpc.template.list.query({ limit: 100 })
  const sendable = items.filter((template) => template.sendable)
  expect(sendable.map(({ name, language }) => `${name} ${language}`).toSorted()).toEqual(
    sendableDemoTemplates.map(({ name, language }) => `${name} ${language}`).toSorted(),
  )
})
