import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { sendableDemoTemplates } from '../../support/demo-templates.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

/** A customer's project with its own compiler. It uses only openapi.json from this repository. */
const project = path.join(import.meta.dirname, '../../generated-client')

const server = await forFile(startTestServer())
await rm(path.join(project, 'generated'), { recursive: true, force: true })
await run('openapi-typescript/bin/cli.js', '../../openapi.json', '-o', 'generated/waybill.ts')
await run('typescript/bin/tsc', '-p', '.')

/** The tool prints its errors to standard output. */
async function run(tool: string, ...args: string[]): Promise<void> {
  const script = path.join(project, 'node_modules', tool)
  await promisify(execFile)(process.execPath, [script, ...args], { cwd: project }).catch(
    (error: { stdout: string }) => {
      throw new Error(`${tool} failed:\n${error.stdout}`, { cause: error })
    },
  )
}

/**
 * The exports of `send.ts` and `find.ts`. Declared again here, because their own types exist only after the client is
 * generated, and this file is type-checked earlier.
 */
interface Customer {
  notifyShipped(
    options: Options,
    parcel: Record<'recipient' | 'name' | 'order', string> & { template?: string },
  ): Promise<unknown>
  findMessages(options: Options, order: string): Promise<unknown>
  findTemplate(options: Options, name: string, language?: string): Promise<unknown>
  sendExample(options: Options, template: unknown, to: string): Promise<string>
}

interface Options {
  url: string
  apiKey: string
}

async function loadCustomer(): Promise<Customer> {
  const compiled = path.join(project, 'generated/out')
  const [send, find] = await Promise.all([
    import(path.join(compiled, 'send.js')),
    import(path.join(compiled, 'find.js')),
  ])
  return { ...send, ...find }
}

test('sends and finds a message with a client generated from openapi.json', async () => {
  const { apiKey } = await server.account()
  const { notifyShipped, findMessages, findTemplate } = await loadCustomer()
  const options = { url: server.url, apiKey }

  const outcome = await notifyShipped(options, { recipient: '34600111222', name: 'Ada', order: 'order-1042' })

  expect(outcome).toEqual({ sent: true, messageId: expect.stringMatching(/^msg_/), status: 'sent' })
  expect(await findMessages(options, 'order-1042')).toMatchObject([{ status: 'sent' }])
  expect(await findTemplate(options, 'order_shipped')).toMatchObject({ sendable: true })
  expect(await findTemplate(options, 'no_such_template')).toBeUndefined()
})

test.each(sendableDemoTemplates)('sends $name ($language) with its own example', async ({ name, language }) => {
  const { apiKey } = await server.account()
  const { findTemplate, sendExample } = await loadCustomer()
  const options = { url: server.url, apiKey }

  const template = await findTemplate(options, name, language)

  expect(await sendExample(options, template, '34600111222')).toBe('sent')
})

test('its errors are values with readable codes', async () => {
  const { apiKey } = await server.account()
  const { notifyShipped } = await loadCustomer()
  const parcel = { recipient: '34600111222', name: 'Ada', order: 'order-1043' }

  const outcomes = await Promise.all([
    notifyShipped({ url: server.url, apiKey: 'wrong' }, parcel),
    notifyShipped({ url: server.url, apiKey }, { ...parcel, recipient: '+34600111222' }),
    notifyShipped({ url: server.url, apiKey }, { ...parcel, template: 'no_such_template' }),
  ])

  expect(outcomes).toEqual([
    { sent: false, advice: expect.stringMatching(/^ask the account owner: /) },
    { sent: false, advice: expect.stringMatching(/^correct the message: to: /) },
    { sent: false, advice: expect.stringMatching(/^have the template approved: /) },
  ])
})
