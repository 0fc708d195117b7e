import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startSimulator, type Simulator } from '../../src/whatsapp/simulator/simulator.ts'
import { reportMissing } from '../support/process.ts'
import { copyProgram, installPackages, listMissing, pythonCommand, run } from './tools.ts'

/** Third-party clients of the Cloud API work with the simulator as they do with Meta. */

let simulator: Simulator
let program: string
beforeAll(async () => {
  simulator = await startSimulator()
  ;({ program } = await copyProgram('cloud-api'))
})
beforeEach(() => simulator.requests.splice(0))
afterAll(() => simulator?.stop())

async function report(command: string, script: string): Promise<unknown> {
  const output = await run(program, command, [script], {
    GRAPH_API_URL: simulator.url,
    ACCESS_TOKEN: simulator.accessToken,
    PHONE_NUMBER_ID: simulator.phoneNumberId,
    WABA_ID: simulator.wabaId,
  })
  return JSON.parse(output)
}

/** The names of the templates that the simulator received in sends, in order. */
function sentNames(): unknown[] {
  return simulator.requests
    .filter(({ path }) => path.endsWith('/messages'))
    .map(({ body }) => (body as { template: { name: string } }).template.name)
}

function messageIds(count: number): unknown[] {
  return Array.from({ length: count }, () => expect.stringMatching(/^wamid\./))
}

const withParcel = ['delivery_feedback', 'track_parcel', 'pick_up_point']

const missing = listMissing(['python3', 'npm'])
if (missing.length > 0) reportMissing('sending with clients of the Cloud API', missing.join(' and '))

test.skipIf(missing.includes('python3'))(
  'pywa sends upper-case components, lists templates and reads the account',
  async () => {
    const python = await pythonCommand('python', 'cloud-api/requirements.txt')

    expect(await report(python, 'send_with_pywa.py')).toEqual({
      sent: messageIds(5),
      refused: 132001,
      found: withParcel,
      total: withParcel.length,
      stored: simulator.templates.all().length,
      unusable: 2,
      account: 'Waybill Demo Shop',
      apps: ['300000000000001'],
    })
    expect(sentNames()).toEqual([
      'order_shipped',
      'order_delayed',
      'track_parcel',
      'delivery_feedback',
      'birthday_coupon',
      'no_such_template',
    ])
    expect(JSON.stringify(simulator.requests[0]?.body)).toContain('"type":"BODY"')
  },
)

test.skipIf(missing.includes('python3'))('heyoo sends with an expired version of the Graph API', async () => {
  const python = await pythonCommand('python', 'cloud-api/requirements.txt')

  expect(await report(python, 'send_with_heyoo.py')).toEqual({ sent: messageIds(2), refused: 132001 })
  expect(sentNames()).toEqual(['order_shipped', 'hello_world', 'no_such_template'])
  expect(simulator.requests.map(({ version }) => version)).toEqual(['v14.0', 'v14.0', 'v14.0'])
})

test.skipIf(missing.includes('npm'))(
  '@great-detail/whatsapp sends, filters templates and lists subscribed apps',
  async () => {
    await installPackages(program, 'cloud-api')

    expect(await report(process.execPath, 'send-with-great-detail.mjs')).toEqual({
      sent: messageIds(2),
      refused: 132001,
      found: withParcel,
      unusable: 2,
      account: 'Waybill Demo Shop',
      apps: ['300000000000001'],
    })
    expect(sentNames()).toEqual(['order_shipped', 'track_parcel', 'no_such_template'])
  },
)

test.skipIf(missing.includes('npm'))(
  '@chat-adapter/whatsapp sends and reads the error of an unknown template',
  async () => {
    await installPackages(program, 'cloud-api')

    expect(await report(process.execPath, 'send-with-chat-adapter.mjs')).toEqual({
      sent: messageIds(1),
      refused: 132001,
    })
    expect(sentNames()).toEqual(['order_shipped', 'no_such_template'])
  },
)
