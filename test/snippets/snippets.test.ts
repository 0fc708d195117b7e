import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as forward, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, type ExpectStatic, test } from 'vitest'
import { contents } from '../../src/http/docs/site/contents.ts'
import { sendMessage } from '../../contracts/api/message.ts'
import { webhooks } from '../../contracts/events.ts'
import { updateAccount } from '../../src/accounts/account.ts'
import { freePort } from '../support/postgres.ts'
import { pdf, postForm, startFileServer } from '../support/media-files.ts'
import { startTestServer, type TestAccount, type TestServer } from '../support/server.ts'
import { reportMissing } from '../support/process.ts'
import { document, pythonCommand, run as runTool } from '../clients/tools.ts'
import { findMissing, type Program, start, toolchains } from './toolchains.ts'

/** A code block of a guide, with its position. */
interface Snippet {
  guide: string
  line: number
  language: string
  /** What the snippet does, from `run=` in its info string; undefined if it is not run. */
  run: string | undefined
  code: string
}

/** The guides that integrators read. */
const groups = new Set(['Get started', 'Guides', 'Reference', 'Migrate'])

/** In the order in which a reader meets them, from the README to the last guide. */
function listSnippets(): Snippet[] {
  const guides = contents.filter(({ title }) => groups.has(title)).flatMap(({ pages }) => pages)
  return ['../README.md', ...guides.flatMap(({ file }) => file ?? [])].flatMap(extract)
}

function extract(file: string): Snippet[] {
  const guide = file.split('/').at(-1) ?? file
  const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: run=(\w+))?\n(.*?)^```$/gms)].map((match) => {
    const [, language = '', run, code = ''] = match
    return { guide, line: text.slice(0, match.index).split('\n').length, language, run, code }
  })
}

const snippets = listSnippets()
const missing = new Map(Object.keys(toolchains).map((language) => [language, findMissing(language)]))
for (const [language, command] of missing)
  if (command !== undefined) reportMissing(`the snippets in ${language}`, `a command that succeeds: ${command}`)

let server: TestServer

/** The context of one snippet. Tests run concurrently, so each has its own `expect`. */
interface Setting {
  account: TestAccount
  folder: string
  expect: ExpectStatic
}

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.close())

async function prepare(expect: ExpectStatic): Promise<Setting> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-snippet-'))
  return { account: await server.account(), folder, expect }
}

test('runs every snippet in a programming language and every call of the API', () => {
  const notRun = snippets.filter(
    ({ language, run, code }) =>
      run === undefined &&
      (Object.hasOwn(toolchains, language) ? language !== 'sh' || code.includes('/api/v1/') : false),
  )

  expect(notRun.map(({ guide, line }) => `${guide}:${line}`)).toEqual([])
  expect(snippets.filter(({ run }) => run !== undefined && !Object.hasOwn(checks, run))).toEqual([])
})

const checks: Record<string, (snippet: Snippet, setting: Setting) => Promise<void>> = {
  send: checkSend,

  // With the client that the guide generates.
  generated: async (snippet, setting) => checkSend(snippet, setting, await generatePythonClient(setting)),

  uploadGenerated: async (snippet, setting) => {
    const { expect, folder } = setting
    await writeFile(path.join(folder, 'invoice.pdf'), pdf())
    const options = await (snippet.language === 'go' ? generateGoClient(setting) : generatePythonClient(setting))
    expect(await runToEnd(setting, snippet, options)).toContain((await findMedia(setting))?.id)
  },

  // Interrupted after two messages and started again, first with its record, then without it. One row is always rejected.
  many: async (snippet, setting) => {
    const { expect, folder } = setting
    const again = snippets.find(({ run: kind, language }) => kind === 'retry' && language === snippet.language)
    const [, module = ''] = /^(?:#|\/\/) (\S+)/m.exec(again?.code ?? '') ?? []
    const recipients = snippets.find(({ guide, code }) => guide === snippet.guide && code.startsWith('to,'))
    // Excel writes a byte order mark.
    await writeFile(path.join(folder, 'recipients.csv'), `\uFEFF${recipients?.code}15550131026,Alan,WB-2004\n`)
    await writeFile(path.join(folder, module), again?.code.replaceAll('http://127.0.0.1:3000', server.url) ?? '')
    const listSent = async () => (await runToEnd(setting, snippet)).match(/msg_[0-9a-z]{26}/g)
    const record = path.join(folder, 'sent.csv')

    const first = await listSent()
    expect(first).toHaveLength(3)
    expect(await listSent()).toBe(null)
    const lines = (await readFile(record, 'utf8')).split('\n')
    await writeFile(record, `${lines.slice(0, 2).join('\n')}\n`)
    expect(await listSent()).toEqual(first?.slice(2))
    await rm(record)
    expect(await listSent()).toEqual(first)
    expect(await listMessages(setting)).toHaveLength(4)
    expect(await readFile(path.join(folder, 'failed.csv'), 'utf8')).toMatch(
      /^order,code,message\r?\nWB-2004,MESSAGE_REJECTED,"?[^\n]*131026[^\n]*\n$/,
    )
  },

  // The first responses are lost in four ways after the message was sent. Then the outcome never becomes known.
  retry: async (snippet, setting) => {
    const { expect } = setting
    await giveUp(snippet, setting)
    await giveUpLongWait(snippet, setting)
    const proxy = await startLossyProxy(server.url)
    const output = await runToEnd(setting, snippet, { url: proxy.url })
    await proxy.close()
    const messages = await listMessages(setting)
    expect(proxy.requests()).toBe(5)
    expect(messages).toHaveLength(1)
    // Nothing else in its line: the function returns the ID, not the response.
    expect(output.split('\n')).toContain(messages[0]?.id)
  },

  status: async (snippet, setting) => {
    const { expect } = setting
    const sent = await send(setting, { externalId: 'order-1042' })
    const code = snippet.code.replaceAll(/msg_[0-9a-z]{26}/g, sent)
    expect(await runToEnd(setting, { ...snippet, code })).toContain(sent)
  },

  templates: async (snippet, setting) => {
    const { expect } = setting
    expect(JSON.parse(await runToEnd(setting, snippet, { silent: true }))).toMatchObject({ success: true })
  },

  preview: async (snippet, setting) => {
    const { expect } = setting
    const answer = JSON.parse(await runToEnd(setting, snippet, { silent: true }))
    expect(answer).toMatchObject({ success: true, data: { body: expect.stringContaining('WB-1042') } })
    expect(await listMessages(setting)).toEqual([])
  },

  upload: async (snippet, setting) => {
    const { expect } = setting
    await writeFile(path.join(setting.folder, 'invoice.pdf'), pdf())
    expect(await runToEnd(setting, snippet)).toContain((await findMedia(setting))?.id)
  },

  upload_link: async (snippet, setting) => {
    const { expect } = setting
    const files = await startFileServer((_request, response) => response.end(pdf()))
    const code = snippet.code.replace('https://example.com', files.url)
    expect(await runToEnd(setting, { ...snippet, code })).toContain((await findMedia(setting))?.id)
    await files.close()
  },

  send_media: async (snippet, setting) => {
    const { expect } = setting
    await runToEnd(setting, await withMedia(snippet, setting))
    expect(await listMessages(setting)).toHaveLength(1)
  },

  get_media: async (snippet, setting) => {
    const { expect } = setting
    expect(await runToEnd(setting, await withMedia(snippet, setting))).toContain('"kind":"document"')
  },

  delete_media: async (snippet, setting) => {
    const { expect } = setting
    await runToEnd(setting, await withMedia(snippet, setting))
    expect(await findMedia(setting)).toBeUndefined()
  },

  pages: async (snippet, setting) => {
    const { expect } = setting
    const sent = [await send(setting), await send(setting), await send(setting)]
    const output = await runToEnd(setting, { ...snippet, code: snippet.code.replaceAll(/\b100\b/g, '1') })
    // A cursor contains the ID that it continues after.
    const listed = output.replaceAll(/"nextCursor":"[^"]*"/g, '')
    for (const id of sent) expect(listed.split(id)).toHaveLength(2)
    const failing = await run(setting, snippet, { environment: { WAYBILL_API_KEY: 'wb_live_unknown' } })
    expect(await failing.ended).not.toBe(0)
    expect(failing.output()).toMatch(/INVALID_API_KEY|401/)
  },

  export: async (snippet, setting) => {
    const { expect, folder } = setting
    const sent = [await send(setting), await send(setting)]
    await runToEnd(setting, { ...snippet, code: untilLater(snippet.code) }, { silent: true })
    expect(readIds(await readFile(path.join(folder, 'messages.ndjson'), 'utf8'))).toEqual(sent.toReversed())
  },

  continueExport: async (snippet, setting) => {
    const { expect, account, folder } = setting
    for (let count = 0; count < 4; count++) await send(setting)
    const { text: all } = await account.get('/api/v1/message/export')
    const file = path.join(folder, 'messages.ndjson')
    // With a complete last line, with an incomplete one, and with nothing else.
    for (const length of [all.indexOf('\n') + 1, all.indexOf('\n') + 50, 50, 0]) {
      await writeFile(file, all.slice(0, length))
      await runToEnd(setting, { ...snippet, code: untilLater(snippet.code) }, { silent: true })
      expect(await readFile(file, 'utf8')).toBe(all)
    }
  },

  mcp: async (snippet, setting) => {
    const { expect, account } = setting
    await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
    expect(await runToEnd(setting, snippet, { silent: true })).toContain('"status":"APPROVED"')
  },

  events: async (snippet, setting) => {
    const { expect } = setting
    expect(JSON.parse(await runToEnd(setting, snippet, { silent: true }))).toMatchObject({
      success: true,
      data: { items: [] },
    })
  },

  createTemplate: async (snippet, setting) => {
    const { expect, account, folder } = setting
    await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
    const definition = snippets.find(({ guide, language }) => guide === snippet.guide && language === 'json')
    await writeFile(path.join(folder, 'order_ready.json'), definition?.code ?? '')
    expect(JSON.parse(await runToEnd(setting, snippet, { silent: true }))).toMatchObject({
      success: true,
      data: { name: 'order_ready', status: 'PENDING', changed: true },
    })
  },

  suppress: async (snippet, setting) => {
    const { expect } = setting
    expect(JSON.parse(await runToEnd(setting, snippet, { silent: true }))).toMatchObject({ data: { added: true } })
    expect((await setting.account.trpc.suppression.list.query({})).items).toMatchObject([{ to: '34600111222' }])
  },

  sendCode: checkSend,

  checkCode: async (snippet, setting) => {
    const { expect, folder } = setting
    const sending = snippets.find(({ run: kind, language }) => kind === 'sendCode' && language === snippet.language)
    if (!sending) throw new Error(`no snippet sends a code in ${snippet.language}`)
    await runToEnd(setting, sending)
    expect(await runToEnd(setting, snippet)).toMatch(/"?verified"?: ?true/)
    await rm(folder, { recursive: true })
    await mkdir(folder)
    expect(await runToEnd(setting, snippet)).not.toMatch(/"?verified"?: ?true/)
  },

  receive: async (snippet, setting) => {
    const { expect } = setting
    const port = await freePort()
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const code = snippet.code.replaceAll('4000', String(port))
    const program = await run(setting, { ...snippet, code }, { port, environment: { WEBHOOK_SECRET: secret } })
    const waiting = new Socket().on('error', () => undefined)
    try {
      const signed = () => sign(secret, new Date())
      const deliver = (headers: Record<string, string>, content: BodyInit = body) => post(port, headers, content)
      await expect.poll(() => deliver(signed()).catch(() => program.output())).toBe(204)
      // A request that never ends holds up no other request.
      waiting.connect(port, '127.0.0.1').write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n')
      expect(await deliver(sign(`whsec_${Buffer.alloc(24, 8).toString('base64')}`, new Date()))).toBe(400)
      expect(await deliver(sign(secret, new Date(Date.now() - 600_000)))).toBe(400)
      for (const signature of ['garbage', 'v1,*', 'v1,é', 'v1,AA', ''])
        expect(await deliver({ ...signed(), 'webhook-signature': signature }), signature).toBe(400)
      for (const timestamp of ['soon', 'NaN', '1e999', '9'.repeat(30), '-1', ''])
        expect(await deliver({ ...signed(), 'webhook-timestamp': timestamp }), timestamp).toBe(400)
      expect(await deliver({ ...signed(), 'webhook-id': 'é' })).toBe(400)
      expect(await deliver({})).toBe(400)
      expect(await deliver(signed(), new Uint8Array([0xff, 0xfe]))).toBe(400)
      // A sender that leaves in the middle of its request does not end the program.
      waiting.destroy()
      for (let request = 0; request < 3; request++) expect(await deliver(signed())).toBe(204)
    } finally {
      waiting.destroy()
      await program.stop()
    }
  },
}

for (const snippet of snippets) {
  const { guide, line, language, run: kind } = snippet
  const check = kind === undefined ? undefined : checks[kind]
  if (!check) continue
  test
    .skipIf(missing.get(language) !== undefined)
    .concurrent(`${guide}:${line} (${language}) does "${kind}"`, async ({ expect }) => {
      expect.hasAssertions()
      const setting = await prepare(expect)
      await check(snippet, setting).finally(() => rm(setting.folder, { recursive: true, force: true }))
    })
}

test('gives every snippet that sends an idempotency key', () => {
  const sending = snippets.filter(({ code }) => /\/message\/send\b|message\.send\.mutate/.test(code))
  const without = sending.filter(({ code }) => !/Idempotency-Key|idempotencyKey/.test(code))

  expect(sending.length).toBeGreaterThan(10)
  expect(without.map(({ guide, line }) => `${guide}:${line}`)).toEqual([])
})

const sendingKinds = new Set(['send', 'retry'])

for (const language of ['ts', 'python', 'go', 'java', 'php'])
  test
    .skipIf(missing.get('sh') !== undefined || missing.get(language) !== undefined)
    .concurrent(
      `sends in the order of the README and the guides, with one account, in ${language}`,
      async ({ expect }) => {
        const { account } = await prepare(expect)
        const path = snippets.filter(
          ({ language: one, run: kind = '' }) => (one === 'sh' || one === language) && sendingKinds.has(kind),
        )
        const keys = new Set(path.flatMap(({ code }) => /order-1042-shipped|login-(?:7f3a|\$)/.exec(code) ?? []))
        for (const snippet of path) {
          const setting = { ...(await prepare(expect)), account }
          const output = await runToEnd(setting, snippet).finally(() =>
            rm(setting.folder, { recursive: true, force: true }),
          )
          expect(`${snippet.guide}:${snippet.line} ${output}`).toContain('msg_')
        }
        expect(path.length).toBeGreaterThan(5)
        expect(await listMessages({ account, folder: '', expect })).toHaveLength(keys.size)
      },
    )

async function generatePythonClient({ folder }: Setting): Promise<RunOptions> {
  const generator = await pythonCommand('openapi-python-client')
  const packages = path.join(folder, 'packages')
  await mkdir(packages)
  const output = ['--meta', 'none', '--output-path', path.join(packages, 'waybill_client')]
  await runTool(packages, generator, ['generate', '--path', document, ...output])
  return { environment: { PATH: `${path.dirname(generator)}:${process.env['PATH']}` } }
}

/** In the module of the client that `npm run test:clients` builds, which has the versions of the packages. */
async function generateGoClient({ folder }: Setting): Promise<RunOptions> {
  const program = path.join(import.meta.dirname, '../clients/go-ogen')
  for (const file of ['go.mod', 'go.sum']) await copyFile(path.join(program, file), path.join(folder, file))
  // Else the toolchain would create another module.
  await writeFile(path.join(folder, 'snippet.go'), '')
  await runTool(folder, 'go', ['tool', 'ogen', '--target', 'waybill', '--package', 'waybill', '--clean', document])
  return {}
}

interface RunOptions {
  url?: string
  port?: number
  environment?: Record<string, string>
  silent?: boolean
}

async function run(
  { account, folder }: Setting,
  { language, code, run: kind }: Snippet,
  options: RunOptions,
): Promise<Program> {
  const toolchain = toolchains[language]
  if (!toolchain) throw new Error(`no toolchain for ${language}`)
  const { url = server.url, port, environment = {}, silent = false } = options
  const program = code
    // The key is in the environment.
    .replace(/^export WAYBILL_API_KEY=.*\n/m, '')
    .replaceAll('http://127.0.0.1:3000', url)
    .replaceAll('curl ', silent ? 'curl -s ' : 'curl ')
  const file = path.join(folder, toolchain.file)
  const isPrepared = existsSync(file)
  await writeFile(file, program)
  if (!isPrepared && (kind === 'receive' || language === 'ts' || language === 'go')) await toolchain.prepare?.(folder)
  return start(folder, toolchain.command(port), {
    WAYBILL_API_KEY: account.apiKey,
    ...toolchain.environment?.(folder),
    ...environment,
  })
}

/** Sends exactly one message, and prints its ID. */
async function checkSend(snippet: Snippet, setting: Setting, options: RunOptions = {}): Promise<void> {
  const { expect } = setting
  const output = await runToEnd(setting, snippet, options)
  const [message, ...others] = await listMessages(setting)
  expect(others).toEqual([])
  expect(output).toContain(message?.id)
}

/** The period of an export, widened to whatever the time of the machine is. */
function untilLater(code: string): string {
  return code
    .replace(/from=[\w:-]+/, 'from=2020-01-01T00:00:00Z')
    .replace(/until=[\w:-]+/, 'until=2100-01-01T00:00:00Z')
}

function readIds(lines: string): string[] {
  return [...lines.matchAll(/"messageId":"(\w+)"/g)].map(([, id = '']) => id)
}

async function runToEnd(setting: Setting, snippet: Snippet, options: RunOptions = {}): Promise<string> {
  const program = await run(setting, snippet, options)
  const code = await program.ended
  setting.expect({ code, output: program.output() }).toMatchObject({ code: 0 })
  return program.output()
}

/** How a program in a language waits, and what prints the time instead. */
const waits: Readonly<Record<string, readonly [wait: string, print: string]>> = {
  ts: ['setTimeout(resolve, seconds * 1000)', 'resolve(console.log(`waits ${seconds}.`))'],
  python: ['time.sleep(wait)', 'print(f"waits {wait}.")'],
  go: ['time.Sleep(time.Duration(wait) * time.Second)', 'fmt.Printf("waits %d.\\n", wait)'],
  java: ['Thread.sleep(seconds * 1000)', 'System.out.println("waits " + seconds + ".")'],
  php: ['sleep($wait)', 'print("waits $wait.\\n")'],
}

/** A retry of a send whose outcome is unknown gets 409 with this header for a minute. */
async function giveUp(snippet: Snippet, setting: Setting): Promise<void> {
  const { expect } = setting
  const error = { code: 'IDEMPOTENCY_KEY_IN_USE', message: 'Still running.' }
  const { output, requests } = await runInVain(snippet, setting, { status: 409, retryAfter: '1', error })

  expect(output).toContain('IDEMPOTENCY_KEY_IN_USE')
  const waited = Array.from(output.matchAll(/waits (\d+)\./g), ([, seconds]) => Number(seconds))
  expect(waited.filter((seconds) => seconds > 0)).toHaveLength(requests.length - 1)
  expect(waited.reduce((sum, seconds) => sum + seconds)).toBeGreaterThan(60)
  expect(new Set(requests).size).toBe(1)
}

/** WhatsApp can limit a number for an hour. */
async function giveUpLongWait(snippet: Snippet, setting: Setting): Promise<void> {
  const { expect } = setting
  const error = { code: 'WHATSAPP_THROTTLED', message: 'Too many messages.' }
  const { output, requests } = await runInVain(snippet, setting, { status: 429, retryAfter: '3600', error })

  expect(output).toContain('WHATSAPP_THROTTLED')
  expect(output).not.toMatch(/waits [1-9]/)
  expect(requests).toHaveLength(1)
}

/** Runs a program whose requests all fail, with its waits printed. Returns the keys of the requests. */
async function runInVain(
  snippet: Snippet,
  setting: Setting,
  { status, retryAfter, error }: { status: number; retryAfter: string; error: object },
) {
  const [wait = '', print = ''] = waits[snippet.language] ?? []
  const requests: string[] = []
  const failing = createServer(async (incoming, outgoing) => {
    // Java's client gives up a request that is answered before it has sent the body.
    await text(incoming)
    requests.push(String(incoming.headers['idempotency-key']))
    outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': retryAfter })
    outgoing.end(JSON.stringify({ success: false, error }))
  })
  failing.listen(0, '127.0.0.1')
  await once(failing, 'listening')
  const { port } = failing.address() as AddressInfo
  const code = snippet.code.replace(wait, print)
  const program = await run(setting, { ...snippet, code }, { url: `http://127.0.0.1:${port}` })
  setting.expect(await program.ended).not.toBe(0)
  failing.close()
  return { output: program.output(), requests }
}

/** The snippet with the ID of a file that has just been uploaded. */
async function withMedia(snippet: Snippet, setting: Setting): Promise<Snippet> {
  await postForm({ url: server.url, apiKey: setting.account.apiKey }, [{ name: 'file', content: pdf() }])
  const media = await findMedia(setting)
  return { ...snippet, code: snippet.code.replaceAll(/med_[0-9a-z]{26}/g, String(media?.id)) }
}

function findMedia({ account }: Setting) {
  const { db } = server.deps
  return db.selectFrom('media').select('id').where('account_id', '=', account.accountId).executeTakeFirst()
}

async function send({ account }: Setting, change: object = {}): Promise<string> {
  const { externalId: _, ...input } = sendMessage.example.input
  const response = await account.post('/api/v1/message/send', { ...input, ...change })
  return String(response.json().data['messageId'])
}

function listMessages({ account }: Setting) {
  return server.deps.db.selectFrom('messages').select('id').where('account_id', '=', account.accountId).execute()
}

const body = JSON.stringify(webhooks['message.delivered'].example)

function sign(secret: string, at: Date): Record<string, string> {
  const id = 'evt_01kah3bc4pj1m6x8z0v2t5r7qd'
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}

async function post(port: number, headers: Record<string, string>, content: BodyInit): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: content,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
  })
  return response.status
}

/** What becomes of the first responses, in this order. */
const losses: readonly ((outgoing: ServerResponse, body: string) => void)[] = [
  (outgoing) => outgoing.destroy(),
  (outgoing, body) => {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    outgoing.write(body.slice(0, 20), () => outgoing.destroy())
  },
  (outgoing) => outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>'),
  (outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the network</h1>'),
]

/** Forwards requests, and loses the first responses. */
async function startLossyProxy(target: string) {
  let requests = 0
  const proxy = createServer((incoming, outgoing) => {
    const lose = losses[requests++]
    const passedOn = forward(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers: incoming.headers },
      async (answer) => {
        const body = await text(answer)
        if (lose) lose(outgoing, body)
        else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(body)
      },
    )
    incoming.pipe(passedOn)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
