/**
 * Process: our own server with a part of it taken out. `verb`: the route with an authentication that
 * asks no database and a verb that does nothing. `database <upstream URL>`: the whole send, each
 * statement answered at once by what PostgreSQL would say.
 */
import { randomBytes } from 'node:crypto'
import { sendMessage } from '../../contracts/message.ts'
import { accessTokenPurpose } from '../../src/account/secret-purposes.ts'
import { createLocalAnnouncements } from '../../src/db/announcements.ts'
import type { Deps } from '../../src/deps.ts'
import { createServer } from '../../src/http/server.ts'
import { verbs } from '../../src/http/verbs.ts'
import { encodeId } from '../../src/ids.ts'
import { createSecretBox } from '../../src/secret-box.ts'
import { createLogger } from '../../src/telemetry.ts'
import { createWebhookSender } from '../../src/webhook/sender.ts'
import { createCloudApi } from '../../src/whatsapp/cloud-api.ts'
import { templateComponents } from './example.ts'
import { openNoDatabase } from './no-database.ts'

const [part, upstreamUrl = 'http://127.0.0.1:1'] = process.argv.slice(2)

const secrets = createSecretBox([randomBytes(32)], randomBytes)
const whatsAppAccountId = 'wa_01kah39zr4e8m5n6p7q8s9t0vw'

const caller = {
  account_id: 'acc_01kah39zr4e8m5n6p7q8s9t0vw',
  api_enabled: true,
  address_allowed: true,
  rate_limit_per_minute: 1_000_000,
  used: 1,
  reset_seconds: 60,
}

const sendFacts = {
  whatsapp_account_id: whatsAppAccountId,
  phone_number_id: '106540352242922',
  waba_id: '102290129340398',
  access_token_encrypted: secrets.encrypt(randomBytes(100).toString('hex'), accessTokenPurpose(whatsAppAccountId)),
  active: true,
  inactive_reason: null,
  template_status: 'APPROVED',
  parameter_format: 'POSITIONAL',
  components: templateComponents,
}

const deps: Deps = {
  db: openNoDatabase({ 'from api_keys': [caller], 'from whatsapp_accounts': [sendFacts] }),
  whatsapp: createCloudApi({ url: upstreamUrl, version: 'v25.0' }),
  webhooks: createWebhookSender({ timeoutSeconds: 15, allowPrivate: true }),
  announcements: createLocalAnnouncements(),
  secrets,
  now: () => new Date(),
  newId: (prefix) => encodeId(prefix, Date.now(), randomBytes(10)),
  randomBytes,
  log: createLogger('warn'),
}

if (part === 'verb') Object.assign(verbs.message, { send: () => Promise.resolve(sendMessage.example.output) })
const server = await createServer(deps, {
  trustedProxies: [],
  metricsToken: undefined,
  sandbox: false,
  isDraining: () => false,
})
console.log(`listens on ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
