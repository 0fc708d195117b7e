import { sendMessage } from '../../../contracts/api/message.ts'
import type { Demo, DemoNumber } from './demo.ts'

/** How clients of the Cloud API reach the simulated WhatsApp. */
export interface CloudApi extends DemoNumber {
  /** Base URL, without a version. */
  url: string
}

/** Returns the text that `npm start` prints: everything needed to send a first message. */
export function writeWelcome(url: string, demo: Demo, cloudApi: CloudApi): string {
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
    'Press Ctrl+C to stop. The data is kept.',
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
