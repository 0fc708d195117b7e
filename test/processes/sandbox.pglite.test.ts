import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { z } from 'zod'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildDashboard } from '../../src/packaging/build-dashboard.ts'
import { openCookieBrowser, type CookieBrowser } from '../support/cookie-browser.ts'
import { freePort } from '../support/postgres.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { createEmbeddedInstallation, type Installation, type RunningServer } from '../cli/installation.ts'
import { eventually } from '../support/eventually.ts'

const environment = { DATABASE_URL: 'postgres://127.0.0.1:9/none', META_APP_SECRET: '' }

// Like `npm start`; built once and reused.
beforeAll(buildDashboard)

const Parameter = z.object({ examples: z.object({ default: z.object({ value: z.string() }) }) })
const Document = z.object({ components: z.object({ parameters: z.object({ AccountIdParameter: Parameter }) }) })

describe('a new sandbox', () => {
  let waybill: Installation
  let server: RunningServer
  beforeAll(async () => {
    // A fixed port that is known before the start, because callbacks must reach the server.
    waybill = await createEmbeddedInstallation({ ...environment, PORT: String(await freePort()) })
    server = await waybill.serve({ args: ['sandbox'] })
  })
  afterAll(() => waybill.remove())

  test('prints a key and a curl command that sends a message', async () => {
    expect(server.stdout()).toMatch(/\n {2}wb_live_[0-9a-f]{64}\n/)
    expect(await pasteCurl(server)).toMatchObject({ success: true, data: { status: 'sent', to: '34600111222' } })
    for (const page of ['/settings/', '/docs', '/openapi.json']) {
      expect(server.stdout()).toContain(`${server.url}${page}\n`)
      expect((await fetch(server.url + page)).status).toBe(200)
    }
  })

  test('already contains a message that differs from the example', async () => {
    const [apiKey = ''] = /wb_live_[0-9a-f]{64}/.exec(server.stdout()) ?? []
    const list = async (externalId: string) => {
      const response = await fetch(`${server.url}/api/v1/message?externalId=${externalId}`, {
        headers: { 'x-api-key': apiKey },
      })
      return response.json()
    }

    expect(await list('order-1041')).toMatchObject({ data: { items: [{ to: '34600111333' }] } })
    expect(await list('order-1042')).toMatchObject({ data: { items: [{ to: '34600111222' }] } })
  })

  test('answers requests with the account ID of the examples', async () => {
    const [apiKey = ''] = /wb_live_[0-9a-f]{64}/.exec(server.stdout()) ?? []
    const openapi = Document.parse(await (await fetch(`${server.url}/openapi.json`)).json())
    const accountId = openapi.components.parameters.AccountIdParameter.examples.default.value

    expect(accountId).toMatch(/^wa_/)
    const listed = await fetch(`${server.url}/api/v1/template?accountId=${accountId}`, {
      headers: { 'x-api-key': apiKey },
    })

    expect(await listed.json()).toMatchObject({ success: true })
  })

  test('prints the address of the simulated Cloud API, which other clients can call', async () => {
    const [, url] = /Base URL +(http:\S+)/.exec(server.stdout()) ?? []
    const [, token] = /Access token +(\S+)/.exec(server.stdout()) ?? []
    const [, phoneNumberId] = /Phone number ID +(\d+)/.exec(server.stdout()) ?? []
    const [, wabaId] = /WABA ID +(\d+)/.exec(server.stdout()) ?? []
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

    const body = JSON.stringify({
      messaging_product: 'whatsapp',
      to: '+34600111222',
      type: 'template',
      template: { name: 'hello_world', language: { code: 'en_US' } },
    })
    const sent = await fetch(`${url}/v25.0/${phoneNumberId}/messages`, { method: 'POST', headers, body })
    const listed = await fetch(`${url}/v25.0/${wabaId}/message_templates?name=hello_world`, { headers })

    expect(await sent.json()).toMatchObject({ messages: [{ message_status: 'accepted' }] })
    expect(await listed.json()).toMatchObject({ data: [{ name: 'hello_world', status: 'APPROVED' }] })
  })

  test('prints a link that signs the demo owner in once and shows a message', async () => {
    const [link = ''] = /http:\S+magic-link\S+/.exec(server.stdout()) ?? []
    const [browser, late] = [openCookieBrowser(), openCookieBrowser()]
    const ask = async (by: CookieBrowser, name: string, input: object = {}) => {
      const response = await by.get(
        `${server.url}/settings/trpc/settings.${name}?input=${encodeURIComponent(JSON.stringify(input))}`,
      )
      // Each test names the part of the response it expects.
      return ((await response.json()) as { result?: { data: { accounts: { accountId: string }[]; items: object[] } } })
        .result?.data
    }

    await browser.get(link)
    await late.get(link)

    const accountId = (await ask(browser, 'session.get'))?.accounts[0]?.accountId
    await eventually(async () =>
      expect((await ask(browser, 'message.list', { accountId }))?.items.at(-1)).toMatchObject({ status: 'read' }),
    )
    expect(await ask(late, 'session.get')).toBeUndefined()
  })

  test('shows what messages would cost, at invented rates', async () => {
    const { items } = await waybill.json(['rates', 'list'], { env: { DATABASE_URL: '' } })

    expect(items).toMatchObject([{ validFrom: '2026-01-01', currency: 'EUR' }])
  })

  test('names the environment variables that it ignores when it stops', async () => {
    const { exitCode, stderr } = await server.stop('SIGINT')

    expect(exitCode).toBe(0)
    expect(stderr).toBe(
      'The sandbox ignores DATABASE_URL and META_VERIFY_TOKEN.\nStarting the sandbox. The first start creates the database.\n',
    )
  })
})

describe('the sandbox', () => {
  let waybill: Installation
  beforeEach(async () => {
    waybill = await createEmbeddedInstallation(environment)
  })
  afterEach(() => waybill.remove())

  const startSandbox = () => waybill.serve({ args: ['sandbox'] })

  test('keeps its data and explains how to get a new key', async () => {
    const first = await startSandbox()
    const [, apiKey = ''] = /(wb_live_[0-9a-f]{64})/.exec(first.stdout()) ?? []
    await first.stop('SIGKILL')

    const second = await startSandbox()

    expect(second.stdout()).not.toMatch(/wb_live_[0-9a-f]{64}/)
    expect(second.stdout()).toContain(`starts with ${apiKey.slice(0, 14)}…`)
    const [, command = ''] = /npm run waybill -- (key regenerate acc_\w+)/.exec(second.stdout()) ?? []
    const { stdout } = await waybill.run(command.split(' '), { env: { DATABASE_URL: '' } })
    expect(stdout).toMatch(/^wb_live_[0-9a-f]{64}\n/)
    expect(await pasteCurl(second)).toMatchObject({ success: false, error: { code: 'INVALID_API_KEY' } })
  })

  test('suggests another port if its port is in use and keeps its data', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0

    const { exitCode, stderr } = await waybill.run(['sandbox'], { env: { PORT: String(port) } })
    other.close()

    expect(exitCode).toBe(1)
    expect(stderr).toContain(`Port ${port} is in use by another program. Use another port: PORT=${port + 1} npm start`)
    expect((await startSandbox()).stdout()).toMatch(/wb_live_[0-9a-f]{64}/)
  })

  test('does not start with the data of another server, whose accounts it would deactivate', async () => {
    const simulator = await startSimulator()
    const env = { DATABASE_URL: '', GRAPH_API_URL: simulator.url }
    const { accountId } = await waybill.json(['account', 'create', '--name', 'Real'], { env })
    const number = { phoneNumberId: '106540352242922', wabaId: '102290129340398', accessToken: 'EAAreal' }
    simulator.addPhoneNumber(number)
    const ids = ['--phone-number-id', number.phoneNumberId, '--waba-id', number.wabaId, '--access-token', '-']
    await waybill.json(['whatsapp', 'add', accountId, ...ids], { env, stdin: number.accessToken })
    await simulator.stop()

    const { exitCode, stderr } = await waybill.run(['sandbox'])

    expect(exitCode).toBe(1)
    expect(stderr).toContain('the phone number ID 106540352242922')
    expect(stderr).toContain('Set WAYBILL_DATA_DIR to another folder.')
  })

  test('starts with a verify token of its own, as compose files and secrets set it', async () => {
    const { url } = await waybill.serve({
      args: ['sandbox'],
      env: { META_VERIFY_TOKEN_FILE: '/run/secrets/verify-token' },
    })

    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('reactivates its demo account after a command used it with the real WhatsApp', async () => {
    const first = await startSandbox()
    const env = { DATABASE_URL: '' }
    const { items } = await waybill.json(['account', 'list'], { env })
    const list = ['whatsapp', 'list', String(items[0]?.['accountId'])]
    const [whatsAppAccount] = (await waybill.json(list, { env })).items
    await first.stop('SIGINT')
    await waybill.json(['whatsapp', 'deactivate', String(whatsAppAccount?.['whatsAppAccountId'])], { env })

    await startSandbox()

    expect((await waybill.json(list, { env })).items).toMatchObject([{ active: true }])
  })
})

/** Runs the printed command in a shell. */
async function pasteCurl(server: RunningServer): Promise<unknown> {
  const [curl = ''] = /curl [^]*?\}'/.exec(server.stdout()) ?? []
  const { stdout } = await promisify(execFile)('sh', ['-c', curl])
  return JSON.parse(stdout)
}
