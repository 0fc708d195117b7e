import { randomBytes } from 'node:crypto'
import { sendMessage } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { type Config, readConfig } from '../../platform/config.ts'
import { maskNumber } from '../../platform/log.ts'
import { joinWords } from '../../platform/text.ts'
import { callbackPath } from '../../whatsapp/callbacks/subscription.ts'
import type { CallbackTarget } from '../../whatsapp/simulator/messages/reporter.ts'
import type { Simulator } from '../../whatsapp/simulator/simulator.ts'
import { localCommand, printed } from '../command.ts'
import type { Demo, DemoNumber } from '../sandbox-demo.ts'

/** Ignored variables, so that the sandbox never uses real data or the real WhatsApp. */
const ignored = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'GRAPH_API_URL',
  'META_APP_SECRET',
  'META_APP_SECRET_FILE',
  'META_VERIFY_TOKEN',
  'META_VERIFY_TOKEN_FILE',
]

export const sandbox = localCommand({
  name: 'sandbox',
  summary: 'Run the service with an embedded database, a simulated WhatsApp and a demo account (npm start)',
  args: [],
  options: {},
  notes: [`Ignores ${joinWords(ignored, 'and')}. Data is stored in WAYBILL_DATA_DIR (.waybill).`],
  examples: ['npm start', 'PORT=3001 npm start'],
  run: async (environment, { json }) => {
    const given = ignored.filter((name) => (environment[name] ?? '') !== '')
    if (given.length > 0) console.error(`The sandbox ignores ${joinWords(given, 'and')}.`)
    if (!json) console.error('Starting the sandbox. The first start creates the database.')
    // Imported here and below, because other commands start faster without it.
    const { startSimulator } = await import('../../whatsapp/simulator/simulator.ts')
    const simulator = await startSimulator({ sandbox: true })
    const appSecret = randomBytes(16).toString('hex')
    try {
      const { runServer } = await import('../run-server.ts')
      const { findUnknownNumber, prepareDemo, sendFirstMessage } = await import('../sandbox-demo.ts')
      const config = configure(environment, simulator, appSecret)
      await runServer(config, {
        command: 'sandbox',
        checkData: async ({ deps: { db } }) => {
          const unknown = await findUnknownNumber(db, [...simulator.phoneNumberIds()])
          if (unknown !== undefined) throw new ServiceError('SETTING_REFUSED', describeRealData(config, unknown))
        },
        whenListening: async ({ deps }, url) => {
          const demo = await prepareDemo(deps, simulator, url)
          simulator.reportTo({
            url: url + callbackPath,
            appSecret,
            ...(json ? {} : { onCallbackAccepted: writeReport }),
          })
          const { phoneNumberId, wabaId, accessToken } = simulator
          const cloudApi = { url: simulator.url, phoneNumberId, wabaId, accessToken }
          console.log(json ? JSON.stringify({ url, ...demo, cloudApi }) : `\n${writeWelcome(url, demo, cloudApi)}\n`)
          await sendFirstMessage(deps, demo.accountId)
        },
        drainMilliseconds: 0,
      })
    } finally {
      await simulator.stop()
    }
    return printed()
  },
})

/** The simulated WhatsApp would reject the tokens of real accounts, which deactivates them. */
function describeRealData({ database }: Config, phoneNumberId: string): string {
  const folder = database.kind === 'pglite' ? database.dataDir : ''
  return `${folder} holds the data of another server: a WhatsApp account with the phone number ID ${phoneNumberId}, which the simulated WhatsApp does not have. Set WAYBILL_DATA_DIR to another folder.`
}

/** Logs warnings only, so that the welcome text stays on the screen. */
function configure(environment: NodeJS.ProcessEnv, simulator: Simulator, appSecret: string): Config {
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !ignored.includes(name)))
  return readConfig({
    LOG_LEVEL: 'warn',
    // Webhook endpoints of a sandbox run on the same machine.
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...own,
    GRAPH_API_URL: simulator.url,
    META_APP_SECRET: appSecret,
    META_VERIFY_TOKEN: randomBytes(16).toString('hex'),
  })
}

/** Prints the statuses of the simulated WhatsApp, so that the user sees a message being delivered. */
function writeReport({ status, message }: Parameters<NonNullable<CallbackTarget['onCallbackAccepted']>>[0]): void {
  console.log(
    `${new Date().toLocaleTimeString('en-GB')}  ${message.template.name} to ${maskNumber(message.waId)}: ${status}`,
  )
}

/** How clients of the Cloud API reach the simulated WhatsApp. */
interface CloudApi extends DemoNumber {
  /** Base URL, without a version. */
  url: string
}

/** Returns the text that `npm start` prints: everything needed to send a first message. */
function writeWelcome(url: string, demo: Demo, cloudApi: CloudApi): string {
  return [
    `Waybill is running at ${url} with a simulated WhatsApp. No messages are sent.`,
    `Open the dashboard, signed in as the owner of a demo account (the link works once):\n\n  ${url}${demo.signInPath}`,
    describeKey(demo),
    `Send a message:\n\n${writeCurl(url, demo.apiKey ?? 'YOUR_API_KEY')}`,
    [
      `Dashboard    ${url}/settings/`,
      `Docs         ${url}/docs`,
      `OpenAPI      ${url}/openapi.json`,
      `Webhooks     npm run waybill -- webhook add ${demo.accountId} --url http://127.0.0.1:4000/`,
      'Commands     npm run waybill -- --help',
    ].join('\n'),
    describeCloudApi(cloudApi),
    'Press Ctrl+C to stop. The data is kept.\nThe statuses of messages follow; at the first start, those of an example message.',
  ].join('\n\n')
}

function describeCloudApi({ url, phoneNumberId, wabaId, accessToken }: CloudApi): string {
  return `Simulated Cloud API, for programs that call WhatsApp themselves:

  Base URL           ${url}
  Access token       ${accessToken}
  Phone number ID    ${phoneNumberId}
  WABA ID            ${wabaId}`
}

function describeKey({ accountId, apiKey, keyStart }: Demo): string {
  if (apiKey !== undefined) return `API key of the demo account ${accountId}, shown only once:\n\n  ${apiKey}`
  const regenerate = `npm run waybill -- key regenerate ${accountId}`
  return keyStart === undefined
    ? `The demo account ${accountId} has no API key. Generate one: ${regenerate}`
    : `The API key of the demo account ${accountId} starts with ${keyStart}… and was shown when it was generated.\nTo replace it, run in another terminal: ${regenerate}`
}

function writeCurl(url: string, apiKey: string): string {
  return [
    `  curl -X POST ${url}${sendMessage.path}`,
    `-H 'X-API-Key: ${apiKey}'`,
    `-H 'Content-Type: application/json'`,
    `-H 'Idempotency-Key: order-1042-shipped'`,
    `-d '${JSON.stringify(sendMessage.example.input)}'`,
  ].join(' \\\n    ')
}
