/**
 * Process: a WhatsApp that shares no code with Waybill's own simulator. It records which messages it received and
 * accepted and which statuses it reported. It repeats each status until it is acknowledged, like Meta.
 * start-upstream.ts starts it and controls it over IPC.
 */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'undici'
import { templateComponents } from '../bench/example.ts'
import { failureCode, scenarioOf, type ReportedStatus } from './scenarios.ts'
import { openLedger } from './ledger.ts'
import { createRandom } from './random.ts'
import type { Behaviour, UpstreamCommand, UpstreamOptions, UpstreamReply } from './start-upstream.ts'

interface TrackedMessage {
  messageId: string
  waMessageId: string
  to: string
  statuses: readonly ReportedStatus[]
  /** The position of the status that is being reported. */
  index: number
  timestamp: number
  dueAt: number
  attempts: number
  inFlight: boolean
}

// Written by start-upstream.ts, the only file that starts this process.
const options = JSON.parse(process.argv[2] ?? '') as UpstreamOptions
const random = createRandom(options.seed)
const ledger = openLedger(options.folder, 'upstream')
const callbackMilliseconds = 10_000
const maxCallbacksAtOnce = 8

let behaviour: Behaviour = 'normal'
let accepted = 0
let callbacksInFlight = 0
let acknowledgements = 0
/** Keys that were rejected once, for recipients that reject only the first send. */
const refusedOnce = new Set<string>()
/** Keys with a received but no accepted message. */
const undecided = new Set<string>()
const tracked = new Set<TrackedMessage>()

const server = createServer((incoming, response) => {
  readBody(incoming).then(
    (body) => handle(incoming, body, response),
    () => response.destroy(),
  )
})

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function handle(incoming: IncomingMessage, body: string, response: ServerResponse): void {
  const [, endpoint] = /\/((?:marketing_)?messages)$/.exec(incoming.url ?? '') ?? []
  if (incoming.method === 'POST' && endpoint !== undefined) return handleSend(body, endpoint, response)
  if (incoming.method === 'POST' && incoming.url?.endsWith('/media')) return answer(response, 200, { id: '1' })
  if (incoming.method === 'POST' && incoming.url?.endsWith('/message_templates')) return createTemplate(body, response)
  if (incoming.method === 'POST') return answer(response, 200, { success: true })
  return answer(response, 200, incoming.url?.includes('message_templates') ? templates : phoneNumber)
}

/** Like Meta, refuses a second template of a name and language (subcode 2388024). */
function createTemplate(body: string, response: ServerResponse): void {
  const template = JSON.parse(body) as (typeof templates.data)[number]
  const exists = templates.data.some(({ name }) => name === template.name)
  if (exists) {
    const error = { ...refusalBody(100).error, error_subcode: 2388024 }
    return respond(response, 400, { error })
  }
  const id = String(templates.data.length + 1)
  templates.data.push({ ...template, id, status: 'APPROVED' })
  ledger.write({ kind: 'template created', name: template.name })
  respond(response, 200, { id, status: 'APPROVED', category: template.category })
}

interface SendBody {
  to: string
  biz_opaque_callback_data: string
  template: { components: { parameters: { text: string }[] }[] }
}

function handleSend(body: string, endpoint: string, response: ServerResponse): void {
  // Other tests check the format of sends. An unreadable one ends this process and with it the campaign.
  const { to: number, biz_opaque_callback_data: messageId, template } = JSON.parse(body) as SendBody
  const to = number.replace('+', '')
  const key = template.components[0]?.parameters[1]?.text ?? ''
  ledger.write({ kind: 'received', key, messageId, to, endpoint })
  undecided.add(key)
  const scenario = scenarioOf(to)
  // `reset` and `garbage` interrupt half of the sends before they are accepted and half of them after.
  const isBroken = behaviour === 'reset' || behaviour === 'garbage'
  if (isBroken && random.chance(0.5)) return answerWithFault(response)
  if (scenario.refusal && (scenario.refusal.only === 'always' || !refusedOnce.has(key))) {
    refusedOnce.add(key)
    ledger.write({ kind: 'refused', messageId, code: scenario.refusal.code })
    return respond(response, scenario.refusal.httpStatus, refusalBody(scenario.refusal.code))
  }
  if (scenario.isWrongEndpoint && endpoint === 'marketing_messages') {
    ledger.write({ kind: 'misrouted', messageId })
    return respond(response, 400, refusalBody(131055))
  }
  const waMessageId = `wamid.${Buffer.from(`${to}:${++accepted}`).toString('base64')}`
  ledger.write({ kind: 'accepted', messageId, waMessageId })
  undecided.delete(key)
  track({ messageId, waMessageId, to, statuses: scenario.statuses })
  return respond(response, 200, {
    messaging_product: 'whatsapp',
    contacts: [{ input: number, wa_id: to }],
    messages: [{ id: waMessageId, message_status: 'accepted' }],
  })
}

function respond(response: ServerResponse, status: number, body: object): void {
  if (behaviour === 'reset' || behaviour === 'garbage') return answerWithFault(response)
  const milliseconds = behaviour === 'slow' ? random.between(200, 3_000) : random.between(0, 40)
  setTimeout(() => answer(response, status, body), milliseconds)
}

function answerWithFault(response: ServerResponse): void {
  if (behaviour === 'reset') return void response.destroy()
  const [status, text] = random.pick<readonly [number, string]>([
    [200, 'OK'],
    [200, '{"messaging_product":"whatsapp","messages":['],
    [502, '<html><body>502 Bad Gateway</body></html>'],
    [500, '{"error":{"message":"(#999999) Unheard of","type":"OAuthException","code":999999}}'],
  ])
  response.writeHead(status, { 'content-type': 'text/html' }).end(text)
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refusalBody(code: number) {
  const details = 'Refused by the simulated upstream'
  return {
    error: {
      message: `(#${code}) ${details}`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'AbCdEf',
    },
  }
}

function track(message: Pick<TrackedMessage, 'messageId' | 'waMessageId' | 'to' | 'statuses'>): void {
  const added = { ...message, index: -1, timestamp: 0, dueAt: 0, attempts: 0, inFlight: false }
  tracked.add(added)
  scheduleNext(added)
}

function scheduleNext(message: TrackedMessage): void {
  message.index++
  message.attempts = 0
  message.dueAt = Date.now() + random.between(0, 400)
  if (message.index >= message.statuses.length) tracked.delete(message)
}

/** Reports due statuses, several messages per callback but never two statuses of one message at once. */
function reportDue(): void {
  const now = Date.now()
  const due = [...tracked].filter(({ inFlight, dueAt }) => !inFlight && dueAt <= now)
  while (due.length > 0 && callbacksInFlight < maxCallbacksAtOnce) void report(due.splice(0, random.between(1, 8)))
}

async function report(messages: TrackedMessage[]): Promise<void> {
  callbacksInFlight++
  for (const message of messages) {
    message.inFlight = true
    if (message.attempts++ > 0) continue
    // Whole seconds, like Meta's. Repeats of a status are a second apart, so that the earliest one must win.
    message.timestamp = Math.floor(Date.now() / 1000) + message.index
    const status = message.statuses[message.index] ?? 'sent'
    const { messageId, index, timestamp } = message
    ledger.write({ kind: 'reported', messageId, index, status, timestamp })
  }
  const body = Buffer.from(JSON.stringify(toCallback(messages)))
  // Meta sometimes repeats a callback, also to another process behind the same address.
  const attempts = random.chance(0.05) ? [postCallback(body), postCallback(body)] : [postCallback(body)]
  const acknowledged = (await Promise.all(attempts)).some(Boolean)
  callbacksInFlight--
  for (const message of messages) {
    message.inFlight = false
    if (!acknowledged) message.dueAt = Date.now() + Math.min(2_000, 100 * 2 ** message.attempts)
    else acknowledge(message)
  }
}

function acknowledge(message: TrackedMessage): void {
  acknowledgements++
  ledger.write({ kind: 'acknowledged', messageId: message.messageId, index: message.index })
  scheduleNext(message)
}

async function postCallback(body: Buffer): Promise<boolean> {
  const signature = `sha256=${createHmac('sha256', options.appSecret).update(body).digest('hex')}`
  try {
    const response = await request(`${random.pick(options.callbackOrigins)}/webhooks/whatsapp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
      body,
      signal: AbortSignal.timeout(callbackMilliseconds),
    })
    await response.body.dump()
    if (response.statusCode !== 200 && response.statusCode !== 503)
      ledger.write({ kind: 'callback', status: response.statusCode })
    return response.statusCode === 200
  } catch {
    return false
  }
}

function toCallback(messages: TrackedMessage[]): object {
  const statuses = messages.map(({ messageId, waMessageId, to, statuses, index, timestamp }) => ({
    id: waMessageId,
    status: statuses[index],
    timestamp: String(timestamp),
    recipient_id: to,
    biz_opaque_callback_data: messageId,
    ...(statuses[index] === 'failed' && { errors: [{ code: failureCode, title: 'Message undeliverable' }] }),
  }))
  const { phoneNumberId, wabaId } = options.sender
  const metadata = { display_phone_number: '15550100000', phone_number_id: phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, statuses }
  return { object: 'whatsapp_business_account', entry: [{ id: wabaId, changes: [{ field: 'messages', value }] }] }
}

const templates = {
  data: [
    {
      id: '1',
      name: 'order_shipped',
      language: 'en',
      status: 'APPROVED',
      category: 'UTILITY',
      parameter_format: 'POSITIONAL',
      components: templateComponents,
    },
    {
      id: '2',
      name: 'autumn_offer',
      language: 'en',
      status: 'APPROVED',
      category: 'MARKETING',
      parameter_format: 'POSITIONAL',
      components: templateComponents,
    },
  ],
  paging: {},
}
const phoneNumber = {
  id: options.sender.phoneNumberId,
  display_phone_number: '+1 555-010-0000',
  verified_name: 'Chaos',
  // Any node of the Graph API gets this answer, the business account as well.
  marketing_messages_onboarding_status: 'ONBOARDED',
  primary_funding_id: '1',
  status: 'CONNECTED',
}

/** Refuses connections: closes the listener and resets open connections. */
function behave(next: Behaviour): void {
  if (next === 'refused' && behaviour !== 'refused') {
    server.close()
    server.closeAllConnections()
  }
  if (next !== 'refused' && behaviour === 'refused') server.listen(options.port, '127.0.0.1')
  behaviour = next
}

async function execute(command: UpstreamCommand): Promise<UpstreamReply> {
  if (command.kind === 'behave') behave(command.behaviour)
  if (command.kind === 'close') {
    clearInterval(reporting)
    await ledger.close()
  }
  return {
    outstanding: tracked.size,
    acknowledged: acknowledgements,
    undecided: command.kind === 'status' ? [...undecided] : [],
  }
}

process.on('message', (command: UpstreamCommand) => {
  void execute(command).then((reply) => process.send?.(reply))
})
// The parent process has ended.
process.on('disconnect', () => process.exit())
server.listen(options.port, '127.0.0.1', () => process.send?.('listening'))
const reporting = setInterval(reportDue, 25)
