import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../support/server.ts'

/** A customer's project with a compiler of its own: it has openapi.json and nothing else of ours. */
const project = path.join(import.meta.dirname, '../generated-client')

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
  await rm(path.join(project, 'generated'), { recursive: true, force: true })
  await run('openapi-typescript/bin/cli.js', '../../openapi.json', '-o', 'generated/waybill.ts')
  await run('typescript/bin/tsc', '-p', '.')
})

afterAll(() => server?.close())

/** What a tool says when it fails is on its standard output. */
async function run(tool: string, ...args: string[]): Promise<void> {
  const script = path.join(project, 'node_modules', tool)
  await promisify(execFile)(process.execPath, [script, ...args], { cwd: project }).catch(
    (error: { stdout: string }) => {
      throw new Error(`${tool} failed:\n${error.stdout}`, { cause: error })
    },
  )
}

/**
 * What `send.ts` and `look.ts` export. Written again here, since their own types exist only once the
 * client was generated, and ours are checked before.
 */
interface Customer {
  tellParcelLeft(
    options: Options,
    parcel: Record<'recipient' | 'name' | 'order', string> & { template?: string },
  ): Promise<unknown>
  findMessages(options: Options, order: string): Promise<unknown>
  findTemplate(options: Options, name: string): Promise<unknown>
}

interface Options {
  url: string
  apiKey: string
}

async function loadCustomer(): Promise<Customer> {
  const compiled = path.join(project, 'generated/out')
  const [send, look] = await Promise.all([
    import(path.join(compiled, 'send.js')),
    import(path.join(compiled, 'look.js')),
  ])
  return { ...send, ...look }
}

test('a client made from openapi.json sends a message and finds it again', async () => {
  const { apiKey } = await server.account()
  const { tellParcelLeft, findMessages, findTemplate } = await loadCustomer()
  const options = { url: server.url, apiKey }

  const outcome = await tellParcelLeft(options, { recipient: '34600111222', name: 'Ada', order: 'order-1042' })

  expect(outcome).toEqual({ sent: true, messageId: expect.stringMatching(/^msg_/), status: 'sent' })
  expect(await findMessages(options, 'order-1042')).toMatchObject([{ status: 'sent' }])
  expect(await findTemplate(options, 'order_shipped')).toMatchObject({ sendable: true })
  expect(await findTemplate(options, 'no_such_template')).toBeUndefined()
})

test('its errors are values with readable codes', async () => {
  const { apiKey } = await server.account()
  const { tellParcelLeft } = await loadCustomer()
  const parcel = { recipient: '34600111222', name: 'Ada', order: 'order-1043' }

  const outcomes = await Promise.all([
    tellParcelLeft({ url: server.url, apiKey: 'wrong' }, parcel),
    tellParcelLeft({ url: server.url, apiKey }, { ...parcel, recipient: '+34600111222' }),
    tellParcelLeft({ url: server.url, apiKey }, { ...parcel, template: 'no_such_template' }),
  ])

  expect(outcomes).toEqual([
    { sent: false, advice: expect.stringMatching(/^ask the account owner: /) },
    { sent: false, advice: expect.stringMatching(/^correct the message: to: /) },
    { sent: false, advice: expect.stringMatching(/^have the template approved: /) },
  ])
})
