import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { activateWhatsAppAccount } from '../../../../src/whatsapp-accounts/change.ts'
import { rekey } from '../../../../src/accounts/rekey.ts'
import { listStoredSecrets } from '../../../../src/cli/stored-secrets.ts'
import { createSecretBox } from '../../../../src/platform/secrets.ts'
import type { OutboxLoop } from '../../../../src/platform/outbox-loop.ts'
import { getAlertSettings } from '../../../../src/webhooks/alerts/settings.ts'
import { findChatRow, openChat, removeChat, setChat, testChat } from '../../../../src/webhooks/alerts/chat/chat.ts'
import { type ClaimedPost, enqueuePosts } from '../../../../src/webhooks/alerts/chat/outbox.ts'
import { createPoster, type PostOutcome } from '../../../../src/webhooks/alerts/chat/poster.ts'
import { announceEndpoints } from '../../../../src/webhooks/alerts/announce-endpoints.ts'
import { announceTemplateChanges } from '../../../../src/webhooks/alerts/announce-templates.ts'
import { announceChanges } from '../../../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { createWebhookSender } from '../../../../src/webhooks/sender/sender.ts'
import { addEndpoint } from '../../../../src/webhooks/endpoints/change.ts'
import { forFile } from '../../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../../support/server.ts'
import { accept, respond, startWebhookReceiver } from '../../../support/webhook-receiver.ts'
import { eventually } from '../../../support/eventually.ts'
import { unreadable } from '../../../support/unreadable.ts'

let posters: OutboxLoop<ClaimedPost>[] = []

const chat = await forFile(startWebhookReceiver())
const server = await forFile(startTestServer())
/** Another server on the same database. */
const node = await forFile(startTestServer({ beside: server }))
let account: TestAccount
let path: string
let outcomes: PostOutcome[]
beforeEach(async () => {
  account = await server.account()
  path = `/services/${account.accountId}/s3cr3t`
  outcomes = []
})
afterEach(async () => {
  await Promise.all(posters.map((poster) => poster.stop()))
  posters = []
  chat.behave(accept)
  await server.deps.db.deleteFrom('chat_posts').execute()
})

function start(deps = server.deps): void {
  const poster = createPoster(deps, (outcome) => outcomes.push(outcome))
  posters.push(poster)
  poster.start()
}

async function announce(): Promise<void> {
  for (let round = 0; round < 2; round++) await Promise.all([announceChanges(server.deps), announceChanges(node.deps)])
}

const setSlack = () => setChat(server.deps, account.accountId, { url: chat.url + path, format: 'slack' })
const posted = () => chat.at(path).map(({ body }) => JSON.parse(body) as Record<string, unknown>)
const waiting = () =>
  server.deps.db.selectFrom('chat_posts').selectAll().where('account_id', '=', account.accountId).execute()

function post(count = 1): Promise<boolean> {
  const posts = Array.from({ length: count }, (_, index) => ({
    accountId: account.accountId,
    text: { title: `Alert ${index}`, paragraphs: ['It happened.'] },
  }))
  return server.deps.db.transaction().execute((trx) => enqueuePosts(server.deps, trx, posts))
}

async function reject(reason: string): Promise<void> {
  await sql`update whatsapp_accounts set inactive_reason = ${reason} where id = ${account.whatsAppAccountId}`.execute(
    server.deps.db,
  )
}

test('posts each alert once to Slack, and once more when it is over', async () => {
  await setSlack()
  start()
  start(node.deps)

  await reject('the token <!channel> has expired & more')
  await announce()
  await eventually(() => expect(posted()).toHaveLength(1))
  await activateWhatsAppAccount(server.deps, account)
  await announce()
  await eventually(() => expect(posted()).toHaveLength(2))

  const [alert, recovery] = posted()
  const url = `https://waybill.example.com/settings/${account.accountId}/whatsapp-accounts/${account.whatsAppAccountId}`
  expect(alert).toEqual({
    text: '+15550100001 can no longer send',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: '+15550100001 can no longer send', emoji: false } },
      {
        type: 'section',
        text: {
          type: 'plain_text',
          text: 'WhatsApp rejected the WhatsApp account +15550100001: the token <!channel> has expired & more',
          emoji: false,
        },
      },
      {
        type: 'section',
        text: {
          type: 'plain_text',
          text: 'It is the default, so requests that do not set accountId are rejected.',
          emoji: false,
        },
      },
      { type: 'section', text: { type: 'mrkdwn', text: `<${url}|Open the WhatsApp account>` } },
    ],
  })
  expect(recovery).toMatchObject({ text: '+15550100001 can send again' })
  expect(chat.at(path)[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
  expect(chat.at(path)[0]?.headers['webhook-signature']).toBeUndefined()
  await eventually(() => expect(outcomes).toEqual(['posted', 'posted']))
  expect(await waiting()).toEqual([])
})

test('posts an Adaptive Card to Teams', async () => {
  await setChat(server.deps, account.accountId, { url: chat.url + path, format: 'teams' })
  start()

  await reject('**no** [link](https://example.com)')
  await announce()

  await eventually(() => expect(posted()).toHaveLength(1))
  expect(posted()[0]).toEqual({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            {
              type: 'RichTextBlock',
              inlines: [{ type: 'TextRun', text: '+15550100001 can no longer send', size: 'Medium', weight: 'Bolder' }],
            },
            {
              type: 'RichTextBlock',
              inlines: [
                {
                  type: 'TextRun',
                  text: 'WhatsApp rejected the WhatsApp account +15550100001: **no** [link](https://example.com)',
                },
              ],
            },
            {
              type: 'RichTextBlock',
              inlines: [
                { type: 'TextRun', text: 'It is the default, so requests that do not set accountId are rejected.' },
              ],
            },
          ],
          actions: [
            {
              type: 'Action.OpenUrl',
              title: 'Open the WhatsApp account',
              url: `https://waybill.example.com/settings/${account.accountId}/whatsapp-accounts/${account.whatsAppAccountId}`,
            },
          ],
        },
      },
    ],
  })
})

test('posts failing endpoints and stopped templates, and their recovery', async () => {
  await setSlack()
  start()
  const { endpointId } = await addEndpoint(server.deps, account.accountId, {
    url: 'http://127.0.0.1:9/hook?token=s3cr3t',
  })
  const failing = (since: string | null) =>
    sql`update webhook_endpoints set failing_since = now() - ${since}::interval where id = ${endpointId}`.execute(
      server.deps.db,
    )
  const setStatus = (status: string) =>
    sql`update templates set status = ${status} where account_id = ${account.accountId} and name = 'order_shipped' and language = 'en'`.execute(
      server.deps.db,
    )
  await announceTemplateChanges(server.deps)

  await failing('10 minutes')
  await announceEndpoints(server.deps)
  await failing(null)
  await announceEndpoints(server.deps)
  await setStatus('PAUSED')
  await announceTemplateChanges(server.deps)
  await setStatus('APPROVED')
  await announceTemplateChanges(server.deps)

  await eventually(() =>
    expect(posted().map(({ text }) => text)).toEqual([
      'The webhook endpoint at 127.0.0.1:9 is failing',
      'The webhook endpoint at 127.0.0.1:9 works again',
      'WhatsApp paused the template order_shipped (en)',
      'The template order_shipped (en) is approved again',
    ]),
  )
  expect(chat.at(path).some(({ body }) => body.includes('token='))).toBe(false)
})

test('says that the URL of a chat cannot be decrypted', async () => {
  await setSlack()
  const { accountId } = account
  await server.deps.db
    .updateTable('alert_settings')
    .set({ chat_url_encrypted: unreadable })
    .where('account_id', '=', accountId)
    .execute()

  expect((await getAlertSettings(server.deps, accountId)).chat).toEqual({
    format: 'slack',
    host: '?',
    problem: expect.stringContaining('cannot be decrypted'),
    facts: expect.any(Object),
  })
  await expect(testChat(server.deps, accountId)).rejects.toMatchObject({ code: 'SETTING_REFUSED' })
})

test.each([429, 500, 503])('retries after a response with %i, no earlier than its Retry-After', async (status) => {
  await setSlack()
  chat.behave(respond(status, { 'retry-after': '600' }), path)
  start()
  await post()
  server.deps.notifications.notify('chat')

  await eventually(() => expect(outcomes).toEqual(['failed']))
  const [row] = await waiting()
  const seconds = ((row?.due_at.getTime() ?? 0) - Date.now()) / 1000
  expect(seconds).toBeGreaterThan(550)
  expect(seconds).toBeLessThan(650)
  expect(await findChatRow(server.deps.db, account.accountId)).toMatchObject({ chatProblem: `HTTP ${status}` })

  chat.behave(accept, path)
  await sql`update chat_posts set due_at = now()`.execute(server.deps.db)
  server.deps.notifications.notify('chat')
  await eventually(() => expect(outcomes).toEqual(['failed', 'posted']))
  expect(await findChatRow(server.deps.db, account.accountId)).toMatchObject({ chatProblem: null })
})

test.each([301, 400, 403, 404, 410])('drops an alert after a response with %i', async (status) => {
  await setSlack()
  chat.behave(respond(status, { location: chat.url + '/elsewhere' }), path)
  start()
  await post()
  server.deps.notifications.notify('chat')

  await eventually(() => expect(outcomes).toEqual(['rejected']))
  await eventually(async () => expect(await waiting()).toEqual([]))
  expect(posted()).toHaveLength(1)
  expect(chat.at('/elsewhere')).toEqual([])
  expect(await findChatRow(server.deps.db, account.accountId)).toMatchObject({ chatProblem: `HTTP ${status}` })
})

test('keeps the order of the alerts of an account while its chat fails, and delays no other account', async () => {
  await setSlack()
  const other = await server.account()
  await setChat(server.deps, other.accountId, { url: `${chat.url}/other/${other.accountId}`, format: 'slack' })
  chat.behave(respond(503), path)
  await post(6)
  await server.deps.db
    .transaction()
    .execute((trx) =>
      enqueuePosts(server.deps, trx, [{ accountId: other.accountId, text: { title: 'Other', paragraphs: [] } }]),
    )
  start()

  await eventually(() => expect(chat.at(`/other/${other.accountId}`)).toHaveLength(1))
  await eventually(() => expect(outcomes.toSorted()).toEqual(['failed', 'posted']))
  expect(posted()).toHaveLength(1)

  chat.behave(accept, path)
  await sql`update chat_posts set due_at = now()`.execute(server.deps.db)
  server.deps.notifications.notify('chat')
  await eventually(() => expect(posted()).toHaveLength(7))
  await eventually(async () => expect(await waiting()).toEqual([]))
})

test('drops an alert that could not be posted for a day', async () => {
  await setSlack()
  await post()
  await sql`update chat_posts set expires_at = now()`.execute(server.deps.db)
  start()

  await eventually(() => expect(outcomes).toEqual(['expired']))
  expect(posted()).toEqual([])
})

test('keeps at most a hundred alerts of an account, encrypted', async () => {
  await setSlack()

  expect(await post(99)).toBe(true)
  expect(await post(3)).toBe(false)

  const rows = await waiting()
  expect(rows).toHaveLength(100)
  expect(JSON.stringify(rows)).not.toContain('It happened')
})

test('encrypts the URL, and logs neither the URL nor an alert', async () => {
  await setSlack()
  chat.behave(respond(404), path)
  start()
  await post()
  await testChat(server.deps, account.accountId)
  server.deps.notifications.notify('chat')
  await eventually(() => expect(outcomes).toEqual(['rejected']))

  const { rows } = await sql<{ row: string }>`select row_to_json(s)::text as row from alert_settings s`.execute(
    server.deps.db,
  )
  expect(rows.some(({ row }) => row.includes('s3cr3t'))).toBe(false)
  expect(server.log.some((line) => line.includes('s3cr3t') || line.includes('It happened'))).toBe(false)
  expect(server.log.some((line) => line.includes('dropped an alert that the chat rejected permanently'))).toBe(true)
})

test('encrypts URL and waiting alerts with the current key after a rotation', async () => {
  await setSlack()
  await post()
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const random = server.deps.randomBytes
  const before = createSecretBox([oldKey], random)
  await setChat({ ...server.deps, secrets: before }, account.accountId, { url: chat.url + path, format: 'slack' })
  const stored = (await listStoredSecrets(server.deps.db)).filter(({ recordId }) => recordId === account.accountId)

  await rekey({ db: server.deps.db, secrets: createSecretBox([newKey, oldKey], random) }, () => Promise.resolve(stored))

  const row = await findChatRow(server.deps.db, account.accountId)
  expect(row && openChat({ secrets: createSecretBox([newKey], random) }, row)).toMatchObject({ url: chat.url + path })
  const purposes = (await listStoredSecrets(server.deps.db)).map(({ purpose }) => purpose)
  expect(purposes.some((purpose) => purpose.startsWith('chat_posts.content:'))).toBe(true)
})

test('posts nothing and drops waiting alerts once the chat is removed', async () => {
  await setSlack()
  await post()

  expect(await removeChat(server.deps, account.accountId)).toEqual({ removed: true })
  expect(await removeChat(server.deps, account.accountId)).toEqual({ removed: false })

  expect(await waiting()).toEqual([])
  await post()
  expect(await waiting()).toEqual([])
  await expect(testChat(server.deps, account.accountId)).rejects.toThrow('posts to no chat')
})

test('tests the chat immediately and reports its response', async () => {
  await setSlack()
  expect(await testChat(server.deps, account.accountId)).toEqual({ posted: true, statusCode: 200 })
  expect(posted()).toMatchObject([{ text: 'Test message from Waybill' }])

  chat.behave(respond(403), path)
  expect(await testChat(server.deps, account.accountId)).toEqual({ posted: false, statusCode: 403, error: 'HTTP 403' })
})

test.each([
  'https://127.0.0.1/services/x',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/x',
  'https://chat.internal/x',
  'http://hooks.slack.com/services/x',
  'https://user:password@hooks.slack.com/services/x',
  'file:///etc/passwd',
  'nonsense',
])('rejects %s', async (url) => {
  const webhooks = createWebhookSender({ timeoutSeconds: 5, allowPrivate: false })
  await expect(
    setChat({ ...server.deps, webhooks }, account.accountId, { url, format: 'slack' }),
  ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  await webhooks.close()
})

test('never connects to a private address, even for a URL that was stored when it was allowed', async () => {
  await setSlack()
  const webhooks = createWebhookSender({ timeoutSeconds: 5, allowPrivate: false })
  await post()
  start({ ...server.deps, webhooks })

  await eventually(() => expect(outcomes).toEqual(['failed']))
  expect(await findChatRow(server.deps.db, account.accountId)).toMatchObject({
    chatProblem: 'the address is not allowed',
  })
  expect(posted()).toEqual([])
  await Promise.all(posters.map((poster) => poster.stop()))
  await webhooks.close()
})

test('derives the format from the host, and rejects connectors that Microsoft has retired', async () => {
  const webhooks = { ...server.deps.webhooks, check: () => Promise.resolve('allowed' as const) }
  const set = (url: string) => setChat({ ...server.deps, webhooks }, account.accountId, { url })

  expect(await set('https://hooks.slack.com/services/T0/B0/x')).toMatchObject({ format: 'slack' })
  expect(await set('https://prod-1.westeurope.logic.azure.com/workflows/x?sig=y')).toMatchObject({ format: 'teams' })
  expect(
    await set('https://default0.ab.environment.api.powerplatform.com/powerautomate/automations/direct/x'),
  ).toMatchObject({ format: 'teams' })
  await expect(set('https://chat.example.com/hooks/x')).rejects.toThrow('choose slack or teams')
  await expect(set('https://contoso.webhook.office.com/webhookb2/x')).rejects.toThrow('retired')
})
